"""Parsers run in a process of their own: whatever they do there concerns one file."""

import os
import subprocess
import sys
from pathlib import Path

import endless
import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import Isolation


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
