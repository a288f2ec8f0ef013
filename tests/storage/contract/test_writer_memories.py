"""What every storage must do with memories that are written: whole, or not at all."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from contract_writing import NOTE, NOW, add, everything, seen

from jupyter_memory import UnknownMemory
from jupyter_memory.ingest import prepare
from jupyter_memory.types import Draft, Filters


def test_adding(storage):
    """Memories come back in the order of their drafts; equal ones are one memory with the tags of both."""
    first, other, again = add(storage, NOTE, Draft(text="μ fell."), replace(NOTE, tags=("prices",)))

    assert first.id == again.id != other.id
    assert set(again.tags) == {"decision", "prices"} and again.title == "λ"
    assert len(everything(storage)) == 2
    assert seen(storage, lambda snapshot: snapshot.same_content([NOTE, Draft(text="ν")]))[1] is None


def test_merging(storage):
    """Known content takes tags, metadata and the pin; what is not known is left to be added."""
    [memory] = add(storage, NOTE)
    merged = storage.writer.merge([replace(NOTE, tags=("new",), metadata={"a": 1}, pinned=True), Draft(text="ν")])

    assert merged[1] is None and merged[0].id == memory.id
    assert set(merged[0].tags) == {"decision", "new"} and merged[0].metadata == {"a": 1} and merged[0].pinned


def test_updating(storage):
    """Values, tags and words change; the id stays, and searches find the new words only."""
    [memory] = add(storage, NOTE)
    moment = NOW - timedelta(days=1)
    changed = storage.writer.update(
        memory.id, {"severity": "warning", "event_at": moment, "metadata": {"ü": [1]}, "pinned": True}, tags=["new"]
    )
    assert (changed.severity, changed.event_at, changed.pinned) == ("warning", moment, True)
    assert changed.metadata == {"ü": [1]} and changed.tags == ("new",)

    [prepared] = prepare([replace(NOTE, text="The μ of Genève is 4.")], None)
    rewritten = storage.writer.update(memory.id, {}, prepared=prepared)
    assert rewritten.id == memory.id and "Genève" in rewritten.text
    for word, held in (("zürich", False), ("genève", True)):
        assert seen(storage, lambda snapshot, word=word: snapshot.holds_word(word, ["text"])) is held
    with pytest.raises(UnknownMemory):
        storage.writer.update("none", {})


def test_forgetting(storage):
    """Memories go by id or by filter; an unknown id keeps all of them."""
    first, second, third = add(storage, *(Draft(text=text, tags=(text,)) for text in ("λ", "μ", "ν")))
    with pytest.raises(UnknownMemory):
        storage.writer.forget([first.id, "none"])
    assert len(everything(storage)) == 3

    assert storage.writer.forget([first.id]) == 1
    assert storage.writer.forget(Filters(tag=("μ",))) == 1
    assert [memory.id for memory in everything(storage)] == [third.id] != [second.id]


def test_forgetting_none_but_some(storage):
    """Of what a filter lets through, only the given ids go; those that are gone or do not fit are left alone."""
    first, second, third = add(storage, *(Draft(text=text, tags=(text, "all")) for text in ("λ", "μ", "ν")))
    storage.writer.forget([third.id])
    [new] = add(storage, Draft(text="ξ", tags=("all",)))

    assert storage.writer.forget(Filters(tag=("λ", "all")), among=[first.id, third.id]) == 1
    assert storage.writer.forget(Filters(tag=("λ",)), among=[second.id]) == 0
    assert {memory.id for memory in everything(storage)} == {second.id, new.id}
    assert storage.writer.forget(Filters(), among=[second.id], everything=True) == 1
    assert [memory.id for memory in everything(storage)] == [new.id]
