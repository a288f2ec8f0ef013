"""A store that holds many kinds of files, and files that another reader reads later."""

import os
from collections import Counter
from pathlib import Path

import kinds
import pytest
from inside import storage_of
from mixed_folder import FILES, KINDS, write_mixed_folder
from pictures import saved
from plugins import write_package

from jupyter_memory import FileState, InputError, JupyterMemory, MemoryStore
from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.ingest import prepare
from jupyter_memory.types import Draft, Filters

LONG = "\n\n".join(
    f'def {name}(frame):\n    """{told}"""\n' + "".join(f"    frame = frame.step_{i}({i})\n" for i in range(60))
    for name, told in (("load_meters", "Read the meters."), ("net_of_tax", "Subtract the tax in Zürich."))
)


@pytest.fixture
def store(store):
    return store(embedder="static")


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "work"
    made.mkdir()
    return made


def read_as_one(store, path):
    """Note a file as one text, as another reader has read it, and return its memory."""
    file = path.stat()
    state = FileState(str(path), file.st_mtime_ns, file.st_size, "by another reader")
    draft = Draft(path.read_text("utf-8"), title=path.name, kind="file", tier="file", source=str(path), lang="python")
    with storage_of(store) as storage:
        storage.writer.replace_files([(state, prepare([draft], StaticEmbedder()))], StaticEmbedder(), "")
    return next(hit.memory for hit in store.browsed().hits if hit.memory.source == str(path))


@pytest.fixture
def install(tmp_path, monkeypatch):

    def install(code):
        module = f"readers_of_{tmp_path.name}"
        write_package(tmp_path, "other-readers", module, code, "jupyter_memory.readers", {"other": f"{module}:Other"})
        monkeypatch.syspath_prepend(tmp_path)

    return install


def write(folder, name, text):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_hit_opens_python_at_the_function(store, folder):
    """The location is the line of the function that answers, its name the context; a cell of a script has its line."""
    write(folder, "meters.py", LONG)
    store.index(folder, progress=False)
    [hit] = store.hits("subtract the tax").hits
    assert hit.location == str(LONG.split("\n").index("def net_of_tax(frame):") + 1)
    assert (hit.memory.kind, hit.memory.lang, hit.context) == ("file", "python", "net_of_tax")
    cells = write(folder, "tariffs.py", kinds.PERCENT)
    store.index(folder, progress=False)
    hit = store.hits("read_csv tariffs").hits[0]
    assert (hit.location, hit.memory.kind, hit.memory.title) == ("14", "cell", "tariffs.py – Load")
    assert {one.location for one in store.browsed(filters={"path": str(cells)}).hits} == {"6", "9", "14", "17"}


def test_a_report_counts_what_nothing_reads(store, folder):
    """By kind and number; what somebody told to ignore, and hidden files, are not counted."""
    for name in ("a.cobol", "b.cobol", "c.COBOL", "logo.xyz", "LICENSE", ".hidden", "secret.abc", "log.20261103"):
        write(folder, name, "x")
    write(folder, ".gitignore", "*.abc\n")
    report = store.index(folder, progress=False)
    assert Counter(kind for _, _, kind in report.left_out) == {".cobol": 3, "others": 2, ".xyz": 1}
    assert "left out: .cobol 3, others 2, .xyz 1 (no reader); index with --details lists them" in str(report)
    for name in ("a.cobol", "logo.xyz", "LICENSE"):
        assert f"  left out {folder / name}: no reader" in report.details and name not in str(report)


def test_a_report_says_what_to_do_to_have_a_file_read(store, folder):
    """In which format to save it; each file is among the details."""
    for name in ("a.doc", "b.rtf", "c.sav", "d.doc"):
        write(folder, name, "x")
    report = store.index(folder, progress=False)
    assert report.kinds_left_out == "" and report.skipped == (
        ("1 file (.sav)", "to read it: save as .csv"),
        ("3 files (.doc 2, .rtf)", "to read them: save as .docx"),
    )
    assert f"  left out {folder / 'a.doc'}: to read it: save as .docx" in report.details
    with pytest.raises(InputError, match=r"a\.doc cannot be read yet. To read it: save as \.docx"):
        store.index(folder / "a.doc", progress=False)


def test_an_old_failure_is_told_once(store, folder):
    """A broken link and a binary file are named once, then counted, named on request, and read when they are mended."""
    (folder / "gone.md").symlink_to(folder / "there.txt")
    (folder / "binary.sql").write_bytes(b"\0" * 100)
    names = lambda report: sorted(Path(path).name for path, _ in report.failed)  # noqa: E731
    first, second, again = (store.index(folder, progress=False, retry=retry) for retry in (False, False, True))
    assert (names(first), first.failed_before) == (["binary.sql", "gone.md"], 0)
    assert (names(second), second.failed_before) == ([], 2)
    assert "2 failed before" in str(second) and "--retry" in str(second)
    assert names(again) == names(first)
    write(folder, "there.txt", "The ferry.")
    write(folder, "binary.sql", "select 1")
    mended = store.index(folder, progress=False)
    assert (mended.failed, mended.failed_before) == ((), 0)
    assert {hit.memory.text for hit in store.browsed().hits} == {"The ferry.", "select 1"}


