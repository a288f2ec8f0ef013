"""Test beds: stores filled with the documents of a judged set, by the same path as a person's own memories."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import InputError
from jupyter_memory.evaluation.judged import Document, JudgedSet
from jupyter_memory.progress import shown
from jupyter_memory.protocols import Embedder
from jupyter_memory.store import MemoryStore


@dataclass(frozen=True, slots=True)
class Bed:
    """A store and which judged document each of its memories is, by memory id."""

    store: MemoryStore
    documents: Mapping[str, str]


@contextmanager
def beds(
    judged: JudgedSet,
    embedder: str | Embedder,
    *,
    notebooks: Path | None = None,
    work: Path | None = None,
    progress: bool = False,
) -> Iterator[dict[str, Bed]]:
    """Open a store for each group of a set and close them at the end.

    ``notebooks`` is the folder whose cells are judged. Stores are built in ``work`` and used again the next time, or
    in a temporary folder.

    Raises:
        InputError: the set judges cells, and ``notebooks`` is missing or does not hold them.
    """
    if not judged.documents and notebooks is None:
        raise InputError(f"{judged.name} judges notebook cells: say where the notebooks are with --notebooks FOLDER.")
    opened: dict[str, Bed] = {}
    with TemporaryDirectory(prefix="jupyter-memory-eval-") as scratch:
        folder = Path(scratch) if work is None else work
        try:
            for group in judged.groups:
                documents = judged.of_group(group)
                path = folder / f"{judged.name}-{_digest(documents, embedder, notebooks)}.sqlite"
                # The defaults, not the settings of whoever measures: numbers are to be compared.
                store = MemoryStore(path, embedder=embedder, settings=JupyterMemory())
                opened[group] = Bed(store, {})  # closed below, should filling it fail
                named = _index(store, notebooks, judged, progress) if notebooks else _fill(store, documents, progress)
                opened[group] = Bed(store, named)
            yield opened
        finally:
            for bed in opened.values():
                bed.store.close()


def _fill(store: MemoryStore, documents: tuple[Document, ...], progress: bool) -> dict[str, str]:
    """Remember documents, each under its id as the source: two with the same words stay two."""
    records = [
        {
            "text": document.text if document.text.strip() else document.title,
            "title": document.title,
            "source": document.id,
            "event_at": document.date,
            "session": document.session,
        }
        for document in documents
        if document.text.strip() or document.title.strip()
    ]
    # What is known comes back as it is stored, so a bed that was built before is only read.
    memories = store.add_many(shown(records, progress, "Remembering"), progress=False)
    return {memory.id: memory.source for memory in memories}


def _index(store: MemoryStore, notebooks: Path, judged: JudgedSet, progress: bool) -> dict[str, str]:
    """Index a folder and name each cell ``notebook#index``, by its place in the file."""
    report = store.index(notebooks, progress=progress)
    if report.failed:
        raise InputError(f"{report.failed[0][0]} cannot be read: {report.failed[0][1]}")
    judged_names = {name.rpartition("#")[0] for question in judged.questions for name in question.grades}
    if missing := sorted(name for name in judged_names if not any(notebooks.rglob(name))):
        raise InputError(f"{notebooks} does not hold {missing[0]}, whose cells are judged.")
    places: dict[str, dict[str, int]] = {}
    named = {}
    for memory in store.browsed(limit=10**9, filters={"kind": "cell"}).hits:
        one = memory.memory
        if one.source not in places:
            places[one.source] = _places(Path(one.source))
        named[one.id] = f"{Path(one.source).name}#{places[one.source][one.location]}"
    return named


def _places(path: Path) -> dict[str, int]:
    """Return the index of each cell of a notebook by its location: its id, or ``#index`` where it has none."""
    cells = nbformat.reader.reads(path.read_text(encoding="utf-8"))["cells"]
    return {f"#{place}": place for place in range(len(cells))} | {
        cell["id"]: place for place, cell in enumerate(cells) if cell.get("id")
    }


def _digest(documents: tuple[Document, ...], embedder: str | Embedder, notebooks: Path | None) -> str:
    name = embedder if isinstance(embedder, str) else embedder.fingerprint
    made = blake2b(json.dumps([name, str(notebooks and notebooks.resolve())]).encode(), digest_size=6)
    for one in documents:
        made.update(json.dumps([one.id, one.title, one.text, one.date, one.session]).encode())
    return made.hexdigest()
