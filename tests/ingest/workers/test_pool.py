"""Files prepared by workers, ahead of the writer: the same store, whatever becomes of workers and files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import nbformat
import numpy as np
import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.ingest import indexer, prepare, workers
from jupyter_memory.ingest.workers import Task, WorkerPool, packed, prepare_files, unpacked
from jupyter_memory.text import Definitions
from jupyter_memory.types import Draft

LONG = "The λ of the Poisson model fell in Zürich; FileSyncService.flush() ran at 1.0.21.\n" * 60


@pytest.fixture
def folder(tmp_path):
    """A week's folder: notebooks, notes, one with a secret, one that is no notebook, an empty one, one in UTF-16."""
    root = tmp_path / "week"
    root.mkdir()
    for day in range(6):
        cells = [nbformat.v4.new_markdown_cell(f"## Day {day}"), nbformat.v4.new_code_cell(f"prices[{day}] = λ\n")]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), root / f"day_{day}.ipynb")
        (root / f"note_{day}.md").write_text(f"# Note {day}\n\n{LONG}\n\n東京の売上 {day}\n", encoding="utf-8")
    (root / "key.py").write_text('api_key = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"\n', encoding="utf-8")
    (root / "broken.ipynb").write_text("{", encoding="utf-8")
    (root / "empty.md").write_text("", encoding="utf-8")
    (root / "old.txt").write_bytes("Umsätze".encode("utf-16"))
    return root


@pytest.fixture
def pooled(monkeypatch):
    """Make every folder worth a worker, in small portions."""
    monkeypatch.setattr(indexer, "workers_for", lambda paths: 1)
    monkeypatch.setattr(workers, "_PORTION", 4_000)


def held(store):
    """Return everything that a store holds of files, without what depends on the moment."""
    connection = store._storage.database.connection
    columns = "source, kind, tier, space, location, lang, title, event_at, metadata, content_hash, texts.text"
    return {
        "memories": set(connection.execute(f"select {columns} from memories join texts on memory = key")),
        "chunks": set(connection.execute("select start, stop, line, text, context, ident from chunks")),
        "definitions": sorted(connection.execute("select defined, assigned, nested from definitions")),
        "tokens": sorted(bytes(ids) for (ids,) in connection.execute("select ids from chunk_tokens")),
        "files": set(connection.execute("select path, size, content_hash from files")),
    }


def vectors(store):
    connection = store._storage.database.connection
    rows = connection.execute("select embedding from vectors_1 join chunks on chunk = id order by context, text, start")
    return np.frombuffer(b"".join(row[0] for row in rows), np.float32)


def test_the_same_store(folder, tmp_path, monkeypatch):
    """With workers or without, a folder becomes the same memories, chunks, tokens and vectors, and the same report."""
    stores, reports = [], []
    for count in (0, 2):
        monkeypatch.setattr(indexer, "workers_for", lambda paths, count=count: count)
        stores.append(MemoryStore(tmp_path / f"{count}.sqlite", embedder=StaticEmbedder(), space="work"))
        reports.append(stores[-1].index(folder, progress=False))
    alone, together = stores

    assert held(alone) == held(together)
    assert np.allclose(vectors(alone), vectors(together), atol=1e-6)
    assert reports[0].files == reports[1].files > 12
    assert (reports[0].failed, reports[0].redacted) == (reports[1].failed, reports[1].redacted)
    assert [Path(path).name for path, _ in reports[1].failed] == ["broken.ipynb"]
    assert reports[1].redacted == 1
    for store in stores:
        store.close()


def test_words_alone(folder, tmp_path, pooled):
    """A store without a model has workers too."""
    with MemoryStore(tmp_path / "words.sqlite", embedder=None) as store:
        store.index(folder, progress=False)

        assert len(store.search("売上", profile="covalence")) == 6


def test_another_model(folder, tmp_path, pooled):
    """A model that workers do not have embeds in the process that writes."""

    class Ones:
        name, dimensions, threshold, fingerprint = "ones", 8, 0.1, "ones/8"

        def embed_documents(self, texts, /):
            return np.ones((len(texts), 8), np.float32)

        def embed_query(self, text, /):
            return np.ones(8, np.float32)

    with MemoryStore(tmp_path / "ones.sqlite", embedder=Ones()) as store:
        store.index(folder, progress=False)

        assert set(vectors(store)) == {1.0}


def task(folder):
    return Task(folder, True, "", 64)


def test_in_any_order(folder):
    """What is asked for comes, also when files between were not wanted; what was passed by does not come back."""
    paths = sorted(folder.glob("note_*.md"))
    with WorkerPool(paths, task(folder), workers=1, portion=1) as ready:
        first, last, again = (ready.prepared(paths[place]) for place in (0, 5, 1))

    assert [one.draft.title for one in (*first, *last)] == ["note_0.md", "note_5.md"]
    assert again is None
    assert ready.prepared(folder / "elsewhere.md") is None


def test_more_than_lies_ready(folder, monkeypatch):
    """Workers do not run away from the writer, and go on when more is wanted."""
    monkeypatch.setattr(workers, "_AHEAD", 2)
    paths = sorted(folder.glob("note_*.md"))
    with WorkerPool(paths, task(folder), workers=1, portion=1) as ready:
        found = [ready.prepared(path) for path in paths]

    assert all(found)


