"""A store that may not be written, or not even read, by who opens it."""

from __future__ import annotations

import apsw
import pytest

from jupyter_memory import JupyterMemory, JupyterMemoryError, MemoryStore, StoreError, StoreReadOnly

FILES = ("", "-wal", "-shm")


def searched(path):
    """Search a store and try to write to it; return what was found, what writing raised, and the notices."""
    with MemoryStore(path, embedder=None, settings=JupyterMemory()) as store:
        found = [hit.memory.text for hit in store.hits("prices").hits]
        raised = []
        for write in (lambda: store.add("more"), lambda: store.forget(everything=True), store.reembed, store.rebuild):
            try:
                write()
            except JupyterMemoryError as error:
                raised.append(type(error))
        store.stats(), store.doctor()
        return found, raised, store.notices


@pytest.fixture
def common_store(common_folder):
    """A store that everybody may read, in a folder that everybody may enter."""
    path = common_folder / "memory.sqlite"
    with MemoryStore(path, embedder=None) as store:
        store.add("The prices are net of tax")
    path.chmod(0o644)
    return path


def check_read_only(answer):
    """Hold a read-only store to what it promises."""
    assert not isinstance(answer, Exception), answer
    found, raised, notices = answer
    assert found == ["The prices are net of tax"]
    assert raised[:2] == [StoreReadOnly, StoreReadOnly] and raised[3] is StoreReadOnly
    assert "read-only: searches work" in notices[0]


def test_a_read_only_folder(common_store, as_user):
    """In a folder that cannot be written a store is searched; writing is refused; nothing is left behind."""
    common_store.parent.chmod(0o555)
    before = common_store.read_bytes()

    check_read_only(as_user(searched, common_store))
    assert common_store.read_bytes() == before
    assert list(common_store.parent.iterdir()) == [common_store]


def test_traces_in_a_store_that_cannot_be_written(common_store, as_user):
    """What could not be cleaned up before a store became read-only does not keep it from being searched."""
    connection = apsw.Connection(str(common_store))
    connection.execute("insert into counters (name, value) values ('scrub', 0)")
    connection.close()
    common_store.parent.chmod(0o555)
    found, _, notices = as_user(searched, common_store)

    assert found == ["The prices are net of tax"]
    assert any("traces of forgotten text may remain" in notice for notice in notices)


def test_a_read_only_file(common_store, as_user):
    """A file that cannot be written, in a folder that can, is searched, and nothing is written to it."""
    common_store.chmod(0o444)
    common_store.parent.chmod(0o777)
    before = common_store.read_bytes()

    check_read_only(as_user(searched, common_store))
    assert common_store.read_bytes() == before


def test_a_reader_without_rights_sees_what_is_in_the_log(common_store, as_user):
    """Beside an open writer, a reader who may not write finds what only the log holds as yet."""
    with MemoryStore(common_store, embedder=None) as writer:
        writer.add("Newer prices, in the log only")
        for ending in FILES:
            common_store.with_name(common_store.name + ending).chmod(0o444)
        common_store.parent.chmod(0o555)
        found, raised, _ = as_user(searched, common_store)

    assert set(found) == {"The prices are net of tax", "Newer prices, in the log only"}
    assert raised[0] is StoreReadOnly


def test_an_unreadable_file(common_store, as_user):
    """A file that may not even be read is refused with what to check."""
    common_store.chmod(0o000)
    answer = as_user(searched, common_store)

    assert type(answer) is StoreError and "cannot be read: check its owner and permissions" in str(answer)


def test_a_folder_that_may_not_be_entered(common_folder, as_user):
    """Below a closed folder there is no store, and no traceback of Python's."""
    (common_folder / "closed").mkdir(mode=0o000)
    answer = as_user(searched, common_folder / "closed" / "memory.sqlite")

    assert isinstance(answer, StoreReadOnly) and "Permission denied" in str(answer)


def test_no_store_can_be_made(common_folder, as_user):
    """Where nothing can be written no store is made, and the error names the ways out."""
    common_folder.chmod(0o555)
    answer = as_user(searched, common_folder / "memory.sqlite")

    assert isinstance(answer, StoreReadOnly) and "JUPYTER_MEMORY_PATH" in str(answer)


def test_an_empty_file_that_cannot_be_written(common_folder, as_user):
    """An empty file that would have to be made a store first says so."""
    (common_folder / "memory.sqlite").touch(mode=0o444)
    answer = as_user(searched, common_folder / "memory.sqlite")

    assert isinstance(answer, StoreReadOnly) and "must first be upgraded to this version" in str(answer)
