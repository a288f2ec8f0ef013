"""Forgetting is for good: no byte of what was forgotten stays in any file of the store."""

from __future__ import annotations

import json
import os
import random
import re
from contextlib import closing

import apsw
import numpy as np
import pytest

from jupyter_memory import FileState, JupyterMemory, MemoryStore
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import Database
from jupyter_memory.types import Draft, Pictures, Thumbnail

SECRET = {
    "text": "Walrossherde auf Spitzbergen: die Quersummenprüfung der Kühlkette ergab Zwischenwerte.",
    "title": "Eisbärenzählung",
    "tags": ["polarforschung", "kühlkette"],
    "metadata": {"gutachter": "Xylophonbauer"},
    "domain": "meereskunde",
    "session": "nachtschicht",
    "source": "https://intranet.example/quarzlampe",
    "space": "arktislabor",
}

TOKENIZER = apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
HASTY = JupyterMemory(busy_seconds=0.1)

# The keys of the record itself, and what a link may have in common with others.
NAMES = {*SECRET, "https", "example", "intranet"}
# As a file would say it: without what only a record has.
SAID = {"text": SECRET["text"], "title": SECRET["title"]}


def words_of(record):
    """Return every telling word of a record, as written."""
    texts = json.dumps(record, ensure_ascii=False)
    return {word for word in re.findall(r"\w{5,}", texts) if word not in NAMES}


def stems(text):
    """Return the stems of the words of a text, as the index has them."""
    return TOKENIZER(text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False)


def rows(store, sql, *parameters):
    """Return the rows of a statement, asked without the package."""
    with closing(apsw.Connection(str(store.path))) as connection:
        return connection.execute(sql, parameters).fetchall()


def traces(store, memory_words, bytes_of, vectors=()):
    """Return what is left of these words, their stems and these vectors in the bytes of a store."""
    content = bytes_of(store.path)
    folded = content.decode("latin-1").lower()
    sought = {word.lower() for word in memory_words}
    sought |= {stem for word in memory_words for stem in stems(word) if len(stem) > 4}
    found = {word for word in sought if word.encode().decode("latin-1").lower() in folded}
    return found | {f"vector {i}" for i, part in enumerate(vectors) if part in content}


def vectors_of(store, memory):
    """Return the bytes of the vectors, codes and tokens of a memory."""
    chunks = "select chunks.id from chunks join memories on memories.key = chunks.memory where memories.id = ?"
    return [
        bytes(row[0])
        for table, column in (("vectors_1", "embedding"), ("codes_1", "code"), ("chunk_tokens", "ids"))
        for row in rows(store, f"select {column} from {table} where chunk in ({chunks})", memory.id)
    ]


@pytest.fixture
def surrounded(store, week):
    """A store in which the secret lies among other memories, with its vectors."""
    memory = store(settings=HASTY)
    memory.add_many(week, progress=False)
    secret = memory.add(**SECRET)
    memory.add_many([{"text": f"Note {i} on λ", "tags": [f"t{i}"]} for i in range(50)], progress=False)
    return memory, secret, vectors_of(memory, secret)


def test_it_was_there(surrounded, bytes_of):
    """Before it is forgotten, every word, stem and vector is in the files: the tests below can fail."""
    memory, _, vectors = surrounded

    assert len(vectors) == 3 and len(vectors[0]) == 1024 and len(vectors[1]) == 128
    everything = {word.lower() for word in words_of(SECRET)} | {"vector 0", "vector 1", "vector 2"}
    assert traces(memory, words_of(SECRET), bytes_of, vectors) >= everything


@pytest.mark.parametrize(
    "choice",
    [
        lambda secret: {"ids": secret.id},
        lambda secret: {"ids": [secret.id]},
        lambda secret: {"source": SECRET["source"]},
        lambda secret: {"source": "https://intranet.example"},
        lambda secret: {"filters": {"tag": "kühlkette"}},
        lambda secret: {"filters": {"space": "arktislabor", "session": "nachtschicht"}},
        lambda secret: {"everything": True},
    ],
    ids=["id", "ids", "source", "folder", "tag", "facets", "everything"],
)
def test_no_byte_is_left(surrounded, bytes_of, choice):
    """However it is chosen, what is forgotten leaves no word, stem, vector or code in any file of the store."""
    memory, secret, vectors = surrounded
    chosen = choice(secret)
    total = memory.stats()["memories"]

    assert memory.forget(**chosen) == (total if "everything" in chosen else 1)
    assert traces(memory, words_of(SECRET), bytes_of, vectors) == set()
    assert memory.doctor() == []
    memory.close()
    with MemoryStore(memory.path) as again:
        assert traces(again, words_of(SECRET), bytes_of, vectors) == set()


def test_no_byte_is_left_without_a_log(store, path, bytes_of, network_home):
    """With an ordinary journal in place of the log, no byte is left either."""
    memory = store()
    secret = memory.add(**SECRET)
    memory.add("Note on λ")
    vectors = vectors_of(memory, secret)

    assert memory.stats()["journal"] == "truncate"
    assert traces(memory, words_of(SECRET), bytes_of, vectors)
    memory.forget(secret.id)
    assert traces(memory, words_of(SECRET), bytes_of, vectors) == set()


def test_an_update_leaves_nothing_of_what_it_replaced(surrounded, bytes_of):
    """What an update replaces is forgotten, whichever column it stood in."""
    memory, secret, vectors = surrounded
    memory.update(secret.id, text="Net of tax", title="Tax")
    assert traces(memory, words_of(SAID) - {"Kühlkette"}, bytes_of, vectors) == set()  # which is a tag, too

    memory.update(secret.id, tags=["tax"], metadata={}, domain=None, session=None, space="")
    source = set(re.findall(r"\w{5,}", SECRET["source"]))
    assert traces(memory, words_of(SECRET) - source, bytes_of, vectors) == set()
    assert memory.doctor() == []


