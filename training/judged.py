"""The judged sets as texts: what tables are chosen by, and what no pair may be taken from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat

from jupyter_memory.evaluation import Document, JudgedSet, Question, read_set

# Documents are compared by their chunks, of about this many characters.
_CHUNK = 2_400
# Of an output, as much is embedded as tells what it is.
_OUTPUT = 600


@dataclass(frozen=True)
class Texts:
    """A judged set: ``owners`` gives the document of each chunk."""

    name: str
    documents: tuple[Document, ...]
    chunks: tuple[str, ...]
    owners: tuple[int, ...]
    questions: tuple[Question, ...]


def judged_sets(judged: Path, notebooks: Path, verdicts: Path, samples: Path) -> Iterator[Texts]:
    """Yield every set whose folder is there."""
    for folder in sorted(path for path in judged.iterdir() if (path / "corpus.jsonl").exists()):
        yield _chunked(read_set(folder))
    for folder, cells in (
        (judged / "notebooks", notebooks),
        (verdicts / "book", notebooks),
        (verdicts / "samples", samples),
    ):
        if folder.exists() and cells.exists():
            found = read_set(folder, cells)
            yield _chunked(JudgedSet(found.name, tuple(_cells(cells)), found.questions))


def held_out(judged: Path, notebooks: Path, verdicts: Path, samples: Path) -> Iterator[str]:
    """Yield every text of every set, questions without an answer and sets that are not measured here included."""
    for found in judged_sets(judged, notebooks, verdicts, samples):
        for document in found.documents:
            yield document.title
            yield document.text
    for path in sorted([*judged.rglob("queries.jsonl"), *verdicts.rglob("queries.jsonl")]):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield str(json.loads(line)["text"])
    for path in sorted([*judged.rglob("*.md"), *judged.rglob("*.csv")]):
        yield path.read_text(encoding="utf-8")
    if (judged / "code_files").exists():
        yield from (question.text for question in read_set(judged / "code_files").questions)


def docstring_sentences(texts: Mapping[str, Texts]) -> Iterator[str]:
    """Yield the first sentence of each docstring among the documents of CoSQA."""
    for document in texts["cosqa"].documents if "cosqa" in texts else ():
        found = re.search(r"(\"\"\"|''')\s*(.+?)(\.\s|\n\s*\n|\1)", document.text, re.DOTALL)
        if found:
            yield found.group(2)


def _cells(folder: Path) -> Iterator[Document]:
    """Yield each cell with the notebook's name and the nearest heading as its title, outputs included."""
    for path in sorted(folder.rglob("*.ipynb")):
        heading = ""
        for place, cell in enumerate(nbformat.read(path, as_version=4).cells):
            if cell.cell_type == "markdown" and (found := re.findall(r"(?m)^#+\s*(.+)$", cell.source)):
                heading = found[-1]
            text = cell.source + "\n" + _outputs(cell)
            yield Document(f"{path.name}#{place}", text, f"{path.stem.replace('_', ' ')} {heading}".strip())
    for path in sorted([*folder.rglob("*.md"), *folder.rglob("*.py")]):
        yield Document(f"{path.name}#0", path.read_text(encoding="utf-8"), path.stem)


def _outputs(cell: nbformat.NotebookNode) -> str:
    texts = []
    for output in cell.get("outputs", []):
        text = output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue") or ""
        texts.append("".join(text)[:_OUTPUT])
    return "\n".join(texts)


def _chunked(found: JudgedSet) -> Texts:
    chunks: list[str] = []
    owners: list[int] = []
    for number, document in enumerate(found.documents):
        for chunk in _chunks(document.text) or [""]:
            chunks.append(f"{document.title}\n{chunk}".strip())
            owners.append(number)
    return Texts(found.name, found.documents, tuple(chunks), tuple(owners), found.questions)


def _chunks(text: str) -> list[str]:
    """Return pieces of a text, cut at the ends of lines."""
    pieces: list[str] = []
    for line in text.splitlines(keepends=True):
        if pieces and len(pieces[-1]) + len(line) <= _CHUNK:
            pieces[-1] += line
        else:
            pieces.append(line)
    return pieces
