"""The tokens of chunks: those of what is embedded, and what a store keeps of them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.embedders import chunk_tokens, tokens
from jupyter_memory.types import ChunkTokens, is_damaged

TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.lists(st.sampled_from(["prices", " ", "\n", "NetPrice", "\u0301", "東京", "İ", "\0", "##s", "🚚"])).map("".join),
)
CHUNKS = st.lists(st.tuples(TEXTS, TEXTS), max_size=6)


@given(chunks=CHUNKS)
def test_as_one_text(chunks):
    """Head and text have the tokens of the text that is embedded, in which the head is a line of its own."""
    whole, _ = chunk_tokens(chunks)
    together = tokens([f"{head}\n{text}".replace("\0", "") for head, text in chunks])

    assert whole.ids.tolist() == together.ids.tolist()
    assert whole.ends.tolist() == together.ends.tolist()


@given(chunks=CHUNKS)
def test_what_is_kept(chunks):
    """The different tokens of a chunk ascend, those of its text keep their order, and bytes give both back."""
    whole, kept = chunk_tokens(chunks)
    parts = np.split(whole.ids, whole.ends)[:-1]

    assert len(kept) == len(chunks)
    for one, part, (_, text) in zip(kept, parts, chunks, strict=True):
        back = ChunkTokens.from_bytes(one.to_bytes())
        assert back.different.tolist() == sorted(set(part.tolist()))
        assert back.text.tolist() == tokens([text.replace("\0", "")]).ids.tolist()
        assert not is_damaged(one.to_bytes())


def test_many_different_tokens():
    """Above 256 different tokens, a place takes two bytes."""
    text = " ".join(f"{number}" for number in range(100, 900))
    whole, [few, many] = chunk_tokens([("", text[:400]), ("Numbers", text)])
    back = ChunkTokens.from_bytes(many.to_bytes())

    assert len(many.different) > 256 > len(few.different)
    assert len(few.order) == whole.counts[0]
    assert back.text.tolist() == many.text.tolist() == tokens([text]).ids.tolist()
    assert not is_damaged(many.to_bytes())
    assert is_damaged(many.to_bytes()[:-1]) and is_damaged(many.to_bytes() + b"\xff\xff")
