"""Files that were renamed or moved as they are, and copies, which are something else."""

from __future__ import annotations

import pytest
from week import LAMBDA, ZURICH


def by_source(memory):
    """Return id, tags and pin of every memory, by source and location."""
    hits = memory.browsed(limit=1000).hits
    return {
        (hit.memory.source, hit.memory.location): (hit.memory.id, hit.memory.tags, hit.memory.pinned) for hit in hits
    }


@pytest.mark.parametrize("told", [True, False], ids=["told", "noticed"])
def test_a_renamed_file_keeps_ids_tags_and_pins(filled, week_folder, told):
    """A file that was moved within the folder keeps ids, tags and pins, whether the store is told or finds out."""
    old, new = week_folder / "prices.ipynb", week_folder / "notes" / "preise.ipynb"
    first = by_source(filled)[(str(old), "#0")][0]
    filled.update(first, tags=["decision"])
    filled.pin(first)
    before = {location: kept for (source, location), kept in by_source(filled).items() if source == str(old)}
    old.rename(new)
    if told:
        assert filled.rename(old, new) == 2
        assert {key for key in by_source(filled) if key[0] == str(old)} == set()
        assert {
            location: kept for (source, location), kept in by_source(filled).items() if source == str(new)
        } == before
    report = filled.index(week_folder, progress=False)

    after = {location: kept for (source, location), kept in by_source(filled).items() if source == str(new)}
    assert after == before and after["#0"] == (first, ("decision",), True)
    assert (report.files, report.forgotten, report.moved) == (1, 0, 0 if told else 1)
    assert "preise.ipynb" in filled.get(first).title
    assert filled.hits("preise").hits[0].memory.source == str(new)
    assert filled.stats()["files"] == 3 and filled.doctor() == []
    assert filled.index(week_folder, progress=False).unchanged == 3


def test_a_document_whose_title_is_its_path(filled, week_folder):
    """A document is called by its new path once it is indexed again, and is the same memory."""
    old, new = week_folder / "notes" / "zürich.md", week_folder / "shops.md"
    before = by_source(filled)[(str(old), "")]
    old.rename(new)
    filled.index(week_folder, progress=False)

    assert by_source(filled)[(str(new), "")] == before
    assert filled.get(before[0]).title == "shops.md"


def test_a_renamed_folder(filled, week_folder):
    """With a folder, all below it moves, its listing and its watch too."""
    filled.watch(week_folder)
    before = {source: kept[0] for (source, _), kept in by_source(filled).items()}
    new = week_folder.with_name("woche-2")
    week_folder.rename(new)

    assert filled.rename(week_folder, new) == 4
    after = {source: kept[0] for (source, _), kept in by_source(filled).items()}
    assert after == {source.replace(str(week_folder), str(new)): kept for source, kept in before.items()}
    assert [(folder.path, folder.watched, folder.files) for folder in filled.folders()] == [(str(new), True, 3)]
    assert filled.index(new, progress=False).forgotten == 0
    assert {source: kept[0] for (source, _), kept in by_source(filled).items()} == after


def test_a_name_that_only_begins_alike(filled, week_folder):
    """Renaming a folder leaves one alone whose name begins like its own."""
    other = week_folder.with_name(week_folder.name + "nende")
    other.mkdir()
    (other / "plan.md").write_text("Plan for λ")
    filled.index(other, progress=False)
    filled.rename(week_folder, week_folder.with_name("x"))

    assert (str(other / "plan.md"), "") in by_source(filled)


def test_renamed_over_a_known_file(filled, week_folder):
    """What was indexed from the file that is overwritten is forgotten; notes about it stay."""
    old, new = week_folder / "lambda.md", week_folder / "notes" / "zürich.md"
    note = filled.add("Ask Genève", source=str(new))
    kept = by_source(filled)[(str(old), "")][0]
    old.replace(new)
    filled.rename(old, new)

    assert sorted(hit.memory.id for hit in filled.browsed(filters={"path": str(new)}).hits) == sorted([kept, note.id])
    assert filled.index(week_folder, progress=False).forgotten == 0
    assert "λ" in filled.get(kept).text and filled.doctor() == []


