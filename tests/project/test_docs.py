"""What the documentation shows is run: doctests, the Python blocks of README and docs, the notebooks."""

import doctest
import os
import re
from pathlib import Path
from pkgutil import resolve_name

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_memory.ingest import known_readers

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jupyter_memory"
BOOK = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", ROOT.parent / "shared" / "data")) / "notebooks"
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "notebooks").glob("*.md")])
# A block that is not to be run is fenced as `text`.
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)[^)]*\)")


def name_of(path):
    return str(path.relative_to(ROOT))


def modules():
    paths = (path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths)
    return sorted(name.removesuffix(".__init__") for name in names)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run everything in a folder of its own: an example that writes a file writes it there."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("module", modules())
def test_examples_in_docstrings(module):
    report = []
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder(exclude_empty=True).find(resolve_name(module)):
        runner.run(example, out=report.append)

    assert runner.tries > 0
    assert runner.failures == 0, "".join(report)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))], ids=name_of
)
def test_python_blocks(page):
    text = page.read_text(encoding="utf-8")
    names = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        # Blank lines before it, so that an error names the line of the page.
        code = "\n" * text.count("\n", 0, block.start(1)) + block[1]
        exec(compile(code, str(page), "exec"), names)


def test_the_guide_names_every_kind_of_file():
    """The first column of its table lists just the suffixes that the built-in readers read."""
    guide = (ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    listed = "".join(re.findall(r"^\| (`\..*?) \|", guide, re.MULTILINE))
    assert sorted(re.findall(r"`(\.[\w.]+)`", listed)) == sorted(known_readers().suffixes)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


@pytest.mark.timeout(600)  # a kernel runs a whole notebook
@pytest.mark.parametrize("notebook", sorted((ROOT / "notebooks").glob("0*.ipynb")), ids=name_of)
def test_notebooks(notebook, home):
    """A notebook runs from beginning to end in a real kernel, beside its samples, and leaves nothing behind."""
    before = sorted((ROOT / "notebooks").rglob("*"))
    content = nbformat.read(notebook, as_version=4)
    patience = {"timeout": 300, "startup_timeout": 100, "iopub_timeout": 60}
    client = NotebookClient(content, resources={"metadata": {"path": str(notebook.parent)}}, **patience)
    # Raises with the cell and its traceback.
    client.execute()

    assert all(cell.execution_count for cell in content.cells if cell.cell_type == "code" and cell.source.strip())
    assert sorted((ROOT / "notebooks").rglob("*")) == before
    assert not (home / "data" / "memory").exists()


@pytest.mark.parametrize("notebook", sorted((ROOT / "notebooks").glob("0*.ipynb")), ids=name_of)
def test_notebooks_are_kept_without_outputs(notebook):
    """A notebook is committed as it is before it runs: valid, with cell ids, without outputs of anybody's machine."""
    content = nbformat.read(notebook, as_version=4)
    nbformat.validate(content)
    assert (content.nbformat, content.nbformat_minor >= 5) == (4, True)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in content.cells)
    assert content.metadata.kernelspec.name == "python3"


def test_there_is_something_to_run():
    """The examples, pages and notebooks were found at all."""
    assert len(modules()) > 20 and len(PAGES) > 10 and BLOCK.search(README)
    assert list((ROOT / "notebooks").glob("0*.ipynb"))


QUESTION = re.search(r"^%memsearch (.+?) --limit 1$", README, re.MULTILINE)[1]


@pytest.fixture
def samples(store):
    memories = store()
    memories.index(ROOT / "notebooks" / "samples", progress=False)
    return memories


def test_the_first_question_of_the_readme(samples):
    """On the sample notebooks it finds what the README shows, and is explained as it shows, but for the numbers."""
    shown = re.search(r"^```text\n(Rank 1 of .*?)```$", README, re.MULTILINE | re.DOTALL)[1]
    answer = samples.hits(QUESTION, limit=3)

    first = answer.hits[0]
    assert answer.verdict == "strong" and "pd.concat([pd.read_csv(f) for f in files], " in first.memory.text
    explained = str(samples.explain_in(answer, first.memory.id)) + "\n"
    assert re.sub(r"\d", "0", explained) == re.sub(r"\d", "0", shown)


def test_the_first_result_of_the_readme(samples, monkeypatch):
    """A terminal of 80 columns shows it as the README does, but for the ids, the age and how sure it is."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = re.search(r"^```text\n(found\n\n 1  .*?)```$", README, re.MULTILINE | re.DOTALL)[1]
    rows = repr(samples.search(QUESTION, limit=1)).rpartition("\n\n")[0] + "\n"
    varies = re.compile(r" +\d+%  +\d+ \w+ ago$| [0-9a-f]{16}$", re.MULTILINE)
    assert varies.sub("", rows) == varies.sub("", shown)


@pytest.mark.skipif(not BOOK.is_dir(), reason=f"no notebooks of other people in {BOOK}")
def test_the_first_question_on_other_notebooks(store):
    """On the notebooks of somebody else, a book's, it finds cells that read CSV files, and the answer is no doubt."""
    memories = store()
    for name in ("tools_pandas.ipynb", "tools_numpy.ipynb"):
        memories.index(BOOK / name, progress=False)
    answer = memories.hits(QUESTION, limit=3)
    assert answer.verdict == "strong" and "read_csv" in answer.hits[0].memory.text
