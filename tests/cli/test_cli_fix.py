"""`jupyter-memory fix`: a traceback from a file or standard input."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.types import Run, RunError

NOON = datetime(2026, 3, 6, 12, tzinfo=UTC)
TRACEBACK = """Traceback (most recent call last):
  File "/home/ida/report.py", line 3, in <module>
    total = "sum: " + {name}
TypeError: can only concatenate str (not "int") to str
"""


@pytest.fixture
def known(run, home):
    """Give the command, and a store with an error that was mended."""
    error = RunError("TypeError", 'can only concatenate str (not "int") to str', TRACEBACK.format(name="count"))
    with MemoryStore(home / "m.sqlite", embedder=None) as store:
        store.history.record(
            [
                Run('print("hours: " + count)', NOON, "k1", 1, "error", error=error),
                Run('print("hours: " + str(count))', NOON + timedelta(minutes=1), "k1", 2, "ok"),
            ]
        )
    return run


def test_a_file_that_cannot_be_read(known, tmp_path):
    """A folder, or nothing at all, is an error that says what is wanted."""
    for name in (tmp_path, tmp_path / "nosuch.txt"):
        done = known("fix", str(name))
        assert done.code == 1 and "cannot be read" in done.err and "holds a traceback" in done.err


def test_file(known, tmp_path):
    """The fix is told with the difference of the two cells."""
    (tmp_path / "log.txt").write_text(TRACEBACK.format(name="n"), encoding="utf-8")

    done = known("fix", str(tmp_path / "log.txt"))

    assert done.code == 0
    assert done.out.startswith(
        '1. TypeError: can only concatenate str (not "int") to str: a similar error on 2026-03-0'
    )
    assert '-print("hours: " + count)\n' in done.out and '+print("hours: " + str(count))' in done.out


@pytest.mark.parametrize("arguments", [["fix"], ["fix", "-"]])
def test_standard_input_as_json(known, monkeypatch, arguments):
    """Without a file, or with -, standard input is read; --json gives what programs read."""
    monkeypatch.setattr("sys.stdin", io.StringIO(TRACEBACK.format(name="n")))

    [fix] = json.loads(known(*arguments, "--json").out)

    assert (fix["fix"], fix["kind"]) == ('print("hours: " + str(count))', "history")


def test_nothing_alike(known, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("ZeroDivisionError: division by zero"))

    done = known("fix")

    assert (done.code, done.out, done.err.strip()) == (0, "", "No earlier error is like this one.")


def test_text_that_is_no_traceback(known, monkeypatch):
    """What cannot be read is an error, which does not repeat the text."""
    monkeypatch.setattr("sys.stdin", io.StringIO("panic: secret things"))

    done = known("fix")

    assert done.code == 1 and "no traceback of Python" in done.err and "secret" not in done.err


def test_file_that_is_not_there(known):
    assert known("fix", "nowhere.txt").code != 0
