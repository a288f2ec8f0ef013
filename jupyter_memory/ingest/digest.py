"""The fingerprint of what a file holds."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path


def digest(path: Path) -> str:
    """Return the fingerprint of a file's content; raises OSError where it cannot be read."""
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()
