"""The files of Microsoft Office as archives: which they are, and how much may come out of one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_memory.errors import InputError

# Bytes of all members together, and how many members there may be. A book with pictures has some hundred.
_MOST, _MEMBERS = 1_000_000_000, 20_000
# How a file begins that is encrypted, and one in the formats before 2007: they are told apart by their streams' names.
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


@contextmanager
def archive(path: Path, main: str, what: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive that has a member ``main``; ``what`` is what the file ought to be.

    Raises:
        InputError: it is something else, encrypted or damaged, or more would come out of it than a document holds.
    """
    with path.open("rb") as opened:
        first = opened.read(8)
        if first == _COMPOUND:
            beginning = opened.read(1_000_000)
            raise InputError(_of_compound(_ENCRYPTED in beginning, what))
        if not first.startswith(b"PK"):
            raise InputError(f"The file is no {what}: its first bytes are of another format.")
    try:
        with zipfile.ZipFile(path) as found:
            _check(found, main, what)
            yield found
    except zipfile.BadZipFile:
        raise InputError(f"The file is damaged, so it is no {what} that can be read.") from None


def _of_compound(encrypted: bool, what: str) -> str:
    if encrypted:
        return f"The {what} is protected by a password. Save it without one to have it read."
    return f"The file is in the format of before 2007. Save the {what} in the newer format to have it read."


def _check(found: zipfile.ZipFile, main: str, what: str) -> None:
    members = found.infolist()
    if main not in found.namelist():
        raise InputError(f"The file is an archive, but no {what}.")
    # What a member is said to hold is the most that zipfile takes out of it.
    if len(members) > _MEMBERS or sum(member.file_size for member in members) > _MOST:
        raise InputError(f"More than {_MOST // 1_000_000:,} MB would come out of the file, so it is not unpacked.")