def test_indexed_at_the_new_path_before_it_is_told(filled, week_folder):
    """When the new path was indexed before the store hears of the renaming, the old memories come back in its place."""
    old, new = week_folder / "lambda.md", week_folder.parent / "moved.md"
    kept = by_source(filled)[(str(old), "")][0]
    old.rename(new)
    filled.index(new, progress=False)
    filled.rename(old, new)

    assert by_source(filled)[(str(new), "")][0] == kept
    assert filled.stats()["files"] == 3 and filled.doctor() == []


@pytest.mark.parametrize("whole", [False, True], ids=["to its subfolder", "with its folder"])
def test_moved_from_another_folder(filled, week_folder, whole):
    """A file that is found in another folder than it was indexed from keeps ids, tags and pins, and is there once."""
    old = week_folder / "prices.ipynb"
    first = by_source(filled)[(str(old), "#0")][0]
    filled.pin(first)
    folder = week_folder.parent / "archiv λ" if whole else week_folder / "notes"
    if whole:
        week_folder.rename(folder)
    else:
        old.rename(folder / old.name)
    report = filled.index(folder, progress=False)

    assert (report.moved, report.forgotten) == ((3, 0) if whole else (1, 0))
    assert by_source(filled)[(str(folder / old.name), "#0")] == (first, (), True)
    assert len(by_source(filled)) == 4 and filled.stats()["files"] == 3 and filled.doctor() == []
    if not whole:
        assert filled.index(week_folder, progress=False).forgotten == 0
        assert filled.get(first).pinned


def test_a_copy_from_another_folder_is_no_move(filled, week_folder):
    """A copy of a file that is still there, and a known file that was edited to be like a gone one, stay themselves."""
    before = by_source(filled)
    other = week_folder.parent / "other"
    other.mkdir()
    (other / "copy.md").write_text(LAMBDA)
    (other / "own.md").write_text("Müller's own")
    assert filled.index(other, progress=False).moved == 0
    assert before.items() <= by_source(filled).items()

    own = by_source(filled)[(str(other / "own.md"), "")]
    (week_folder / "notes" / "zürich.md").unlink()
    (other / "own.md").write_text(ZURICH)
    assert filled.index(other, progress=False).moved == 0
    assert before.items() <= by_source(filled).items() and by_source(filled)[(str(other / "own.md"), "")] == own


def test_a_copy_is_no_move(filled, week_folder):
    """A copy beside the original is a memory of its own, and so is one of a file that is only ignored now."""
    kept = by_source(filled)[(str(week_folder / "lambda.md"), "")][0]
    (week_folder / "copy.md").write_text(LAMBDA)
    assert filled.index(week_folder, progress=False).moved == 0
    assert by_source(filled)[(str(week_folder / "lambda.md"), "")][0] == kept

    (week_folder / ".jupytermemoryignore").write_text("notes/\n")
    (week_folder / "again.md").write_text(ZURICH)
    report = filled.index(week_folder, progress=False)
    assert (report.moved, report.forgotten) == (0, 1)


def test_several_alike_that_moved(filled, week_folder):
    """Of several gone files with the same content, each new one takes up that of its own name."""
    for name in ("a", "b"):
        (week_folder / name).mkdir()
        (week_folder / name / f"{name}.md").write_text("The same λ in both.")
    filled.index(week_folder, progress=False)
    before = by_source(filled)
    for name in ("a", "b"):
        (week_folder / name).rename(week_folder / f"{name}2")
    assert filled.index(week_folder, progress=False).moved == 2

    for name in ("a", "b"):
        was, now = (str(week_folder / folder / f"{name}.md") for folder in (name, f"{name}2"))
        assert by_source(filled)[(now, "")] == before[(was, "")]
