"""Claims about parsing files in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_memory import InputError
from jupyter_memory.ingest import Isolation


@pytest.fixture
def isolation(monkeypatch: pytest.MonkeyPatch) -> Iterator[Isolation]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    opened = Isolation(seconds=20)
    yield opened
    opened.close()


def asked(isolation: Isolation, folder: Path, what: str):
    path = folder / "file"
    path.write_text(what)
    return isolation.read("endless:read", "PDF", path)


def test_files_are_read_one_after_another_in_another_process(isolation: Isolation, tmp_path: Path) -> None:
    """In text that can be stored, whatever the parser prints."""
    [one], [other] = (asked(isolation, tmp_path, what).parts for what in ("one", "other"))

    assert (one.text, one.location, one.headings, other.text) == ("one�", "page 1", ("λ",), "other�")
    assert one.metadata == other.metadata and one.metadata["pid"] != os.getpid()


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("memory", "too much memory"),
        ("crash", "crash"),
        ("nest", "nested too deeply"),
        ("quote", r"damaged, or it is no PDF \(ValueError\)"),
        ("wrong", "It is wrong"),
        ("exit", "crash"),
    ],
)
def test_what_goes_wrong_concerns_one_file(isolation: Isolation, tmp_path: Path, what: str, says: str) -> None:
    """It is told without the file's text, and the next file is read."""
    with pytest.raises(InputError, match=says) as error:
        asked(isolation, tmp_path, what)

    assert "user's" not in str(error.value)
    assert asked(isolation, tmp_path, "next").parts[0].text == "next�"


def test_a_parser_that_never_ends_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    isolation = Isolation(seconds=1)

    with pytest.raises(InputError, match="not read within 1 seconds"):
        asked(isolation, tmp_path, "loop")
    isolation.close()


def test_a_parser_writes_no_file(isolation: Isolation, tmp_path: Path) -> None:
    """Not even by mistake: the system forbids it."""
    with pytest.raises((InputError, OSError)):
        asked(isolation, tmp_path, "write")

    assert not (tmp_path / "file.written").exists() or not (tmp_path / "file.written").read_text()


def test_a_missing_file_is_an_error_of_the_system(isolation: Isolation, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        isolation.read("endless:read", "PDF", tmp_path / "gone")


def test_a_library_that_cannot_be_loaded_is_named(isolation: Isolation, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="What reads a PDF cannot be loaded"):
        isolation.read("no_such_module", "PDF", tmp_path / "file")


_READS_AND_ENDS = """
import sys
from pathlib import Path
from jupyter_memory.ingest import Isolation
sys.path.insert(0, sys.argv[1])
print(Isolation().read("endless:read", "PDF", Path(sys.argv[2])).parts[0].metadata["pid"])
"""


def test_it_ends_with_its_program(tmp_path: Path) -> None:
    """At once, and without a warning."""
    (tmp_path / "file").write_text("x")
    command = [
        sys.executable,
        "-W",
        "always",
        "-c",
        _READS_AND_ENDS,
        str(Path(__file__).parent),
        str(tmp_path / "file"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)

    assert "ResourceWarning" not in ended.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(ended.stdout), 0)
