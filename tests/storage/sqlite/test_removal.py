"""Forgetting is for good: no byte stays in any file of the store, whoever reads, writes, kills or fills the disk."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from types import SimpleNamespace

import apsw
import pytest
from hashing import Hashing
from inside import run_sql
from programs import fill_disk

from jupyter_memory import FileState, JupyterMemory, MemoryStore, StoreFull
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import Database
from jupyter_memory.types import Draft, Filters, Pictures, Thumbnail

SECRET = {
    "text": "Walrossherde auf Spitzbergen: die Quersummenprüfung der Kühlkette ergab Zwischenwerte.",
    "title": "Eisbärenzählung", "tags": ["polarforschung", "kühlkette"], "metadata": {"gutachter": "Xylophonbauer"},
    "domain": "meereskunde", "session": "nachtschicht", "source": "https://intranet.example/quarzlampe",
    "space": "arktislabor",
}  # fmt: skip
TOKENIZER = apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
HASTY = JupyterMemory(busy_seconds=0.1)
# The keys of the record itself, and what a link may have in common with others.
NAMES = {*SECRET, "https", "example", "intranet"}
# As a file would say it: without what only a record has.
SAID = {"text": SECRET["text"], "title": SECRET["title"]}


def words_of(record):
    texts = json.dumps(record, ensure_ascii=False)
    return {word for word in re.findall(r"\w{5,}", texts) if word not in NAMES}


def stems(text):
    return TOKENIZER(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)


def traces(store, memory_words, bytes_of, vectors=()):
    """Return what is left of these words, their stems and these vectors in the bytes of a store."""
    content = bytes_of(store.path)
    folded = content.decode("latin-1").lower()
    sought = {word.lower() for word in memory_words}
    sought |= {stem for word in memory_words for stem in stems(word) if len(stem) > 4}
    found = {word for word in sought if word.encode().decode("latin-1").lower() in folded}
    return found | {f"vector {i}" for i, part in enumerate(vectors) if part in content}


def vectors_of(store, memory):
    chunks = "select chunks.id from chunks join memories on memories.key = chunks.memory where memories.id = ?"
    return [
        bytes(row[0])
        for table, column in (("vectors_1", "embedding"), ("codes_1", "code"), ("chunk_tokens", "ids"))
        for row in run_sql(store, f"select {column} from {table} where chunk in ({chunks})", memory.id)
    ]


@pytest.fixture
def surrounded(store, week):
    """A store in which the secret lies among other memories, with its vectors."""
    memory = store(settings=HASTY)
    memory.add_many(week, progress=False)
    secret = memory.add(**SECRET)
    memory.add_many([{"text": f"Note {i} on λ", "tags": [f"t{i}"]} for i in range(50)], progress=False)
    return memory, secret, vectors_of(memory, secret)


@pytest.mark.parametrize(
    "chosen",
    [
        *({"ids": 1}, {"ids": [1]}, {"source": SECRET["source"]}, {"source": "https://intranet.example"}),
        *({"filters": {"tag": "kühlkette"}}, {"filters": {"space": "arktislabor", "session": "nachtschicht"}}),
        {"everything": True},
    ],
    ids=["id", "ids", "source", "folder", "tag", "facets", "everything"],
)
def test_no_byte_is_left(surrounded, bytes_of, chosen):
    """However it is chosen, what is forgotten leaves no word, stem, vector or code in any file of the store."""
    memory, secret, vectors = surrounded
    total, words = memory.stats()["memories"], words_of(SECRET)
    assert [len(one) for one in vectors[:2]] == [1024, 128] and len(vectors) == 3
    everything = {word.lower() for word in words} | {"vector 0", "vector 1", "vector 2"}
    assert traces(memory, words, bytes_of, vectors) >= everything
    if "ids" in chosen:
        chosen = {"ids": secret.id if chosen["ids"] == 1 else [secret.id]}
    assert memory.forget(**chosen) == (total if "everything" in chosen else 1)
    assert traces(memory, words, bytes_of, vectors) == set() and memory.doctor() == []
    memory.close()
    with MemoryStore(memory.path) as again:
        assert traces(again, words, bytes_of, vectors) == set()


def test_no_byte_is_left_without_a_log(store, bytes_of, network_home):
    memory = store()
    secret = memory.add(**SECRET)
    memory.add("Note on λ")
    vectors = vectors_of(memory, secret)
    assert memory.stats()["journal"] == "truncate" and traces(memory, words_of(SECRET), bytes_of, vectors)
    memory.forget(secret.id)
    assert traces(memory, words_of(SECRET), bytes_of, vectors) == set()


def test_an_update_leaves_nothing_of_what_it_replaced(surrounded, bytes_of):
    memory, secret, vectors = surrounded
    memory.update(secret.id, text="Net of tax", title="Tax")
    assert traces(memory, words_of(SAID) - {"Kühlkette"}, bytes_of, vectors) == set()  # which is a tag, too
    memory.update(secret.id, tags=["tax"], metadata={}, domain=None, session=None, space="")
    source = set(re.findall(r"\w{5,}", SECRET["source"]))
    assert traces(memory, words_of(SECRET) - source, bytes_of, vectors) == set()
    assert memory.doctor() == []


@pytest.mark.parametrize("change", ["deleted", "rewritten"])
def test_a_file_that_changed(store, tmp_path, bytes_of, change):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "other.md").write_text("# Prices\n\nNet of tax in Zürich.")
    (folder / "secret.md").write_text(f"# {SECRET['title']}\n\n{SECRET['text']}")
    memory = store()
    memory.index(folder, progress=False)
    assert traces(memory, words_of(SAID), bytes_of)
    if change == "deleted":
        (folder / "secret.md").unlink()
    else:
        (folder / "secret.md").write_text("# Nothing\n\nto see here.")
    report = memory.index(folder, progress=False)
    assert (report.files, report.forgotten) == ((0, 1) if change == "deleted" else (1, 0))
    assert traces(memory, words_of(SAID), bytes_of) == set() and memory.doctor() == []


def many(seed, count):
    rng = random.Random(seed)
    return ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(9, 14))) for _ in range(count)]


def test_no_byte_is_left_in_a_large_store(store, bytes_of):
    """In a store of many pages, split and merged, no word is left between the rows nor between the index's pages."""
    words = many(1, 20_000)
    texts = [words[i : i + 10] for i in range(0, len(words), 10)]
    memory = store(embedder=None)
    records = ({"text": " ".join(text[4:]), "title": text[0], "tags": text[1:4]} for text in texts)
    memories = memory.add_many(records, progress=False)
    gone = random.Random(1).sample(range(len(texts)), 400)
    for part in range(0, 400, 100):
        memory.forget([memories[i].id for i in gone[part : part + 100]])
    forgotten = {word for i in gone for word in texts[i]}
    forgotten |= {stems(word)[0] for word in forgotten}
    left = set()
    for run in re.findall(r"[a-z]{7,}", bytes_of(memory.path).decode("latin-1")):
        parts = {run[i : i + size] for size in range(7, 15) for i in range(len(run) - size + 1)}
        left |= parts & forgotten
    assert left == set()
    assert memory.doctor() == []


