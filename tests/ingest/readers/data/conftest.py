"""What the tests of data files share: reading a file with the reader of its kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_memory.ingest import Document, known_readers


@pytest.fixture
def read() -> Callable[[Path], Document]:
    """Return what the reader of a file finds in it."""
    return lambda path: known_readers().reader_of(path).read(path)
