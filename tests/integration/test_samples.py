"""The sample archive: valid, varied and small enough to be read."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_memory import MemoryStore

SAMPLES = Path(__file__).resolve().parents[2] / "notebooks" / "samples"
NOTEBOOKS = sorted(SAMPLES.rglob("*.ipynb"))
NOTES = sorted(SAMPLES.rglob("*.md"))
README = SAMPLES.parent / "README.md"
# Of each row of the table of questions: the question and the first file that it should find.
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+\.(?:ipynb|md))`", re.M)
QUESTIONS = ROW.findall(README.read_text(encoding="utf-8").partition("## Twelve questions")[2])
LARGEST_FILE = 60_000
LARGEST_ARCHIVE = 400_000


def read(path: Path) -> Any:
    """Return the notebook exactly as it is stored, not upgraded."""
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def outputs(path: Path) -> list[Any]:
    """Return every output of every code cell."""
    return [output for cell in read(path).cells for output in cell.get("outputs", [])]


def name(path: Path) -> str:
    """Return the path below the archive, as a readable test id."""
    return path.relative_to(SAMPLES).as_posix()


def test_the_archive_has_eight_notebooks_and_a_dozen_notes() -> None:
    """Eight notebooks and at least twelve notes, some of both in subfolders."""
    assert len(NOTEBOOKS) == 8
    assert len(NOTES) >= 12
    assert any(path.parent != SAMPLES for path in NOTEBOOKS)
    assert len({path.parent for path in NOTES}) > 3


def test_some_notebooks_have_cell_ids_and_some_have_none() -> None:
    """Five notebooks are of format 4.5 with ids, three of 4.4 without."""
    minors = sorted(read(path).nbformat_minor for path in NOTEBOOKS)
    assert minors == [4, 4, 4, 5, 5, 5, 5, 5]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebook_is_valid(path: Path) -> None:
    """Every notebook satisfies the schema of the format version that it names."""
    nbformat.validate(read(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_every_cell_has_an_id_or_none_has(path: Path) -> None:
    """Ids belong to format 4.5: there each cell has its own, before it no cell has one."""
    notebook = read(path)
    ids = [cell["id"] for cell in notebook.cells if "id" in cell]
    assert len(set(ids)) == (len(notebook.cells) if notebook.nbformat_minor >= 5 else 0)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebook_is_stored_as_nbformat_writes_it(path: Path) -> None:
    """Reading and writing a notebook gives the same bytes, so a save in Jupyter changes nothing."""
    again = nbformat.writes(read(path), version=nbformat.NO_CONVERT)
    assert path.read_text(encoding="utf-8") == again.rstrip("\n") + "\n"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebook_tells_a_story(path: Path) -> None:
    """Each notebook has ten code cells or more, headings on two levels and text outputs."""
    cells = read(path).cells
    headings = re.findall(r"^(#+) ", "\n".join(c.source for c in cells if c.cell_type == "markdown"), re.M)
    assert sum(cell.cell_type == "code" for cell in cells) >= 10
    assert {"#", "##"} <= set(headings)
    assert any(output.output_type == "execute_result" for output in outputs(path))


def test_outputs_of_every_sort_occur() -> None:
    """Streams, warnings on stderr, several named errors and one real PNG are among the outputs."""
    every = [output for path in NOTEBOOKS for output in outputs(path)]
    streams = {output.name for output in every if output.output_type == "stream"}
    errors = {output.ename for output in every if output.output_type == "error" and output.traceback}
    images = [output.data["image/png"] for output in every if "image/png" in output.get("data", {})]
    assert streams == {"stdout", "stderr"}
    assert {"KeyError", "MergeError", "ValueError"} <= errors
    assert images
    assert all(base64.b64decode(image).startswith(b"\x89PNG\r\n") for image in images)


@pytest.mark.parametrize("path", NOTES, ids=name)
def test_note_says_something_under_one_title(path: Path) -> None:
    """Every note begins with its one title and has some hundred characters below."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert len(re.findall(r"^# ", text, re.M)) == 1
    assert len(text) > 500


def test_the_archive_is_small() -> None:
    """No file is larger than 60 kB and the whole archive stays below 400 kB."""
    sizes = {name(path): path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()}
    assert max(sizes.values()) <= LARGEST_FILE
    assert sum(sizes.values()) <= LARGEST_ARCHIVE


def test_the_archive_speaks_of_more_than_ascii() -> None:
    """Greek, German, Swedish and Japanese letters occur, in notes and in notebooks."""
    notes = "".join(path.read_text(encoding="utf-8") for path in NOTES)
    cells = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    assert all(word in notes for word in ("λ", "ü", "Malmö", "東京"))
    assert all(word in cells for word in ("λ", "ü", "Malmö"))


def test_the_only_secret_is_plainly_invented() -> None:
    """The password in the how-to says of itself that it is none, and it stands in that one file."""
    holders = [name(path) for path in NOTES + NOTEBOOKS if "://reader:" in path.read_text(encoding="utf-8")]
    assert holders == ["notes/how-to/connect-to-the-price-database.md"]
    assert "hunter2-not-real@db.example" in (SAMPLES / holders[0]).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS + NOTES, ids=name)
def test_nothing_of_the_machine_that_made_it_is_left(path: Path) -> None:
    """Paths in tracebacks are those of the invented author, so that no build folder is shown to readers."""
    text = path.read_text(encoding="utf-8")
    homes = set(re.findall(r"/(?:home|Users)/(\w+)", text))
    assert homes <= {"noor"}
    assert "/root/" not in text


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    """Open a store that holds the archive."""
    with MemoryStore(tmp_path_factory.mktemp("samples") / "memory.sqlite", embedder="static") as store:
        store.index(SAMPLES, progress=False)
        yield store


def test_the_readme_has_twelve_questions() -> None:
    """The table of questions has twelve rows, each with a file of the archive."""
    assert len(QUESTIONS) == 12
    assert all((SAMPLES / file).is_file() for _, file in QUESTIONS)


@pytest.mark.parametrize(("question", "file"), QUESTIONS, ids=[question for question, _ in QUESTIONS])
def test_question_finds_its_file_among_the_first_few(remembered: MemoryStore, question: str, file: str) -> None:
    """Each question of the README brings the file that it promises to one of the first five ranks."""
    found = remembered.search(question, limit=5)["source"]
    assert any(source.endswith(file) for source in found), list(found)


def test_the_words_of_the_question_are_not_in_the_answer(remembered: MemoryStore) -> None:
    """The way prices were normalised is found first although nobody in the archive wrote that word."""
    words = "".join(path.read_text(encoding="utf-8").lower() for path in NOTEBOOKS + NOTES)
    first = remembered.hits("how did we normalise the prices last month").hits[0]
    assert "normali" not in words
    assert "We rescaled the tariffs to zero mean and unit variance" in first.memory.text
