"""The chunks of drafts: exact stretches of the text that fit, cut at natural places."""

import time
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_memory.embedders import tokens as tokens_of
from jupyter_memory.ingest import prepare
from jupyter_memory.types import Chunk, Draft

# Tokens of a chunk at most, and tokens that neighbours share at most.
CAPACITY, OVERLAP = 448, 224
# The first word of a stretch counts a little differently by itself.
SLACK = 12
PROSE = "The prices in Zürich rose again, as they do.\n" * 25 + "\n"
LONG = "# Prices\n\nIntro, λ = 3.\n\n" + "".join(f"## Week {week}\n\n{PROSE}" for week in range(8))


def tokens(text):
    return len(tokens_of([text]).ids)


def with_chunks(*drafts, capacity=CAPACITY):
    return [prepared.draft for prepared in prepare(drafts, None, capacity=capacity)]


def stretches(text, lang="", kind="cell"):
    [draft] = with_chunks(Draft(text=text, lang=lang, kind=kind))
    return [text[chunk.start : chunk.end] for chunk in draft.chunks]


def test_a_short_text_is_one_chunk_with_the_drafts_context():
    """What fits, up to 448 tokens, is one chunk of the whole text; a chunk that is there stays; a blank has none."""
    fits, exceeds = " ".join(["price"] * CAPACITY), " ".join(["price"] * (CAPACITY + 1))
    assert (tokens(fits), tokens(exceeds)) == (CAPACITY, CAPACITY + 1)
    assert (len(stretches(fits)), len(stretches(exceeds))) == (1, 2)
    assert [stretches(blank) for blank in ("", " " * 100_000, "\n" * 50_000, "\t \n" * 20_000)] == [[]] * 4
    brought = Draft(text="λ", chunks=(Chunk(0, 1, "mine", 7),))
    short, kept = with_chunks(Draft(text="λ = 3\n", context="02_prices.ipynb"), brought)
    assert short.chunks == (Chunk(0, 6, "02_prices.ipynb", 1),) and kept == brought


@pytest.mark.parametrize(
    ("text", "lang", "kind", "begins"),
    [
        # Few characters can be many tokens: a syllable in Hangul is up to three.
        ("판매 가격 " * 130, "", "cell", ""),
        # Offsets count code points; words and sentences stay whole.
        ("Größe der Märkte 📈 über λ. " * 300, "", "cell", "Größe"),
        ("Der Preis stieg um λ Prozent, überall in Zürich. " * 400, "", "cell", "Der Preis"),
        # The indentation of a first line stays.
        ("class Prices:\n" + "    def λ(self):\n        return x\n\n" * 200, "python", "cell", "class|    def|     "),
        # Where a function ends within reach, the next one begins another stretch.
        (
            "".join(
                f"def f_{n}():\n    # λ\n" + f"    x = read({n})\n\n" * 40 + "    return 1\n\n\n" for n in range(9)
            ),
            "python",
            "file",
            "def f_|    x = ",
        ),
    ],
    ids=["Hangul", "code points", "sentences", "indentation", "functions"],
)
def test_where_a_long_text_is_cut(text, lang, kind, begins):
    found = stretches(text, lang, kind)
    assert len(found) > 1 and all(tokens(one) <= CAPACITY for one in found)
    assert all(one.startswith(tuple(begins.split("|"))) for one in found)


def test_markdown_is_cut_before_its_headings():
    text = "".join(f"# Week {week}\n\n" + "The prices in Zürich rose by λ percent.\n" * 12 + "\n" for week in range(30))
    [draft] = with_chunks(Draft(text=text, lang="markdown"))
    assert len(draft.chunks) > 5
    assert all(text[chunk.end :].lstrip().startswith("# Week") for chunk in draft.chunks[:-1])


def test_neighbours_overlap():
    """A stretch begins inside the one before it, by no more than the overlap, and never ends before it."""
    text = "Each paragraph on the prices has some words.\n\n" * 300
    [draft] = with_chunks(Draft(text=text))
    assert len(draft.chunks) > 5
    for one, following in pairwise(draft.chunks):
        assert one.start < following.start < one.end <= following.end
        assert 80 < tokens(text[following.start : one.end]) <= OVERLAP


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000, "ü" * 200_000, "😀" * 60_000, "東京都の価格" * 30_000, "x\n" * 200_000,
        "0123456789abcdef" * 60_000,
    ],
    ids=["letter", "umlaut", "emoji", "cjk", "lines", "hex"],
)  # fmt: skip
def test_a_large_text_is_cut_in_linear_time(text):
    """A megabyte without a place to cut is sliced, not pondered, and no slice is too large."""
    begun = time.process_time()
    found = stretches(text)
    assert time.process_time() - begun < 20
    assert text.rstrip().endswith(found[-1])
    assert max(map(tokens, found[:40] + found[-2:])) <= CAPACITY