def test_a_word_between_the_pages(store):
    """Where a removed word separated two pages of the index, another one takes its place, and searches go on."""
    words, memory = many(9, 40_000), store(embedder=None)
    texts = (" ".join(words[i : i + 50]) for i in range(0, len(words), 50))
    memories = memory.add_many(({"text": text} for text in texts), progress=False)

    def separators():
        return [bytes(row[0])[1:] for row in run_sql(memory, "select term from keyword_idx")]

    signs = tuple(sorted(separators(), key=len)[-3:])
    holding = [one for one in memories if any(word.encode().startswith(signs) for word in one.text.split())]
    for one in holding[:3]:
        memory.forget(one.id)
    stemmed = stems(" ".join(one.text for one in memories if one not in holding[:3]))
    assert all(any(stem.encode().startswith(sign) for stem in stemmed) for sign in separators())
    assert memory.doctor() == []
    kept = next(one for one in memories if one not in holding)
    for word in kept.text.split()[:5]:
        assert [hit.memory.id for hit in memory.hits(word).hits] == [kept.id]


def test_while_another_builds_the_index_anew(store, tmp_path):
    """Nobody takes for damage what FTS5 in another process does not know yet: that the index was built anew."""
    building = store(embedder=None)
    building.add_many(({"text": f"Note {i}"} for i in range(500)), progress=False)
    with MemoryStore(building.path, embedder=None) as removing:
        removing.forget(removing.add("zebra").id)
        building.forget([building.add(f"quagga {i}").id for i in range(9)])
        removing.backup(tmp_path / "copy.sqlite")
        removing.forget(removing.add("okapi").id)
        assert building.doctor() == removing.doctor() == []


