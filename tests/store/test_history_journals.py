"""What kernels noted beside a store: taken in when it opens, and forgotten with the rest, in an order that is safe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from kernel_runs import run

from jupyter_memory import JupyterMemory, MemoryStore, StoreLocked
from jupyter_memory.storage import Journal
from jupyter_memory.storage import journal as files
from jupyter_memory.storage import journal as records


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """Give the path of a store; no journal of it stays in the memory of the machine."""
    store = tmp_path / "store" / "memory.sqlite"
    yield store
    for journal in files.abandoned(store):
        journal.remove()


def leave(store: Path, record: bytes, name: str) -> Path:
    """Leave a journal beside a store, as a kernel that died does; journals are read in the order of their names."""
    journal = Journal.on_disk(store)
    journal.write(record)
    journal.close()
    return journal.path.rename(journal.path.with_name(journal.path.name[:-16] + name * 16))


def test_a_journal_that_cannot_be_read_keeps_no_other_waiting(path):
    """The store opens and takes in the others; what it cannot read stays where it is."""
    odd = replace(run("odd"), source=5)
    bad = leave(path, records.note(odd), "0")
    leave(path, records.note(run("fit(λ)")), "1")

    with MemoryStore(path) as store:
        assert [one.source for one in store.history.runs()] == ["fit(λ)"]
    assert [journal.path for journal in files.abandoned(path)] == [bad]


def test_an_open_store_takes_in_what_is_left_later(path, caplog):
    """What a kernel leaves while the store is open is there after a look; what cannot be read is said once."""
    with MemoryStore(path) as store:
        leave(path, records.note(replace(run("odd"), source=5)), "0")
        leave(path, records.note(run("fit(λ)")), "1")
        store.history.catch_up()
        store.history.catch_up()

        assert [one.source for one in store.history.runs()] == ["fit(λ)"]
        assert len(caplog.records) == 1


def test_a_look_at_what_is_left_is_no_matter_for_a_store_that_is_not_written(path):
    """A store that another program locks answers, and so does one without an embedder: what is left waits."""
    settings = JupyterMemory(busy_seconds=0.1)
    with MemoryStore(path, settings=settings) as store, MemoryStore(path, None, settings=settings) as by_words:
        left = leave(path, records.note(run("fit(λ)")), "0")
        by_words.history.catch_up()
        other = apsw.Connection(str(path))
        other.execute("begin immediate")
        store.history.catch_up()
        other.execute("rollback")
        assert left.exists() and store.history.runs() == []

        store.history.catch_up()
        assert len(store.history.runs()) == 1 and not left.exists()


@pytest.mark.parametrize("way", ["clear", "everything", "counted"])
def test_nothing_is_lost_where_forgetting_fails(path, way):
    """While the store is locked nothing is forgotten, and what waits beside it is not overwritten."""
    with MemoryStore(path, settings=JupyterMemory(busy_seconds=0.1)) as store:
        store.add("prices are net of tax")
        left = leave(path, records.note(run("fit(λ)")), "0")
        counted = store.selection(everything=True)
        forget = {
            "clear": store.history.clear,
            "everything": lambda: store.forget(everything=True),
            "counted": lambda: store.forget(counted),
        }[way]
        other = apsw.Connection(str(path))
        other.execute("begin immediate")
        with pytest.raises(StoreLocked):
            forget()
        assert [one.source for one in records.runs(left.read_bytes())] == ["fit(λ)"]

        other.execute("rollback")
        assert forget() == (way != "clear")
        assert not left.exists()


@pytest.mark.parametrize("way", ["clear", "everything"])
def test_what_is_taken_in_while_the_history_is_cleared_goes_as_well(path, monkeypatch, way):
    """A kernel that takes in its runs after the store forgot, and before the journals are empty, brings none back."""
    with MemoryStore(path) as store:
        store.history.record([run("fit(λ)", 1)])
        empty = files.empty

        def taken_in_before(of: Path) -> None:
            store.history.record([run("plot(λ)", 2)])
            empty(of)

        monkeypatch.setattr(files, "empty", taken_in_before)
        assert (store.history.clear() if way == "clear" else store.forget(everything=True)) == 2
        assert store.history.runs() == []


def test_runs_of_a_dead_kernel_go_into_the_space_that_it_had(path):
    """Whoever opens the store, a journal's runs belong where their kernel recorded."""
    leave(path, records.note(run("fit(λ)", space="team")) + records.note(run("plot(λ)", 2)), "0")

    for space, sources in (("mine", []), ("team", ["fit(λ)"])):
        with MemoryStore(path, space=space) as store:
            assert [one.source for one in store.history.runs()] == sources
            assert store.count() == len(sources)
