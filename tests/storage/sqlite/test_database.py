"""Every change is whole or not at all, whoever interrupts it; who waits goes first; a search is stopped."""

import fcntl
import itertools
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from time import sleep

import apsw
import numpy as np
import pytest
from programs import in_fork

from jupyter_memory import EmbedderError, FileState, Interrupted, JupyterMemoryError, StoreError, StoreFull, StoreLocked
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import Cache
from jupyter_memory.types import Draft, Filters

TABLES = ("memories", "texts", "chunks", "tags", "keyword_docsize", "files")
STATIC = StaticEmbedder(64)


def counts(path):
    with closing(apsw.Connection(str(path))) as connection:
        models = [row[0] for row in connection.execute("select id from models")]
        tables = (*TABLES, *(f"{kind}_{model}" for model in models for kind in ("vectors", "codes")))
        return {table: connection.execute(f"select count(*) from {table}").get for table in tables}


class Wrong:
    """The static model, but it gives something else than was asked for."""

    name, dimensions, threshold, fingerprint = "wrong", 64, 0.2, "wrong/64"

    def __init__(self, answer):
        self.answer = answer

    def embed_documents(self, texts, /):
        return self.answer(STATIC.embed_documents(texts))

    def embed_query(self, text, /):
        return self.embed_documents([text])[0]


@pytest.mark.parametrize(
    "answer",
    [
        lambda vectors: vectors[:-1], lambda vectors: np.concatenate([vectors, vectors]),
        lambda vectors: vectors[:, :32], lambda vectors: vectors * np.nan, lambda vectors: vectors * 0,
        lambda vectors: None, lambda vectors: [["λ"] * 64] * len(vectors),
    ],
    ids=["too few", "too many", "too short", "NaN", "zeros", "none", "words"],
)  # fmt: skip
def test_an_embedder_that_is_wrong(store, answer):
    """Vectors that cannot be stored are refused with what they should be, and leave nothing behind."""
    memory = store(embedder=Wrong(answer))
    before = counts(memory.path)
    with pytest.raises(EmbedderError, match=r"must give float32 vectors of shape \(\d, 64\).* Nothing was stored"):
        memory.add_many([{"text": "The λ"}, {"text": "of Zürich"}], progress=False)
    assert counts(memory.path) == before


def test_an_embedder_of_other_numbers(store):
    memory = store(embedder=Wrong(lambda vectors: vectors.astype(np.float64).tolist()))
    memory.add("The λ of Zürich")
    assert memory.hits("Zürich").hits[0].cosine > 0.3
    assert memory.doctor() == []


def prepared(*texts):
    return prepare([Draft(text=text, tags=("x",)) for text in texts], STATIC)


def texts(storage):
    with storage.snapshot() as snapshot:
        return {memory.text for memory in snapshot.memories(snapshot.keys(Filters())).values()}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("change", ["adding", "updating", "forgetting"])
def test_interrupted_anywhere(sqlite, error, change):
    """Stopped at any of its statements, a change is whole or not there at all, and the store goes on."""
    opened = sqlite()
    kept, gone = opened.writer.add(prepared("Something about Poisson", "Something else"), STATIC)
    make = {
        "adding": lambda: opened.writer.add(prepared(*(f"λ {i}" for i in range(5))), STATIC),
        "updating": lambda: opened.writer.update(
            gone.id, {"title": "Walrus"}, prepared=prepared("On walruses")[0], embedder=STATIC
        ),
        "forgetting": lambda: opened.writer.forget([gone.id]),
    }[change]
    connection, before = opened.database.connection, (counts(opened.path), texts(opened))
    for place in range(1_000):
        statements = itertools.count()

        def stop(*_, statements=statements, place=place):
            if next(statements) == place:
                raise error
            return True

        connection.exec_trace = stop
        try:
            make()
            break
        except error:
            if texts(opened) != before[1]:
                break  # after the commit, when a check below finds it whole
            assert counts(opened.path) == before[0]
        finally:
            connection.exec_trace = None
    assert place > 8
    opened.writer.add(prepared("goes on"), STATIC)
    assert not list(opened.problems())
    assert {kept.text, "goes on"} <= texts(opened) != before[1] | {"goes on"}


def test_full(sqlite, remember):
    """When the disk is full nothing is half-written, and searches go on."""
    opened = sqlite()
    remember(opened, "The λ of Poisson")
    connection, before = opened.database.connection, counts(opened.path)
    connection.pragma("max_page_count", connection.pragma("page_count") + 4)
    with pytest.raises(StoreFull, match=r"The disk of .* is full\. Nothing was changed; make room"):
        remember(opened, *(f"{i} " + "λ of Zürich " * 500 for i in range(50)))
    assert counts(opened.path) == before
    connection.pragma("max_page_count", 1_000_000)
    remember(opened, "goes on")
    assert list(opened.problems()) == []