@pytest.mark.parametrize("last", [False, True])
def test_while_another_reads(surrounded, bytes_of, last):
    """A reader holds the log back: a notice says so, until it ends; nothing is left, also where it ends last."""
    memory, secret, vectors = surrounded
    with closing(reading(memory.path)):
        memory.forget(secret.id)
        assert any("another process is reading" in notice.lower() for notice in memory.notices)
        assert secret.id not in {hit.memory.id for hit in memory.hits("Walrossherde").hits}
        assert traces(memory, words_of(SECRET), bytes_of)
        if last:
            memory.close()
    with MemoryStore(memory.path) as again:
        (again if last else memory).add("the next change")
        assert again.notices == () and again.doctor() == []
        assert traces(again, words_of(SECRET), bytes_of, vectors) == set()


def test_while_another_writes(surrounded, bytes_of, monkeypatch):
    """If another process keeps the lock after the commit, a notice says so, and the next change removes the traces."""
    memory, secret, vectors = surrounded
    scrub = Database.scrub

    def with_the_lock_taken(self, **options):
        with closing(apsw.Connection(str(self.path))) as other:
            other.execute("begin immediate")
            scrub(self, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Database, "scrub", with_the_lock_taken)
        assert memory.forget(secret.id) == 1
    assert any("The next change removes them" in notice for notice in memory.notices)
    assert memory.stats()["scrub_pending"]
    memory.add("the next change")
    assert memory.notices == () and not memory.stats()["scrub_pending"]
    assert traces(memory, words_of(SECRET), bytes_of, vectors) == set()


def test_forgotten_while_vectors_are_written(store, week):
    with store() as first:
        first.add_many(week, progress=False)
    other = store()
    second = store(embedder=Hashing(before=lambda texts: other.count() and other.forget(everything=True)))
    assert second.reembed(progress=False) == 0
    tables = [row[0] for row in run_sql(second, "select name from sqlite_schema where name glob '[vc]*_[0-9]*'")]
    assert len(tables) == 4 and all(run_sql(second, f"select count(*) from {table}") == [(0,)] for table in tables)


PICTURE = Thumbnail("image/webp", 48, 36, b"the only picture" * 900)


@pytest.mark.parametrize(
    "remove",
    [
        lambda storage: storage.thumbnails.clear(),
        lambda storage: storage.writer.forget(Filters(kind=("cell",))),
        lambda storage: storage.writer.forget_files(["/week/λ.ipynb"], ""),
        lambda storage: storage.writer.remove_folder("/week", ""),
    ],
)
def test_a_picture_leaves_no_byte(sqlite, bytes_of, remove):
    """Whether the pictures are cleared, or go with their cell, file or folder, nothing is kept of them."""
    storage, path = sqlite(), "/week/λ.ipynb"
    cell = Draft(text="plot(λ)", kind="cell", source=path, location="#0", pictures=Pictures((PICTURE,)))
    storage.writer.replace_files([(FileState(path, 1, 1, "λ"), prepare([cell], None))], None, "")
    assert b"the only picture" in bytes_of(storage.path)
    assert remove(storage) == 1
    assert b"the only picture" not in bytes_of(storage.path)


HERD = "walrossherde quersummen kuehlkette"
# Forgets, and is killed between the commit and the clean-up.
KILLED = """
import os, sys
from jupyter_memory import MemoryStore
from jupyter_memory.storage import Database
Database.scrub = lambda *_, **__: os.kill(os.getpid(), 9)
store = MemoryStore(sys.argv[1], embedder=None)
store.forget(sys.argv[2])
"""


@pytest.fixture
def killed(path, bytes_of):
    with MemoryStore(path, embedder=None) as store:
        store.add_many(({"text": f"Note {i} on λ"} for i in range(50)), progress=False)
        secret = store.add(HERD, title="Eisbärenzählung")
    assert subprocess.run([sys.executable, "-c", KILLED, str(path), secret.id], check=False).returncode == -9
    assert HERD.split()[0].encode() in bytes_of(path)
    return path


