"""The folder that an export writes: its files, written whole or not at all, and read line by line."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from jupyter_memory.errors import InputError
from jupyter_memory.store.transfer.fields import Fields

FORMAT, VERSION = "jupyter-memory export", 1
ABOUT = "store.json"
MEMORIES, RUNS, PICTURES, FILES, FOLDERS, FEEDBACK = (
    f"{name}.jsonl" for name in ("memories", "runs", "pictures", "files", "folders", "feedback")
)
NOTES = "notes"
# An index run that passes by must not read the notes a second time.
IGNORE = ".jupytermemoryignore"
# Bytes of a line: several times a text of 20 MB, the largest file that is indexed unless the settings say otherwise.
LONGEST = 200_000_000


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Yield a hidden folder to fill, which becomes ``target`` at the end; if the block fails, nothing is left.

    Raises:
        InputError: there is something at ``target`` already, or it cannot be written.
    """
    try:
        if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
            raise InputError(f"There is something at {target} already. Name a folder that is new or empty.")
        target.parent.mkdir(parents=True, exist_ok=True)
        # Readable by its owner alone, as are the files in it.
        filled = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}. Name another folder.") from None
    try:
        yield filled
        if target.exists():
            target.rmdir()
        filled.rename(target)
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}. Nothing was exported.") from None
    finally:
        shutil.rmtree(filled, ignore_errors=True)


def write_text(file: Path, text: str) -> None:
    """Write a new file that only its owner can read."""
    with _created(file) as stream:
        stream.write(text.encode())


def write_lines(file: Path, records: Iterable[dict[str, Any]]) -> int:
    """Write records one a line; return how many."""
    count = 0
    with _created(file) as stream:
        for record in records:
            line = json.dumps(record, ensure_ascii=False).encode()
            if len(line) >= LONGEST:
                raise InputError(f"{record.get('id')} is too large for an export. Copy the store with `backup`.")
            stream.write(line + b"\n")
            count += 1
        stream.flush()
        os.fsync(stream.fileno())
    return count


def lines(folder: Path, name: str) -> Iterator[Fields]:
    """Yield the records of a file, each knowing its line; none where there is no such file.

    Raises:
        InputError: the file is no regular file, or a line is too long or no JSON object.
    """
    for _, record in located(folder, name):
        yield record


def located(folder: Path, name: str) -> Iterator[tuple[int, Fields]]:
    """Yield the records of a file with the places where their lines begin; see ``lines``."""
    file = folder / name
    if not os.path.lexists(file):
        return
    with opened(file) as stream:
        place, number = 0, 0
        while line := stream.readline(LONGEST + 1):
            number += 1
            if line.strip():
                yield place, _parsed(line, f"{name}, line {number}")
            place += len(line)


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """Open a file of the folder for reading; a link could lead anywhere, and a pipe never end.

    Raises:
        InputError: it is no regular file, or cannot be read.
    """
    if file.is_symlink() or not file.is_file():
        raise InputError(f"{file} is no regular file. Nothing was imported.")
    try:
        stream = file.open("rb")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}. Nothing was imported.") from None
    with stream:
        yield stream


def at(stream: IO[bytes], place: int, where: str) -> Fields:
    """Return the record of the line that begins at a place."""
    stream.seek(place)
    return _parsed(stream.readline(LONGEST + 1), where)


def about(folder: Path) -> Fields:
    """Return what a folder says about itself.

    Raises:
        InputError: it is no folder that ``export`` wrote, or one of a newer version.
    """
    if not folder.is_dir() or not os.path.lexists(folder / ABOUT):
        raise InputError(f"{folder} has no {ABOUT}, so it is no exported store. Name the folder that `export` wrote.")
    with opened(folder / ABOUT) as stream:
        found = _parsed(stream.read(LONGEST + 1), ABOUT)
    if found.values.get("format") != FORMAT:
        raise found.wrong("format", FORMAT)
    if found.integer("version", least=1) > VERSION:
        raise InputError(f"{folder} was exported by a newer version. Update: pip install -U jupyter-memory")
    return found


def _parsed(line: bytes, where: str) -> Fields:
    if len(line) > LONGEST:
        raise InputError(f"{where}: longer than {LONGEST // 1_000_000} MB. Nothing was imported.")
    try:
        value = json.loads(line, parse_constant=_refused)
        if b"\\u" in line:
            # Half of a pair of surrogates is no text.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise InputError(f"{where}: this is no JSON. Nothing was imported.") from None
    if not isinstance(value, dict):
        raise InputError(f"{where}: this is no JSON object. Nothing was imported.")
    return Fields(value, where)


def _refused(name: str) -> None:
    raise ValueError(name)


def _created(file: Path) -> IO[bytes]:
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
