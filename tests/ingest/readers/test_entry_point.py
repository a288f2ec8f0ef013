"""Readers that installed packages register; the package is the one that docs/extending.md shows."""

from __future__ import annotations

import sys
import tomllib

import pytest
from plugins import shown, write_package

from jupyter_memory import InputError, MemoryStore
from jupyter_memory.ingest import is_wanted, known_readers
from jupyter_memory.ingest.preparation import read_file
from jupyter_memory.ingest.readers import registry
from jupyter_memory.ingest.workers import Task, WorkerPool

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


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return what installs a package of one module, as pip would, for the time of a test."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def install(name, module, code, points):
        write_package(site, name, module, code, GROUP, points)
        monkeypatch.delitem(sys.modules, module, raising=False)
        registry._found.cache_clear()

    yield install
    registry._found.cache_clear()


@pytest.fixture
def bibtex(install):
    """The package of the page."""
    project = tomllib.loads(shown("Add a reader", "toml"))["project"]
    install(project["name"], "bibtex", shown("Add a reader", "python"), project["entry-points"][GROUP])


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "week"
    root.mkdir()
    (root / "library.bib").write_text(LIBRARY, encoding="utf-8")
    (root / "notes.md").write_text("# Ferry\n\nThe ferry leaves at noon.\n", encoding="utf-8")
    return root


def test_the_page_works(bibtex, folder, tmp_path):
    """A folder is indexed with the reader's files, each entry is found by itself, and secrets are hidden."""
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        report = store.index(folder, progress=False)
        best = store.hits("electricity tariffs").hits[0].memory
        ferry = store.hits("timetables", filters={"lang": "bibtex"}).hits[0].memory

    assert (report.files, report.cells, report.redacted, report.failed, report.skipped) == (2, 3, 1, (), ())
    assert (best.title, best.location, best.kind) == ("library.bib – garcia2021", "garcia2021", "file")
    assert best.metadata["entry"] == "book"
    assert "sk-live" not in ferry.text
    assert is_wanted(folder / "library.bib", folder)


def test_an_entry_keeps_its_id(bibtex, folder, tmp_path):
    """An entry that was edited is the same memory, with its tags and pin."""
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        store.index(folder, progress=False)
        before = store.hits("electricity tariffs").hits[0].memory
        store.pin(before.id)
        (folder / "library.bib").write_text("@misc{λ,\n}\n\n" + LIBRARY.replace("their λ", "their μ"), encoding="utf-8")
        store.index(folder, progress=False)
        after = store.get(before.id)

    assert "their μ" in after.text and after.pinned


def test_worker_processes_know_it(bibtex, folder):
    """A process that prepares files ahead reads them with the package's reader as well."""
    path = folder / "library.bib"
    with WorkerPool([path], Task(folder, True, "", 64), workers=1) as ready:
        found = ready.prepared(path)

    assert [one.draft.location for one in found] == ["müller2019", "garcia2021"]


def test_our_files_stay_ours(install, folder):
    """A package adds suffixes, and cannot take the built-in ones."""
    code = "class Other:\n    suffixes = ('.md', '.log')\n    def read(self, path): raise RuntimeError"
    install("other", "other", code, {"other": "other:Other"})

    path = folder / "notes.md"
    assert known_readers().reader_of(path).read(path).parts[0].text == path.read_text(encoding="utf-8")
    assert known_readers().suffixes[-1] == ".log"
    assert known_readers().problems == ()


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
def test_broken_packages(install, folder, tmp_path, code, said):
    """Whatever is wrong with a package, the folder is indexed, and one line of the report names the package."""
    install("broken-one", "broken_one", code, {"log": "broken_one:Log"})
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        report = store.index(folder, progress=False)

    assert report.files == 1
    assert report.skipped == (("reader log of broken-one", said),)


def test_files_of_a_broken_package_are_kept(bibtex, folder, tmp_path, install):
    """While a reader cannot be used, what its files held stays; when the package is gone, it is forgotten."""
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        store.index(folder, progress=False)
        (tmp_path / "site" / "bibtex.py").write_text("raise RuntimeError('broken by an update')")
        sys.modules.pop("bibtex")
        registry._found.cache_clear()
        broken = store.index(folder, progress=False)
        kept = store.stats()["memories"]
        (tmp_path / "site" / "jupyter_memory_bibtex-1.0.dist-info" / "entry_points.txt").unlink()
        registry._found.cache_clear()
        gone = store.index(folder, progress=False)

    assert broken.skipped == (("reader bibtex of jupyter-memory-bibtex", "it cannot be used: broken by an update"),)
    assert (broken.forgotten, kept, gone.forgotten) == (0, 3, 1)


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
def test_a_reader_that_fails(install, tmp_path, body, said):
    """What a reader raises, or returns in place of a document, becomes the reason why that file failed."""
    code = (
        "from jupyter_memory import InputError\n"
        "from jupyter_memory.ingest import Document, Part\n"
        f"class Log:\n    suffixes = ('.log',)\n    def read(self, path): {body}\n"
    )
    install("failing", "failing", code, {"log": "failing:Log"})
    (tmp_path / "a.log").write_text("λ")

    with pytest.raises(InputError) as caught:
        read_file(tmp_path / "a.log", root=tmp_path)
    assert str(caught.value).startswith(said)


def test_text_that_cannot_be_stored(install, tmp_path):
    """Halves of surrogate pairs and NUL are taken out of all that a reader returns, and blank parts are left out."""
    code = (
        "from jupyter_memory.ingest import Document, Part\n"
        "class Log:\n    suffixes = ('.log',)\n"
        "    def read(self, path):\n"
        "        part = Part('\\ud800 λ\\0', location='\\0a', headings=('\\udfffü',), metadata={'b': '\\ud800'})\n"
        "        return Document((part, Part(' ')), title='\\0Zürich', tags=('\\0t',), kind='nothing')\n"
    )
    install("raw", "raw", code, {"log": "raw:Log"})
    (tmp_path / "a.log").write_text("λ")
    (draft,) = read_file(tmp_path / "a.log", root=tmp_path)

    assert (draft.text, draft.location, draft.title) == ("\ufffd λ", "a", "Zürich – \ufffdü")
    assert (draft.tags, draft.kind, draft.metadata["b"]) == (("t",), "file", "\ufffd")


def test_a_reader_that_shortens(install, tmp_path):
    """A reader may ask for secrets to be hidden before it cuts a text."""
    code = (
        "from jupyter_memory.ingest import Document, Part\n"
        "class Log:\n    suffixes = ('.log',)\n    hide = str\n"
        "    def hiding(self, hide):\n        log = Log()\n        log.hide = hide\n        return log\n"
        "    def read(self, path): return Document((Part(self.hide(path.read_text())[:30]),))\n"
    )
    install("short", "short", code, {"log": "short:Log"})
    (tmp_path / "a.log").write_text("token ghp_9f8c1e2ab7d04c55e1f02a3b9f8c1e2ab7d04c55")

    assert read_file(tmp_path / "a.log", root=tmp_path)[0].text == "token [redacted: GitHub token]"
    assert read_file(tmp_path / "a.log", root=tmp_path, redacting=False)[0].text.startswith("token ghp_9f8c")
