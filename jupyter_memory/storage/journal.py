"""What a kernel notes of its runs, until a store takes it in."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import asdict, fields, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import Any, Self, get_args
from weakref import WeakSet

from jupyter_memory.config import companion
from jupyter_memory.text.paths import DatabaseAddress, StorePath, make_private
from jupyter_memory.types import Outcome, Run, RunError

# A journal without a lock was left by a kernel that died, and belongs to whoever takes the lock next. It is beside the
# store, or in the memory of the machine: a disk may keep a writer waiting, the memory never does.

try:
    import fcntl
except ImportError:  # Windows: nothing is recorded there
    fcntl = None  # type: ignore[assignment]

_CAN_RECORD = fcntl is not None
_BLOCK = 1 << 20
_MEMORY = Path("/dev/shm")  # noqa: S108  files there are made anew, and only their owner can read them


def refusal(store: StorePath) -> str:
    """Return why what runs is not recorded in a store, empty where it can be."""
    if isinstance(store, DatabaseAddress):
        return (
            f"What you run is not recorded in {store}: all who may read that store would read it. Record it in a "
            "store of your own, in a file."
        )
    return "" if _CAN_RECORD else "What you run is not recorded here: this system lacks the file locks that it needs."


class Journal:
    """A journal that this process holds the lock of."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        _HELD.add(self)

    @classmethod
    def on_disk(cls, store: StorePath) -> Self:
        """Make a journal beside a store, for its owner alone, with the folder if there is none."""
        make_private(_real(store).parent)
        return cls._made(_beside(store))

    @classmethod
    def in_memory(cls, store: StorePath) -> Self:
        """Make a journal in the memory of the machine; ``OSError`` where it has no file system, as on a Mac."""
        return cls._made(_in_memory(store))

    @classmethod
    def _made(cls, place: Path) -> Self:
        while True:
            path = place.with_name(f"{place.name}{token_hex(8)}")
            # None if somebody took the new file for one that was left.
            if (journal := cls._locked(path, os.O_CREAT | os.O_EXCL | os.O_RDWR)) is not None:
                return journal

    @classmethod
    def taken(cls, path: Path) -> Self | None:
        """Return a journal that was left, None if the kernel that writes it lives, or another process has taken it."""
        return cls._locked(path, os.O_RDWR)

    @classmethod
    def _locked(cls, path: Path, flags: int) -> Self | None:
        with ExitStack() as unless_locked:
            descriptor = _open_own(path, flags)
            unless_locked.callback(os.close, descriptor)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return None
            if not os.fstat(descriptor).st_nlink:  # somebody removed it meanwhile
                return None
            unless_locked.pop_all()
            return cls(path, descriptor)

    @property
    def is_gone(self) -> bool:
        return os.fstat(self._descriptor).st_nlink == 0

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def write(self, record: bytes) -> None:
        """Hand a record to the system, which keeps it even if this process is killed."""
        if self.is_gone:
            raise FileNotFoundError(errno.ENOENT, "it was removed", str(self.path))
        if os.write(self._descriptor, record) < len(record):
            # What was torn is left out when the journal is read.
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def read(self) -> bytes:
        blocks, place = [], 0
        while block := os.pread(self._descriptor, _BLOCK, place):
            blocks.append(block)
            place += len(block)
        return b"".join(blocks)

    def remove(self) -> bool:
        """Overwrite the file with zeros, and remove it; return whether it is gone."""
        try:
            with suppress(OSError):
                _overwrite(self._descriptor)
            self.path.unlink(missing_ok=True)
        except OSError:
            return False
        finally:
            self.close()
        return True

    def close(self) -> None:
        """Give up the lock: what is left here belongs to the next process that takes it."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def abandoned(store: StorePath) -> Iterator[Journal]:
    """Yield the journals of a store whose kernels died, each with its lock; close or remove each of them."""
    for path in _paths(store):
        with suppress(OSError):  # somebody removed it meanwhile, or it is another user's
            if (journal := Journal.taken(path)) is not None:
                yield journal


def recording(store: StorePath) -> int:
    """Return how many kernels record their runs for a store at this moment."""
    if fcntl is None:
        return 0
    # A kernel has one of each, if there is room.
    return max(sum(map(_is_held, _of(begin))) for begin in (_beside(store), _in_memory(store)))


def empty(store: StorePath) -> None:
    """Overwrite what all journals of a store hold by now, those of kernels that run included."""
    for path in _paths(store):
        with suppress(OSError):
            descriptor = _open_own(path, os.O_RDWR)
            try:
                _overwrite(descriptor)
            finally:
                os.close(descriptor)
    for journal in abandoned(store):
        journal.remove()


def _real(store: StorePath) -> Path:
    return Path(os.path.realpath(companion(store)))


def _beside(store: StorePath) -> Path:
    return _real(store).with_name(f".{_real(store).name}.runs-")


def _in_memory(store: StorePath) -> Path:
    name = blake2b(os.fsencode(_real(store)), digest_size=8).hexdigest()
    return _MEMORY / f"jupyter-memory-{os.geteuid()}-{name}.runs-"


def _paths(store: StorePath) -> list[Path]:
    return [*_of(_beside(store)), *_of(_in_memory(store))] if fcntl is not None else []


def _of(begin: Path) -> list[Path]:
    ours = re.compile(rf"{re.escape(begin.name)}[0-9a-f]{{16}}")
    try:
        with os.scandir(begin.parent) as entries:
            return sorted(Path(entry.path) for entry in entries if ours.fullmatch(entry.name))
    except OSError:
        return []


def _open_own(path: Path, flags: int) -> int:
    # A pipe would keep its reader waiting.
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
        return descriptor
    os.close(descriptor)
    raise PermissionError(errno.EPERM, "it is no journal of this user", str(path))


def _is_held(path: Path) -> bool:
    try:
        descriptor = _open_own(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _overwrite(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    for place in range(0, size, _BLOCK):
        os.pwrite(descriptor, bytes(min(_BLOCK, size - place)), place)
    os.fsync(descriptor)


def _forget_descriptors() -> None:
    # It must neither keep its parent's locks nor write to its parent's journals.
    for journal in _HELD:
        journal.close()


_HELD: WeakSet[Journal] = WeakSet()
if _CAN_RECORD:
    os.register_at_fork(after_in_child=_forget_descriptors)

# Runs as the records of a journal, each framed so that one that was torn or overwritten is recognised and left out.

# Bytes that no text in UTF-8 has: after a torn record, the next one is found by them.
_MARK = b"\xff\xfeJM"
_HEAD = struct.Struct("<4sII")
_FIELDS = {field.name for field in fields(Run)}
_ERROR_FIELDS = {field.name for field in fields(RunError)}
_OUTCOMES = get_args(Outcome)
# What a run has from its end, but for its error.
_OF_END = ("outcome", "seconds", "result")


def note(run: Run) -> bytes:
    return _framed({**asdict(run), "started": run.started.isoformat()})


def ending(run: Run) -> bytes:
    """Return the record of how a run ended; the record of its beginning has the rest."""
    known = {name: getattr(run, name) for name in ("session", "number", *_OF_END)}
    return _framed({**known, "error": None if run.error is None else asdict(run.error)})


def runs(data: bytes) -> list[Run]:
    """Return the runs that a journal holds, in their order; those without an ending have the outcome "unknown"."""
    found: dict[tuple[str, int], Run] = {}
    for payload in _records(data):
        # A newer version may write records of another form.
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            record = json.loads(payload)
            key = (record["session"], record["number"])
            if record["outcome"] not in _OUTCOMES:
                raise ValueError("an unknown outcome")
            if "source" in record:
                known = {name: value for name, value in record.items() if name in _FIELDS}
                read = {"started": datetime.fromisoformat(record["started"]), "error": _error(record["error"])}
                found.setdefault(key, Run(**{**known, **read}))
            elif key in found:
                ended = {name: record[name] for name in _OF_END}
                found[key] = replace(found[key], **ended, error=_error(record["error"]))
    return list(found.values())


def _framed(record: Mapping[str, Any]) -> bytes:
    payload = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode()
    return _HEAD.pack(_MARK, len(payload), zlib.crc32(payload)) + payload


def _records(data: bytes) -> Iterator[bytes]:
    place = data.find(_MARK)
    while 0 <= place <= len(data) - _HEAD.size:
        _, length, checksum = _HEAD.unpack_from(data, place)
        begin = place + _HEAD.size
        payload = data[begin : begin + length]
        # A power cut leaves zeros, and the checksum of nothing is zero, too.
        if length and len(payload) == length and zlib.crc32(payload) == checksum:
            yield payload
            place = data.find(_MARK, begin + length)
        else:
            place = data.find(_MARK, place + 1)


def _error(record: Mapping[str, str] | None) -> RunError | None:
    if record is None:
        return None
    return RunError(**{name: value for name, value in record.items() if name in _ERROR_FIELDS})
