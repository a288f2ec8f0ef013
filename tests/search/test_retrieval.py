"""The two retrievers of a search at the same time: what each reads for the other changes no answer."""

from __future__ import annotations

import pytest

from jupyter_memory.storage.sqlite.indexes import vectors

QUESTIONS = ["how did we normalise the prices?", "λ", "ridge in Zürich", "nothing like it", "prices"]


def answers(store, profile, now):
    """Return what is shown for each question, twice, since a second search stands on what the first has read."""
    return [
        store.hits(question, profile=profile, now=now, limit=limit).hits
        for question in QUESTIONS
        for limit in (3, 20)
        for _ in range(2)
    ]


@pytest.mark.parametrize("profile", ["covalence", "auto", "vault"])
def test_looking_beside_changes_nothing(week_store, now, monkeypatch, profile):
    """Where meaning is looked for by another thread, the hits are the same, with all that made their scores."""
    alone = answers(week_store, profile, now)
    monkeypatch.setattr(vectors, "EXACT", 0)  # as in a large store
    assert repr(answers(week_store, profile, now)) == repr(alone)
    assert any(alone)


def test_related_beside(week_store, monkeypatch):
    """What is like a memory is the same, and never the memory itself, where meaning is looked for beside."""
    [first, *_] = week_store.hits("prices").hits
    alone = week_store.related(first.memory.id).hits
    monkeypatch.setattr(vectors, "EXACT", 0)
    beside = week_store.related(first.memory.id).hits
    assert repr(beside) == repr(alone)
    assert beside
    assert first.memory.id not in [hit.memory.id for hit in beside]
