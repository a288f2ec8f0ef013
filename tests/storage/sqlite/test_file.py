"""Opening a store: what is not one is left as it is, what cannot be written is searched all the same."""

from __future__ import annotations

import gc
import os
import random
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from jupyter_memory import (
    InputError,
    JupyterMemory,
    JupyterMemoryError,
    MemoryStore,
    StoreClosed,
    StoreDamaged,
    StoreError,
    StoreReadOnly,
)
from jupyter_memory.storage import Database

FILES = ("", "-wal", "-shm")


def mode(path):
    """Return the permission bits of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def sibling(path, ending):
    """Return the file beside a store."""
    return path.with_name(path.name + ending)


# -- what is not a store -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "message"),
    [
        (None, r"memory\.sqlite is not a readable store .* left as it is"),
        (0, "not a memory store"),
        (7, "not a memory store"),
    ],
    ids=["text", "SQLite", "SQLite with a version"],
)
def test_what_is_not_a_store(path, database, version, message):
    """A file of text, or with other tables, is refused before anything is written to it, its journal mode included."""
    path.parent.mkdir()
    if version is None:
        path.write_text("Umsatz in Zürich, λ = 3.2\n" * 100)
    else:
        other = apsw.Connection(str(path))
        other.execute("create table songs (title text); insert into songs values ('Für Elise')")
        other.pragma("user_version", version)
        other.close()
    before = path.read_bytes()

    with pytest.raises(StoreDamaged, match=message):
        database()
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_an_empty_file_becomes_a_store(path, database):
    """What `touch` made is as good as no file."""
    path.parent.mkdir()
    path.touch()

    assert database().version() >= 1000


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ("", InputError, r"is a folder; .* such as .*memory\.sqlite"),
        *(
            (where, StoreReadOnly, "No store can be made at")
            for where in ("taken/memory.sqlite", "zero\0byte.sqlite", "n" * 5000, "half\ud800.sqlite")
        ),
        ("a", JupyterMemoryError, None),
        ("a/memory.sqlite", JupyterMemoryError, None),
    ],
    ids=["a folder", "below a file", "NUL", "too long", "not in UTF-8", "a loop of links", "below a loop"],
)
def test_a_path_where_nothing_can_be(tmp_path, database, where, error, message):
    """A folder, a path below a file, with a NUL, too long, not in UTF-8 or in a circle is refused in one sentence."""
    (tmp_path / "taken").write_text("a file")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")

    with pytest.raises(error, match=message):
        database(tmp_path / where)


# -- damage ------------------------------------------------------------------------------------------------------------


def filled(path):
    """Make a store of a hundred memories and return its bytes."""
    with MemoryStore(path, embedder=None) as store:
        texts = (f"Note {i} on the prices of Zürich and λ. " * 20 for i in range(100))
        store.add_many(({"text": text} for text in texts), progress=False)
    return path.read_bytes()


def attempts(path):
    """Do what a user would do, and return the errors by verb; an error that is not ours comes through."""
    errors = {}
    try:
        store = MemoryStore(path, embedder=None)
    except JupyterMemoryError as error:
        return {"open": error}
    with store:
        for verb, attempt in (
            ("search", lambda: store.hits("prices of Zürich", limit=200)),
            ("browse", lambda: store.browsed(limit=200)),
            ("doctor", lambda: store.doctor() and pytest.fail("damage!")),
        ):
            try:
                attempt()
            except (JupyterMemoryError, pytest.fail.Exception) as error:
                errors[verb] = error
    return errors


def test_a_store_cut_off(path):
    """A store whose second half is missing is damaged, and stays as it was."""
    whole = filled(path)
    path.write_bytes(whole[: len(whole) // 2])
    before = path.read_bytes()
    errors = attempts(path)

    assert isinstance(errors.get("open") or errors.get("search"), StoreDamaged)
    assert path.read_bytes() == before


def test_a_store_overwritten_in_the_middle(path):
    """Wherever bytes are overwritten, no error is SQLite's own, someone notices, and reading changes nothing."""
    whole = filled(path)
    rng = random.Random(5)
    for _ in range(25):
        start = rng.randrange(4096, len(whole) - 4096)
        damaged = whole[:start] + rng.randbytes(4096) + whole[start + 4096 :]
        path.write_bytes(damaged)
        errors = attempts(path)

        assert errors, f"nobody noticed damage at {start}"
        assert path.read_bytes() == damaged