def test_a_commit_that_fails(database, remember, network_home):
    """Without a log a reader can hold a commit back; then nothing is written, and the next write is a fresh one."""
    mine, reader = database(), database()
    remember(mine, "The λ of Zürich")
    with reader.read() as connection:
        assert connection.execute("select count(*) from memories").get == 1
        with pytest.raises(StoreLocked):
            remember(mine, "not now")
        assert not mine.connection.in_transaction
    remember(mine, "now")
    assert [row[0] for row in mine.connection.execute("select text from texts")] == ["The λ of Zürich", "now"]


def test_a_change_in_two_steps(database):
    opened = database()
    for error, last in ((ZeroDivisionError, lambda: 1 / 0), (apsw.ConstraintError, None)):
        with pytest.raises(error), opened.write() as connection:
            connection.execute("insert into counters values ('λ', 1)")
            last() if last else connection.execute("insert into counters values ('λ', 1)")
        assert opened.connection.execute("select count(*) from counters").get == 1


def test_how_a_busy_store_writes(database, remember):
    """With a log, each commit is on the disk, bytes of what goes are overwritten, no text is in temporary files."""
    # Ctrl-C in a write that need not last leaves the next one patient, and safe in a power cut.
    opened = database()
    remember(opened, "λ was 0.3")
    connection = opened.connection
    wanted = {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "temp_store": 2, "foreign_keys": 1}
    assert {name: connection.pragma(name) for name in wanted} == wanted
    usual = connection.pragma("busy_timeout")
    with pytest.raises(KeyboardInterrupt), opened.write(at_once=0):
        raise KeyboardInterrupt
    with opened.write() as connection:
        assert connection.pragma("synchronous") == 2
    assert (connection.pragma("busy_timeout"), connection.pragma("synchronous")) == (usual, 2)


def test_files_in_steps(sqlite):
    """New files are written some at a time, each as a whole; files that hold memories together, as cells may move."""
    opened = sqlite()

    def write(*files):
        """Write files of so many memories; return how many each transaction inserted."""
        given, inserted, steps = [], [], []
        for path, count in files:
            drafts = [Draft(text=f"λ {path} {i}", kind="file", source=path, location=f"#{i}") for i in range(count)]
            given.append((FileState(path, 1, 1, f"{count}"), prepare(drafts, None)))
        connection = opened.database.connection
        connection.set_update_hook(lambda kind, _, table, row: inserted.append((kind, table)))
        connection.set_commit_hook(lambda: bool(steps.append(inserted.count((apsw.SQLITE_INSERT, "memories")))))
        opened.writer.replace_files(given, None, "")
        connection.set_update_hook(None)
        connection.set_commit_hook(None)
        return [after - before for before, after in itertools.pairwise([0, *steps]) if after > before]

    assert write(*((f"/n{i}.md", 50) for i in range(6)), ("/book.md", 500)) == [150, 150, 500]
    assert write(*((f"/m{i}.md", 100) for i in range(3))) == [200, 100]
    assert write(("/n0.md", 60), ("/l0.md", 200), ("/l1.md", 200)) == [460]


def test_locked(database, remember):
    """A write that finds the lock taken for longer than the busy time says so, and reads go on."""
    mine, hasty, other = database(), database(busy_seconds=0), database()
    remember(mine, "The λ of Zürich")
    with other.write():
        for writer in (mine, hasty):
            with pytest.raises(StoreLocked, match=r"locked by another process .* try again in a moment"):
                remember(writer, "not now")
        with mine.read() as connection:
            assert connection.execute("select count(*) from memories").get == 1
    remember(mine, "now")


def somebody_waits(path):
    """Return whether anybody has a shared lock on the folder of a store: the sign of who waits to write a little."""
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def begun(work, path, *, seen=True):
    """Begin work that waits for the lock, in a thread that is returned once it is ``seen`` to wait, or never is."""
    thread = threading.Thread(target=work)
    thread.start()
    until = time.monotonic() + (60 if seen else 0.3)
    while time.monotonic() < until and not somebody_waits(path):
        time.sleep(0.01)
    assert somebody_waits(path) is seen and thread.is_alive()
    return thread


def step(database):
    with database.write(yielding=True) as connection:
        connection.execute("insert into counters values ('step', 1)")