def test_the_chunks_of_a_document_have_their_heading_path():
    """Each chunk of a Markdown file says under which headings it begins, behind the name and before the date."""
    [draft] = with_chunks(Draft(text=LONG, kind="file", lang="markdown", context="notes/prices.md\nSaturday"))
    assert draft.chunks[0].context == "notes/prices.md\nPrices\nSaturday" and len(draft.chunks) > 5
    for chunk in draft.chunks[1:]:
        week = LONG.rindex("## Week ", 0, chunk.start + 8)
        assert f"Prices > {LONG[week + 3 : week + 9]}\n" in chunk.context
    # A chunk knows the line on which it begins, counted from 1.
    assert [chunk.line for chunk in draft.chunks] == [LONG.count("\n", 0, chunk.start) + 1 for chunk in draft.chunks]


def test_a_heading_path_leads_down():
    """A place has the headings above it, each of a higher level than the next; one that begins there counts."""
    text = "".join(f"{heads}\n\n{PROSE * 2}" for heads in ("intro", "# A\n\n## B", "# C", "### D"))
    [draft] = with_chunks(Draft(text=text, kind="file", lang="markdown", context="a.md"))
    places = {chunk.context.partition("\n")[2]: None for chunk in draft.chunks}
    assert [place for place in places if place] == ["A", "A > B", "C", "C > D"]


def test_what_is_above_or_no_document():
    """What stands above the first heading belongs to it; the chunks of a cell share what its notebook says."""
    preamble = Draft(text="---\ntags: [λ]\n---\n\n# Prices\n\nText", kind="file", lang="markdown", context="a.md")
    cell = Draft(text=LONG, kind="cell", lang="markdown", context="n.ipynb\nPrices")
    of_document, of_cell = with_chunks(preamble, cell)
    assert of_document.chunks[0].context == "a.md\nPrices"
    assert {chunk.context for chunk in of_cell.chunks} == {"n.ipynb\nPrices"}


def test_drafts_keep_their_order_and_their_rest():
    """Short and long, more than is tokenised at once: every draft comes back in its place with nothing else changed."""
    texts = ["a", LONG, "ü" * 300, "", LONG[:900], *(f"{n} " + "The λ of the prices. " * 300 for n in range(200))]
    assert sum(map(len, texts)) > 1_000_000
    drafts = [Draft(text=text, title=str(n), tags=("λ",)) for n, text in enumerate(texts)]
    answer = with_chunks(*drafts)
    assert [(draft.title, draft.text, draft.tags) for draft in answer] == [(d.title, d.text, d.tags) for d in drafts]
    assert [len(draft.chunks) > 1 for draft in answer] == [False, True, False, False, False] + [True] * 200
    assert all(draft.chunks[-1].end == len(draft.text.rstrip()) for draft in answer[5:]) and answer[3].chunks == ()


PIECES = ("price ", "λ", "ü", "\n", "\n\n", "# Heading\n", "    ", "😀", "東京。", "x" * 60, "a.b(c)\n", ". ", "\t")
RUNS = st.tuples(st.sampled_from([*PIECES, "\ud800", "\r\n"]), st.integers(1, 120))
TEXTS = st.lists(RUNS, max_size=30).map(lambda runs: "".join(piece * count for piece, count in runs))


@settings(max_examples=150)
@given(TEXTS, st.sampled_from(["markdown", "python", "", "rst"]), st.sampled_from([CAPACITY, 64, 2_048]))
@example("𝔘" * 3000, "", CAPACITY)
@example(" x" * 5000, "", CAPACITY)
@example("x" + " " * 30_000 + "y", "", CAPACITY)
@example("\n  λ = 3\n\n", "", 64)
@example("λ price " * 6_000, "", 2_048)
def test_chunks_cover_the_text_and_fit(text, lang, capacity):
    """Whatever the text: chunks come in order, fit, overlap by no more than they may, and leave out blanks only."""
    [draft] = with_chunks(Draft(text=text, kind="file", lang=lang), capacity=capacity)
    done = 0
    for chunk in draft.chunks:
        stretch = text[chunk.start : chunk.end]
        assert stretch.strip() and tokens(stretch) <= capacity
        assert not text[done : chunk.start].strip() and chunk.end > done
        assert tokens(text[chunk.start : done]) <= capacity // 2 + SLACK
        done = chunk.end
    assert not text[done:].strip()