def test_a_file_that_was_one_memory_is_read_anew(store, folder):
    """The next run reads it by its present reader: the first part has id and pin, each has the tags; no other is."""
    path, cells = write(folder, "meters.py", LONG), write(folder, "tariffs.py", kinds.PERCENT)
    write(folder, "notes.txt", "The ferry.")
    store.index(folder / "notes.txt", progress=False)
    before, lump = read_as_one(store, path), read_as_one(store, cells)
    for one in (before, lump):
        store.pin(one.id)
        store.update(one.id, tags=["energy"])
    assert store.stale(folder) == 2
    report = store.index(folder, progress=False)
    assert (report.files, report.unchanged) == (2, 1) and store.index(folder, progress=False).files == 0
    after = store.get(before.id)
    assert (after.pinned, after.text, after.tags) == (True, LONG, ("energy",))
    parts = [hit.memory for hit in store.browsed(filters={"path": str(cells)}).hits]
    assert len(parts) == 4 and all("energy" in part.tags for part in parts)
    assert [part.id for part in parts if part.pinned] == [lump.id]
    assert store.get(lump.id).text == "import pandas as pd"


def test_the_cells_of_a_script_keep_their_ids(store, folder):
    path = write(folder, "tariffs.py", kinds.PERCENT)
    store.index(folder, progress=False)
    before = {hit.memory.text: hit.memory.id for hit in store.browsed().hits}
    path.write_text(kinds.PERCENT.replace("import pandas as pd", "import os\nimport pandas as pd"), encoding="utf-8")
    store.index(folder, progress=False)
    after = {hit.memory.text: (hit.memory.id, hit.location) for hit in store.browsed().hits}
    assert after["rate = 0.081"] == (before["rate = 0.081"], "18")
    assert after["import os\nimport pandas as pd"][0] == before["import pandas as pd"]


def write_notebook(folder, formats=""):
    cell = {"cell_type": "code", "id": "abc", "metadata": {}, "source": "rate = 0.081", "outputs": []}
    saved(folder / "tariffs.ipynb", cell, **({"jupytext": {"formats": formats}} if formats else {}))


@pytest.mark.parametrize(
    ("script", "formats", "paired"),
    [
        (kinds.PERCENT.replace("py:percent", "ipynb,py:percent"), "", True),
        (kinds.PERCENT.replace("#     formats: py:percent\n", ""), "ipynb,py:percent", True),
        (kinds.PERCENT.replace("#     formats: py:percent\n", ""), "", False),
        (kinds.PERCENT, "", False),
        ("rate = 0.081\n", "ipynb,py:percent", False),
    ],
    ids=["named in the script", "named in the notebook", "not named", "of another kind", "without a header"],
)
def test_the_half_of_a_notebook_is_not_read_twice(store, folder, script, formats, paired):
    """A script that holds what its notebook holds is left out and counted; another one of that name is read."""
    write_notebook(folder, formats)
    write(folder, "tariffs.py", script)
    report = store.index(folder, progress=False)
    assert report.kinds_left_out == ("1 paired with a notebook" if paired else "")
    assert [Path(path).name for path, _, _ in report.left_out] == (["tariffs.py"] if paired else [])
    suffixes = {Path(hit.memory.source).suffix for hit in store.browsed().hits}
    assert suffixes == ({".ipynb"} if paired else {".ipynb", ".py"})


@pytest.mark.parametrize(
    ("name", "settings", "paired"),
    [
        ("jupytext.toml", 'formats = "ipynb,py:percent"', True),
        ("../jupytext.toml", 'formats = ["ipynb", "py:percent"]', True),
        ("pyproject.toml", '[tool.jupytext]\nformats = "ipynb,py:percent"', True),
        ("pyproject.toml", "[project]\nname = 'λ'", False),
        ("jupytext.toml", 'formats = "notebooks//ipynb,scripts//py:percent"', False),
        ("jupytext.toml", "formats = [", False),
    ],
)
def test_a_project_may_state_what_is_paired(store, folder, name, settings, paired):
    """The nearest configuration of Jupytext counts where neither half states its formats."""
    inner = folder / "inner"
    inner.mkdir()
    write_notebook(inner)
    write(inner, "tariffs.py", kinds.PERCENT.replace("#     formats: py:percent\n", ""))
    (inner / name).write_text(settings, encoding="utf-8")
    report = store.index(folder, progress=False)
    assert [why for _, why, _ in report.left_out] == ["paired with a notebook"] * paired


