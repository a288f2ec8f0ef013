"""WordPiece of our own: the same tokens as the library `tokenizers`, wherever a text is cut and however long it is."""

from __future__ import annotations

import random
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from bert_wordpiece import encoder
from hypothesis import example, given, settings
from hypothesis import strategies as st

import jupyter_memory.embedders
from jupyter_memory.embedders.tokenizer import wordpiece
from jupyter_memory.embedders.tokenizer.wordpiece import WordPiece

VOCABULARY = (
    (Path(jupyter_memory.embedders.__file__).parent / "bundled" / "vocabulary.txt").read_text("utf-8").splitlines()
)
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


@pytest.fixture(scope="module")
def bert():
    """The library's tokenizer, which takes `[MASK]` in a text for what it is there: three words."""
    pytest.importorskip("tokenizers", reason="the reference for WordPiece needs the package tokenizers")
    return encoder(VOCABULARY)


@pytest.fixture(scope="module")
def ours():
    """One for all tests, so that most words are known to it."""
    return WordPiece(VOCABULARY)


@given(texts=st.lists(TEXTS, max_size=4))
@example(texts=[CELL, "", "[SEP]a[UNK]", " ", "\n"])
@example(texts=["".join(STRETCHES), " ".join(STRETCHES)])
@settings(max_examples=400, deadline=None)
def test_the_tokens_of_the_library(bert, ours, texts):
    """Whatever the texts, their tokens are those that the library gives for each."""
    found = ours.tokens(texts)

    expected = [bert(text).ids for text in texts]
    assert [part.tolist() for part in np.split(found.ids, found.ends)[:-1]] == expected
    assert found.counts.tolist() == list(map(len, expected))
    assert [ours.ids(text) for text in texts] == expected


def test_every_character(bert, ours):
    """Each character, between two letters, has the library's tokens: what is removed, parted, put in lower case."""
    # Of most ideographs neither has anything to say.
    codes = [*range(0x3500), *range(0x9F00, 0xAC80), *range(0xD700, 0xD800), *range(0xF8F0, 0x12000), 0x2B820, 0x2B920]
    wrong = [f"{code:x}" for code in codes if ours.ids(f"a{chr(code)}b") != bert(f"a{chr(code)}b").ids]
    assert wrong == []


def test_the_texts_of_this_project(bert, ours):
    """Documentation, tests and sources, with their Unicode, have the library's tokens."""
    root = Path(__file__).parents[3]
    files = [
        *root.glob("*.md"),
        *root.glob("docs/*.md"),
        *root.glob("tests/text/*.py"),
        *root.glob("notebooks/*.ipynb"),
    ]
    texts = [file.read_text("utf-8") for file in files]
    assert sum(map(len, texts)) > 100_000

    assert [ours.ids(text) for text in texts] == [bert(text).ids for text in texts]


def test_names_are_parted():
    """Names in camel case are parted where a capital begins a word; without the option they are one word."""
    parting, whole = WordPiece(VOCABULARY, part_camel=True), WordPiece(VOCABULARY)

    assert parting.ids("TCPConnector parseJsonFiles2Csv") == whole.ids("TCP Connector parse Json Files2 Csv")
    assert whole.ids("TCPConnector") == whole.ids("tcpconnector")


@given(text=TEXTS)
@example(text=CELL * 40)
@settings(max_examples=200, deadline=None)
def test_where_tokens_begin(bert, ours, text):
    """The offsets are the library's."""
    text = text.replace("x" * 101, "x")

    assert ours.starts(text).tolist() == [start for start, _ in bert(text).offsets]


def test_where_parted_names_begin():
    """The parts of a name begin where they stand in it, with accents or without."""
    parting = WordPiece(VOCABULARY, part_camel=True)

    assert parting.starts("\n preisTabelle").tolist()[0] == 2
    assert 7 in parting.starts("\n preisTabelle")
    assert 7 in parting.starts("Zu\u0308richPreise")


def test_a_word_without_end():
    """A word that is too long for any token can be cut in many places, so that no chunk holds all of it."""
    starts = WordPiece(VOCABULARY).starts("data " + "0f" * 50_000)

    assert len(starts) > 20_000
    assert np.diff(starts).max() <= 5


def test_the_cache_is_bounded(monkeypatch):
    """However many words are met, no cache grows beyond its bound, and very long words are not kept."""
    monkeypatch.setattr(wordpiece, "_MOST", 100)
    known, letters = WordPiece(VOCABULARY), random.Random(3)
    for _ in range(50):
        text = "\n".join("".join(letters.choices("abcdefghijk", k=9)) for _ in range(60)) + "\n" + "word " * 100
        assert known.ids(text) == WordPiece(VOCABULARY).ids(text)
        known.starts(text)

    for cache in (known._words, known._pieces, known._word_starts):
        assert len(cache) <= 100
        assert max(map(len, cache)) <= 120


@pytest.mark.parametrize("piece", ["\u0301\u0327", "x", "()", "aB", "東", "\x0b", "é", "0"])
def test_no_work_grows_square(piece, ours):
    """A text of one stretch without a space, twice as long, takes about twice as many steps."""
    steps = []
    for times in (5_000, 10_000):
        count = 0

        def step(frame, event, argument):
            nonlocal count
            count += 1

        text = piece * times
        sys.setprofile(step)
        try:
            fresh = WordPiece(VOCABULARY, part_camel=True)
            fresh.ids(text)
            fresh.starts(text)
        finally:
            sys.setprofile(None)
        steps.append(count)

    assert steps[1] < 2.5 * steps[0]


def test_from_many_threads():
    """Threads that meet new words at the same time each get the tokens of their own texts."""
    wrong, shared = [], WordPiece(VOCABULARY)

    def count(number):
        for round_ in range(30):
            text = f"Lieferung{'x' * round_} λ{number} {CELL[number : number + 90]} order{chr(97 + number) * round_}"
            if shared.ids(text) != WordPiece(VOCABULARY).ids(text):
                wrong.append(text)

    threads = [threading.Thread(target=count, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)

    assert wrong == []
