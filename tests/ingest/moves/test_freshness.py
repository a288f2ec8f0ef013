"""Claims about files that changed or went since they were indexed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_memory import MemoryStore


@pytest.fixture
def indexed(store: Callable[..., MemoryStore], tmp_path: Path) -> tuple[MemoryStore, Path]:
    """A store that has three notes of a folder, and one that somebody typed."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("one", "two", "three"):
        (folder / f"{name}.md").write_text(f"The tariff of {name}.\n")
    memory = store()
    memory.index(folder, progress=False)
    memory.add("A tariff that was typed.")
    return memory, folder


def seen(memory: MemoryStore) -> dict[str, str]:
    return {Path(hit.memory.source).stem: hit.freshness for hit in memory.hits("tariff").hits}


def test_each_hit_says_whether_its_file_is_as_it_was(indexed: tuple[MemoryStore, Path]) -> None:
    """Changed in length, changed in its bytes only, gone, untouched; a note has no file."""
    memory, folder = indexed
    assert seen(memory) == {"one": "current", "two": "current", "three": "current", "": "unknown"}

    (folder / "one.md").write_text("The tariff of one fell.\n")
    (folder / "two.md").write_text("The tariff of TWO.\n")
    (folder / "three.md").unlink()

    assert seen(memory) == {"one": "changed", "two": "changed", "three": "gone", "": "unknown"}
    memory.index(folder, progress=False)
    assert seen(memory) == {"one": "current", "two": "current", "": "unknown"}


def test_a_file_that_was_only_touched_is_current(indexed: tuple[MemoryStore, Path]) -> None:
    """Another time is no other content."""
    memory, folder = indexed
    os.utime(folder / "one.md", (1, 1))

    assert seen(memory)["one"] == "current"


def test_a_list_without_a_question_says_it_too(indexed: tuple[MemoryStore, Path]) -> None:
    """And so does a search that returns its lists."""
    memory, folder = indexed
    (folder / "one.md").unlink()

    assert "gone" in {hit.freshness for hit in memory.hits("kind:file").hits}
    assert "gone" in {hit.freshness for hit in memory.trace("tariff").answer.hits}
    assert "gone" in set(memory.search("tariff")["freshness"])


def test_a_notice_counts_the_files(indexed: tuple[MemoryStore, Path]) -> None:
    """Not their cells; it names the day on which the first of them was indexed."""
    memory, folder = indexed
    assert memory.hits("tariff").notices == ()
    (folder / "one.md").write_text("Another tariff.\n")
    [notice] = memory.hits("tariff").notices
    assert notice.startswith("1 of these files has changed since ") and notice.endswith("brings the store up to date.")

    (folder / "two.md").unlink()
    (folder / "three.md").unlink()
    [notice] = memory.hits("tariff").notices
    assert "1 of these files has changed since" in notice and "and 2 no longer exist." in notice

    (folder / "one.md").write_text("The tariff of one.\n")
    assert "2 of these files no longer exist." in memory.hits("tariff").notices[0]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no place where drives are mounted")
def test_what_is_on_a_drive_that_is_not_connected_is_unknown(store: Callable[..., MemoryStore], tmp_path: Path) -> None:
    """It is not gone: the drive may come back."""
    folder = tmp_path / "drive"
    folder.mkdir()
    (folder / "one.md").write_text("The tariff of one.\n")
    os.utime(folder, (1, 1))
    memory = store()
    memory.index(folder, progress=False)
    (folder / "one.md").unlink()
    os.utime(folder, (1, 1))  # as the empty folder that a drive is mounted on

    assert seen(memory) == {"one": "unknown"}


def test_two_spaces_have_files_of_their_own(store: Callable[..., MemoryStore], tmp_path: Path) -> None:
    """One of them was indexed after the change."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("The tariff of one.\n")
    for space in ("early", "late"):
        with MemoryStore(tmp_path / "store" / "memory.sqlite", space=space) as memory:
            memory.index(folder, progress=False)
        (folder / "one.md").write_text("The tariff of one rose.\n")

    found = {hit.memory.space: hit.freshness for hit in store().hits("tariff").hits}
    assert found == {"early": "changed", "late": "current"}