def test_who_waits_is_seen(path, database, remember):
    """From the first wait to its end a writer is seen by long work; the steps of long work are not."""
    holder, note, long = (database(busy_seconds=60) for _ in range(3))
    remember(holder, "λ")
    with holder.write():
        assert not somebody_waits(path)
        thread = begun(lambda: remember(note, "after a while"), path)
    thread.join(100)
    assert not somebody_waits(path)
    with holder.write():
        thread = begun(lambda: step(long), path, seen=False)
    thread.join(100)
    assert holder.connection.execute("select count(*) from memories").get == 2


def test_courtesy_ends(path, database):
    """Long work joins those who wait after a second, so that it ends some day."""
    opened, sign = database(), os.open(path.parent, os.O_RDONLY)
    fcntl.flock(sign, fcntl.LOCK_SH)
    begun = time.monotonic()
    step(opened)
    os.close(sign)
    assert 0.9 < time.monotonic() - begun < 30


def test_a_note_goes_before_the_next_step(path, database, remember):
    """A note that waits while a step of long work is written goes in before the following step."""
    long, short = database(busy_seconds=60), database(busy_seconds=60)
    with long.write(yielding=True) as connection:
        thread = begun(lambda: remember(short, "λ was 0.3"), path)
        connection.execute("create table step (n)")
    with long.write(yielding=True) as connection:
        assert connection.execute("select count(*) from memories").get == 1
    thread.join(100)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_waits_for_nobody(path, database, remember):
    """A child that was forked while its parent waited is not seen as waiting once the parent has its turn."""
    holder, note = database(busy_seconds=60), database(busy_seconds=60)
    read, write = os.pipe()
    with holder.write():
        thread = begun(lambda: remember(note, "λ"), path)
        child = os.fork()
        if child == 0:
            os.read(read, 1)
            os._exit(0)
    thread.join(100)
    try:
        assert not somebody_waits(path)
    finally:
        os.write(write, b"x")
        os.waitpid(child, 0)


# Counts for as long as nobody stops it.
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"


@pytest.fixture
def thread():
    """A pool of one thread, and the thread's id."""
    with ThreadPoolExecutor(1) as pool:
        yield pool, pool.submit(threading.get_ident).result(100)


def read(database, begun, sql=ENDLESS):
    with database.read() as connection:
        begun.set()
        return connection.execute(sql).get


def stop(database, thread_id, future):
    """Stop a thread's work until it is over: a statement that has not begun cannot be met at the first attempt."""
    while not future.done():
        database.interrupts.stop(thread_id)


def test_a_running_statement(database, thread):
    """A statement that runs is stopped with an error of the house, and leaves its thread and its connection as new."""
    opened, (pool, thread_id), begun = database(), thread, threading.Event()
    future = pool.submit(read, opened, begun)
    begun.wait(60)
    stop(opened, thread_id, future)
    with pytest.raises(Interrupted, match="stopped"):
        future.result(100)
    assert not issubclass(Interrupted, StoreError)  # which some steps of a search may do without
    assert issubclass(Interrupted, JupyterMemoryError)
    # What comes when a transaction is over stops nothing, neither then nor later, and no tracer is left.
    assert opened.interrupts.stop(thread_id) is opened.interrupts.stop(12345) is False
    assert pool.submit(read, opened, begun, "select 7").result(100) == 7
    assert not pool.submit(lambda: opened.connection.in_transaction or opened.connection.exec_trace).result(100)


@pytest.fixture
def paused(database, thread):
    """Run ``first`` and ``then`` in a transaction of a thread, which waits in between: ``paused(first, then)``."""
    # It gives the database, what interrupts the transaction, what lets it go on and returns its result, and the pool.
    (pool, thread_id), opened = thread, database()

    def run(first, then, transaction="read"):
        begun, go_on = threading.Event(), threading.Event()

        def work():
            with getattr(opened, transaction)() as connection:
                first(connection)
                begun.set()
                go_on.wait(60)
                return then(connection)

        future = pool.submit(work)
        assert begun.wait(60)

        def end():
            go_on.set()
            return future.result(100)

        return opened, lambda: opened.interrupts.stop(thread_id), end, pool

    return run


def seven(connection):
    return connection.execute("select 7").get


@pytest.mark.parametrize("rows_left", [False, True])
def test_between_two_statements(paused, rows_left):
    """Stopped while no statement runs, a transaction ends at its next one; the thread's next search is free of it."""
    # Rows that were not all read would keep SQLite in its state of interruption.
    held = []

    def first(connection):
        held.append(connection.execute("select value from json_each('[1, 2, 3]')"))
        next(held[0]) if rows_left else held[0].fetchall()

    opened, stop, end, pool = paused(first, seven)
    assert stop()
    with pytest.raises(Interrupted):
        end()
    assert pool.submit(read, opened, threading.Event(), "select 7").result(100) == 7


