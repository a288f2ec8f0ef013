"""Readers that installed packages register; the package is the one that docs/extending.md shows."""

import itertools
import os
import tomllib

import pytest
from plugins import shown, write_package

from jupyter_memory import InputError
from jupyter_memory.ingest import is_wanted, known_readers, read_file

GROUP = "jupyter_memory.readers"
LIBRARY = """\
@article{müller2019,
  title = {Ferry timetables in Malmö},
  note = {api_key = "sk-live-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c"},
}

@Book{garcia2021,
  title = {Electricity tariffs and their λ},
}
"""
IMPORTS = "import os\nfrom jupyter_memory import InputError\nfrom jupyter_memory.ingest import Document, Part\n"
LOG = IMPORTS + "class Log:\n    suffixes = ('.log',)\n"
# Python imports a module once: each package of a test has another one.
NUMBERS = itertools.count()


@pytest.fixture
def refresh(tmp_path, monkeypatch):
    """Return what lets readers be looked for again, as in a new program, and the folder where packages are."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    empty = map(str, (tmp_path / f"empty{n}" for n in itertools.count()))
    return lambda: monkeypatch.syspath_prepend(next(empty)) or site


@pytest.fixture
def install(refresh):

    def install(name, code, reader="Log"):
        module = f"reader_{next(NUMBERS)}"
        write_package(refresh(), name, module, code, GROUP, {"log": f"{module}:{reader}"})

    return install


@pytest.fixture
def bibtex(refresh, folder):
    (folder / "library.bib").write_text(LIBRARY, encoding="utf-8")
    project = tomllib.loads(shown("Add a reader", "toml"))["project"]
    points = project["entry-points"][GROUP]
    write_package(refresh(), project["name"], "bibtex", shown("Add a reader", "python"), GROUP, points)


@pytest.fixture
def folder(folder):
    (folder / "notes.md").write_text("# Ferry\n\nThe ferry leaves at noon.\n", encoding="utf-8")
    return folder


@pytest.fixture
def log(tmp_path):

    def read(text="λ", **options):
        (tmp_path / "a.log").write_text(text)
        [draft] = read_file(tmp_path / "a.log", root=tmp_path, **options)
        return draft

    return read


def test_the_page_works(bibtex, folder, index):
    """A folder is indexed with the reader's files, each entry is found by itself, and secrets are hidden."""
    report, memory = index(folder), index.memory
    best = memory.hits("electricity tariffs").hits[0].memory
    ferry = memory.hits("timetables", filters={"lang": "bibtex"}).hits[0].memory
    assert (report.files, report.cells, report.redacted, report.failed, report.skipped) == (2, 3, 1, (), ())
    assert (best.title, best.location, best.kind) == ("library.bib – garcia2021", "garcia2021", "file")
    assert best.metadata["entry"] == "book" and "sk-live" not in ferry.text
    assert is_wanted(folder / "library.bib", folder)
    # An entry that was edited is the same memory, with its tags and pin.
    memory.pin(best.id)
    (folder / "library.bib").write_text("@misc{λ,\n}\n\n" + LIBRARY.replace("their λ", "their μ"), encoding="utf-8")
    index(folder)
    assert "their μ" in memory.get(best.id).text and memory.get(best.id).pinned


def test_files_of_a_broken_package_are_kept(install, folder, refresh, index):
    """While a reader cannot be used, what its files held stays; when the package is gone, it is forgotten."""
    install("other", LOG + "    def read(self, path): return Document((Part('λ'),))")
    (folder / "a.log").write_text("λ")
    index(folder)
    site = refresh()
    points = site / "other-1.0.dist-info" / "entry_points.txt"
    points.write_text(points.read_text().replace("= reader_", "= reader_of_today_"))
    refresh()
    broken, kept = index(folder), index.memory.stats()["memories"]
    points.unlink()
    refresh()
    assert [name for name, _ in broken.skipped] == ["reader log of other"]
    assert (broken.forgotten, kept, index(folder).forgotten) == (0, 2, 1)


