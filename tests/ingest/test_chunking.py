"""Claims about the chunks of drafts."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_memory.embedders import tokens as tokens_of
from jupyter_memory.ingest import prepare
from jupyter_memory.types import Chunk, Draft

# Tokens of a chunk at most, and tokens that neighbours share at most.
CAPACITY, OVERLAP = 448, 224
LONG = "# Prices\n\nIntro, λ = 3.\n\n" + "".join(
    f"## Week {week}\n\n" + "The prices in Zürich rose again, as they do.\n" * 25 + "\n" for week in range(8)
)


def tokens(text: str) -> int:
    return len(tokens_of([text]).ids)


def with_chunks(drafts: list[Draft]) -> list[Draft]:
    return [prepared.draft for prepared in prepare(drafts, None)]


def test_a_short_text_is_one_chunk_with_the_drafts_context() -> None:
    """What fits is one chunk that covers the whole text."""
    [draft] = with_chunks([Draft(text="λ = 3\n", context="02_prices.ipynb")])

    assert draft.chunks == (Chunk(0, 6, "02_prices.ipynb", 1),)


def test_up_to_the_capacity_is_one_chunk() -> None:
    """448 tokens are one chunk, 449 are not."""
    fits, exceeds = " ".join(["price"] * CAPACITY), " ".join(["price"] * (CAPACITY + 1))
    assert (tokens(fits), tokens(exceeds)) == (CAPACITY, CAPACITY + 1)

    one, two = with_chunks([Draft(text=fits), Draft(text=exceeds)])

    assert (len(one.chunks), len(two.chunks)) == (1, 2)


def test_few_characters_can_be_many_tokens() -> None:
    """A syllable in Hangul is up to three tokens, so 400 of them are more than one chunk."""
    [draft] = with_chunks([Draft(text="판매 가격 " * 130)])

    assert len(draft.chunks) > 1
    assert all(tokens(draft.text[chunk.start : chunk.end]) <= CAPACITY for chunk in draft.chunks)


def test_offsets_count_code_points() -> None:
    """Chunks of a text full of ü and emoji are exact stretches of it: each begins with a sentence."""
    text = "Größe der Märkte 📈 über λ. " * 300
    [draft] = with_chunks([Draft(text=text)])

    assert len(draft.chunks) > 5
    assert all(text[chunk.start :].startswith("Größe") for chunk in draft.chunks)


def test_the_chunks_of_a_document_have_their_heading_path() -> None:
    """Each chunk of a Markdown file says under which headings it begins, behind the name and before the date."""
    [draft] = with_chunks([Draft(text=LONG, kind="file", lang="markdown", context="notes/prices.md\nSaturday")])
    contexts = [chunk.context for chunk in draft.chunks]

    assert contexts[0] == "notes/prices.md\nPrices\nSaturday"
    assert len(contexts) > 5
    for chunk in draft.chunks[1:]:
        week = LONG.rindex("## Week ", 0, chunk.start + 8)
        assert f"Prices > {LONG[week + 3 : week + 9]}\n" in chunk.context


def test_a_preamble_belongs_to_the_first_heading() -> None:
    """A document that opens with its front matter is placed by the title that follows."""
    [draft] = with_chunks(
        [Draft(text="---\ntags: [λ]\n---\n\n# Prices\n\nText", kind="file", lang="markdown", context="a.md")]
    )

    assert draft.chunks[0].context == "a.md\nPrices"


def test_the_chunks_of_a_cell_share_its_context() -> None:
    """A Markdown cell or a note is not a document: its context is what its notebook says."""
    [draft] = with_chunks([Draft(text=LONG, kind="cell", lang="markdown", context="n.ipynb\nPrices")])

    assert {chunk.context for chunk in draft.chunks} == {"n.ipynb\nPrices"}


def test_lines_are_those_of_the_text() -> None:
    """A chunk knows the line on which it begins, counted from 1."""
    [draft] = with_chunks([Draft(text=LONG, lang="markdown")])

    assert draft.chunks[0].line == 1
    assert [chunk.line for chunk in draft.chunks] == [LONG.count("\n", 0, chunk.start) + 1 for chunk in draft.chunks]


def test_chunks_that_are_there_stay() -> None:
    """A draft that brings its chunks keeps them."""
    brought = Draft(text="λ", chunks=(Chunk(0, 1, "mine", 7),))

    assert with_chunks([brought]) == [brought]


def test_drafts_keep_their_order_and_their_rest() -> None:
    """Short and long, chunked and not: every draft comes back in its place with nothing else changed."""
    drafts = [
        Draft(text=text, title=str(n), tags=("λ",)) for n, text in enumerate(["a", LONG, "ü" * 300, "", LONG[:900]])
    ]
    answer = with_chunks(drafts)

    assert [(draft.title, draft.text, draft.tags) for draft in answer] == [(d.title, d.text, d.tags) for d in drafts]
    assert [len(draft.chunks) > 1 for draft in answer] == [False, True, False, False, False]
    assert answer[3].chunks == ()


def test_many_long_drafts_go_through_in_parts() -> None:
    """More text than is tokenised at once comes out whole and in order."""
    drafts = [Draft(text=f"{n} " + "The λ of the prices. " * 300, title=str(n)) for n in range(200)]
    assert sum(len(draft.text) for draft in drafts) > 1_000_000

    answer = with_chunks(drafts)

    assert [draft.title for draft in answer] == [str(n) for n in range(200)]
    assert all(len(draft.chunks) > 1 and draft.chunks[-1].end == len(draft.text.rstrip()) for draft in answer)


PIECES = st.sampled_from(
    [
        "price ",
        "λ",
        "ü",
        "\n",
        "\n\n",
        "# Heading\n",
        "    ",
        "😀",
        "東京。",
        "x" * 60,
        "a.b(c)\n",
        ". ",
        "\t",
        "\ud800",
        "\r\n",
    ]
)
TEXTS = st.lists(st.tuples(PIECES, st.integers(1, 120)), max_size=30).map(
    lambda runs: "".join(piece * count for piece, count in runs)
)


@settings(max_examples=150)
@given(TEXTS, st.sampled_from(["markdown", "python", "", "rst"]))
@example("𝔘" * 3000, "")
@example(" x" * 5000, "")
@example("x" + " " * 30_000 + "y", "")
def test_chunks_cover_the_text_and_fit(text: str, lang: str) -> None:
    """Whatever the text: chunks come in order, fit, overlap by no more than they may, and leave out blanks only."""
    [draft] = with_chunks([Draft(text=text, kind="file", lang=lang)])
    done = 0
    for chunk in draft.chunks:
        stretch = text[chunk.start : chunk.end]
        assert stretch.strip()
        assert tokens(stretch) <= CAPACITY
        assert not text[done : chunk.start].strip()
        assert chunk.end > done
        # The first word of a stretch counts a little differently by itself.
        assert tokens(text[chunk.start : done]) <= OVERLAP + 12
        done = chunk.end
    assert not text[done:].strip()
