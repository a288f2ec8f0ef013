"""Files that were renamed, moved, edited or copied: the store follows them. Any changes at all: campaign/moves.py."""

import os
import random
import sys

import pytest
from file_changes import CHANCE, DIARY, SOURCES, kept
from growing import exponent, steps
from week import LAMBDA, ZURICH, notebook

NOTES = "\n\n".join(DIARY)
LONGER = "\n\n".join([*DIARY, "On Friday it was found."])
WEATHER = ((None, "weather = load('Zürich')"), (None, "rain = weather.resample('1h').sum()"))


def book(sources=SOURCES, ids=CHANCE):
    return notebook(*zip(ids, sources, strict=True))


# One cell was edited.
EDITED = book([*SOURCES[:3], "plot(λ)"])


def begin(index, files):
    for path, text in files.items():
        path.write_text(text)
    index(path.parent)
    return {path: kept(index.memory, path) for path in files}


def moved(report):
    return report.moved, report.forgotten


@pytest.fixture
def prices(index, folder):
    """The path of a notebook that was indexed, and what is kept of its cells."""
    [found] = begin(index, {folder / "prices.ipynb": book()}).items()
    return found


def ids_of(memory, path):
    return {one for one, *_ in kept(memory, path).values()}


def swap(one, other):
    one.rename(one.with_name("aside"))
    other.rename(one)
    one.with_name("aside").rename(other)


def test_a_pin_that_goes_with_its_file_is_told(index, folder, prices):
    """A copy that was indexed before is another file: nothing of the first one passes to it."""
    path, before = prices
    path.with_name("copy.ipynb").write_text(book())
    index(folder)
    index.memory.pin(before[CHANCE[0]][0])
    path.unlink()
    assert "1 file forgotten (gone or left out, with 1 pinned memory)" in str(index(folder))


@pytest.mark.parametrize("elsewhere", [False, True], ids=["within the folder", "from another folder"])
def test_a_notebook_that_was_renamed_and_edited(index, folder, prices, elsewhere):
    """Its cells' ids tell a notebook under another name, of which one cell was edited, one is gone and two are new."""
    memory, (old, before) = index.memory, prices
    memory.pin(before[CHANCE[0]][0])
    memory.update(before[CHANCE[1]][0], tags=["decision"])
    where = folder.parent / "archiv" if elsewhere else folder
    where.mkdir(exist_ok=True)
    old.unlink()
    sources = ["something_else_entirely()", *SOURCES[1:3], "added()", "λ = added_too()"]
    (where / "preise.ipynb").write_text(book(sources, [*CHANCE[:3], "99887766", "deadbe0f"]))
    assert moved(index(where)) == (1, 0)
    after = kept(memory, where / "preise.ipynb")
    assert after[CHANCE[0]] == (before[CHANCE[0]][0], (), True)
    assert after[CHANCE[1]] == (before[CHANCE[1]][0], ("decision",), False)
    assert kept(memory, old) == {} and len(after) == 5 and memory.doctor() == []


@pytest.mark.parametrize("ids", [["cell-1", "cell-2", "cell-3", "cell-4"], [None] * 4], ids=["written", "none"])
def test_ids_that_tell_little(index, folder, ids):
    """Numbered cells, and cells without ids, tell a notebook by what they say; another one with such ids is not it."""
    memory, old, first = index.memory, folder / "prices.ipynb", ids[0] or "#0"
    begin(index, {old: book(ids=ids)})
    old.unlink()
    (folder / "preise.ipynb").write_text(book(["import os", "os.listdir()", "weather = 3", "λ()"], ids))
    assert moved(index(folder)) == (0, 1)
    other, third = folder / "other.ipynb", folder / "third.ipynb"
    before = begin(index, {other: book(ids=ids)})[other][first]
    other.unlink()
    third.write_text(book([*SOURCES[:3], "plot(λ)"], ids))
    assert index(folder).moved == 1 and kept(memory, third)[first] == before


def test_a_document_that_was_renamed_and_edited(index, folder):
    """Most of its lines tell a document under another name; one that only begins alike is another one."""
    memory, old, new = index.memory, folder / "diary.md", folder / "archiv" / "tagebuch.md"
    memory.pin(begin(index, {old: NOTES})[old][""][0])
    first = kept(memory, old)[""]
    old.unlink()
    new.parent.mkdir()
    new.write_text(LONGER)
    assert index(folder).moved == 1 and kept(memory, new)[""] == first
    new.unlink()
    others = (f"In week {n} all went well, says Müller." for n in "23456")
    (folder / "next.md").write_text("\n\n".join([*DIARY[:2], *others]))
    assert moved(index(folder)) == (0, 1) and kept(memory, folder / "next.md")[""][0] != first[0]