def test_a_change_is_not_stopped(paused):
    insert = "insert into counters values ('λ', 1)"
    opened, stop, end, _ = paused(seven, lambda connection: connection.execute(insert).fetchall(), "write")
    assert stop() is False
    end()
    assert opened.connection.execute("select value from counters where name = 'λ'").get == 1


def test_before_the_first_step(database):
    """Stopped after a statement was let through and before SQLite begins with it, it does not run to its end."""
    opened = database()
    with pytest.raises(Interrupted), opened.read() as connection:
        let_through = connection.exec_trace

        def at_that_moment(*statement):
            allowed = let_through(*statement)
            assert opened.interrupts.stop(threading.get_ident())
            return allowed

        connection.exec_trace = at_that_moment
        # It would end by itself after some seconds.
        connection.execute(ENDLESS.replace("from n)", "from n where i < 10000000)", 1)).fetchall()
    with opened.read() as connection:
        assert connection.execute("select 7").get == 7


def test_never_the_next(database, thread):
    """However the moments fall, an error goes to the transaction that was meant, and never to the one after it."""
    opened, (pool, thread_id) = database(), thread
    meant, gate, tried = threading.Event(), threading.Lock(), threading.Event()

    def meant_and_next(pause):
        outcome = "whole"
        try:
            with opened.read() as connection:
                meant.set()
                connection.execute("select count(*) from json_each('[1, 2, 3]')").fetchall()
                pause()
                connection.execute("select 2").fetchall()
        except Interrupted:
            outcome = "stopped"
        with gate:  # a thread is stopped by its number, so whoever does it must know that the work meant is not over
            meant.clear()
        return outcome, read(opened, threading.Event(), "select 7")

    def stop_meant():
        with gate:
            stopped = meant.is_set() and opened.interrupts.stop(thread_id)
        if stopped:
            tried.set()
        return stopped

    outcomes = set()
    for turn in range(300):
        # The first waits until it is stopped, the others leave it to chance.
        future = pool.submit(meant_and_next, partial(sleep, turn % 4 / 5000) if turn else partial(tried.wait, 60))
        while not future.done() and not stop_meant():
            pass
        outcome, after = future.result(100)
        outcomes.add(outcome)
        assert after == 7
    assert "stopped" in outcomes


def test_a_search(week_store, thread):
    """A search is stopped through the store, whatever step it is at, and the next one of its thread has its answer."""
    (pool, thread_id), outcomes = thread, set()
    for _ in range(2_000):
        future = pool.submit(week_store.hits, "Poisson λ")
        while not future.done():
            week_store.interrupt(thread_id)
        outcomes.add(type(future.exception(100)))
        assert pool.submit(week_store.hits, "Poisson λ").result(100).hits
        if Interrupted in outcomes:
            break
    assert outcomes <= {Interrupted, type(None)} and Interrupted in outcomes
    assert week_store.interrupt(thread_id) is False


def test_a_value_of_another_version_is_not_returned():
    """Each version has its values; the first of a new version takes the place of all others."""
    cache = Cache(10)
    cache.put("1", "λ", 3)
    assert (cache.get("1", "λ"), cache.get("2", "λ"), cache.get("1", "μ")) == (3, None, None)
    assert (cache.of("2", "λ", lambda: 4), cache.of("2", "λ", lambda: 5)) == (4, 4)
    assert cache.get("1", "λ") is None


def test_the_least_recently_used_go_first():
    """Sizes are added up, also of a value that takes the place of another."""
    cache = Cache(6, len)
    cache.put("", "a", "xx")
    cache.put("", "b", "yy")
    cache.put("", "a", "xxx")
    cache.get("", "b")
    cache.put("", "c", "zz")
    assert [cache.get("", key) for key in "abc"] == [None, "yy", "zz"]
    cache.put("", "d", "too long for it")
    assert cache.get("", "d") is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_finds_the_lock_open():
    """A child that is forked while a thread changes a cache reads it all the same, and the parent's stays locked."""
    inside, go_on = threading.Event(), threading.Event()

    def size(_):
        inside.set()
        go_on.wait(60)
        return 1

    cache = Cache(6, size)
    writer = threading.Thread(target=cache.put, args=("", "a", "x"))
    reader = threading.Thread(target=cache.get, args=("", "a"))

    def read():
        signal.alarm(60)  # which ends a child that waits
        cache.get("", "a")
        return signal.alarm(0) > 0

    writer.start()
    assert inside.wait(60)
    assert in_fork(read) is True
    reader.start()
    reader.join(0.2)
    assert reader.is_alive()
    go_on.set()
    for thread in (writer, reader):
        thread.join(60)
    assert cache.get("", "a") == "x"
