"""WordPiece of our own, with the tokens of the library `tokenizers`; the tokens of chunks, and their vectors."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from growing import steps
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_memory import embedders
from jupyter_memory.embedders import WordPiece, chunk_tokens, token_vectors, tokens
from jupyter_memory.types import is_damaged

ROOT = Path(__file__).parents[2]
VOCABULARY = (Path(embedders.__file__).parent / "bundled" / "vocabulary.txt").read_text("utf-8").splitlines()
CELL = """def loadParquet(path):
    # Preise in Zürich, λ = 3.2e-04
    return pd.read_parquet(f"{path}/<b>2026</b>.parquet")["price_eur"]  # 🚚 ¥ 東京の売上

"""
# What is taken out, parted or changed: spaces, accents, ideographs, final sigmas, dotted i's, marks that go together.
STRETCHES = (
    " ", "\n\n", "\t", "\r\n", "\0", "\x0b", "\x0c", "\x1c", "\x85", "\u00a0", "\u2028", "\u200b", "_", "</", "();",
    "¨", "².", "2026", "Umsatz", "price", "É", "e\u0301", "\u0301\u0327", "東京", "の売上", "한국어", "מחיר", "السعر",
    "🚚", "👩🏽\u200d🔬", "[UNK]", "[MASK]", "##s", "\ufffd", "\ufeff", "\u202e", "ΣΑΣ", "İı", "ß", "ﬁ", "\u2260",
    "\u1fef", "TCPConnector", "JSONs2Csv", "x" * 101, "\U0002b820", "\U0002b920", "\u111c9", "\ufa6e", "\ue000",
)  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from(STRETCHES), max_size=25).map("".join),
    st.lists(st.one_of(st.sampled_from(STRETCHES), st.text(st.characters(exclude_categories=["Cs"]), max_size=3))).map(
        "".join
    ),
)


def ids(pieces, text):
    return pieces.tokens([text]).ids.tolist()


@pytest.fixture(scope="module")
def bert():
    """The library's tokenizer, which takes `[MASK]` in a text for what it is there: three words."""
    tokenizers = pytest.importorskip("tokenizers", reason="the reference for WordPiece needs the package tokenizers")
    numbers = {token: number for number, token in enumerate(VOCABULARY)}
    whole = tokenizers.Tokenizer(tokenizers.models.WordPiece(numbers, unk_token="[UNK]"))
    whole.normalizer = tokenizers.normalizers.BertNormalizer()
    whole.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return lambda text: whole.encode(text, add_special_tokens=False)


@pytest.fixture(scope="module")
def ours():
    return WordPiece(VOCABULARY)


@given(texts=st.lists(TEXTS, max_size=4))
@example(texts=[CELL, "", "[SEP]a[UNK]", " ", "\n"])
@example(texts=["".join(STRETCHES), " ".join(STRETCHES)])
@settings(max_examples=400, deadline=None)
def test_the_tokens_of_the_library(bert, ours, texts):
    found = ours.tokens(texts)
    expected = [bert(text).ids for text in texts]
    assert [part.tolist() for part in np.split(found.ids, found.ends)[:-1]] == expected
    assert found.counts.tolist() == list(map(len, expected))
    assert [ids(ours, text) for text in texts] == expected


def test_every_character(bert, ours):
    # Of most ideographs neither has anything to say.
    codes = [*range(0x3500), *range(0x9F00, 0xAC80), *range(0xD700, 0xD800), *range(0xF8F0, 0x12000), 0x2B820, 0x2B920]
    wrong = [f"{code:x}" for code in codes if ids(ours, f"a{chr(code)}b") != bert(f"a{chr(code)}b").ids]
    assert wrong == []
    files = [
        file for names in ("*.md", "docs/*.md", "tests/text/*.py", "notebooks/*.ipynb") for file in ROOT.glob(names)
    ]
    texts = [file.read_text("utf-8") for file in files]
    assert sum(map(len, texts)) > 100_000
    assert [ids(ours, text) for text in texts] == [bert(text).ids for text in texts]


def test_names_are_parted():
    """Names in camel case are parted, and begin, where a capital begins a word; without the option they are one."""
    parting, whole = WordPiece(VOCABULARY, part_camel=True), WordPiece(VOCABULARY)
    assert ids(parting, "TCPConnector parseJsonFiles2Csv") == ids(whole, "TCP Connector parse Json Files2 Csv")
    assert ids(whole, "TCPConnector") == ids(whole, "tcpconnector")
    starts = parting.starts("\n preisTabelle").tolist()
    assert starts[0] == 2 and 7 in starts and 7 in parting.starts("Zu\u0308richPreise")


@given(text=TEXTS)
@example(text=CELL * 40)
@settings(max_examples=200, deadline=None)
def test_where_tokens_begin(bert, ours, text):
    text = text.replace("x" * 101, "x")
    assert ours.starts(text).tolist() == [start for start, _ in bert(text).offsets]


