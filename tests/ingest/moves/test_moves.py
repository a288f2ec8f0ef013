"""Files that were moved, edited or not, or copied."""

from __future__ import annotations

import pytest
from moved import CHANCE, DIARY, SOURCES, kept, notebook


@pytest.mark.parametrize("elsewhere", [False, True], ids=["within the folder", "from another folder"])
def test_a_notebook_that_was_renamed_and_edited(index, folder, elsewhere):
    """Its cells' ids tell a notebook under another name, of which one cell was edited, one is gone and two are new."""
    memory, old = index.memory, folder / "prices.ipynb"
    old.write_text(notebook(*zip(CHANCE, SOURCES, strict=True)))
    index(folder)
    before = kept(memory, old)
    memory.pin(before[CHANCE[0]][0])
    memory.update(before[CHANCE[1]][0], tags=["decision"])
    where = folder.parent / "archiv" if elsewhere else folder
    where.mkdir(exist_ok=True)
    old.unlink()
    new = where / "preise.ipynb"
    edited = [(CHANCE[0], "something_else_entirely()"), (CHANCE[1], SOURCES[1]), (CHANCE[2], SOURCES[2])]
    new.write_text(notebook(*edited, ("99887766", "added()"), ("deadbe0f", "λ = added_too()")))
    report = index(where)

    after = kept(memory, new)
    assert (report.moved, report.forgotten) == (1, 0)
    assert after[CHANCE[0]] == (before[CHANCE[0]][0], (), True)
    assert after[CHANCE[1]] == (before[CHANCE[1]][0], ("decision",), False)
    assert kept(memory, old) == {} and len(after) == 5 and memory.doctor() == []


@pytest.mark.parametrize("ids", [["cell-1", "cell-2", "cell-3", "cell-4"], [None] * 4], ids=["written", "none"])
def test_ids_that_tell_little(index, folder, ids):
    """Numbered cells, and cells without ids, tell a notebook by what they say; another one with such ids is not it."""
    memory, old, new = index.memory, folder / "prices.ipynb", folder / "preise.ipynb"
    old.write_text(notebook(*zip(ids, SOURCES, strict=True)))
    index(folder)
    first = kept(memory, old)[ids[0] or "#0"]
    old.unlink()
    new.write_text(notebook(*zip(ids, ["import os", "os.listdir()", "weather = 3", "λ()"], strict=True)))
    report = index(folder)
    assert (report.moved, report.forgotten) == (0, 1)

    other = folder / "other.ipynb"
    other.write_text(notebook(*zip(ids, SOURCES, strict=True)))
    index(folder)
    first = kept(memory, other)[ids[0] or "#0"]
    other.unlink()
    (folder / "third.ipynb").write_text(notebook(*zip(ids, [*SOURCES[:3], "plot(λ)"], strict=True)))
    assert index(folder).moved == 1
    assert kept(memory, folder / "third.ipynb")[ids[0] or "#0"] == first


def test_a_document_that_was_renamed_and_edited(index, folder):
    """Most of its lines tell a document under another name; one that only begins alike is another one."""
    memory, old = index.memory, folder / "diary.md"
    old.write_text("\n\n".join(DIARY))
    index(folder)
    memory.pin(kept(memory, old)[""][0])
    first = kept(memory, old)[""]
    old.unlink()
    new = folder / "archiv" / "tagebuch.md"
    new.parent.mkdir()
    new.write_text("\n\n".join([*DIARY, "On Friday it was found."]))
    assert index(folder).moved == 1
    assert kept(memory, new)[""] == first

    new.unlink()
    (folder / "next.md").write_text(
        "\n\n".join([*DIARY[:2], *(f"In week {n} all went well, says Müller." for n in "23456")])
    )
    report = index(folder)
    assert (report.moved, report.forgotten) == (0, 1)
    assert kept(memory, folder / "next.md")[""][0] != first[0]


@pytest.mark.parametrize("names", [("a.md", "b.md"), ("b.md", "a.md")], ids=["edited last", "edited first"])
def test_of_two_equal_files_one_was_edited(index, folder, names):
    """Two files held the same; both were renamed and one of them edited: each new one goes on with one of the old."""
    memory, olds = index.memory, [folder / "one.md", folder / "two.md"]
    for old in olds:
        old.write_text("\n\n".join(DIARY))
    index(folder)
    before = {kept(memory, old)[""][0] for old in olds}
    for old in olds:
        old.unlink()
    same, edited = (folder / "new" / name for name in names)
    same.parent.mkdir()
    same.write_text("\n\n".join(DIARY))
    edited.write_text("\n\n".join([*DIARY, "On Friday it was found."]))
    report = index(folder)

    assert (report.moved, report.forgotten) == (2, 0)
    assert {kept(memory, new)[""][0] for new in (same, edited)} == before