def test_prepared_here(folder, monkeypatch):
    """The writer prepares what no worker has instead of waiting, and gets every file once."""
    paths = sorted(folder.glob("note_*.md"))
    here, begin = [], workers._started

    def stopped(task):
        worker = begin(task)
        worker.process.send_signal(signal.SIGSTOP)
        go_on = threading.Timer(60, worker.process.send_signal, [signal.SIGCONT])
        go_on.daemon = True
        go_on.start()
        return worker

    def prepare_here(some):
        here.extend(some)
        if len(here) == 3:
            ready._workers[0].process.send_signal(signal.SIGCONT)
        return prepare_files(some, task(folder), StaticEmbedder(64))

    monkeypatch.setattr(workers, "_started", stopped)
    with WorkerPool(paths, task(folder), workers=1, portion=1, here=prepare_here) as ready:
        found = [ready.prepared(path) for path in paths]

    assert [one.draft.title for of_file in found for one in of_file] == [path.name for path in paths]
    # Two portions are the worker's, which goes on only when the third one is prepared here.
    assert len(here) == len(set(here)) >= 3


def test_a_file_that_changes_meanwhile(folder):
    """What was prepared of a file as it was is not taken for what it is."""
    paths = sorted(folder.glob("note_*.md"))
    with WorkerPool(paths, task(folder), workers=1) as ready:
        assert ready.prepared(paths[0])
        paths[1].write_text("Rewritten in Genève.", encoding="utf-8")

        assert ready.prepared(paths[1]) is None


def test_workers_that_are_gone(folder, tmp_path, pooled, monkeypatch):
    """Should all workers be killed on the way, everything is read all the same."""
    as_ever = WorkerPool.prepared

    def killed(self, path):
        if len(asked) == 2:
            for worker in self._workers:
                worker.process.kill()
        asked.append(path)
        return as_ever(self, path)

    asked = []
    monkeypatch.setattr(WorkerPool, "prepared", killed)
    with MemoryStore(tmp_path / "killed.sqlite", embedder=StaticEmbedder(64)) as store:
        report = store.index(folder, progress=False)

        assert len(report.failed) == 1
        assert len(held(store)["files"]) == len(list(folder.iterdir()))


def test_an_interpreter_that_does_not_start(folder, tmp_path, pooled, monkeypatch):
    """Where no process can be started, the folder is read without."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no python"))
    with MemoryStore(tmp_path / "alone.sqlite", embedder=StaticEmbedder(64)) as store:
        assert store.index(folder, progress=False).files > 12


def test_none_is_left(folder, tmp_path, pooled, monkeypatch):
    """When indexing ends, also by Ctrl-C, no worker is left."""
    started = []
    begin = workers._started
    monkeypatch.setattr(workers, "_started", lambda task: started.append(begin(task)) or started[-1])

    def interrupted(done, files):
        if files is not None:
            raise KeyboardInterrupt

    with MemoryStore(tmp_path / "stopped.sqlite", embedder=StaticEmbedder(64)) as store:
        store.index(folder, progress=False)
        (folder / "note_0.md").write_text("Another", encoding="utf-8")
        with pytest.raises(KeyboardInterrupt):
            store.index(folder, progress=interrupted)

    assert len(started) == 2
    assert all(worker.process.poll() is not None for worker in started)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_nobody_to_answer(folder, tmp_path):
    """A worker exits by itself when the process that started it was killed."""
    program = (
        "import os, sys, time\nfrom pathlib import Path\nfrom jupyter_memory.ingest.workers import WorkerPool\n"
        "from jupyter_memory.ingest.workers import Task\n"
        f"folder = Path({str(folder)!r})\n"
        "ready = WorkerPool(sorted(folder.glob('note_*.md')), Task(folder, True, '', 64), 1)\n"
        "assert ready.prepared(folder / 'note_0.md')\n"
        "print(ready._workers[0].process.pid, flush=True)\ntime.sleep(600)\n"
    )
    asker = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    worker = int(asker.stdout.readline())
    asker.send_signal(signal.SIGKILL)
    asker.wait(100)
    asker.stdout.close()
    until = time.monotonic() + 60
    while is_running(worker):
        if time.monotonic() > until:
            os.kill(worker, signal.SIGKILL)
            pytest.fail("the worker stayed")
        time.sleep(0.05)


def is_running(process):
    """Return whether a process is there and not over."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_packed():
    """What is handed over comes out as it went in, vectors and tokens and all, also where there is nothing."""
    drafts = [
        Draft(text=LONG, title="λ", tags=("a", "b"), metadata={"n": [1, "ü"]}),
        Draft(text="def flush(): ...", lang="python"),
        Draft(text="short", space="s"),
    ]
    for embedder in (StaticEmbedder(64), None):
        ready = prepare(drafts, embedder)
        again = unpacked(packed(ready))

        assert [one.draft for one in again] == [one.draft for one in ready]
        assert [list(one.idents) for one in again] == [list(one.idents) for one in ready]
        assert [one.definitions for one in again] == [None, Definitions(defined="flush"), None]
        for one, other in zip(again, ready, strict=True):
            assert [it.to_bytes() for it in one.tokens] == [it.to_bytes() for it in other.tokens]
            assert (one.vectors is None) == (embedder is None)
            assert one.vectors is None or np.array_equal(one.vectors, other.vectors)
    assert unpacked(packed([])) == []
