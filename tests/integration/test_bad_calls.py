"""Calls that choose nothing, name nobody, or have options that there are not: an error says what to do."""

from __future__ import annotations

import inspect

import pytest
from any_text import MEGABYTE

from jupyter_memory import InputError, MemoryStore, QueryError, UnknownEmbedder, UnknownMemory, UnknownProfile
from jupyter_memory.types import Filters


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"filters": {}},
        {"filters": None},
        {"filters": Filters()},
        {"filters": {"tag": ()}},
        {"filters": {"tag": [], "kind": None}},
        {"source": ""},
        pytest.param({"source": "\0"}, id="NUL"),
        {"ids": None, "everything": False},
    ],
    ids=str,
)
def test_forget_needs_a_choice(week_store, choice):
    """forget() without anything that chooses is refused, and forgets nothing."""
    with pytest.raises((InputError, QueryError), match=r"needs to know what: ids, source=, filters=|'path' is empty"):
        week_store.forget(**choice)
    assert week_store.stats()["memories"] == 10


def test_forget_takes_one_kind_of_choice(week_store, week_memories):
    """ids together with another choice are refused: it is not said which of the two counts."""
    known = week_memories["Poisson λ"].id
    for more in ({"source": "/projects"}, {"filters": {"kind": "cell"}}, {"everything": True}):
        with pytest.raises(InputError):
            week_store.forget(known, **more)
    with pytest.raises(InputError):
        week_store.forget(source="/projects", filters={"path": "/projects"})
    assert week_store.stats()["memories"] == 10


def test_nothing_fits(week_store):
    """A choice that fits nothing forgets nothing; an empty list of ids, too."""
    assert (
        week_store.forget([]) == week_store.forget(source="/nowhere") == week_store.forget(filters={"tag": "no"}) == 0
    )


@pytest.mark.parametrize("memory_id", ["", "nope", 5, "\ud800", "' or 1=1 --", "x" * MEGABYTE])
def test_an_unknown_id(week_store, week_memories, memory_id):
    """An id that nobody has is refused everywhere, and of several ids none is forgotten then."""
    known = week_memories["Poisson λ"].id
    for call in (
        lambda: week_store.get(memory_id),
        lambda: week_store.get([known, memory_id]),
        lambda: week_store.update(memory_id, title="x"),
        lambda: week_store.pin(memory_id),
        lambda: week_store.unpin(memory_id),
        lambda: week_store.explain("prices", memory_id),
        lambda: week_store.forget(memory_id),
        lambda: week_store.forget([known, memory_id]),
    ):
        with pytest.raises(UnknownMemory, match="No memory has the id"):
            call()
    assert week_store.get(known)


# -- the store itself --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"embedder": "bogus"}, UnknownEmbedder),
        ({"profile": "bogus"}, UnknownProfile),
        ({"profile": 5}, UnknownProfile),
    ],
)
def test_a_store_that_cannot_be_opened_so(tmp_path, options, error):
    """A wrong name is said when the store is opened, or at the latest when it is first needed; no file is left open."""
    with pytest.raises(error):
        MemoryStore(tmp_path / "memory.sqlite", **options).add("λ")


def test_the_signature_is_the_one_of_the_documents():
    """The names that scripts depend on are those of the interface."""
    add = " ".join(inspect.signature(MemoryStore.add).parameters)
    forget = " ".join(inspect.signature(MemoryStore.forget).parameters)
    assert add == (
        "self text title tags tier kind source event_at severity domain valid_from valid_until session space metadata"
    )
    assert forget == "self ids source filters everything dry_run now"
    # Completion and help read the keywords one by one.
    search, browse = (inspect.signature(one).parameters for one in (MemoryStore.search, MemoryStore.browse))
    assert " ".join(search) == "self query mode limit filters since until profile now tags domain"
    assert " ".join(browse) == "self limit filters since until"
    assert search["mode"].default == "full"


def test_a_keyword_that_is_none(week_store):
    """A keyword that does not exist is refused with those that do, by a search and by a list."""
    with pytest.raises(TypeError, match=r"no keyword lmit.*limit, filters, since, until, profile, now, tags, domain"):
        week_store.search("λ", lmit=3)
    with pytest.raises(TypeError, match=r"no keyword now.*limit, filters, since, until"):
        week_store.browse(now="today")
