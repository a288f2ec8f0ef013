"""One line that answers counts, however much else a memory holds."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import MemoryStore
from jupyter_memory.embedders.tokenizer.token_vectors import DIMENSIONS, TokenVectors
from jupyter_memory.search.signals.best_passage import BLOCK, best_cosines, in_blocks

ANSWER = "The tariff of Zürich rises to λ 12 per kilowatt hour in winter."
OTHER = "We met the gardeners, tasted six kinds of apples and painted the fence behind the old barn. "


def slowly(asked, texts):
    """Return the best cosine of each text, passage by passage."""

    def cosine(passage):
        total = np.sum(passage, axis=0, dtype=np.float64)
        return float(total @ asked / max(np.linalg.norm(total) * np.linalg.norm(asked), 1e-9))

    def passages(text):
        starts = range(0, max(1, len(text) - BLOCK), BLOCK)
        return [text[start : start + 2 * BLOCK] for start in starts]

    return [max(map(cosine, passages(text))) if len(text) else 0.0 for text in texts]


@given(st.lists(st.integers(0, 5 * BLOCK), min_size=1, max_size=6), st.integers(0, 2**32 - 1))
def test_every_passage_of_every_text_is_compared(counts, seed):
    """Texts of any length, also none, give what comparing one passage after the other gives."""
    rng = np.random.default_rng(seed)
    table = TokenVectors(rng.normal(size=(50, DIMENSIONS)).astype(np.float16))
    texts = [rng.integers(0, 50, count) for count in counts]
    asked = rng.normal(size=DIMENSIONS).astype(np.float32)

    found = best_cosines(asked, table.sums(in_blocks(np.concatenate(texts), np.array(counts))), np.array(counts))

    assert found == pytest.approx(slowly(asked, [table.sums(text[:, None]) for text in texts]), abs=1e-4)


def test_a_query_without_a_direction_is_near_to_nothing():
    """Zeros divide nothing."""
    assert best_cosines(np.zeros(4, np.float32), np.ones((1, 4), np.float32), np.array([3])).tolist() == [0.0]


@pytest.fixture
def store(tmp_path):
    with MemoryStore(tmp_path / "λ.sqlite") as store:
        yield store


def values(store, query):
    """Return what the signal says of each memory, by its title."""
    return {hit.memory.title: hit.signals["best_passage"].value for hit in store.hits(query, limit=20).hits}


def test_the_rest_of_a_text_hides_no_line(store):
    """The line that answers says as much in a long text as alone; a text without it says less."""
    store.add(ANSWER, title="short")
    store.add(OTHER * 4 + ANSWER + " " + OTHER * 4, title="long")
    store.add(f"{OTHER * 4}Last winter it was cold. {OTHER * 4}", title="other")

    found = values(store, "winter tariff of Zürich per kilowatt hour")

    assert found["short"] > found["long"] > 0.6 * found["short"] > found["other"]


def test_a_turn_of_a_conversation_has_no_value(store):
    """Turns are single passages: only what stands by itself is compared."""
    store.add(ANSWER, title="alone")
    store.add(ANSWER + " So she said.", title="turn", session="talk")

    found = values(store, "winter tariff of Zürich")

    assert found["alone"] > 0.3
    assert isnan(found["turn"])


def test_wherever_it_stands_in_a_long_text(store):
    """Of a text of several chunks, the one that was found is read, so an answer after some pages counts as well."""
    filler = OTHER * 60
    for title, text in {
        "late": filler + ANSWER,
        "early": ANSWER + filler,
        "none": filler + "The fence has a tariff.",
    }.items():
        store.add(text, title=title)

    found = values(store, "winter tariff of Zürich per kilowatt hour")

    assert found["late"] == pytest.approx(found["early"], rel=0.1)
    assert found["none"] < 0.8 * min(found["early"], found["late"])