def test_a_half_is_read_when_its_notebook_goes_or_is_ignored(store, folder):
    """A repository keeps the scripts and ignores the notebooks: then the scripts are what is found."""
    write_notebook(folder, "ipynb,py:percent")
    write(folder, "tariffs.py", kinds.PERCENT.replace("py:percent", "ipynb,py:percent"))
    store.index(folder, progress=False)
    write(folder, ".gitignore", "*.ipynb\n")
    store.index(folder, progress=False)
    assert {Path(hit.memory.source).name for hit in store.browsed().hits} == {"tariffs.py"}


def test_a_file_that_grows_while_it_is_read_is_read_again(store, folder, install):
    install("""
import os
from jupyter_memory.ingest import Document, Part
class Other:
    suffixes = (".grows",)
    def read(self, path):
        text = path.read_text()
        if "train" not in text:
            path.write_text(text + "the train")
            os.utime(path, (1, 2))
        return Document((Part(text),))
""")
    write(folder, "one.grows", "the ferry\n")
    store.index(folder, progress=False)
    assert "train" not in store.hits("ferry").hits[0].memory.text
    store.index(folder, progress=False)
    assert "train" in store.hits("train").hits[0].memory.text


def test_a_reader_that_samples_reads_a_file_of_any_size(store, folder, install):
    """The limit of a file's size is not for a reader that reads its ends only; a change at an end is seen."""
    install("""
from jupyter_memory.ingest import Document, Part
class Other:
    suffixes, sampled = (".header",), 100
    def read(self, path):
        return Document((Part(path.open("rb").read(10).decode()),))
""")
    with (folder / "big.header").open("wb") as opened:
        opened.write(b"columns: a")
        opened.truncate(50_000_000_000)
    assert store.index(folder, progress=False).files == 1 and store.hits("columns").hits
    assert store.stale(folder) == 0
    with (folder / "big.header").open("r+b") as opened:
        opened.seek(-1, os.SEEK_END)
        opened.write(b"x")
    assert store.stale(folder) == 1


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_chunks_of_another_size(request, tmp_path, database):
    """Changed, the size is that of what is stored then; the rest is found as before until it is indexed anew."""
    where = request.getfixturevalue("emptied_postgres") if database == "postgres" else tmp_path / "memory.sqlite"
    (tmp_path / "work").mkdir()
    for number in range(3):
        parts = (f"## Week {week}\n\nλ rose in week {week}.{' The price held.' * 60}\n\n" for week in range(9))
        (tmp_path / "work" / f"{number}.md").write_text("".join(parts), encoding="utf-8")
    (tmp_path / "work" / "short.md").write_text("λ = 3", encoding="utf-8")

    def chunks(store):
        with store._storage.snapshot() as snapshot:
            return len(snapshot.chunks_of(snapshot.keys(Filters())))

    def found(store):
        return [(hit.memory.id, hit.score) for hit in store.hits("λ in week 7").hits]

    with MemoryStore(where, embedder="static") as store:
        store.index(tmp_path / "work", progress=False)
        pinned = store.pin(store.browsed().hits[0].memory.id).id
        before, few = found(store), chunks(store)
        assert store.stats(sizes=True)["other_chunks"] == 0
    with MemoryStore(where, embedder="static", settings=JupyterMemory(chunk_tokens=128)) as store:
        assert store.stats(sizes=True)["other_chunks"] == 3 and store.doctor() == []
        store.add(f"A note.{' The margin held.' * 100}")
        assert store.index(tmp_path / "work", progress=False).unchanged == 4
        assert store.stats(sizes=True)["other_chunks"] == 3 and chunks(store) > few + 1
        assert [id_ for id_, _ in found(store)][:3] == [id_ for id_, _ in before][:3]
        assert store.index(tmp_path / "work", progress=False, anew=True).files == 4
        assert store.stats(sizes=True)["other_chunks"] == 0 and chunks(store) > 3 * few
        assert store.doctor() == [] and len(store.stats()["models"]) == 1 and store.get(pinned).pinned
        assert {id_ for id_, _ in found(store)} >= {id_ for id_, _ in before[:3]}


@pytest.mark.parametrize("database", ["sqlite", "postgres"])
def test_each_kind_is_read_and_found(request, tmp_path, database):
    """The file whose text or columns answer a question is the first hit, whatever its kind."""
    for extra in ("docx", "pypdfium2", "openpyxl"):
        pytest.importorskip(extra, reason="needs the extras `documents` and `test`")
    where = request.getfixturevalue("emptied_postgres") if database == "postgres" else tmp_path / "memory.sqlite"
    answers = write_mixed_folder(tmp_path / "work")
    assert len(answers) == len(KINDS) == 60
    with MemoryStore(where, embedder="static") as store:
        report = store.index(tmp_path / "work", progress=False)
        assert (report.files, report.failed, report.skipped) == (FILES, (), ()), report
        first = {question: Path(store.hits(question, limit=3).hits[0].memory.source) for question in answers}
    assert first == answers
