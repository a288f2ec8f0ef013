"""Processes that prepare files, and those that parsers run in: whatever happens there concerns one file, or none."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import apsw
import endless
import nbformat
import numpy as np
import pytest
from file_changes import said
from inside import run_sql
from pictures import plot, plotting, saved

from jupyter_memory import InputError, MemoryStore
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.ingest import Isolation, known_readers

LONG = "The λ of the Poisson model fell in Zürich; FileSyncService.flush() ran at 1.0.21.\n" * 60
# Two cores are enough for a worker; a single one is not.
CORES = {True: {0, 1}, False: {0}}


@pytest.fixture
def folder(tmp_path):
    """A week's folder with a secret, a file that is no notebook, an empty one, one in UTF-16, a database, and plots.

    Notebooks with large metadata make it worth a worker, and more portions than may lie ready at a time.
    """
    root = tmp_path / "week"
    for day in range(30):
        cells = [nbformat.v4.new_markdown_cell(f"## Day {day}"), nbformat.v4.new_code_cell(f"prices[{day}] = λ\n")]
        saved(root / f"day_{day}.ipynb", *cells, pad="x" * 110_000)
    for day in range(6):
        (root / f"note_{day}.md").write_text(f"# Note {day}\n\n{LONG}\n\n東京の売上 {day}\n", encoding="utf-8")
    saved(root / "plots.ipynb", plotting("one()", plot(1)), plotting("two()", plot(2)))
    (root / "key.py").write_text('api_key = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"\ndef flush(): ...\n')
    (root / "broken.ipynb").write_text("{", encoding="utf-8")
    (root / "empty.md").write_text("", encoding="utf-8")
    (root / "old.txt").write_bytes("Umsätze".encode("utf-16"))
    with closing(apsw.Connection(str(root / "crm.sqlite"))) as connection:
        connection.execute("create table invoices(invoice_no integer)")
    return root


@pytest.fixture
def workers(folder, monkeypatch):
    """The worker processes that were started; set ``fate`` to a function that is called with each."""
    # The process in which this one parses databases is no worker; each worker has another one.
    known_readers().reader_of(folder / "crm.sqlite").read(folder / "crm.sqlite")

    class Started(list):
        fate = staticmethod(lambda process: None)

    started = Started()

    class Recorded(subprocess.Popen):
        def __init__(self, command, *arguments, **options):
            super().__init__(command, *arguments, **options)
            if command[0] == sys.executable:
                started.append(self)
                started.fate(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    cores(monkeypatch, True)
    return started


def cores(monkeypatch, many):
    """Let this process have several cores, so that it may start workers, or one."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: CORES[many], raising=False)


def vectors(store):
    found = run_sql(store, "select embedding from vectors_1 join chunks on chunk = id order by context, text, start")
    return np.frombuffer(b"".join(row[0] for row in found), np.float32)


def further(store):
    """Return what a store holds of files beside their texts: definitions, tokens, thumbnails."""
    tables = ("defined, assigned, nested from definitions", "ids from chunk_tokens", "place, image from thumbnails")
    return [sorted(run_sql(store, f"select {table}")) for table in tables]


def test_the_same_store(folder, tmp_path, workers, monkeypatch):
    """With workers or without, a folder becomes the same memories, chunks, tokens and vectors, and the same report."""
    stores, reports = [], []
    for many in (False, True):
        cores(monkeypatch, many)
        stores.append(MemoryStore(tmp_path / f"{many}.sqlite", embedder=StaticEmbedder(), space="work"))
        reports.append(stores[-1].index(folder, progress=False))
        assert len(workers) == many
    alone, together = stores
    assert said(alone.path) == said(together.path) and further(alone) == further(together)
    assert np.allclose(vectors(alone), vectors(together), atol=1e-6) and len(vectors(alone))
    assert reports[0].files == reports[1].files == 41
    assert (reports[0].failed, reports[0].redacted) == (reports[1].failed, reports[1].redacted)
    assert [Path(path).name for path, _ in reports[1].failed] == ["broken.ipynb"]
    assert (reports[1].redacted, reports[1].pictures.kept) == (1, 2)
    for store in stores:
        store.close()


def test_words_alone(folder, tmp_path, workers):
    with MemoryStore(tmp_path / "words.sqlite", embedder=None) as store:
        store.index(folder, progress=False)
        assert len(store.search("売上", profile="covalence")) == 6 and len(workers) == 1


def test_another_model(folder, tmp_path, workers):
    class Ones:
        name, dimensions, threshold, fingerprint = "ones", 8, 0.1, "ones/8"

        def embed_documents(self, texts, /):
            return np.ones((len(texts), 8), np.float32)

        def embed_query(self, text, /):
            return np.ones(8, np.float32)

    with MemoryStore(tmp_path / "ones.sqlite", embedder=Ones()) as store:
        store.index(folder, progress=False)
        assert set(vectors(store)) == {1.0} and not workers


def stopped(process):
    process.send_signal(signal.SIGSTOP)
    go_on = threading.Timer(2, process.send_signal, [signal.SIGCONT])
    go_on.daemon = True
    go_on.start()


def not_there(process):
    process.kill()
    raise OSError("no more processes")