def test_a_package_may_know_a_kind_of_plain_text_better(bibtex, folder, refresh, index):
    """Without the package such a file is read as it is; of two packages, the first keeps it."""
    assert known_readers().reader_of(folder / "library.bib").read(folder / "library.bib").parts[0].location
    (refresh() / "jupyter_memory_bibtex-1.0.dist-info" / "entry_points.txt").unlink()
    refresh()
    [part] = known_readers().reader_of(folder / "library.bib").read(folder / "library.bib").parts
    assert part.text == LIBRARY


def test_worker_processes_know_it(install, folder, index, monkeypatch):
    """A process that prepares files ahead reads them with the package's reader; the writer prepares others."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    install("pids", LOG + "    def read(self, path): return Document((Part('λ', metadata={'pid': os.getpid()}),))")
    for number in range(40):
        (folder / f"{number}.log").write_text("x" * 100_000)
    index(folder)
    found = [hit.memory.metadata.get("pid") for hit in index.memory.browsed(limit=50).hits]
    assert len(found) == 41 and os.getpid() in found and len(set(found)) == 3  # no process is noted with the notes


def test_our_files_stay_ours(install, folder):
    install("other", "class Log:\n    suffixes = ('.md', '.log')\n    def read(self, path): raise RuntimeError")
    path = folder / "notes.md"
    assert known_readers().reader_of(path).read(path).parts[0].text == path.read_text(encoding="utf-8")
    assert known_readers().suffixes[-1] == ".log" and known_readers().problems == ()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_like_it", "it cannot be used: No module named 'nothing_like_it'"),
        ("Log = None", "it cannot be used: 'NoneType' object is not callable"),
        ("def Log(): raise ValueError", "it cannot be used: ValueError"),
        ("class Log: suffixes = ()", "it cannot be used: a reader has a tuple of suffixes and a method read(path)"),
        (
            "class Log:\n    suffixes = ('log',)\n    def read(self, path): ...",
            "it cannot be used: 'log' is no suffix; one is a dot and an ending in lower case, such as '.log'",
        ),
        ("class Log:\n    suffixes = ('.md',)\n    def read(self, path): ...", "another reader reads .md already"),
    ],
    ids=["import", "no function", "error", "no suffixes", "no dot", "taken"],
)
def test_broken_packages(install, folder, index, code, said):
    install("broken-one", code)
    report = index(folder)
    assert (report.files, report.skipped) == (1, (("reader log of broken-one", said),))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise KeyError('λ')", "The reader log of failing failed: 'λ'"),
        ("return 'text'", "The reader log of failing failed: "),
        ("return Document((Part(None),))", "The reader log of failing failed: "),
        ("return Document((Part('λ', metadata={'a': object()}),))", "The reader log of failing failed: "),
        ("raise InputError('This log is of no known version.')", "This log is of no known version."),
    ],
    ids=["error", "no document", "no text", "no JSON", "its own words"],
)
def test_a_reader_that_fails(install, log, body, said):
    install("failing", f"{LOG}    def read(self, path): {body}\n")
    with pytest.raises(InputError) as caught:
        log()
    assert str(caught.value).startswith(said)


def test_text_that_cannot_be_stored(install, log):
    """Halves of surrogate pairs and NUL are taken out of all that a reader returns, and blank parts are left out."""
    body = """
    def read(self, path):
        part = Part('\\ud800 λ\\0', location='\\0a', headings=('\\udfffü',), metadata={'b': '\\ud800'})
        return Document((part, Part(' ')), title='\\0Zürich', tags=('\\0t',), kind='nothing')
"""
    install("raw", LOG + body)
    draft = log()
    assert (draft.text, draft.location, draft.title) == ("\ufffd λ", "a", "Zürich – \ufffdü")
    assert (draft.tags, draft.kind, draft.metadata["b"]) == (("t",), "file", "\ufffd")


def test_a_reader_that_shortens(install, log):
    """A reader may ask for secrets to be hidden before it cuts a text."""
    body = """    hide = str
    def hiding(self, hide):
        log = Log()
        log.hide = hide
        return log
    def read(self, path): return Document((Part(self.hide(path.read_text())[:30]),))
"""
    install("short", LOG + body)
    token = "token ghp_9f8c1e2ab7d04c55e1f02a3b9f8c1e2ab7d04c55"
    assert log(token).text == "token [redacted: GitHub token]"
    assert log(token, redacting=False).text.startswith("token ghp_9f8c")
