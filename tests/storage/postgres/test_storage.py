"""A store on a server as a whole: its round trips, what a space sees, who writes at once, and how it is copied."""

import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from secrets import token_hex
from time import monotonic, sleep

import pytest
from contract import DRAFTS, EVERYTHING, RATE, WEIGHTS, keys_of, vector_of
from hashing import Hashing
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from inside import storage_of
from postgres_server import name_of
from transferred import NOTES, PLAIN, RUNS, answers, carried, contents, fill

from jupyter_memory import FileState, InputError, JupyterMemory, MemoryStore, StoreError, UnknownMemory
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import open_storage
from jupyter_memory.types import Draft, Filters, Terms

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

import psycopg

WRITERS = 16
SHARED = [Draft(text=f"what everybody says, {number}: λ", tags=("all",)) for number in range(8)]


@pytest.fixture
def storage(emptied_postgres):
    embedder = Hashing()
    with closing(open_storage(emptied_postgres, busy_seconds=2)) as opened:
        opened.writer.add(prepare(DRAFTS, embedder), embedder)
        yield opened


@pytest.mark.parametrize(
    ("stage", "most"),
    [
        (lambda snapshot: snapshot.corpus.frequencies(["rate", "queue"]), 1),
        (lambda snapshot: snapshot.keyword_matches(Terms(words=("rate", "queue")), WEIGHTS, EVERYTHING, 9), 2),
        (lambda snapshot: snapshot.keyword_matches(Terms(phrases=("arrival rate",)), WEIGHTS, EVERYTHING, 9), 2),
        (lambda snapshot: snapshot.keyword_matches(Terms(prefix="arrivalled"), WEIGHTS, EVERYTHING, 9), 3),
        (lambda snapshot: snapshot.vector_matches(snapshot.active_model(), vector_of(RATE), EVERYTHING, 9, None), 2),
        (lambda snapshot: snapshot.memories(keys_of(snapshot, *DRAFTS)), 2),
        (lambda snapshot: snapshot.passages([1, 2, 3]), 1),
        (lambda snapshot: snapshot.facet_counts(EVERYTHING), 2),
    ],
    ids=["frequencies", "words", "phrase", "typed", "vectors", "memories", "passages", "facets"],
)
def test_a_stage_of_a_search_takes_one_round_trip(storage, monkeypatch, stage, most):
    """Whatever it asks for comes at once; before it, the rarity of words or the model is read, once a state."""
    statements, execute = [], psycopg.Connection.execute

    def counted(self, *args, **options):
        statements.append(args[0])
        return execute(self, *args, **options)

    monkeypatch.setattr(psycopg.Connection, "execute", counted)
    with storage.snapshot() as snapshot:
        begun = len(statements)
        stage(snapshot)
        assert len(statements) - begun <= most
        begun = len(statements)
        snapshot.keyword_matches(Terms(words=("rate", "queue")), WEIGHTS, EVERYTHING, 9)
        snapshot.keyword_matches(Terms(words=("rate",)), WEIGHTS, Filters(tag=("queue",)), 9)
        assert len(statements) - begun <= 3


def test_damage_is_found_and_told_with_its_cure(storage, postgres_server):
    """Lost words and a count that is off are named, and mended by what the sentence says."""
    assert list(storage.problems()) == []
    postgres_server.execute("delete from jupyter_memory.postings where term = 'arriv'", name_of(storage.path))
    [found] = storage.problems()
    assert "keyword index" in found and "Repair it with store.rebuild()" in found
    storage.writer.rebuild()
    assert list(storage.problems()) == []


def test_forgetting_that_could_be_taken_back_is_refused(postgres_address):
    """With the setting undo_minutes nothing goes unless it is to go for good, and there is nothing to take back."""
    with MemoryStore(postgres_address, None, settings=JupyterMemory(undo_minutes=10.0)) as store:
        memory = store.add("Prices rose.")
        with pytest.raises(InputError, match="--now"):
            store.forget(memory.id)
        assert store.count() == 1
        assert store.forget(memory.id, now=True) == 1
        with pytest.raises(InputError, match="nothing to take back"):
            store.undo()


@pytest.fixture
def storages(emptied_postgres):
    with ExitStack() as opened:
        stores = (open_storage(emptied_postgres, busy_seconds=30) for _ in range(WRITERS))
        yield [opened.enter_context(closing(one)) for one in stores]