def test_the_cache_is_bounded():
    known, held = WordPiece(VOCABULARY), []
    texts = [" ".join(f"{number:x}" for number in range(start, start + 30_000)) for start in range(0, 90_000, 30_000)]
    tracemalloc.start()
    for text in texts:
        ids(known, text)
        ids(known, "0f" * 20_000)
        held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert max(held) < 2.5 * held[0]
    # A word that is too long for any token can be cut in many places, so that no chunk holds all of it.
    starts = known.starts("data " + "0f" * 50_000)
    assert len(starts) > 20_000 and np.diff(starts).max() <= 5


@pytest.mark.parametrize("piece", ["\u0301\u0327", "x", "()", "aB", "東", "\x0b", "é", "0"])
def test_no_work_grows_square(piece):
    """A text of one stretch without a space, twice as long, takes about twice as many steps."""

    def work(text):
        fresh = WordPiece(VOCABULARY, part_camel=True)
        ids(fresh, text)
        fresh.starts(text)

    few, many = (steps(lambda times=times: work(piece * times)) for times in (5_000, 10_000))
    assert many < 2.5 * few


def test_from_many_threads():
    right, shared = [], WordPiece(VOCABULARY)

    def count(number):
        for round_ in range(30):
            text = f"Lieferung{'x' * round_} λ{number} {CELL[number : number + 90]} order{chr(97 + number) * round_}"
            right.append(ids(shared, text) == ids(WordPiece(VOCABULARY), text))

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(count, range(3)))
    assert right == [True] * 90


STORED = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.lists(st.sampled_from(["prices", " ", "\n", "NetPrice", "\u0301", "東京", "İ", "\0", "##s", "🚚"])).map("".join),
)
CHUNKS = st.lists(st.tuples(STORED, STORED), max_size=6)


@given(chunks=CHUNKS)
def test_tokens_of_a_chunk(chunks):
    """Head and text have the tokens of what is embedded; the kept ones come back from their bytes, in order."""
    whole, _ = chunk_tokens(chunks)
    together = tokens([f"{head}\n{text}".replace("\0", "") for head, text in chunks])
    assert whole.ids.tolist() == together.ids.tolist()
    assert whole.ends.tolist() == together.ends.tolist()
    whole, kept = chunk_tokens(chunks)
    parts = np.split(whole.ids, whole.ends)[:-1]
    assert len(kept) == len(chunks)
    for one, part, (_, text) in zip(kept, parts, chunks, strict=True):
        assert one.different.tolist() == sorted(set(part.tolist())) and one.size == len(set(part.tolist()))
        assert one.text.tolist() == tokens([text.replace("\0", "")]).ids.tolist()
        assert not is_damaged(one)


def test_many_different_tokens():
    text = " ".join(f"{number}" for number in range(100, 900))
    whole, [few, many] = chunk_tokens([("", text[:400]), ("Numbers", text)])
    assert many.size > 256 > few.size
    assert len(few) == 4 + 2 * few.size + whole.counts[0]
    assert many.text.tolist() == tokens([text]).ids.tolist()
    assert not is_damaged(many)
    assert is_damaged(many[:-1]) and is_damaged(many + b"\xff\xff")


TokenVectors = type(token_vectors())
DIMENSIONS = token_vectors()[np.array([0])].shape[1]


def test_halves_become_the_numbers_that_they_are():
    """Every finite number of 16 bits, the smallest and negative zero too, is converted as NumPy does."""
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    halves = np.resize(every[np.isfinite(every)], (500, DIMENSIONS))
    wide = halves.astype(np.float32)
    expected = wide / np.maximum(np.sqrt(np.einsum("ij,ij->i", wide, wide)), 1e-9)[:, None]
    assert np.array_equal(TokenVectors(halves)[np.arange(500)], expected)
    # A vector of length 0 stays 0 and is no division by 0.
    halves = np.zeros((2, DIMENSIONS), np.float16)
    halves[1, 0] = -2
    assert TokenVectors(halves)[np.array([1, 0])][:, 0].tolist() == [-1.0, 0.0]


def test_a_sum_keeps_the_lengths_of_its_tokens():
    """A row is its token's whenever it is asked for, as a copy; a sum adds up what the table holds, -1 adds nothing."""
    halves = np.random.default_rng(5).normal(size=(9, DIMENSIONS)).astype(np.float16)
    halves[4] = 0
    vectors = TokenVectors(halves)
    _ = vectors[np.array([1, 2])]
    rows = np.random.default_rng(6).integers(-1, 9, (150, 3))
    expected = np.vstack([halves.astype(np.float32), np.zeros((1, DIMENSIONS), np.float32)])[rows].sum(axis=1)
    assert np.allclose(vectors.sums(rows), expected, rtol=1e-5, atol=1e-5)
    assert not vectors.sums(np.empty((1, 0), np.int64)).any()
    halves = np.random.default_rng(3).normal(size=(40, DIMENSIONS)).astype(np.float16)
    vectors, expected = TokenVectors(halves), TokenVectors(halves)[np.arange(40)]
    for ids in ([3, 1, 3], [1, 2, 3, 39], [], list(range(40))):
        rows = vectors[np.array(ids, np.int64)]
        assert np.array_equal(rows, expected[ids].reshape(-1, DIMENSIONS))
        rows[:] = 0