@pytest.mark.parametrize("change", ["deleted", "rewritten", "rewritten in a large store"])
def test_a_file_that_changed(store, tmp_path, bytes_of, change):
    """What a file no longer says, or said before it was deleted, is gone after the next run.

    A large store is not written anew for an edit: there it is gone when the store is closed.
    """
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "other.md").write_text("# Prices\n\nNet of tax in Zürich.")
    (folder / "secret.md").write_text(f"# {SECRET['title']}\n\n{SECRET['text']}")
    memory = store()
    memory.index(folder, progress=False)
    said = words_of(SAID)
    assert traces(memory, said, bytes_of)

    if change == "deleted":
        (folder / "secret.md").unlink()
    else:
        (folder / "secret.md").write_text("# Nothing\n\nto see here.")
    if change == "rewritten in a large store":
        os.truncate(memory.path, 600_000_000)  # which takes no room, and lasts until the log is moved into the file
    report = memory.index(folder, progress=False)
    assert (report.files, report.forgotten) == ((0, 1) if change == "deleted" else (1, 0))
    if change == "rewritten in a large store":
        assert memory.path.stat().st_size == 600_000_000
        memory.close()
        memory = store()
    assert traces(memory, said, bytes_of) == set()
    assert memory.doctor() == []


def many(seed, count):
    """Return made-up words, none of which is used twice."""
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


def separators(store):
    """Return the beginnings of words that separate the pages of the index."""
    return [bytes(row[0])[1:] for row in rows(store, "select term from keyword_idx")]


def test_a_word_between_the_pages(store, bytes_of):
    """Once removed words separated two pages of the index, it is built anew without them, and searches go on."""
    words = many(9, 40_000)
    memory = store(embedder=None)
    memories = memory.add_many(
        ({"text": " ".join(words[i : i + 50])} for i in range(0, len(words), 50)), progress=False
    )
    signs = sorted(separators(memory), key=len)[-3:]
    holding = [
        one for one in memories if any(word.encode().startswith(sign) for word in one.text.split() for sign in signs)
    ]
    for one in holding[:3]:
        memory.forget(one.id)

    there = {stem for one in memories if one not in holding[:3] for stem in one.text.split()}
    stemmed = stems(" ".join(there))
    assert all(any(stem.encode().startswith(sign) for stem in stemmed) for sign in separators(memory))
    assert memory.doctor() == []
    kept = next(one for one in memories if one not in holding)
    for word in kept.text.split()[:5]:
        assert [hit.memory.id for hit in memory.hits(word).hits] == [kept.id]


def reading(path):
    """Return a connection in the middle of a read, which holds the log back."""
    connection = apsw.Connection(str(path))
    connection.execute("begin")
    assert connection.execute("select count(*) from memories").get == 61
    return connection


def test_while_another_reads(surrounded, bytes_of):
    """A reader in the middle of something holds the log back: a notice says so, until the reader ends."""
    memory, secret, vectors = surrounded
    with closing(reading(memory.path)):
        memory.forget(secret.id)

        assert any("another process is reading" in notice.lower() for notice in memory.notices)
        assert secret.id not in {hit.memory.id for hit in memory.hits("Walrossherde").hits}
        assert traces(memory, words_of(SECRET), bytes_of)
    memory.add("the next change")
    assert memory.notices == () and memory.doctor() == []
    assert traces(memory, words_of(SECRET), bytes_of, vectors) == set()


def test_a_reader_that_ends_last(surrounded, bytes_of):
    """When the reader ends after everything else was closed, nothing is left all the same."""
    memory, secret, vectors = surrounded
    with closing(reading(memory.path)):
        memory.forget(secret.id)
        memory.close()
    with MemoryStore(memory.path) as again:
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
    """What is forgotten while vectors are written anew leaves none behind."""
    with store() as first:
        first.add_many(week, progress=False)
    other = store()

    class Forgetful:
        name, dimensions, threshold, fingerprint = "forgetful", 64, 0.2, "forgetful/64"

        def embed_documents(self, texts, /):
            other.forget(everything=True) if other.stats()["memories"] else None
            return np.ones((len(texts), 64))

        def embed_query(self, text, /):
            return np.ones(64)

    second = store(embedder=Forgetful())
    assert second.reembed(progress=False) == 0
    tables = [row[0] for row in rows(second, "select name from sqlite_schema where name glob '[vc]*_[0-9]*'")]
    assert len(tables) == 4 and all(rows(second, f"select count(*) from {table}") == [(0,)] for table in tables)


PICTURE = Thumbnail("image/webp", 48, 36, b"the only picture" * 900)


@pytest.mark.parametrize(
    "remove",
    [
        lambda storage: storage.thumbnails.clear(),
        lambda storage: storage.writer.forget_files(["/week/λ.ipynb"], ""),
        lambda storage: storage.writer.remove_folder("/week", ""),
    ],
)
def test_a_picture_leaves_no_byte(sqlite, bytes_of, remove):
    """Whether the pictures are cleared, or go with their file or folder, nothing is kept of them."""
    storage, path = sqlite(), "/week/λ.ipynb"
    cell = Draft(text="plot(λ)", kind="cell", source=path, location="#0", pictures=Pictures((PICTURE,)))
    storage.writer.replace_files([(FileState(path, 1, 1, "λ"), prepare([cell], None))], None, "")
    assert b"the only picture" in bytes_of(storage.path)
    assert remove(storage) == 1
    assert b"the only picture" not in bytes_of(storage.path)
