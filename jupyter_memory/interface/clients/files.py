"""Reading, showing and replacing the files of other programs, with a copy of what was there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from jupyter_memory.errors import ClientConfigError

BACKUP = ".jupyter-memory.bak"
_BOM = b"\xef\xbb\xbf"
# What is shown of a line: programs write files whose whole content is one line.
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it is to be; None is a file that does not exist.

    ``kept`` says that the copy beside the file is left as it is; ``restores``, that the file becomes what the copy is;
    ``own_folder``, that the folder goes with the file where nothing else is in it.
    """

    path: Path
    before: bytes | None
    after: bytes | None
    kept: bool = False
    restores: bool = False
    own_folder: bool = False

    def diff(self) -> str:
        """Return what changes, line by line, without the secrets of neighbouring lines."""
        # Imported late: its patterns take a while to load, and only what is shown needs them.
        from jupyter_memory.ingest.redaction.redactor import redact

        old, new = (str(self.path) if side is not None else os.devnull for side in (self.before, self.after))
        lines = unified_diff(_lines(self.before), _lines(self.after), old, new, n=2, lineterm="")
        text, _ = redact("\n".join(lines))
        return "\n".join(_cut(line) for line in text.split("\n"))

    def apply(self) -> None:
        """Replace the file as a whole, after a copy of it was made; a link stays one.

        Raises:
            ClientConfigError: the file cannot be written, or somebody changed it since it was read.
        """
        with _named(self.path):
            if read(self.path) != self.before:
                raise ClientConfigError(f"{self.path} was changed just now, so it was left as it is. Try again.")
            target = Path(os.path.realpath(self.path))
            _refuse_protected(target)
            copy = backup_of(self.path)
            if self.before is not None and not (self.kept or self.restores):
                _replace(copy, self.before, target)
            if self.after is None:
                self._remove()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                _replace(target, self.after, target)
            if self.restores:
                copy.unlink(missing_ok=True)

    def _remove(self) -> None:
        self.path.unlink()
        folder = self.path.parent
        if self.own_folder and not any(folder.iterdir()):
            folder.rmdir()


def backup_of(path: Path) -> Path:
    """Return the file that keeps a copy of another, beside it."""
    target = Path(os.path.realpath(path))
    return target.with_name(target.name + BACKUP)


def read(path: Path) -> bytes | None:
    """Return what a file holds, None if it does not exist.

    Raises:
        ClientConfigError: it cannot be read.
    """
    with _named(path):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None


def decoded(data: bytes | None) -> str:
    """Return the text of a file, without the mark at its beginning; an absent file is empty.

    Raises:
        ClientConfigError: it is not UTF-8.
    """
    try:
        return (data or b"").removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise ClientConfigError("it is not UTF-8") from None


def encoded(text: str, before: bytes | None) -> bytes:
    """Return a text as the file that held ``before`` is to hold it."""
    return (_BOM if (before or b"").startswith(_BOM) else b"") + text.encode("utf-8")


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + " …"


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines()


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn what the system refuses into our error."""
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ClientConfigError(f"{path} cannot be used, and was left as it is: {why}.") from None


def _refuse_protected(target: Path) -> None:
    """Refuse a file that nobody may write: replacing it would need the permission of its folder alone."""
    if target.exists() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(13, "it is write-protected")


def _replace(path: Path, data: bytes, like: Path) -> None:
    """Write a whole file, with the permissions and the owner of another if that exists, and put it in place at once."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # Never readable by more than may read the file.
        mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else None
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            _own(temporary, like)
            temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _own(temporary: Path, like: Path) -> None:
    """Give a file the owner of another, as where an administrator runs the command."""
    if os.name == "posix" and (found := like.stat()).st_uid != temporary.stat().st_uid:
        os.chown(temporary, found.st_uid, found.st_gid)