@pytest.mark.parametrize("names", [("a.md", "b.md"), ("b.md", "a.md")], ids=["edited last", "edited first"])
def test_of_two_equal_files_one_was_edited(index, folder, names):
    """Two files held the same; both were renamed and one of them edited: each new one goes on with one of the old."""
    memory, olds = index.memory, [folder / "one.md", folder / "two.md"]
    before = {one[""][0] for one in begin(index, dict.fromkeys(olds, NOTES)).values()}
    for old in olds:
        old.unlink()
    same, edited = (folder / "new" / name for name in names)
    same.parent.mkdir()
    same.write_text(NOTES)
    edited.write_text(LONGER)
    assert moved(index(folder)) == (2, 0) and {kept(memory, new)[""][0] for new in (same, edited)} == before


@pytest.mark.parametrize("names", ["abc", "bac", "bca", "cab"])
def test_of_two_equal_files_one_was_moved_and_one_touched(index, folder, names):
    """The touched one keeps its title and id, and the moved one's id goes to its new name."""
    memory, (old, touched, new) = index.memory, [folder / f"{name}.md" for name in names]
    before = begin(index, {old: NOTES, touched: NOTES})
    old.rename(new)
    os.utime(touched, (2_000_000_000, 2_000_000_000))
    assert moved(index(folder)) == (1, 0)
    assert (kept(memory, new), kept(memory, touched)) == (before[old], before[touched])
    assert {hit.memory.title for hit in memory.browsed().hits} == {new.name, touched.name}


def test_runs_of_one_template(index, folder):
    """Of many notebooks with the same ids, the name tells which is which; one of another name is a new one."""
    memory, runs = index.memory, folder / "runs"
    runs.mkdir()

    def write(name, word):
        (runs / f"{name}.ipynb").write_text(book([f"{word}({n})" for n in range(4)]))

    for n in range(25):
        write(f"run-{n}", f"shop{n}")
    index(runs)
    before = {n: kept(memory, runs / f"run-{n}.ipynb") for n in (3, 24)}
    runs = runs.rename(folder / "archiv")
    for n in range(25):
        write(f"run-{n}", f"Zürich{n}")
    write("another", "λ")
    assert moved(index(folder)) == (25, 0)
    assert {n: kept(memory, runs / f"run-{n}.ipynb") for n in (3, 24)} == before


def test_an_edited_copy_is_no_move(index, folder, prices):
    """While the original is there, an edited copy is another notebook; a file that was only renamed comes first."""
    memory, (old, before) = index.memory, prices
    copy = folder / "a.ipynb"
    copy.write_text(EDITED)
    assert index(folder).moved == 0 and kept(memory, old) == before
    assert not ids_of(memory, copy) & {one for one, *_ in before.values()}
    (folder / "a2.ipynb").write_text(EDITED.replace("0.3", "0.4"))
    old.rename(folder / "b.ipynb")
    assert index(folder).moved == 1 and kept(memory, folder / "b.ipynb") == before


def test_the_nearest_of_several(index, folder):
    """Of several notebooks that are gone, each new one goes on with that of which it has most."""
    memory = index.memory
    for name, sources in (("x", SOURCES), ("y", [f"{source}  # y" for source in SOURCES])):
        (folder / f"{name}.ipynb").write_text(book(sources, [f"{name}-{n}" for n in range(4)]))
    index(folder)
    before = [ids_of(memory, folder / f"{name}.ipynb") for name in "xy"]
    for name, new in (("x", "b"), ("y", "a")):
        file = folder / f"{name}.ipynb"
        file.write_text(file.read_text().replace("0.3", "0.4"))
        file.rename(folder / f"{new}.ipynb")
    assert index(folder).moved == 2
    assert [ids_of(memory, folder / f"{new}.ipynb") for new in "ba"] == before


def test_a_notebook_that_became_two(index, folder, prices):
    memory, (old, before) = index.memory, prices
    memory.pin(before[CHANCE[3]][0])
    before, new = kept(memory, old), folder / "plots.ipynb"
    old.write_text(book(SOURCES[:2], CHANCE[:2]))
    new.write_text(book(SOURCES[2:], CHANCE[2:]))
    index(folder)
    assert kept(memory, old) | kept(memory, new) == before
    assert kept(memory, new).keys() == set(CHANCE[2:]) and memory.doctor() == []


@pytest.mark.parametrize("ids", [CHANCE, [None] * 4], ids=["ids", "no ids"])
def test_notebooks_that_changed_names(index, folder, ids):
    """Where two notebooks swap names, or a new one takes the name of a renamed one, pins and tags go with the cells."""
    memory, one, other, new = index.memory, *(folder / f"{name}.ipynb" for name in ("a", "b", "new"))
    before = begin(index, {one: book(ids=ids), other: notebook(*WEATHER)})
    memory.pin(before[one][ids[0] or "#0"][0])
    memory.update(before[other]["#0"][0], tags=["decision"])
    before = {path: kept(memory, path) for path in (one, other)}
    swap(one, other)
    index(folder)
    assert kept(memory, one) == before[other] and kept(memory, other) == before[one]
    one.rename(new)
    one.write_text(notebook((None, "λ = 3.2"), (None, "orders.fit(λ).summary()")))
    assert index(folder).forgotten == 0
    assert kept(memory, new) == before[other] and not ids_of(memory, one) & ids_of(memory, new)
    assert memory.doctor() == []


