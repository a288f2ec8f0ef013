"""Many writers at once: nothing is lost or half-written, no deadlock reaches anybody, and the counts stay right."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from hashing import Hashing

from jupyter_memory import FileState, UnknownMemory
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import open_storage
from jupyter_memory.types import Draft, Filters

WRITERS = 16
SHARED = [Draft(text=f"what everybody says, {number}: λ", tags=("all",)) for number in range(8)]


@pytest.fixture
def storages(emptied_postgres):
    """As many programs as there are writers, each with connections of its own."""
    opened = [open_storage(emptied_postgres, busy_seconds=30) for _ in range(WRITERS)]
    yield opened
    for one in opened:
        one.close()


def together(storages, work):
    """Let every storage do its work at the same moment; return what each did, or raise what any raised."""
    barrier = Barrier(len(storages))

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
