"""More like this: what a memory has in common with others, by words and meaning, without itself."""

from __future__ import annotations

import numpy as np
import pytest

from jupyter_memory import UnknownMemory

TOPICS = {
    "prices": ["We scaled the prices to zero mean.", "Prices are net of tax before scaling.", "Scaling prices by shop"],
    "orders": [
        "Orders at night follow a Poisson law with λ.",
        "The λ of Poisson orders is 3.2",
        "Night orders: λ falls",
    ],
    "files": [
        "FileSyncService drops events of Łukasz.",
        "Events are lost when FileSyncService is slow",
        "Lost events: sync",
    ],
}


@pytest.fixture
def topics(store):
    """A store with three notes on each of three subjects, and the ids by subject."""
    memory = store()
    ids = {name: [memory.add(text).id for text in texts] for name, texts in TOPICS.items()}
    return memory, ids


@pytest.mark.parametrize("profile", ["auto", "covalence", "memini"])
@pytest.mark.parametrize("subject", TOPICS)
def test_what_is_on_the_same_subject(topics, profile, subject):
    """The best two are the other notes on the subject, and the memory itself is neither a hit nor a rank."""
    memory, ids = topics
    answer = memory.related(ids[subject][0], profile=profile)

    assert {hit.memory.id for hit in answer.hits[:2]} == set(ids[subject][1:])
    assert ids[subject][0] not in {hit.memory.id for hit in answer.hits}
    assert 1 in {hit.kw_rank for hit in answer.hits} and 1 in {hit.sem_rank for hit in answer.hits}
    assert answer.counts["fused"] == len(answer.hits) <= 8


def test_what_says_the_same_is_left_out(store):
    """A copy of the memory in another notebook is no other memory, and a notice says that it is there."""
    text = "The zeros function creates an array of zeros."
    memory = store()
    first = memory.add(text, title="numpy", source="/week/numpy.md")
    copy = memory.add(text.upper(), title="numpy", source="/week/numpy-Copy1.md")
    other = memory.add("The ones function creates an array of ones.", title="numpy", source="/week/ones.md")
    answer = memory.related(first.id)

    assert copy.id != first.id
    assert [(hit.rank, hit.memory.id) for hit in answer.hits] == [(1, other.id)]
    assert answer.notices == ("1 memory with the same text is not shown.",)


def test_limit_and_filters(topics):
    """Limit and filters hold as in a search."""
    memory, ids = topics
    memory.update(ids["prices"][1], tags=["decision"])

    assert len(memory.related(ids["prices"][0], limit=1).hits) == 1
    answer = memory.related(ids["prices"][0], filters={"tag": "decision"})
    assert [hit.memory.id for hit in answer.hits] == [ids["prices"][1]]


def test_without_a_verdict(topics):
    """Nobody asked a question, so nothing is said of how well it was answered."""
    memory, ids = topics
    answer = memory.related(ids["orders"][0])

    assert answer.verdict is None and np.isnan(answer.strength) and answer.notices == ()
    assert memory.explain_in(answer, answer.hits[0].memory.id).rank == 1


def test_no_model_is_asked(topics, monkeypatch):
    """The vectors that the memory has are enough: nothing is embedded."""
    memory, ids = topics

    def refuse(*_):
        raise AssertionError("asked")

    monkeypatch.setattr(type(memory._model.for_searching()[0]), "embed_query", refuse)
    assert memory.related(ids["files"][0]).counts["vector"] > 0


def test_by_words_alone(store):
    """A store without a model finds what shares the telling words."""
    memory = store(embedder=None)
    first, second, _ = [memory.add(text).id for text in ("The λ of Poisson", "Poisson at night", "Prices in Zürich")]

    assert [hit.memory.id for hit in memory.related(first).hits] == [second]


@pytest.mark.parametrize(
    "text", ['"', "tag:x -kind:cell", "the", "東京の売上", "last week", "x" * 20_000, "a:b:c " * 3_000]
)
def test_whatever_it_holds(topics, text):
    """A memory whose text would be read as something else in a query has its like all the same."""
    memory, _ = topics
    one = memory.add(text)

    assert one.id not in {hit.memory.id for hit in memory.related(one.id).hits}


def test_cjk(store):
    """What is written without spaces is compared by pairs of characters."""
    memory = store(embedder=None)
    first, second, _ = [memory.add(text).id for text in ("東京の売上が増えた", "大阪と東京の売上", "価格の正規化")]

    assert memory.related(first).hits[0].memory.id == second


def test_nothing_like_nothing(store):
    """A memory that is alone has nothing like it; one that is not there is said so."""
    memory = store()
    alone = memory.add("The λ of Poisson")

    assert memory.related(alone.id).hits == ()
    with pytest.raises(UnknownMemory):
        memory.related("0" * 16)