@pytest.mark.parametrize("draft", [notebook(*WEATHER), None], ids=["notebooks", "documents"])
def test_what_took_the_name_of_another(index, folder, draft):
    """`mv report old; mv draft report`, and two that swap names: pins go with the words, be there no ids of cells."""
    memory, suffix = index.memory, "ipynb" if draft else "md"
    one, other, old = (folder / f"{name}.{suffix}" for name in ("report", "draft", "old"))
    report = book(SOURCES[:2], [None] * 2) if draft else NOTES
    before = begin(index, {one: report, other: draft or "Nothing but Zürich, and its λ."})
    memory.pin(next(iter(before[one].values()))[0])
    before = kept(memory, one), kept(memory, other)
    swap(one, other)
    index(folder)
    assert (kept(memory, other), kept(memory, one)) == before
    other.rename(old)
    one.rename(other)
    index(folder)
    assert (kept(memory, old), kept(memory, other)) == before


@pytest.mark.parametrize("names", ["abcd", "dcba"], ids=["forwards", "backwards"])
def test_files_that_moved_up(index, folder, names):
    """`mv c d; mv b c; mv a b`: each keeps ids and pins, although all but one took the name of a known one."""
    memory, files = index.memory, [folder / f"{name}.md" for name in names]
    texts = (f"What Müller wrote in week {n}: nothing of the others, λ = {n}." for n in range(3))
    memory.pin(begin(index, dict(zip(files, texts, strict=False)))[files[2]][""][0])
    before = [kept(memory, path) for path in files[:3]]
    for old, new in ((2, 3), (1, 2), (0, 1)):
        files[old].rename(files[new])
    assert moved(index(folder)) == (3, 0) and kept(memory, files[0]) == {}
    assert [kept(memory, path) for path in files[1:]] == before
    assert index(folder).unchanged == 3 and memory.doctor() == []


def move_up(index, folder, many):
    """Index a row of files, and rename each to the name of the next; return the names."""
    names = [folder / f"{n:04}.md" for n in range(many + 1)]
    random.Random(3).shuffle(names)
    for n, path in enumerate(names[:-1]):
        path.write_text(f"λ {n:04}")
    index(folder)
    before = kept(index.memory, names[0])
    for old, new in zip(names[-2::-1], names[:0:-1], strict=True):
        old.rename(new)
    return names, before


def test_a_long_row_of_files_that_moved_up(index, folder):
    """A new first page, and all others numbered anew: more of them than calls may nest."""
    names, before = move_up(index, folder, 350)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        assert moved(index(folder)) == (350, 0)
    finally:
        sys.setrecursionlimit(limit)
    assert kept(index.memory, names[1]) == before


def test_files_of_one_size_are_looked_through_once(index, folder):
    """A row of files that moved on by one: what it takes grows with their number, not with its square."""

    def work(many):
        (folder / str(many)).mkdir()
        move_up(index, folder / str(many), many)
        return steps(lambda: index(folder / str(many)))

    assert exponent(work, 150) < 1.1


def test_a_kernel_whose_folder_is_gone(index, folder, monkeypatch):
    """New files are indexed although the folder that the process works in was deleted."""
    (folder / "diary.md").write_text(NOTES)
    (folder.parent / "gone").mkdir()
    monkeypatch.chdir(folder.parent / "gone")
    (folder.parent / "gone").rmdir()
    assert index(folder).files == 1


def test_a_folder_whose_files_all_moved_is_off_the_list(index, folder):
    """With its files a folder that was renamed leaves the list, empty ones and all; one that is watched stays."""
    memory = index.memory
    (folder / "diary.md").write_text(NOTES)
    (folder / "empty.md").write_text("")
    index(folder)
    folder = folder.rename(folder.with_name("neu"))
    index(folder)
    assert [one.path for one in memory.folders()] == [str(folder)]
    memory.watch(folder)
    newer = folder.rename(folder.with_name("neuer"))
    index(newer)
    assert [one.path for one in memory.folders()] == [str(folder), str(newer)]


def by_source(memory):
    found = (hit.memory for hit in memory.browsed(limit=1000).hits)
    return {(one.source, one.location): (one.id, one.tags, one.pinned) for one in found}


