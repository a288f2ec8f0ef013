"""What tells the states of a file apart: its content as far as its reader reads it, and the version of the reader."""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path

from jupyter_memory.ingest.readers.registry import known_readers


def digest(path: Path) -> str:
    """Return the fingerprint of a file as its reader reads it; raises OSError if it cannot be read.

    It is that of the content, or of what stands for it, with the version of the reader where that has one.
    """
    readers = known_readers()
    if readers.is_unopened(path):
        status = path.stat()
        content = b"%d\0%d" % (status.st_size, status.st_mtime_ns)
    else:
        sampled = readers.sampled_of(path)
        content = _ends(path, sampled) if sampled else path.read_bytes()
    return blake2b(content, digest_size=16).hexdigest() + version_mark(path)


def version_mark(path: Path | str) -> str:
    """Return how the fingerprint of a file ends that the present version of its reader has read."""
    version = known_readers().version_of(path)
    return f".{version}" if version else ""


def _ends(path: Path, sampled: int) -> bytes:
    """Return the size of a file with its first and last bytes."""
    with path.open("rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        opened.seek(0)
        first = opened.read(sampled)
        opened.seek(max(len(first), size - sampled))
        return b"%d\0" % size + first + opened.read(sampled)