def test_runs_of_one_template(index, folder):
    """Of many notebooks with the same ids, the name tells which is which; one of another name is a new one."""
    memory, runs = index.memory, folder / "runs"
    runs.mkdir()

    def write(name, said):
        (runs / f"{name}.ipynb").write_text(notebook(*[(id_, f"{said}({n})") for n, id_ in enumerate(CHANCE)]))

    for n in range(25):
        write(f"run-{n}", f"shop{n}")
    index(runs)
    before = {n: kept(memory, runs / f"run-{n}.ipynb") for n in (3, 24)}
    runs = runs.rename(folder / "archiv")
    for n in range(25):
        write(f"run-{n}", f"Zürich{n}")
    write("another", "λ")
    report = index(folder)

    assert (report.moved, report.forgotten) == (25, 0)
    assert {n: kept(memory, runs / f"run-{n}.ipynb") for n in (3, 24)} == before


def test_an_edited_copy_is_no_move(index, folder):
    """While the original is there, a copy with an edited cell is a notebook of its own."""
    memory, old, copy = index.memory, folder / "prices.ipynb", folder / "prices-Copy1.ipynb"
    old.write_text(notebook(*zip(CHANCE, SOURCES, strict=True)))
    index(folder)
    before = kept(memory, old)
    copy.write_text(notebook(*zip(CHANCE, [*SOURCES[:3], "plot(λ)"], strict=True)))

    assert index(folder).moved == 0
    assert kept(memory, old) == before
    assert not {one for one, *_ in kept(memory, copy).values()} & {one for one, *_ in before.values()}


def test_what_is_the_same_comes_first(index, folder):
    """A file that was renamed as it was is that one, although one that was made of it has an earlier name."""
    memory, old = index.memory, folder / "prices.ipynb"
    old.write_text(notebook(*zip(CHANCE, SOURCES, strict=True)))
    index(folder)
    before = kept(memory, old)
    (folder / "a.ipynb").write_text(notebook(*zip(CHANCE, [*SOURCES[:3], "plot(λ)"], strict=True)))
    old.rename(folder / "b.ipynb")

    assert index(folder).moved == 1
    assert kept(memory, folder / "b.ipynb") == before


def test_the_nearest_of_several(index, folder):
    """Of several notebooks that are gone, each new one goes on with that of which it has most."""
    memory = index.memory
    for name, sources in (("x", SOURCES), ("y", [f"{source}  # y" for source in SOURCES])):
        cells = zip([f"{name}-{n}" for n in range(4)], sources, strict=True)
        (folder / f"{name}.ipynb").write_text(notebook(*cells))
    index(folder)
    before = {name: {one for one, *_ in kept(memory, folder / f"{name}.ipynb").values()} for name in "xy"}
    for name, new in (("x", "b"), ("y", "a")):
        file = folder / f"{name}.ipynb"
        file.write_text(file.read_text().replace("0.3", "0.4"))
        file.rename(folder / f"{new}.ipynb")

    assert index(folder).moved == 2
    assert {one for one, *_ in kept(memory, folder / "a.ipynb").values()} == before["y"]
    assert {one for one, *_ in kept(memory, folder / "b.ipynb").values()} == before["x"]


@pytest.mark.parametrize("ids", [CHANCE, [None] * 4], ids=["ids", "no ids"])
def test_notebooks_that_changed_names(index, folder, ids):
    """Where two notebooks swap names, or a new one takes the name of a renamed one, pins and tags go with the cells."""
    memory, one, other = index.memory, folder / "a.ipynb", folder / "b.ipynb"
    one.write_text(notebook(*zip(ids, SOURCES, strict=True)))
    other.write_text(notebook((None, "weather = load('Zürich')"), (None, "rain = weather.resample('1h').sum()")))
    index(folder)
    before = {path: kept(memory, path) for path in (one, other)}
    memory.pin(before[one][ids[0] or "#0"][0])
    memory.update(before[other]["#0"][0], tags=["decision"])
    before = {path: kept(memory, path) for path in (one, other)}
    one.rename(folder / "aside")
    other.rename(one)
    (folder / "aside").rename(other)
    index(folder)
    assert kept(memory, one) == before[other] and kept(memory, other) == before[one]

    one.rename(folder / "new.ipynb")
    one.write_text(notebook((None, "λ = 3.2"), (None, "orders.fit(λ).summary()")))
    assert index(folder).forgotten == 0
    assert kept(memory, folder / "new.ipynb") == before[other]
    assert not {found[0] for found in kept(memory, one).values()} & {found[0] for found in before[other].values()}
    assert memory.doctor() == []


