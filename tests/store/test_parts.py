"""A store and its parts: every method of the store is that of a part, with its signature and its documentation."""

from __future__ import annotations

import inspect

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.store import Searching
from jupyter_memory.store.maintenance import Activity, Maintenance
from jupyter_memory.store.memories import Forgetting, Memories
from jupyter_memory.store.sources import Sources
from jupyter_memory.store.transfer import StoreTransfer

METHODS = {
    "memories": (Memories, "add add_many get among thumbnail update pin unpin"),
    "forgetting": (Forgetting, "selection forget undo undoable"),
    "sources": (Sources, "index folders watch remove_folder forget_gone stale rename"),
    "searching": (Searching, "hits browsed trace pooled explain explain_in related related_to listed context"),
    "activity": (Activity, "note_search note_call note_access recent forget_recent feedback feedbacks"),
    "maintenance": (
        Maintenance,
        "stats count known tags doctor reembed drop_vectors rebuild backup restore",
    ),
    "transfer": (StoreTransfer, "export import_ copy_to"),
}
# These are written out in the store itself.
OWN = "search browse part interrupt close notices greeting model_offer profile closed replaced"
DOORS = [(part, kind, name) for part, (kind, names) in METHODS.items() for name in names.split()]


@pytest.mark.parametrize(("part", "kind", "name"), DOORS, ids=[name for _, _, name in DOORS])
def test_a_method_of_a_part(part, kind, name):
    """A method of the store looks like that of its part: `store.add?` shows what `store.memories.add?` shows."""
    ours, theirs = getattr(MemoryStore, name), getattr(kind, name)

    assert inspect.signature(ours) == inspect.signature(theirs)
    assert ours.__doc__ == theirs.__doc__ and ours.__doc__


def test_nothing_else_is_public(week_store):
    """The store has these methods, its parts, and where it lies; only history and fixes keep their methods apart."""
    methods = {name for _, _, name in DOORS} | set(OWN.split())
    public = {name for name in dir(week_store) if not name.startswith("_")}

    assert public == methods | set(METHODS) | {"fixes", "history", "path", "space"}
    for part, (kind, _) in METHODS.items():
        assert type(getattr(week_store, part)) is kind
        own = {"close", "bound", "within", "expire", "facets", "finish", "is_kept", "last_search"}
        assert {name for name in dir(kind) if not name.startswith("_")} - own <= methods


def test_what_a_part_does_the_store_sees(week_store):
    """A part writes into the store that it belongs to."""
    memory = week_store.memories.add("μ is 4", tags=["new"])

    assert week_store.get(memory.id) == memory
    assert week_store.searching.hits("μ").hits[0].memory.id == memory.id
    assert "new" in week_store.tags()
    assert week_store.tags() == week_store.maintenance.tags()