@pytest.mark.parametrize("fate", [stopped, subprocess.Popen.kill, not_there])
def test_workers_that_do_not_work(folder, tmp_path, workers, fate):
    """A worker may stand still, be killed or not be started: every file is read once all the same."""
    workers.fate = fate
    with MemoryStore(tmp_path / "memory.sqlite", embedder=StaticEmbedder(64)) as store:
        report = store.index(folder, progress=False)
        assert (report.files, len(report.failed), len(workers)) == (41, 1, 1)
        assert store.index(folder, progress=False).unchanged == 41


def test_workers_that_are_killed_on_the_way(folder, tmp_path, workers):
    def kill(done, files):
        if done == 2:
            for worker in workers:
                worker.kill()

    with MemoryStore(tmp_path / "killed.sqlite", embedder=StaticEmbedder(64)) as store:
        assert store.index(folder, progress=kill).files == 41 and workers


def test_a_file_that_changes_meanwhile(folder, tmp_path, workers):
    def rewrite(done, files):
        if done == 34:  # it is in the portion of the first notes, and is one of the last files
            (folder / "note_5.md").write_text("Rewritten in Genève.", encoding="utf-8")

    with MemoryStore(tmp_path / "memory.sqlite", embedder=StaticEmbedder(64)) as store:
        store.index(folder, progress=rewrite)
        [hit] = store.hits("rewritten", filters={"path": str(folder / "note_5.md")}).hits
        assert hit.memory.text == "Rewritten in Genève." and hit.freshness == "current" and workers


def test_none_is_left(folder, tmp_path, workers):

    def interrupted(done, files):
        if files is not None:
            raise KeyboardInterrupt

    with MemoryStore(tmp_path / "stopped.sqlite", embedder=StaticEmbedder(64)) as store:
        store.index(folder, progress=False)
        for path in folder.glob("day_*"):
            path.write_text(path.read_text().replace("Day", "Night"))
        with pytest.raises(KeyboardInterrupt):
            store.index(folder, progress=interrupted)
    assert len(workers) == 2 and all(worker.poll() is not None for worker in workers)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_nobody_to_answer(folder, tmp_path):
    program = f"""
import os, time
from pathlib import Path
from jupyter_memory import MemoryStore
os.sched_getaffinity = lambda process: {{0, 1}}
def wait(done, files):
    if children := Path(f"/proc/{{os.getpid()}}/task/{{os.getpid()}}/children").read_text().split():
        print(*children, flush=True)
        time.sleep(600)
MemoryStore({str(tmp_path / "m.sqlite")!r}).index({str(folder)!r}, progress=wait)
"""
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
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.fixture
def asked(tmp_path):
    """Return what lets the parser of `endless` do what a file says, in a process that has so many seconds."""
    opened = {}

    def ask(what, seconds=20):
        (tmp_path / "file").write_text(what)
        isolation = opened.setdefault(seconds, Isolation(seconds=seconds))
        return isolation.read(f"{endless.__name__}:read", "PDF", tmp_path / "file").parts[0]

    yield ask
    for isolation in opened.values():
        isolation.close()


def test_files_are_read_one_after_another_in_another_process(asked):
    """In text that can be stored, whatever the parser prints."""
    one, other = asked("one"), asked("other")
    assert (one.text, one.location, one.headings, other.text) == ("one�", "page 1", ("λ",), "other�")
    assert one.metadata == other.metadata and one.metadata["pid"] != os.getpid()


@pytest.mark.parametrize(
    ("what", "seconds", "says"),
    [
        ("memory", 20, "too much memory"), ("crash", 20, "crash"), ("nest", 20, "nested too deeply"),
        ("quote", 20, r"damaged, or it is no PDF \(ValueError\)"),
        ("wrong", 20, "It is wrong"), ("exit", 20, "crash"), ("loop", 1, "not read within 1 seconds"),
    ],
)  # fmt: skip
def test_what_goes_wrong_concerns_one_file(asked, what, seconds, says):
    """It is told without the file's text, and the next file is read."""
    with pytest.raises(InputError, match=says) as error:
        asked(what, seconds)
    assert "user's" not in str(error.value)
    assert asked("next", seconds).text == "next�"


def test_a_parser_writes_no_file(asked, tmp_path):
    """Not even by mistake: the system forbids it."""
    with pytest.raises((InputError, OSError)):
        asked("write")
    assert not (tmp_path / "file.written").exists() or not (tmp_path / "file.written").read_text()


def test_what_is_missing_is_named(tmp_path):
    isolation = Isolation()
    with pytest.raises(OSError, match="No such file"):
        isolation.read("endless:read", "PDF", tmp_path / "gone")
    with pytest.raises(InputError, match="What reads a PDF cannot be loaded"):
        isolation.read("no_such_module:read", "PDF", tmp_path / "file")
    isolation.close()


_READS_AND_ENDS = """
import sys
from pathlib import Path
from jupyter_memory.ingest import Isolation
sys.path.insert(0, sys.argv[1])
print(Isolation().read("endless:read", "PDF", Path(sys.argv[2])).parts[0].metadata["pid"])
"""


def test_it_ends_with_its_program(tmp_path):
    """At once, and without a warning."""
    (tmp_path / "file").write_text("x")
    arguments = [str(Path(endless.__file__).parent), str(tmp_path / "file")]
    command = [sys.executable, "-W", "always", "-c", _READS_AND_ENDS, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    assert "ResourceWarning" not in ended.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(ended.stdout), 0)