def test_a_notebook_that_became_two(index, folder):
    """Cells that were taken out into a notebook of their own keep their ids and pins there, the others theirs."""
    memory, old, new = index.memory, folder / "prices.ipynb", folder / "plots.ipynb"
    cells = list(zip(CHANCE, SOURCES, strict=True))
    old.write_text(notebook(*cells))
    index(folder)
    memory.pin(kept(memory, old)[CHANCE[3]][0])
    before = kept(memory, old)
    old.write_text(notebook(*cells[:2]))
    new.write_text(notebook(*cells[2:]))
    index(folder)

    assert kept(memory, old) | kept(memory, new) == before
    assert kept(memory, new).keys() == set(CHANCE[2:]) and memory.doctor() == []


def test_documents_that_changed_names(index, folder):
    """Where two documents swap names, a pin goes with the words."""
    memory, one, other = index.memory, folder / "a.md", folder / "b.md"
    one.write_text("\n\n".join(DIARY))
    other.write_text("Nothing but Zürich, and its λ.")
    index(folder)
    memory.pin(kept(memory, one)[""][0])
    before = kept(memory, one), kept(memory, other)
    one.rename(folder / "aside")
    other.rename(one)
    (folder / "aside").rename(other)
    index(folder)
    assert (kept(memory, other), kept(memory, one)) == before


@pytest.mark.parametrize("names", ["abcd", "dcba"], ids=["forwards", "backwards"])
def test_files_that_moved_up(index, folder, names):
    """`mv c d; mv b c; mv a b`: each keeps ids and pins, although all but one took the name of a known one."""
    memory, files = index.memory, [folder / f"{name}.md" for name in names]
    for n, path in enumerate(files[:3]):
        path.write_text(f"What Müller wrote in week {n}: nothing of the others, λ = {n}.")
    index(folder)
    memory.pin(kept(memory, files[2])[""][0])
    before = [kept(memory, path) for path in files[:3]]
    for old, new in ((2, 3), (1, 2), (0, 1)):
        files[old].rename(files[new])
    report = index(folder)

    assert [kept(memory, path) for path in files[1:]] == before
    assert (report.moved, report.forgotten, kept(memory, files[0])) == (3, 0, {})
    assert index(folder).unchanged == 3 and memory.doctor() == []


def test_a_long_row_of_files_that_moved_up(index, folder):
    """A new first page, and all others numbered anew: more of them than Python nests calls."""
    memory, pages = index.memory, [folder / f"{n:04}.md" for n in range(1_101)]
    for n, path in enumerate(pages[:-1]):
        path.write_text(f"λ {n}")
    index(folder)
    memory.pin(kept(memory, pages[0])[""][0])
    before = kept(memory, pages[0])
    for old, new in zip(pages[-2::-1], pages[:0:-1], strict=True):
        old.rename(new)
    report = index(folder)

    assert kept(memory, pages[1]) == before
    assert (report.moved, report.forgotten) == (1_100, 0)


def test_a_draft_that_became_the_report(index, folder):
    """`mv report old; mv draft report`: the pins of both go along, be they notebooks whose cells have no ids."""
    memory, report, draft, old = index.memory, *(folder / f"{name}.ipynb" for name in ("report", "draft", "old"))
    report.write_text(notebook((None, SOURCES[0]), (None, SOURCES[1])))
    draft.write_text(notebook((None, "weather = load('Zürich')"), (None, "rain = weather.sum()")))
    index(folder)
    memory.pin(kept(memory, report)["#0"][0])
    before = kept(memory, report), kept(memory, draft)
    report.rename(old)
    draft.rename(report)
    index(folder)

    assert (kept(memory, old), kept(memory, report)) == before


def test_a_kernel_whose_folder_is_gone(index, folder, monkeypatch):
    """New files are indexed although the folder that the process works in was deleted."""
    (folder / "diary.md").write_text("\n".join(DIARY))
    (folder.parent / "gone").mkdir()
    monkeypatch.chdir(folder.parent / "gone")
    (folder.parent / "gone").rmdir()
    assert index(folder).files == 1


def test_a_folder_whose_files_all_moved_is_off_the_list(index, folder):
    """With its files a folder that was renamed leaves the list, empty ones and all; one that is watched stays."""
    memory = index.memory
    (folder / "diary.md").write_text("\n".join(DIARY))
    (folder / "empty.md").write_text("")
    index(folder)
    folder = folder.rename(folder.with_name("neu"))
    index(folder)
    assert [one.path for one in memory.folders()] == [str(folder)]

    memory.watch(folder)
    newer = folder.rename(folder.with_name("neuer"))
    index(newer)
    assert [one.path for one in memory.folders()] == [str(folder), str(newer)]
