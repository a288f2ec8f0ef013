"""Whatever happened to the files, the store says of them what a new one would."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from file_changes import KINDS, Change, Changes, said
from hypothesis import given, settings
from hypothesis import strategies as st
from moved import DIARY, kept

from jupyter_memory import MemoryStore

NUMBERS = st.integers(0, 40)
WRITTEN = st.lists(st.tuples(st.just("write"), NUMBERS, NUMBERS, NUMBERS), min_size=2, max_size=6)
CHANGES = st.lists(st.tuples(st.sampled_from(tuple(KINDS)), NUMBERS, NUMBERS, NUMBERS), max_size=6)


@settings(max_examples=20)
@given(WRITTEN, st.lists(CHANGES, min_size=1, max_size=3))
def test_any_changes_lead_to_what_a_new_store_says(written: list[Change], rounds: list[list[Change]]) -> None:
    """After any moves, edits, copies, touches and deletions, the store differs from a new one in ids only."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        roots = [folder / "here", folder / "there"]
        changes = Changes(roots)
        with MemoryStore(folder / "old.sqlite") as store:
            for some in (written, *rounds):
                for change in some:
                    changes.apply(change)
                for root in roots:
                    store.index(root, progress=False)
            assert store.doctor() == []
        with MemoryStore(folder / "new.sqlite") as store:
            for root in roots:
                store.index(root, progress=False)
        assert said(folder / "old.sqlite") == said(folder / "new.sqlite")


@pytest.mark.parametrize("names", ["abc", "bac", "bca", "cab"])
def test_of_two_equal_files_one_was_moved_and_one_touched(index, folder, names):
    """The touched one keeps its title and id, and the moved one's id goes to its new name."""
    memory, (moved, touched, new) = index.memory, [folder / f"{name}.md" for name in names]
    for path in (moved, touched):
        path.write_text("\n".join(DIARY))
    index(folder)
    before = kept(memory, moved), kept(memory, touched)
    moved.rename(new)
    os.utime(touched, (2_000_000_000, 2_000_000_000))
    report = index(folder)

    assert (kept(memory, new), kept(memory, touched)) == before
    assert (report.moved, report.forgotten) == (1, 0)
    assert {hit.memory.title for hit in memory.browsed().hits} == {new.name, touched.name}
