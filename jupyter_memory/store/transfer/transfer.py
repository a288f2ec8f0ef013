"""Export of a store to a folder of Markdown and JSON lines, import of such a folder, and copies in other stores."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path

from jupyter_memory.config import JupyterMemory
from jupyter_memory.ingest.pictures import Quota, quota_of
from jupyter_memory.ingest.preparation import prepare
from jupyter_memory.runtime import batches, shown
from jupyter_memory.storage.base import Prepared
from jupyter_memory.storage.writing import Arriving, Contents, NotedFile, Storage
from jupyter_memory.store.models.choice import ModelChoice
from jupyter_memory.store.transfer import folder as layout
from jupyter_memory.store.transfer import records
from jupyter_memory.store.transfer.arriving import Arrival, ExportedFolder, looked_up
from jupyter_memory.store.transfer.copying import copied
from jupyter_memory.text.paths import DatabaseAddress, absolute, store_at
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Memory
from jupyter_memory.types.memory import NO_PICTURES
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import CopyReport, ExportReport, ImportReport, PictureReport

# Memories that are stored in one transaction.
_TOGETHER = 128
# What has no place in the name of a file, and characters of a title that have one.
_NO_NAME, _LONGEST = re.compile(r"[^\w]+"), 60


class StoreTransfer:
    """Export, import and copies of one store, in its space."""

    def __init__(self, storage: Storage, model: ModelChoice, settings: JupyterMemory, space: str) -> None:
        self._storage = storage
        self._model = model
        self._settings = settings
        self._space = space

    def export(self, folder: str | Path) -> ExportReport:
        """Write the store into a new folder as JSON lines, with the notes as Markdown, and return what it holds.

        Of a store with a space, this is what the space holds. ``import_`` brings all of it back: ids, pins, tags,
        times, texts, pictures, the history, what is known of indexed files, feedback. Vectors are computed anew. The
        texts are in clear, readable by you alone. Recent searches are left out.

        Raises
        ------
        InputError
            The folder is not empty, or cannot be written.
        """
        target = absolute(folder)
        with layout.new_folder(target) as filled, self._storage.transfer.contents(self._space) as contents:
            return _written(filled, target, contents)

    def import_(self, folder: str | Path, *, update: bool = False, progress: bool = True) -> ImportReport:
        """Take in a folder that ``export`` wrote, and return what became of its memories.

        The whole folder is checked before anything is stored. Memories are then stored in batches; if the import is
        interrupted, the same call continues it. What the JSON lines say counts, not the Markdown of the notes. A memory
        whose content is there under another id gives that one its tags and pin. Cells and parts of a file that this
        store has indexed itself are left out where they differ, since the store knows the file better.

        Parameters
        ----------
        update : bool, default False
            Whether a memory whose id is known becomes what the folder says; otherwise it stays as it is.

        Raises
        ------
        InputError
            It is no exported folder, or a line in it is wrong; the error names file and line.
        """
        path = absolute(folder)
        found = ExportedFolder(path, redacting=self._settings.redact)
        self._model.for_writing()  # raises before anything is stored, where the model does not fit
        quota = quota_of(self._storage, self._settings, self._space)
        became: Counter[str] = Counter()
        for some in shown(found.memories(_TOGETHER), progress, "Importing"):
            became.update(self._model.writing(partial(self._put, some, update, quota)))
            if quota is not None:
                quota.written()
        pictures = PictureReport() if quota is None else quota.report
        # What has no room now is read from the files themselves later.
        complete = quota is not None and not pictures.left_out
        for batch in batches(map(records.to_file, layout.lines(path, layout.FILES)), 1_000):
            noted = batch if complete else [NotedFile(space, replace(one, pictures=False)) for space, one in batch]
            self._storage.transfer.note(noted, (), ())
        folders = [records.to_folder(one) for one in layout.lines(path, layout.FOLDERS)]
        feedback = [records.to_feedback(one) for one in layout.lines(path, layout.FEEDBACK)]
        self._storage.transfer.note((), folders, feedback)
        if became["added"] or became["updated"]:
            self._model.calibrate()
        return ImportReport(**became, pictures=pictures)

    def copy_to(
        self, target: str | Path | DatabaseAddress, *, update: bool = False, progress: bool = True
    ) -> CopyReport:
        """Copy this store into another one, which is made if it does not exist, and return what became of its memories.

        ``target`` is a file or the URL of a database. Ids, times, tags, pins, the history of what you ran, pictures,
        files, folders, feedback and vectors come along; nothing is embedded. Recent searches come along too, unless
        the store has a space: they belong to none. The store is read as it is at this moment. Memories are stored in
        batches; if the copy is interrupted, the same call continues it. A memory whose content is there under another
        id gives that one its tags and pin. Cells and parts of a file that the other store has indexed itself are left
        out where they differ.

        Parameters
        ----------
        update : bool, default False
            Whether a memory whose id is known there becomes what it is here; otherwise it stays as it is.

        Raises
        ------
        InputError
            It is the same store.
        EmbeddingMismatch
            The other store has the vectors of another model; nothing is copied.
        """
        busy = self._settings.busy_seconds
        return copied(self._storage, store_at(target), self._space, busy_seconds=busy, update=update, progress=progress)

    def _put(
        self, some: Sequence[Arrival], update: bool, quota: Quota | None, embedder: Embedder | None
    ) -> Counter[str]:
        """Store memories in one transaction, with the pictures that there is room for; return what became of them."""
        known, left = looked_up(self._storage, [(one.stored.memory.id, one.draft) for one in some])
        wanted = [_without_pictures(one, known) for one in some if one.stored.memory.id not in left]
        # What stays as it is needs no vectors.
        new = [one for one in wanted if update or one.stored.memory.id not in known]
        ready = dict(
            zip((one.stored.memory.id for one in new), prepare([one.draft for one in new], embedder), strict=True)
        )
        prepared = _fitting([ready.get(one.stored.memory.id) or Prepared(one.draft, None) for one in wanted], quota)
        arriving = [
            Arriving(memory.id, of_it, memory.indexed_at, memory.accessed, one.runs)
            for one, of_it in zip(wanted, prepared, strict=True)
            for memory in (one.stored.memory,)
        ]
        became = self._storage.transfer.put(arriving, embedder, update=update) if arriving else []
        return Counter(became) + Counter(left_out=len(left))


def _without_pictures(one: Arrival, known: Mapping[str, Memory]) -> Arrival:
    """Return what arrives without pictures if the memory that is there has some: they need no room."""
    there = known.get(one.stored.memory.id)
    if there is None or not there.thumbnails:
        return one
    return replace(one, draft=replace(one.draft, pictures=NO_PICTURES))


def _fitting(prepared: Sequence[Prepared], quota: Quota | None) -> Sequence[Prepared]:
    """Return memories with the pictures that there is room for, without any if none are kept."""
    if quota is None:
        return [replace(one, draft=replace(one.draft, pictures=NO_PICTURES)) for one in prepared]
    quota.begin(())
    return quota.fitting(prepared)[0]


def _written(filled: Path, target: Path, contents: Contents) -> ExportReport:
    """Write what a store holds into a folder that becomes ``target``."""
    (filled / layout.NOTES).mkdir(0o700)
    layout.write_text(filled / layout.IGNORE, "*\n")
    counts: Counter[str] = Counter()
    with_runs = filled / layout.RUNS
    memories = layout.write_lines(filled / layout.MEMORIES, _memories(filled, contents, counts))
    runs = layout.write_lines(with_runs, _runs(contents))
    pictures = layout.write_lines(filled / layout.PICTURES, _pictures(contents))
    files = layout.write_lines(filled / layout.FILES, map(records.of_file, contents.files()))
    folders = layout.write_lines(filled / layout.FOLDERS, map(records.of_folder, contents.folders()))
    feedback = layout.write_lines(filled / layout.FEEDBACK, map(records.of_feedback, contents.feedback()))
    report = ExportReport(target, memories, counts["notes"], runs, files, folders, feedback, pictures)
    layout.write_text(filled / layout.ABOUT, json_text(_about(report), indent=2) + "\n")
    return report


def _about(report: ExportReport) -> dict[str, object]:
    names = ("memories", "notes", "runs", "pictures", "files", "folders", "feedback")
    return {
        "format": layout.FORMAT,
        "version": layout.VERSION,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "by": f"jupyter-memory {version('jupyter-memory')}",
        "counts": {name: getattr(report, name) for name in names},
        "read": "`import` reads the .jsonl files; the Markdown in notes/ is a copy for other programs.",
    }


def _memories(filled: Path, contents: Contents, counts: Counter[str]) -> Iterator[dict[str, object]]:
    for stored in contents.memories():
        memory = stored.memory
        if memory.kind == "note":
            layout.write_text(filled / layout.NOTES / _note_name(memory), _note_markdown(memory))
            counts["notes"] += 1
        yield records.of_memory(stored)


def _runs(contents: Contents) -> Iterator[dict[str, object]]:
    return (records.of_run(run) for stored in contents.memories() for run in stored.runs)


def _pictures(contents: Contents) -> Iterator[dict[str, object]]:
    return (record for stored in contents.memories() for record in records.of_pictures(stored))


def _note_name(memory: Memory) -> str:
    """Return the name of a note's file: its title and its id."""
    words = _NO_NAME.sub("-", memory.title)[:_LONGEST].strip("-_").lower()
    # A name counts in bytes, of which a character may take four.
    name = words.encode()[: 2 * _LONGEST].decode(errors="ignore")
    return f"{name}-{memory.id}.md" if name else f"{memory.id}.md"


def _note_markdown(memory: Memory) -> str:
    """Return a note as Markdown; a JSON string is one of YAML, too."""
    fields = {"id": memory.id, "title": memory.title, "tags": list(memory.tags), "date": memory.event_at.isoformat()}
    front = "\n".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items() if value)
    return f"---\n{front}\n---\n\n{memory.text}\n"
