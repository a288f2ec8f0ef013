"""Claims about changes of files that a store follows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jupyter_memory.interface import apply_changes
from jupyter_memory.interface.watching import Change


def test_a_store_does_not_follow_its_own_changes(tmp_path: Path, store: Callable) -> None:
    """In a watched folder, each change that is noted would be the next one."""
    opened, problems = store(), []
    (opened.path.parent / "a.csv").write_text("order_id,amount\n1,2\n")
    opened.watch(opened.path.parent)

    assert apply_changes(opened, [Change(opened.path)], problems) == 0
    assert apply_changes(opened, [Change(opened.path.parent / "a.csv")], problems) == 1
    assert problems == []
