"""IPython's own history is read as IPython writes it, whatever state its file is in, and never written."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from zones import zone

from jupyter_memory import InputError, JupyterMemory
from jupyter_memory.storage import ipython_runs
from jupyter_memory.types import Run

START = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)
SCHEMA = """
    create table sessions (session integer primary key autoincrement, start timestamp, end timestamp, num_cmds integer,
        remark text);
    create table history (session integer, line integer, source text, source_raw text, primary key (session, line));
    create table output_history (session integer, line integer, output text, primary key (session, line));
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "profile_default" / "history.sqlite"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        connection.execute("insert into sessions values (1, '2026-03-06 12:00:00.000000', null, null, '')")
        connection.execute("insert into sessions values (4, '2026-03-06 14:00:00+01:00', null, null, '')")
        lines = [(1, 1, "λ = 3"), (1, 2, "%memsearch λ"), (4, 1, "fit(λ)"), (4, 2, "λ = 3")]
        connection.executemany("insert into history values (?, ?, 'transformed', ?)", lines)
        connection.commit()
    return path


def add_line(path, session, line, source):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("insert into history values (?, ?, ?, ?)", (session, line, source, source))
        connection.commit()


def test_what_is_read(file):
    """Each line is a run, as it was typed, of unknown outcome; its session began when IPython says."""
    assert list(ipython_runs(file)) == [
        Run("λ = 3", START + timedelta(milliseconds=1), "ipython 1 2026-03-06 12:00:00.000000", 1),
        Run("%memsearch λ", START + timedelta(milliseconds=2), "ipython 1 2026-03-06 12:00:00.000000", 2),
        Run("fit(λ)", START + timedelta(hours=1, milliseconds=1), "ipython 4 2026-03-06 14:00:00+01:00", 1),
        Run("λ = 3", START + timedelta(hours=1, milliseconds=2), "ipython 4 2026-03-06 14:00:00+01:00", 2),
    ]


def test_what_ipython_writes(tmp_path):
    path = tmp_path / "history.sqlite"
    options = [f"--HistoryManager.hist_file={path}", "--HistoryManager.enabled=True", "--no-banner"]
    subprocess.run([sys.executable, "-m", "IPython", *options], input="λ = 3\nλ / 0\n", text=True, capture_output=True,
                   timeout=60, check=True)  # fmt: skip
    first, second = ipython_runs(path)
    assert (first.source, second.source, second.number) == ("λ = 3", "λ / 0", 2)
    assert first.started < second.started <= datetime.now(UTC) + timedelta(minutes=1)


def test_imported_twice(store, file):
    """A second import adds what is new since the first, and nothing else; excluded cells stay out."""
    opened = store()
    assert opened.history.import_ipython(file) == 3
    assert opened.history.import_ipython(str(file)) == 0
    add_line(file, 4, 3, "plot(λ)")
    assert opened.history.import_ipython(file) == 1
    assert {one.source for one in opened.history.runs()} == {"λ = 3", "fit(λ)", "plot(λ)"}


def test_imported_in_another_time_zone(store, file):
    """IPython writes local times: a journey between two imports does not double the history."""
    opened, before = store(), next(ipython_runs(file)).started
    opened.history.import_ipython(file)
    with zone("Asia/Tokyo"):
        after, added = next(ipython_runs(file)).started, opened.history.import_ipython(file)
    assert (after, added) == (before - timedelta(hours=9), 0)


def test_the_file_is_not_touched(store, file):
    """The file stays as it is, and nothing is made beside it; what the settings would forget at once is left out."""

    def seen():
        return file.read_bytes(), file.stat().st_mtime_ns, sorted(file.parent.iterdir())

    before = seen()
    assert store("old.sqlite", settings=JupyterMemory(history_days=1.0)).history.import_ipython(file) == 0
    store().history.import_ipython(file)
    assert seen() == before


def test_ipython_goes_on_writing(file):
    """While runs are read, another program can write; what is unfinished is not read, and a locked file is told."""
    runs = ipython_runs(file)
    next(runs)
    add_line(file, 4, 3, "plot(λ)")
    assert [run.source for run in runs] == ["%memsearch λ", "fit(λ)", "λ = 3", "plot(λ)"]
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("begin immediate")
        other.execute("insert into history values (4, 9, 'half', 'half')")
        assert [run.number for run in ipython_runs(file)] == [1, 2, 1, 2, 3]
        other.execute("rollback")
        other.execute("begin exclusive")
        with pytest.raises(InputError, match=r"locked by another program\. Try again"):
            list(ipython_runs(file))


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_in_a_folder_that_cannot_be_written(file, common_folder, as_user, journal):
    """A history that its reader may not write to, in a folder that it may not write to, is read."""
    copy = common_folder / "history.sqlite"
    copy.write_bytes(file.read_bytes())
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute(f"pragma journal_mode = {journal}")
    copy.chmod(0o444)
    assert as_user(lambda: len(list(ipython_runs(copy)))) == 4


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4_000])
def test_no_history(file, content):
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"Name IPython's history\.sqlite"):
        list(ipython_runs(file))
    file.unlink()
    with pytest.raises(InputError, match="There is no file"):
        list(ipython_runs(file))
    assert not file.exists()


def test_rows_of_any_kind(file):
    rows = [(5, 1, None, "first"), (6, 1, None, b"\xff\xfe"), (6, 2, None, None), (6, 3, "only", None), (7, 1, "", "")]
    with closing(sqlite3.connect(file)) as connection:
        for session, start in ((5, None), (6, "gestern"), (7, "9999-12-31 23:59:59-12:00")):
            connection.execute("insert into sessions values (?, ?, null, null, null)", (session, start))
        connection.executemany("insert into history values (?, ?, ?, ?)", rows)
        connection.commit()
    last = list(ipython_runs(file))[4:]
    assert [one.source for one in last] == ["first", "\ufffd\ufffd", "only"]
    # A session without a time began after the one before.
    assert {one.started.replace(microsecond=0) for one in last} == {START + timedelta(hours=1)}