@pytest.mark.parametrize("told", [True, False], ids=["told", "noticed"])
def test_a_renamed_file_keeps_ids_tags_and_pins(filled, week_folder, told):
    old, new = week_folder / "prices.ipynb", week_folder / "notes" / "preise.ipynb"
    document, shops = week_folder / "notes" / "zürich.md", week_folder / "shops.md"
    first, note = kept(filled, old)["#0"][0], kept(filled, document)
    filled.update(first, tags=["decision"])
    filled.pin(first)
    before = kept(filled, old)
    old.rename(new)
    document.rename(shops)
    if told:
        assert (filled.rename(old, new), filled.rename(document, shops)) == (2, 1)
        assert kept(filled, old) == {} and kept(filled, new) == before
    report = filled.index(week_folder, progress=False)
    assert kept(filled, new) == before and before["#0"] == (first, ("decision",), True)
    assert (report.files, report.forgotten, report.moved) == (2, 0, 0 if told else 2)
    # It is called by its new path.
    assert "preise.ipynb" in filled.get(first).title and filled.hits("preise").hits[0].memory.source == str(new)
    assert kept(filled, shops) == note and filled.get(note[""][0]).title == "shops.md"
    assert filled.stats()["files"] == 3 and filled.doctor() == []
    assert filled.index(week_folder, progress=False).unchanged == 3


def test_a_renamed_folder(filled, week_folder):
    """With a folder, all below it moves, its listing and its watch too; one whose name begins alike is left alone."""
    other = week_folder.with_name(week_folder.name + "nende")
    other.mkdir()
    (other / "plan.md").write_text("Plan for λ")
    filled.index(other, progress=False)
    filled.watch(week_folder)
    before, new = by_source(filled), week_folder.with_name("woche-2")
    week_folder.rename(new)
    assert filled.rename(week_folder, new) == 4
    expected = {(source.replace(f"{week_folder}/", f"{new}/"), place): one for (source, place), one in before.items()}
    assert by_source(filled) == expected
    folders = {one.path: (one.watched, one.files) for one in filled.folders()}
    assert folders == {str(new): (True, 3), str(other): (False, 1)}
    assert filled.index(new, progress=False).forgotten == 0 and by_source(filled) == expected


def test_renamed_over_a_known_file(filled, week_folder):
    """What was indexed from the file that is overwritten is forgotten; notes about it stay."""
    old, new = week_folder / "lambda.md", week_folder / "notes" / "zürich.md"
    note, first = filled.add("Ask Genève", source=str(new)), kept(filled, old)[""][0]
    old.replace(new)
    filled.rename(old, new)
    assert {hit.memory.id for hit in filled.browsed(filters={"path": str(new)}).hits} == {first, note.id}
    assert filled.index(week_folder, progress=False).forgotten == 0
    assert "λ" in filled.get(first).text and filled.doctor() == []


def test_indexed_at_the_new_path_before_it_is_told(filled, week_folder):
    """When the new path was indexed before the store hears of the renaming, the old memories come back in its place."""
    old, new = week_folder / "lambda.md", week_folder.parent / "moved.md"
    before = kept(filled, old)
    old.rename(new)
    filled.index(new, progress=False)
    filled.rename(old, new)
    assert kept(filled, new) == before and filled.stats()["files"] == 3 and filled.doctor() == []


def test_a_copy_is_no_move(filled, week_folder):
    """A copy of a file that is there, or only ignored now, is no move; nor is a known file that is like a gone one."""
    before, other = by_source(filled), week_folder.parent / "other"
    other.mkdir()
    own = other / "own.md"
    own.write_text("Müller's own")
    for copy in (other / "copy.md", week_folder / "copy.md"):
        copy.write_text(LAMBDA)
        assert filled.index(copy.parent, progress=False).moved == 0
    assert before.items() <= by_source(filled).items()
    mine = kept(filled, own)
    (week_folder / "notes" / "zürich.md").unlink()
    own.write_text(ZURICH)
    assert filled.index(other, progress=False).moved == 0
    assert before.items() <= by_source(filled).items() and kept(filled, own) == mine
    (week_folder / ".jupytermemoryignore").write_text("prices.ipynb\n")
    (week_folder / "again.ipynb").write_text((week_folder / "prices.ipynb").read_text())
    assert moved(filled.index(week_folder, progress=False)) == (0, 2)


def test_several_alike_that_moved(filled, week_folder):
    """Of several gone files with the same content, each new one takes up that of its own name."""
    olds = [week_folder / name / f"{name}.md" for name in "ab"]
    for old in olds:
        old.parent.mkdir()
        old.write_text("The same λ in both.")
    filled.index(week_folder, progress=False)
    before = [kept(filled, old) for old in olds]
    for name in "ab":
        (week_folder / name).rename(week_folder / f"{name}2")
    assert filled.index(week_folder, progress=False).moved == 2
    assert [kept(filled, week_folder / f"{name}2" / f"{name}.md") for name in "ab"] == before