def together(storages, work):
    """Let every storage do its work at the same moment; return what each did, or raise what any raised."""
    barrier = threading.Barrier(len(storages))

    def run(number):
        barrier.wait(30)
        return work(number, storages[number])

    with ThreadPoolExecutor(len(storages)) as threads:
        return list(threads.map(run, range(len(storages))))


def test_the_same_memories_in_any_order_are_stored_once(storages):
    """Sixteen programs add the same memories, each in an order and with a tag of its own, and some of their own."""
    embedder = Hashing()

    def add(number, storage):
        mine = [Draft(text=f"only {number} says this, {each}") for each in range(3)]
        drafts = [Draft(text=one.text, tags=("all", f"by{number}")) for one in SHARED] + mine
        random.Random(number).shuffle(drafts)
        return {memory.text: memory.id for memory in storage.writer.add(prepare(drafts, embedder), embedder)}

    found = together(storages, add)
    assert all(len({ids[one.text] for ids in found}) == 1 for one in SHARED)
    with storages[0].snapshot() as snapshot:
        memories = snapshot.memories(snapshot.keys(Filters())).values()
        tags = {memory.text: set(memory.tags) for memory in memories}
        assert len(memories) == snapshot.corpus.chunks == len(SHARED) + 3 * WRITERS
        assert all(tags[one.text] == {"all", *(f"by{number}" for number in range(WRITERS))} for one in SHARED)
        assert snapshot.corpus.frequencies(snapshot.corpus.words("everybody")) == {"everybodi": len(SHARED)}
    assert list(storages[0].problems()) == []


def test_writers_in_each_others_way_leave_a_sound_store(storages):
    """They tag, rewrite, replace files and forget the same memories at once; each change is there whole or not."""
    first = storages[0].writer.add(prepare(SHARED, None), None)

    def work(number, storage):
        chosen = random.Random(number)
        for step in range(6):
            memory = chosen.choice(first)
            try:
                match chosen.randrange(4):
                    case 0:
                        storage.writer.update(memory.id, {"pinned": True}, tags=[f"t{number}", f"s{step}"])
                    case 1:
                        again = prepare([Draft(text=f"{memory.text} again by {number} {step}")], None)[0]
                        storage.writer.update(memory.id, {}, prepared=again)
                    case 2:
                        path = f"/week/{chosen.randrange(3)}.ipynb"
                        cells = [Draft(text=f"{path} {number} {step} {n}", kind="cell", source=path) for n in range(3)]
                        storage.writer.replace_files([(FileState(path, 1, step, "h"), prepare(cells, None))], None, "")
                    case _:
                        storage.writer.forget([memory.id])
            except UnknownMemory:
                pass  # another one forgot it

    together(storages, work)
    assert list(storages[0].problems()) == []
    with storages[0].snapshot() as snapshot:
        found = snapshot.memories(snapshot.keys(Filters())).values()
        by_file = [memory.source for memory in found if memory.source]
        assert all(by_file.count(path) == 3 for path in by_file)


def test_what_writers_append_is_folded(storages):
    """After many small changes the totals of a space are a few rows again, and say the same."""
    storage = storages[0]
    for number in range(70):
        storage.writer.add(prepare([Draft(text=f"the {number}th λ")], None), None)
    with storage.database.read() as session:
        assert session.value("select count(*) from totals") <= 10
        assert session.value("select count(*) from frequencies where term = 'λ'") <= 10
        assert session.totals.chunks == 70
    assert list(storage.problems()) == []


def test_a_change_that_is_stored_says_so_whatever_becomes_of_the_upkeep_after_it(storage, postgres_server):
    """Others in the way of the fold, and a stop of the thread meanwhile, do not deny what was stored."""
    rows = "select count(*) from jupyter_memory.totals"
    while postgres_server.execute(rows, name_of(storage.path)) < [(64,)]:  # with one more, upkeep makes one of them
        storage.writer.add(prepare([Draft(text=token_hex())], None), None)
    asked = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%delete from totals%'"
    with psycopg.connect(storage.path.url) as other, ThreadPoolExecutor(1) as threads:
        other.execute("select * from jupyter_memory.totals for update")
        worker = threads.submit(threading.get_ident).result()
        adding = threads.submit(storage.writer.add, prepare([Draft(text="one more")], None), None)
        until = monotonic() + 30
        while postgres_server.execute(asked) == [(0,)] and monotonic() < until:
            sleep(0.01)
        assert not adding.done() and not storage.interrupt(worker)
        [memory] = adding.result()
    with storage.snapshot() as snapshot:
        assert memory.text == "one more" and len(snapshot.keys(Filters(), [memory.id])) == 1


