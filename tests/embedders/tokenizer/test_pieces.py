"""The tokens of a text, put together from those of its pieces: the same as the tokenizer's own."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from jupyter_memory.embedders.tokenizer import pieces
from jupyter_memory.embedders.tokenizer.bundled import bundled_tokenizer, bundled_vocabulary
from jupyter_memory.embedders.tokenizer.pieces import merged

CELL = """def load(path):
    # Preise in Zürich, λ = 3.2e-04
    return pd.read_parquet(f"{path}/<b>2026</b>.parquet")["price_eur"]  # 🚚 ¥ 東京の売上

"""
BYTE = re.compile("<0x[0-9A-F]{2}>")
# What is likely to stand where tokens join: spaces, tags, digits, scripts, tokens that are special.
STRETCHES = (
    " ", "  ", "        ", "\n", "\n\n\n", "\t", "\r\n", "\0", "\u2581", "\u00a0", "_", "</", ">", "/", "<", "();",
    "¨", "².", "7", "2026", "br", "Umsatz", "price", "É", "é", "e\u0301", "東京", "の売上", "한국어", "מחיר", "السعر",
    "🚚", "👩🏽\u200d🔬", "<s>", "</s>", "<unk>", "<0x0A>", "\ufffd", "\ufeff", "\u202e",
)  # fmt: skip
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.sampled_from(STRETCHES), max_size=25).map("".join),
    st.lists(st.one_of(st.sampled_from(STRETCHES), st.text(st.characters(exclude_categories=["Cs"]), max_size=3))).map(
        "".join
    ),
)
WORDS = (
    "how did we normalise the prices in Zürich for λ = 3.2? df.groupby('shop')['preis_eur'].transform(np.mean) "
    "  # 東京 🚚 ====== aaaaaaaa hahahaha banananana \u2581\u2581x </div> <0x0A> unnormalisable"
)
FRESH = """
import sys
from jupyter_memory.embedders.tokenizer import pieces
found = pieces.tokens([{text!r}])
print(found.ids.tolist(), "tokenizers" in sys.modules)
"""


def expected(text):
    return bundled_tokenizer().encode(text, add_special_tokens=False)


@given(texts=st.lists(TEXTS, max_size=4))
@example(texts=[CELL, "", "<s>a<unk></s>", " ", "\n"])
@example(texts=["a</b", "x/y", "p>q", "É/a", "a>É", ">>É<"])
@settings(max_examples=400, deadline=None)
def test_the_tokenizers_own(texts):
    """Whatever the texts, their tokens are those that the tokenizer gives for each."""
    found = pieces.tokens(texts)

    assert [part.tolist() for part in np.split(found.ids, found.ends)[:-1]] == [expected(text).ids for text in texts]
    assert found.counts.tolist() == [len(expected(text).ids) for text in texts]


def test_no_token_holds_what_is_parted():
    """No two characters that stand together in any token of the vocabulary are ever cut apart."""
    vocabulary = [token.replace("\u2581", " ") for token in bundled_tokenizer().get_vocab()]
    pairs = {token[i : i + 2] for token in vocabulary if not BYTE.fullmatch(token) for i in range(len(token) - 1)}
    assert len(pairs) > 3000

    for before in ("", "a", ")", "/", " ", "7", "é"):
        for after in ("", "b", "(", ">", " ", "\n", "3", "é"):
            for pair in pairs:
                text = f" {before}{pair}{after}"
                cuts = np.cumsum([len(piece) for piece in pieces._PIECE.findall(text)])
                assert cuts[-1] == len(text)
                assert 2 + len(before) not in cuts, text


@given(text=TEXTS)
@example(text=CELL * 40)
@settings(max_examples=200, deadline=None)
def test_where_tokens_begin(text):
    """The offsets are the tokenizer's, but for special tokens, which count as the letters they have."""
    text = pieces._SPECIAL.sub("?", text)

    found = pieces.starts(text)

    # The tokenizer says of the space in front that it begins where the text does.
    assert found.tolist() == [start for start, _ in expected(text).offsets]


def test_a_long_text_in_parts(monkeypatch):
    """A text that is told part by part has the offsets that it has in one."""
    text = CELL * 30
    whole = pieces.starts(text)
    monkeypatch.setattr(pieces, "_PART", 500)

    assert pieces.starts(text).tolist() == whole.tolist()


