"""The contract is complete: no method of a snapshot, a writer, a run log or another part goes without a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_memory.storage import Contents, Snapshot, Thumbnails
from jupyter_memory.storage.base import Forgotten, RunLog, Transfer, Writer


@pytest.mark.parametrize("part", [Snapshot, Writer, RunLog, Thumbnails, Transfer, Contents, Forgotten])
def test_every_method_has_a_test(part):
    """Each method is called in a test of this folder."""
    tests = "".join(file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*.py"))
    methods = [name for name in dir(part) if not name.startswith("_")]
    assert methods and [name for name in methods if f".{name}" not in tests] == []