def test_pictures_wait_for_who_writes_their_file(storage, postgres_server):
    """Else they would go to memories that are being replaced, and those that take their place would have none."""
    asked = "select count(*) from pg_stat_activity where wait_event = 'advisory'"
    with psycopg.connect(storage.path.url) as other, ThreadPoolExecutor(1) as threads:
        other.execute("select pg_advisory_xact_lock(hashtextextended(chr(1) || '/a.ipynb', 0))")
        adding = threads.submit(storage.thumbnails.add, [(FileState("/a.ipynb", 1, 1, "λ"), [], True)], "")
        until = monotonic() + 30
        while postgres_server.execute(asked) == [(0,)] and not adding.done() and monotonic() < until:
            sleep(0.01)
        assert not adding.done()
        other.rollback()
        adding.result()


def indexes(storage):
    with storage.database.read() as session:
        return session.rows("select indexname from pg_indexes where indexname like 'vectors_nearest%%'")


@given(st.lists(NOTES, max_size=6), st.lists(RUNS, max_size=6))
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_there_and_back_is_what_it_was(tmp_path_factory, postgres_server, postgres_address, notes, runs):
    """Everything comes to the server and back exactly, vectors to the last bit; hits and scores are the same."""
    folder = tmp_path_factory.mktemp("store")
    with MemoryStore(folder / "a.sqlite", "static", settings=PLAIN) as store:
        fill(store, folder / "week", notes, runs)
        before, more, asked = contents(store), carried(store), answers(store)
        store.copy_to(postgres_address, progress=False)
    with MemoryStore(postgres_address, settings=PLAIN) as store:
        found, scores = answers(store)
        assert found == asked[0] and scores == pytest.approx(asked[1], abs=1e-5)
        assert carried(store)[:3] == more[:3] and store.doctor() == []
        store.copy_to(folder / "b.sqlite", progress=False)
    with MemoryStore(folder / "b.sqlite", settings=PLAIN) as store:
        memories, files, folders, feedback = contents(store)
        assert (memories, files, feedback) == (before[0], before[1], before[3])
        assert [one.watched for one in folders] == [False] * len(before[2])
        assert carried(store) == more and answers(store) == asked
    postgres_server.clear(postgres_address)


def test_a_copy_goes_on_after_the_server_crashed(tmp_path, postgres_server, postgres_address, monkeypatch):
    """What was stored before is there, and found without an index of vectors; the same call copies the rest once."""
    notes = [{"text": f"The price of shop {number} rose."} for number in range(2_500)]

    def crash():
        with closing(open_storage(postgres_address, busy_seconds=5)) as storage:
            until, stored = monotonic() + 60, 0
            while not stored and monotonic() < until:
                with storage.snapshot() as snapshot:
                    stored = snapshot.count(EVERYTHING)
            found = indexes(storage)
        postgres_server.restart(signal.SIGQUIT)
        return stored, found

    with MemoryStore(tmp_path / "a.sqlite", Hashing(), settings=PLAIN) as store:
        store.add_many(notes, progress=False)
        asked = answers(store)
        open_storage(postgres_address, busy_seconds=5).close()
        with ThreadPoolExecutor(1) as threads:
            crashed = threads.submit(crash)
            with pytest.raises(StoreError):
                store.copy_to(postgres_address, progress=False)
        stored, before = crashed.result()
        assert 0 < stored < len(notes) and before == []
        with MemoryStore(postgres_address, Hashing(), settings=PLAIN) as half, storage_of(half) as storage:
            assert half.count() >= stored
            found = answers(half)[0]
            with monkeypatch.context() as patched:
                patched.setattr(storage.vectors, "exact", 10)  # as in a store so large that its index is asked
                assert found and answers(half)[0] == found
                storage.tidy()
                assert len(indexes(storage)) == 1
        report = store.copy_to(postgres_address, progress=False)
    assert report.memories.kept >= stored and report.memories.kept + report.memories.added == len(notes)
    with MemoryStore(postgres_address, Hashing(), settings=PLAIN) as copy, storage_of(copy) as storage:
        assert copy.count() == len(notes) and answers(copy)[0] == asked[0] and copy.doctor() == []
        assert len(indexes(storage)) == 1
        with storage.database.read() as session:
            assert session.value("select count(*) from totals") < 64
            assert session.value("select count(*) from frequencies where term = 'price'") < 64
