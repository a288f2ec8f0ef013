"""The sample archive: valid, varied and small enough to be read."""

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


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=nbformat.NO_CONVERT)


def name(path: Path) -> str:
    return path.relative_to(SAMPLES).as_posix()


def test_the_archive_is_small_and_varied() -> None:
    """Eight small notebooks of two formats and a dozen notes, with all sorts of outputs and scripts."""
    assert len(NOTEBOOKS) == 8 and len(NOTES) >= 12
    assert any(path.parent != SAMPLES for path in NOTEBOOKS) and len({path.parent for path in NOTES}) > 3
    assert sorted(read(path).nbformat_minor for path in NOTEBOOKS) == [4, 4, 4, 5, 5, 5, 5, 5]
    sizes = {name(path): path.stat().st_size for path in SAMPLES.rglob("*") if path.is_file()}
    assert max(sizes.values()) <= 60_000 and sum(sizes.values()) <= 400_000
    every = [output for path in NOTEBOOKS for cell in read(path).cells for output in cell.get("outputs", [])]
    images = [output.data["image/png"] for output in every if "image/png" in output.get("data", {})]
    assert {output.name for output in every if output.output_type == "stream"} == {"stdout", "stderr"}
    errors = {output.ename for output in every if output.output_type == "error" and output.traceback}
    assert {"KeyError", "MergeError", "ValueError"} <= errors
    assert images and all(base64.b64decode(image).startswith(b"\x89PNG\r\n") for image in images)
    notes, cells = ("".join(path.read_text(encoding="utf-8") for path in paths) for paths in (NOTES, NOTEBOOKS))
    assert not [word for word in ("λ", "ü", "Malmö", "東京") if word not in notes]
    assert not [word for word in ("λ", "ü", "Malmö") if word not in cells]
    holders = [name(path) for path in NOTES + NOTEBOOKS if "://reader:" in path.read_text(encoding="utf-8")]
    assert holders == ["notes/how-to/connect-to-the-price-database.md"]
    assert "hunter2-not-real@db.example" in (SAMPLES / holders[0]).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_a_notebook_is_valid_and_tells_a_story(path: Path) -> None:
    """It fits its schema, a save in Jupyter changes nothing, and it has ten code cells, headings and text outputs."""
    notebook = read(path)
    nbformat.validate(notebook)
    again = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
    assert path.read_text(encoding="utf-8") == again.rstrip("\n") + "\n"
    # Ids belong to format 4.5: there each cell has its own, before it no cell has one.
    ids = [cell["id"] for cell in notebook.cells if "id" in cell]
    assert len(set(ids)) == (len(notebook.cells) if notebook.nbformat_minor >= 5 else 0)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert sum(cell.cell_type == "code" for cell in notebook.cells) >= 10
    assert {"#", "##"} <= set(re.findall(r"^(#+) ", prose, re.M))
    kinds = {output.output_type for cell in notebook.cells for output in cell.get("outputs", [])}
    assert "execute_result" in kinds


@pytest.mark.parametrize("path", NOTEBOOKS + NOTES, ids=name)
def test_what_a_file_says(path: Path) -> None:
    """A note has one title and some hundred characters; paths in tracebacks are those of the invented author."""
    text = path.read_text(encoding="utf-8")
    if path in NOTES:
        assert text.startswith("# ") and len(re.findall(r"^# ", text, re.M)) == 1 and len(text) > 500
    assert set(re.findall(r"/(?:home|Users)/(\w+)", text)) <= {"noor"} and "/root/" not in text


@pytest.fixture(scope="module")
def remembered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    with MemoryStore(tmp_path_factory.mktemp("samples") / "memory.sqlite", embedder="static") as store:
        store.index(SAMPLES, progress=False)
        yield store


def test_the_readme_has_twelve_questions(remembered: MemoryStore) -> None:
    """Twelve questions name files of the archive; one is answered although nobody there wrote its word."""
    assert len(QUESTIONS) == 12 and all((SAMPLES / file).is_file() for _, file in QUESTIONS)
    words = "".join(path.read_text(encoding="utf-8").lower() for path in NOTEBOOKS + NOTES)
    first = remembered.hits("how did we normalise the prices last month").hits[0]
    assert "normali" not in words and "We rescaled the tariffs to zero mean and unit variance" in first.memory.text


@pytest.mark.parametrize(("question", "file"), QUESTIONS, ids=[question for question, _ in QUESTIONS])
def test_question_finds_its_file_among_the_first_few(remembered: MemoryStore, question: str, file: str) -> None:
    found = remembered.search(question, limit=5)["source"]
    assert any(source.endswith(file) for source in found), list(found)
