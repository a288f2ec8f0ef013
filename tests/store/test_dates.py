"""Claims about the time of memories that come from files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from work_trees import WorkTree

from jupyter_memory import MemoryStore

BEGUN = datetime(2023, 11, 20, 9, tzinfo=UTC)
NOTE = "The tariff of week {week} is {week} francs.\n"


@pytest.fixture
def three_years(tmp_path: Path) -> WorkTree:
    """A repository with a note a month for three years."""
    tree = WorkTree(tmp_path / "work")
    for month in range(36):
        tree.commit(f"notes/n{month}.md", NOTE.format(week=month), BEGUN + timedelta(days=30 * month))
    return tree


def test_a_clone_of_three_years_of_notes_is_not_all_from_today(
    three_years: WorkTree, tmp_path: Path, store: Callable[..., MemoryStore]
) -> None:
    """Nor is a copy; every note has the date of its commit, and a search for a period finds those of the period."""
    memory = store()
    three_years.git("clone", "-q", str(three_years.top), str(tmp_path / "clone"))
    shutil.copytree(three_years.top, tmp_path / "copy", copy_function=shutil.copyfile)

    for folder in ("clone", "copy"):
        memory.index(tmp_path / folder, progress=False)
        found = memory.hits(
            "tariff francs", limit=100, since="2024-01-01", until="2025-01-01", filters={"path": str(tmp_path / folder)}
        )
        expected = [m for m in range(36) if (BEGUN + timedelta(days=30 * m)).astimezone().year == 2024]
        assert {Path(hit.memory.source).name for hit in found.hits} == {f"n{month}.md" for month in expected}
        assert all(hit.memory.event_at.hour == BEGUN.hour for hit in found.hits)


def test_an_edited_note_is_from_the_time_of_its_edit(three_years: WorkTree, store: Callable[..., MemoryStore]) -> None:
    """Until it is committed it has no other date than that of its file."""
    memory = store()
    memory.index(three_years.top, progress=False)
    (three_years.top / "notes" / "n3.md").write_text("The tariff is unknown.\n")
    before = datetime.now(UTC) - timedelta(minutes=5)
    memory.index(three_years.top, progress=False)

    [hit] = memory.hits("unknown tariff", limit=1).hits
    assert hit.memory.source.endswith("n3.md") and hit.memory.event_at > before


def test_workers_date_files_in_the_same_way(tmp_path: Path, store: Callable[..., MemoryStore]) -> None:
    """Many files are read by other processes."""
    memory = store()
    tree = WorkTree(tmp_path / "work")
    for year in (2024, 2025):
        for number in range(20):
            name = tree.top / str(year) / f"{number}.txt"
            name.parent.mkdir(exist_ok=True)
            name.write_text(f"{year} {number}\n" + "all work and no play\n" * 5_000)
        tree.commit(f"{year}/readme.txt", str(year), datetime(year, 6, 1, 12, tzinfo=UTC))
    memory.index(tree.top, progress=False)

    assert {
        (hit.memory.event_at.year, Path(hit.memory.source).parent.name) for hit in memory.hits("work", limit=50).hits
    } == {
        (2024, "2024"),
        (2025, "2025"),
    }


def test_what_a_document_says_comes_before_its_commit(tmp_path: Path, store: Callable[..., MemoryStore]) -> None:
    """Its front matter first, then its name, then the commit."""
    memory = store()
    tree = WorkTree(tmp_path / "work")
    tree.commit("2022-05-04 tariffs.md", "---\ndate: 2021-02-03\n---\nThe oldest tariff.\n", BEGUN)
    tree.commit("2022-05-04 fares.md", "The old fare.\n", BEGUN)
    memory.index(tree.top, progress=False)

    days = {
        hit.memory.text.split()[-1]: hit.memory.event_at.date().isoformat()
        for hit in memory.hits("old tariff fare").hits
    }
    assert days == {"tariff.": "2021-02-03", "fare.": "2022-05-04"}