def test_text_overwritten_in_place(path):
    """A long text whose bytes are no UTF-8 any more is damage, too."""
    with MemoryStore(path, embedder=None) as store:
        store.add("ü" * 100_000, title="Long")
    content = path.read_bytes()
    middle = content.index("ü".encode() * 1000) + 500
    path.write_bytes(content[:middle] + b"\xff" * 100 + content[middle + 100 :])

    with MemoryStore(path, embedder=None) as store, pytest.raises(StoreDamaged):
        store.browsed()


# -- rights ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_nobody_else_may_look(path, umask):
    """Whatever the umask, the folders made are 0700, and the file, its log and the log's index are 0600."""
    before = os.umask(umask)
    try:
        store = MemoryStore(path, embedder=None)
        store.add("The λ of Zürich")

        assert mode(path.parent) == 0o700
        assert {ending: mode(sibling(path, ending)) for ending in FILES} == dict.fromkeys(FILES, 0o600)
        assert mode(store.backup(path.parent / "copy.sqlite")) == 0o600
        store.close()
        for target in (path.parent / "again.sqlite", path.parent / "a" / "b" / "again.sqlite"):
            MemoryStore.restore(path.parent / "copy.sqlite", to=target)
            assert mode(target) == 0o600
        MemoryStore(path.parent / "c" / "d" / "e.sqlite", embedder=None).close()
        assert {mode(path.parent / made) for made in ("a", "a/b", "c", "c/d")} == {0o700}
    finally:
        os.umask(before)


def test_a_link_to_a_store_that_is_still_to_be_made(tmp_path, database):
    """A link that points to nothing yet makes a store where it points, for its owner only."""
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "real.sqlite")
    before = os.umask(0)
    try:
        database(tmp_path / "link.sqlite")
    finally:
        os.umask(before)

    assert mode(tmp_path / "real.sqlite") == 0o600


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


@pytest.mark.parametrize(("file", "folder"), [(0o644, 0o555), (0o444, 0o777)], ids=["folder", "file"])
def test_a_read_only_folder_or_file(common_store, as_user, file, folder):
    """A store that cannot be written, or in such a folder, is searched; writing is refused; nothing is left behind."""
    common_store.chmod(file)
    common_store.parent.chmod(folder)
    before = common_store.read_bytes()
    answer = as_user(searched, common_store)

    assert not isinstance(answer, Exception), answer
    found, raised, notices = answer
    assert found == ["The prices are net of tax"]
    assert raised[:2] == [StoreReadOnly, StoreReadOnly] and raised[3] is StoreReadOnly
    assert "read-only: searches work" in notices[0]
    assert common_store.read_bytes() == before
    assert folder == 0o777 or list(common_store.parent.iterdir()) == [common_store]


def test_traces_in_a_store_that_cannot_be_written(common_store, as_user):
    """What could not be cleaned up before a store became read-only does not keep it from being searched."""
    connection = apsw.Connection(str(common_store))
    connection.execute("insert into counters (name, value) values ('scrub', 0)")
    connection.close()
    common_store.parent.chmod(0o555)
    found, _, notices = as_user(searched, common_store)

    assert found == ["The prices are net of tax"]
    assert any("traces of forgotten text may remain" in notice for notice in notices)


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


@pytest.mark.parametrize(
    ("prepare", "error", "message"),
    [
        (lambda path: (path.touch(), path.chmod(0o000)), StoreError, "cannot be read: check its owner and permissions"),
        (lambda path: path.parent.chmod(0o000), StoreReadOnly, "Permission denied"),
        (lambda path: path.parent.chmod(0o555), StoreReadOnly, "JUPYTER_MEMORY_PATH"),
        (lambda path: path.touch(mode=0o444), StoreReadOnly, "must first be upgraded to this version"),
    ],
    ids=["unreadable", "in a closed folder", "where none can be made", "empty"],
)
def test_what_cannot_be_opened(common_folder, as_user, prepare, error, message):
    """A store that cannot be read, found or made is refused with what to check, and no traceback of Python's."""
    path = common_folder / "in" / "memory.sqlite"
    path.parent.mkdir()
    path.parent.chmod(0o755)
    prepare(path)
    answer = as_user(searched, path)

    assert type(answer) is error and message in str(answer)