def test_the_cache_is_bounded(monkeypatch):
    """However many words are met, the cache does not grow beyond its bound by more than one batch."""
    monkeypatch.setattr(pieces, "_MOST", 1000)
    known = pieces._Known()
    monkeypatch.setattr(pieces, "_KNOWN", known)
    letters = random.Random(3)
    for _ in range(50):
        text = " ".join("".join(letters.choices("abcdefghijk", k=9)) for _ in range(60))
        assert pieces.tokens([text]).ids.tolist() == expected(text).ids

    assert known.pieces.ids.size < 2000
    assert known.lines.ids.size < 2000
    assert len(known.pieces) + len(known.lines) < 600


def test_interrupted_while_learning(monkeypatch):
    """Words whose tokens did not come are asked for anew."""
    text = "Zwischenstand der Lieferkettenauswertung"
    known = pieces._Known()
    monkeypatch.setattr(pieces, "_KNOWN", known)

    def interrupted(new):
        raise KeyboardInterrupt

    monkeypatch.setattr(known.pieces, "_learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pieces.tokens([text])
    monkeypatch.undo()
    monkeypatch.setattr(pieces, "_KNOWN", known)

    assert pieces.tokens([text]).ids.tolist() == expected(text).ids


def test_from_many_threads():
    """Threads that meet new words at the same time each get the tokens of their own texts."""
    wrong = []

    def count(number):
        for round_ in range(60):
            text = f"Lieferung{'x' * round_} λ{number} {CELL[number : number + 90]} order{chr(97 + number) * round_}"
            if pieces.tokens([text]).ids.tolist() != expected(text).ids:
                wrong.append(text)

    threads = [threading.Thread(target=count, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)

    assert wrong == []


@given(texts=st.lists(TEXTS, max_size=6))
def test_each_token_once(texts):
    """The different tokens of each text are its tokens, ascending, each once; a text without any has none."""
    found = pieces.tokens(texts)

    assert [ids.tolist() for ids in pieces.distinct(found)] == [
        sorted(set(part.tolist())) for part in np.split(found.ids, found.ends)[:-1]
    ]


def tokenised(piece):
    # On a line of its own, as the tokenizer puts a space before a text.
    return bundled_tokenizer().encode("\n" + piece, add_special_tokens=False).ids[2:]


def test_the_vocabulary():
    """The numbers of the tokens are the tokenizer's."""
    assert bundled_vocabulary() == bundled_tokenizer().get_vocab()


@given(text=st.one_of(st.text(st.characters(exclude_categories=["Cs"])), st.text("ab =_", min_size=2, max_size=30)))
@example(text=WORDS)
@settings(max_examples=400, deadline=None)
def test_the_tokenizers_tokens(text):
    """Of every piece of a text, the tokens are the tokenizer's where there are any."""
    for piece in set(pieces._PIECE.findall(text)) - {"\n"}:
        assert merged(piece, bundled_vocabulary()) in (None, tokenised(piece)), piece


def test_every_token_as_a_word():
    """The text of a token is put together as the tokenizer does it; next to none is left to the tokenizer."""
    words = [token.replace("\u2581", " ") for token in bundled_vocabulary() if token.isalpha() and token.isascii()]
    found = [merged(word, bundled_vocabulary()) for word in words]

    expected = pieces._tokenised([*words, *map(str, range(pieces._FEW))])  # many: the tokenizer is asked
    split = np.split(expected.ids, expected.ends)[: len(words)]
    assert len(words) > 10_000
    assert [ids for ids in found if ids is not None] == [
        ids.tolist() for ids, mine in zip(split, found, strict=True) if mine is not None
    ]
    assert found.count(None) < 20


@pytest.mark.parametrize(
    ("text", "wakes"), [("how did we normalise the prices in Zürich", False), ("Umsatz in 東京 🚚🚚", True)]
)
def test_a_question_without_the_tokenizer(text, wakes):
    """A question of common words has its tokens without loading the tokenizer; a rare letter needs it."""
    done = subprocess.run([sys.executable, "-c", FRESH.format(text=text)], capture_output=True, text=True, check=True)

    expected = bundled_tokenizer().encode(text, add_special_tokens=False).ids
    assert done.stdout.strip() == f"{expected} {wakes}"