def left(path, bytes_of):
    return [word for word in (*HERD.split(), "Eisbärenzählung") if word.encode() in bytes_of(path)]


def unallocated(path):
    content = path.read_bytes()
    size = int.from_bytes(content[16:18], "big")
    found = {}
    for page in range(1, len(content) // size):
        one = content[page * size : (page + 1) * size]
        if one[0] in (2, 5, 10, 13) and (page - 1) % (size // 5 + 1):  # else it is a pointer-map page
            begin = (12 if one[0] in (2, 5) else 8) + 2 * int.from_bytes(one[3:5], "big")
            found[page] = one[begin : int.from_bytes(one[5:7], "big")]
            block = int.from_bytes(one[1:3], "big")
            while block:
                found[page] += one[block + 4 : block + int.from_bytes(one[block + 2 : block + 4], "big")]
                block = int.from_bytes(one[block : block + 2], "big")
    return found


def test_a_kill_before_the_clean_up(killed, tmp_path, bytes_of):
    """The next opening, of a copy of the file as well, removes what was forgotten while the store is open already."""
    copy = tmp_path / "copy.sqlite"
    for ending in ("", "-wal"):
        copy.with_name(copy.name + ending).write_bytes(killed.with_name(killed.name + ending).read_bytes())
    for path in (killed, copy):
        with MemoryStore(path, embedder=None) as store:
            assert left(path, bytes_of) == [] and not store.stats()["scrub_pending"]
            assert store.notices == () and store.stats()["memories"] == 50
            assert path == copy or store.doctor() == []
            assert store.hits("Note 7").hits


def reading(path):
    """Return a connection that reads from the log, and so keeps it from being emptied."""
    connection = apsw.Connection(str(path))
    connection.execute("begin; select count(*) from memories").fetchall()
    return connection


def scrub_from(path):
    return next((value for (value,) in run_sql(path, "select value from counters where name = 'scrub'")), None)


# Forgets, and is killed after the first slice of the clean-up.
KILLED_LATER = """
import os, sys
from jupyter_memory import MemoryStore
from jupyter_memory.storage import Database
scrubbing = sys.modules["jupyter_memory.storage.sqlite.scrubbing"]
scrubbing._SLICE = 0
scrubbing.sleep = lambda _: os.kill(os.getpid(), 9)
store = MemoryStore(sys.argv[1], embedder=None)
store.forget(sys.argv[2])
"""


def test_a_kill_between_two_slices(path, bytes_of):
    """How far the clean-up came is in the file: status shows that it is not done, the next process does the rest."""
    with MemoryStore(path, embedder=None) as store:
        store.add_many(({"text": os.urandom(2_000).hex()} for _ in range(600)), progress=False)
        secret = store.add(HERD, title="Eisbärenzählung")
    assert subprocess.run([sys.executable, "-c", KILLED_LATER, str(path), secret.id], check=False).returncode == -9
    status = [sys.executable, "-m", "jupyter_memory", "--store", str(path), "status"]
    with closing(reading(path)):
        assert scrub_from(path) == 256
        shown = subprocess.run(status, check=True, capture_output=True, text=True).stdout
    assert [line.split()[0] for line in shown.splitlines() if "of forgotten text" in line] == ["traces"]
    shown = subprocess.run(status, check=True, capture_output=True, text=True).stdout
    assert "of forgotten text" not in shown and scrub_from(path) is None and left(path, bytes_of) == []


def test_a_clean_up_that_has_to_wait(killed, bytes_of):
    """As long as a reader is in the way, status, doctor and the notices say so; then doctor cleans up."""
    reader = reading(killed)
    with MemoryStore(killed, embedder=None, settings=JupyterMemory(busy_seconds=0.1)) as store:
        assert store.stats()["scrub_pending"]
        assert ["traces of forgotten text may remain" in notice for notice in store.notices] == [True]
        assert ["traces of forgotten text may remain" in problem for problem in store.doctor()] == [True]
        reader.close()
        assert store.doctor() == [] and store.notices == ()
        assert left(killed, bytes_of) == []


def test_an_interrupted_clean_up(store, bytes_of):
    """Ctrl-C while traces are removed leaves a notice, and the next change removes them."""
    memory = store(embedder=None)
    secret = memory.add(HERD)

    def press():
        until = time.monotonic() + 60
        while scrub_from(memory.path) is None and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    with closing(reading(memory.path)), pytest.raises(KeyboardInterrupt):
        presser.start()
        memory.forget(secret.id)
        pytest.fail("nothing was interrupted")
    presser.join()
    assert ["traces of forgotten text may remain" in notice for notice in memory.notices] == [True]
    memory.add("λ is 0.3")
    assert memory.notices == () and left(memory.path, bytes_of) == []


def test_a_damaged_index(killed):
    """A store whose index is damaged is opened and cleaned up all the same, and mended by building it anew."""
    run_sql(killed, "update keyword_data set block = zeroblob(length(block)) where id > 10")
    with MemoryStore(killed, embedder=None) as store:
        assert store.notices == () and not store.stats()["scrub_pending"]
        assert any("store.rebuild()" in problem for problem in store.doctor())
        store.rebuild()
        assert store.doctor() == [] and store.hits("Note 7").hits


@pytest.mark.parametrize(
    "meanwhile", ["select 1", "pragma wal_checkpoint(truncate)", "pragma secure_delete = on; vacuum"]
)
def test_nothing_is_left_between_the_cells(store, meanwhile):
    """After a forget no byte that no cell uses is other than zero, whoever moved the log into the file before."""
    memory, some, ids = store(embedder=None), random.Random(4), []
    for _ in range(5):
        records = [{"text": some.randbytes(300).hex(), "source": some.randbytes(9).hex()} for _ in range(400)]
        ids += [one.id for one in memory.add_many(records, progress=False)]
        run_sql(memory, meanwhile)
        if "truncate" in meanwhile:
            assert any(any(rest) for rest in unallocated(memory.path).values()), "splits leave copies of rows"
        memory.forget(ids.pop(some.randrange(len(ids))))
        assert not any(any(rest) for rest in unallocated(memory.path).values())
    assert memory.doctor() == []


def test_what_another_connection_holds_in_memory(store, sqlite, path, remember, bytes_of):
    """Pages that another connection read before the clean-up are not written back by it."""
    memory, other = store(embedder=None), sqlite(path)
    records = [{"text": f"{os.urandom(20).hex()} {i}", "source": os.urandom(9).hex()} for i in range(400)]
    memories = memory.add_many(records, progress=False)
    held = other.database.connection
    held.pragma("cache_size", -100_000)
    for table in ("memories", "texts", "chunks", "keyword_data", "keyword_idx"):
        held.execute(f"select * from {table}").fetchall()
    held.execute("select source from memories indexed by memories_identity").fetchall()
    gone = memories[200]
    memory.forget(gone.id)
    for i in range(50):
        remember(other, Draft(text=f"more {i}", source=os.urandom(9).hex()))
    other.close()
    assert gone.source.encode() not in bytes_of(memory.path)
    assert gone.text.split()[0].encode() not in bytes_of(memory.path)


# After it nothing is known of the pages of a file.
AS_A_WHOLE = "vacuum"


class Slow(apsw.VFS):
    """A disk on which a clean-up reads no more than one part of the file in a slice of its time."""

    def __init__(self):
        super().__init__("slow", "")
        self.meanwhile = lambda: time.sleep(0.11)

    def xOpen(self, name, flags):
        return SlowFile(self, name, flags)


class SlowFile(apsw.VFSFile):
    def __init__(self, disk, name, flags):
        super().__init__("", name, flags)
        self._disk = disk

    def xRead(self, amount, offset):
        if amount > 65_536:  # which SQLite itself never reads at once
            self._disk.meanwhile()
        return super().xRead(amount, offset)


@pytest.fixture
def slow():
    disk = Slow()
    yield disk
    disk.unregister()


def test_beside_writers_and_readers(slow, sqlite, remember, bytes_of):
    """In many slices, with others writing and reading in between, nothing is damaged nor left."""
    memory, writing, reader = sqlite(vfs="slow", busy_seconds=30), *(sqlite(busy_seconds=30) for _ in range(2))
    words = [os.urandom(8).hex() for _ in range(120)]
    memories = remember(memory, *(f"{word} " + "λ of Zürich " * 1_000 for word in words))
    run_sql(memory, AS_A_WHOLE)
    stop, added, failed, slices = threading.Event(), [], [], []
    slow.meanwhile = lambda: (slices.append(len(added)), time.sleep(0.11))

    def keep_on(work):
        try:
            while not stop.is_set():
                work()
        except Exception as error:  # noqa: BLE001  whatever a thread meets is what is asked here
            failed.append(error)

    def read():
        with reader.snapshot() as snapshot:
            assert snapshot.corpus.holds_word("zurich", {"text": 1.0})

    threads = [
        threading.Thread(target=keep_on, args=(lambda: added.extend(remember(writing, os.urandom(9).hex())),)),
        threading.Thread(target=keep_on, args=(read,)),
    ]
    for thread in threads:
        thread.start()
    for one in memories[:2]:
        memory.writer.forget([one.id])
    stop.set()
    for thread in threads:
        thread.join()

    assert failed == [] and len(slices) > 3 and slices[0] < slices[-1]
    with memory.snapshot() as snapshot:
        assert snapshot.count(Filters()) == 118 + len(added)
    assert list(memory.problems()) == []
    assert [word for word in words[:2] if word.encode() in bytes_of(memory.path)] == []


def test_a_slice_goes_on_where_the_last_one_ended(slow, sqlite, remember):
    """What a clean-up that was stopped has done need not be done again; a new removal begins from the first page."""
    memory = sqlite(vfs="slow")
    memories = remember(memory, *(os.urandom(4_000).hex() for _ in range(400)))
    run_sql(memory, AS_A_WHOLE)
    readers = []
    slow.meanwhile = lambda: (readers.append(reading(memory.path)), time.sleep(0.11))
    memory.writer.forget([memories[0].id])
    assert scrub_from(memory.path) == 256
    memory.writer.forget([memories[1].id])
    assert scrub_from(memory.path) == 0
    for reader in readers:
        reader.close()


def test_the_pages_of_the_log(slow, sqlite, remember):
    """After a first clean-up, no more than the pages of the log is read; also after the store was opened again."""
    memory = sqlite(vfs="slow")
    memories = remember(memory, *(f"{os.urandom(8).hex()} " + "λ of Zürich " * 1_000 for _ in range(300)))
    assert memory.path.stat().st_size > 16_000_000
    parts = []
    slow.meanwhile = lambda: parts.append(None)
    memory.writer.forget([memories[0].id])
    assert len(parts) > 1
    parts.clear()
    remember(memory, "Malmö has a harbour")
    memory.writer.forget([memories[1].id])
    memory.close()
    memory = sqlite(vfs="slow")
    memory.writer.forget([memories[2].id])
    assert parts == [] and scrub_from(memory.path) is None
    assert not any(any(rest) for rest in unallocated(memory.path).values())


def test_the_file_shrinks_when_most_of_it_is_free(store, monkeypatch, bytes_of):
    """In slices, between which others search and write; nothing of what was forgotten is left in what moved."""
    memory, other, write, slices = store(embedder=None), store(embedder=None), Database.write, []
    texts = ({"text": f"walross{number} {os.urandom(1000).hex()}"} for number in range(300))
    memories = memory.add_many(texts, progress=False)
    before = memory.stats()["bytes"]

    def watched(database, **options):
        if options.get("yielding"):
            assert other.hits("walross7").hits[0].memory.id == memories[7].id
            slices.append(other.add(f"between {len(slices)}").id)
        return write(database, **options)

    monkeypatch.setattr("jupyter_memory.storage.sqlite.storage._GIVEN_BACK", 50)
    monkeypatch.setattr(Database, "write", watched)
    memory.forget([one.id for one in memories[20:]])
    assert len(slices) > 2 and memory.stats()["bytes"] < before / 2
    assert run_sql(memory, "pragma freelist_count")[0][0] < 50
    assert memory.stats()["memories"] == 20 + len(slices) and memory.doctor() == []
    assert not any(one.text[:50].encode() in bytes_of(memory.path) for one in memories[20:])
    assert not any(any(rest) for rest in unallocated(memory.path).values())


def test_forgetting_on_a_full_disk(disk, bytes_of):
    """When adding is no longer possible, forgetting is, here and in a store that is opened anew, without a trace."""
    full, memories = disk(24), []
    (full / "notes").mkdir()
    for number in range(20):
        (full / "notes" / f"{number}.md").write_text(f"# Note {number}\n\nwalross{number}herde")
    with MemoryStore(full / "memory.sqlite", embedder=None) as store:
        store.index(full / "notes", progress=False)
        with pytest.raises(StoreFull):
            while True:
                text = f"walross{len(memories)}zahl " + os.urandom(50_000).hex()
                memories.append(store.add(text, tags=["filler"]))
        [held] = run_sql(store, "select (select count(*) from memories), (select count(*) from texts)")
        assert held == (20 + len(memories), 20 + len(memories)) and store.hits("walross0zahl").hits
        assert store.forget(memories[0].id) == 1
    with MemoryStore(full / "memory.sqlite", embedder=None) as store:
        assert store.forget(memories[1].id) == 1
        assert store.remove_folder(full / "notes") == 20
        assert store.count() == len(memories) - 2 and store.doctor() == []
        for number in range(2):
            assert f"walross{number}zahl".encode() not in bytes_of(store.path)
        assert b"walross7herde" not in bytes_of(store.path)
        assert store.forget(filters={"tag": "filler"}) > 0 and store.count() == 0


@pytest.mark.parametrize("left", ["closed", "killed"])
def test_a_closed_store_on_a_full_disk(disk, tmp_path, left):
    """A store is opened anew on a full disk to search and to forget, also if its log is still to be moved into it."""
    full, texts = disk(24), [f"walross{number} " + os.urandom(3_000).hex() for number in range(60)]
    place = full / "memory.sqlite" if left == "closed" else tmp_path / "memory.sqlite"
    with MemoryStore(place, embedder=None) as store:
        ids = [memory.id for memory in store.add_many({"text": text} for text in texts)]
        if left == "killed":
            for ending in ("", "-wal"):
                shutil.copy(f"{store.path}{ending}", full)
            assert (full / "memory.sqlite-wal").stat().st_size > 1_000_000
            (full / ".memory.sqlite.reserve").write_bytes(bytes(8_000_000))
    fill_disk(full / "filler")

    for number, id in enumerate(ids[:3]):
        with MemoryStore(full / "memory.sqlite", embedder=None) as store:
            assert store.hits(f"walross{number}").hits[0].memory.id == id and store.count() == 60 - number
            assert len(store.notices) == (number == 0)
            assert all("disk" in finding and "full" in finding for finding in store.doctor())
        with MemoryStore(full / "memory.sqlite", embedder=None) as store:
            assert store.forget(id) == 1
        assert not any(f"walross{number} ".encode() in file.read_bytes() for file in full.iterdir())
        assert {file.name for file in full.iterdir()} <= {"memory.sqlite", ".memory.sqlite.reserve", "filler"}
    (full / "filler").unlink()
    with MemoryStore(full / "memory.sqlite", embedder=None) as store:
        assert store.stats()["journal"] == "wal" and not store.notices and store.add("with room").text == "with room"


def test_where_even_the_reserve_is_too_little(disk):
    """If the room of the reserve is taken, the error says how much to make, and nothing is forgotten."""
    full = disk(24)
    with MemoryStore(full / "memory.sqlite", embedder=None) as store:
        ids = [memory.id for memory in store.add_many({"text": os.urandom(2_000).hex()} for _ in range(400))]
        run_sql(store, "pragma wal_checkpoint(truncate)")
        (full / ".memory.sqlite.reserve").unlink(missing_ok=True)
        fill_disk(full / "filler")
        with pytest.raises(StoreFull, match=r"needs about 8 MB .* Nothing was forgotten\. Remove or move other files"):
            store.forget(ids)
        (full / "filler").unlink()
        assert store.count() == 400 and store.doctor() == [] and store.forget(ids) == 400


@pytest.mark.parametrize(("free", "size"), [(200_000_000, None), (60_000_000, 8_000_000), (1_000_000, 500_000)])
def test_the_reserve(week_store, monkeypatch, free, size):
    """Room is set aside where the disk is nearly full, at most half of it, and given back where there is much again."""
    reserve = week_store.path.with_name(".memory.sqlite.reserve")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    week_store.add("with little room")
    assert (reserve.stat().st_size if reserve.exists() else None) == size
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=10**9))
    week_store.add("with much room")
    assert not reserve.exists()