# -- file systems and processes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("vfs", ["unix-dotfile", None])
def test_a_file_system_without_shared_memory(path, database, remember, vfs, network_home):
    """Where there can be no write-ahead log the store works with a journal, and says what that costs."""
    opened = database(vfs=vfs)
    remember(opened, "The λ of Zürich")

    assert opened.journal() == "truncate"
    assert len(opened.notices) == 1 and "write-ahead log does not work on this file system" in opened.notices[0]
    opened.close()
    sibling(path, "-shm").unlink()
    opened = database()
    assert (opened.journal(), opened.notices) == ("wal", [])


@pytest.mark.parametrize("vfs", ["unix-dotfile", None])
def test_a_store_moved_to_a_file_system_without_shared_memory(path, database, remember, vfs, request):
    """A store with a write-ahead log, copied to a network home, opens there with all it holds."""
    first = database()
    remember(first, "The λ of Zürich")
    first.close()
    request.getfixturevalue("network_home")
    moved = database(vfs=vfs)
    remember(moved, "One more")

    assert moved.journal() == "truncate"
    assert moved.connection.execute("select count(*) from memories").get == 2


def write_one(database, remember):
    """Remember something in a forked child."""
    remember(database, "from the child")
    database.close()
    return os.getpid()


def test_a_forked_child_has_its_own_connection(path, database, remember, as_user, monkeypatch):
    """A child that was forked with the store open writes through a connection of its own; its parent goes on."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)  # the same user: what is tried here is the fork
    opened = database()
    remember(opened, "from the parent")

    assert as_user(write_one, opened, remember) != os.getpid()
    remember(opened, "from the parent again")
    assert opened.connection.execute("select count(*) from memories").get == 3
    assert opened.connection.execute("pragma integrity_check").get == "ok"


@pytest.mark.parametrize("change", ["removed", "replaced"])
def test_a_file_that_is_gone(path, database, remember, change):
    """A write into a file that somebody removed or replaced would be lost, so it is refused."""
    opened = database()
    remember(opened, "The λ of Zürich")
    path.unlink()
    if change == "replaced":
        Database(path).close()

    with pytest.raises(StoreClosed, match=r"moved, removed or replaced .* open it again"):
        remember(opened, "lost?")


def test_closed(path, database, remember):
    """A closed store says so; closing it twice does nothing."""
    opened = database()
    opened.close()
    opened.close()

    with pytest.raises(StoreClosed, match="open_store"):
        remember(opened, "too late")


class Slow(apsw.VFS):
    """A file system on which something happens while a file is opened."""

    meanwhile = staticmethod(lambda: None)

    def __init__(self):
        super().__init__("slow", "")

    def xOpen(self, name, flags):
        self.meanwhile()
        return super().xOpen(name, flags)


def test_closed_while_a_thread_opens_its_connection(database):
    """A connection that is still being made when the store is closed is closed with it."""
    slow = Slow()
    opened = database(vfs="slow")
    gc.collect()
    before = len(apsw.connections())
    slow.meanwhile = opened.close
    with ThreadPoolExecutor(1) as pool, pytest.raises(StoreClosed):
        pool.submit(lambda: opened.connection).result(100)

    slow.meanwhile = lambda: None
    assert len(apsw.connections()) < before
    slow.unregister()


def test_home_is_understood(home, monkeypatch):
    """A path that begins with ~ is below the user's home."""
    monkeypatch.setenv("HOME", str(home))
    with MemoryStore("~/notes/memory.sqlite", embedder=None) as store:
        assert store.path == Path(home, "notes", "memory.sqlite")
