"""Memories from a store to another."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import EmbedderUnavailable, EmbeddingMismatch, InputError, StoreReadOnly
from jupyter_memory.runtime import batches, shown
from jupyter_memory.storage.base import Arriving, Model, NotedFile, Prepared, Stored
from jupyter_memory.storage.databases import Storage, open_storage
from jupyter_memory.storage.transfer import Contents
from jupyter_memory.store import records
from jupyter_memory.store.models import ModelChoice
from jupyter_memory.store.records import Arrival, ExportedFolder, looked_up
from jupyter_memory.text.paths import DatabaseAddress, absolute, store_at
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types.memory import NO_PICTURES
from jupyter_memory.types.protocols import Embedder, Vectors
from jupyter_memory.types.report import CopyReport, ExportReport, ImportReport, PictureReport

if TYPE_CHECKING:
    from jupyter_memory.ingest.pictures import Quota

# Memories that are stored in one transaction, and files. In a file, other writers wait for its end; on a server they do
# not, and each transaction costs more.
_COPIED_TOGETHER, _ON_SERVER, _FILES = 128, 1_000, 1_000
# Seconds that a search waits for another writer before it is noted.
_PATIENCE = 30.0


def _filled(target: Storage, contents: Contents, *, update: bool, progress: bool, searches: bool) -> CopyReport:
    embedder = _taken_over(target, contents)
    became: Counter[str] = Counter()
    without_vectors = 0
    # A folder is followed on the machine that has it: those who share a server have others.
    is_file = isinstance(target.path, Path)
    for some in shown(batches(contents.memories(), _COPIED_TOGETHER if is_file else _ON_SERVER), progress, "Copying"):
        try:
            put, lacking_vectors = _put(target, contents, some, embedder, update)
        except StoreReadOnly:
            if not became.total():
                raise
            # The right was taken away meanwhile.
            raise StoreReadOnly(
                f"Your role may no longer write all of this into {target.path}. {became.total():,} memories were "
                "copied before; the same command goes on from there."
            ) from None
        became.update(put)
        without_vectors += lacking_vectors
    target.transfer.finish()
    for files in batches(contents.files(), _FILES):
        target.transfer.note(files, (), ())
    folders = [one._replace(watched=one.watched and is_file) for one in contents.folders()]
    target.transfer.note((), folders, list(contents.feedback()))
    lacking = []
    if searches:
        with target.snapshot() as snapshot:
            lacking = [one for one in contents.searches() if not snapshot.query_of(one.search.query_id)]
    for search, hits in lacking:
        target.writer.note_search(search, hits, _PATIENCE)
    report = ImportReport(**became, pictures=PictureReport())
    return CopyReport(str(target.path), report, without_vectors, len(lacking))


def _taken_over(target: Storage, contents: Contents) -> _StoredModel | None:
    if refused := target.transfer.refused(contents.spaces()):
        raise StoreReadOnly(
            f"Your role may not write into {len(refused)} of the spaces in {target.path}, so nothing was copied. Copy "
            "one space with `copy --space NAME`, or ask the owner of the store for the right."
        )
    if (model := contents.model()) is None:
        return None
    embedder = _StoredModel(model)
    with target.snapshot() as snapshot:
        active, is_empty = snapshot.active_model(), not snapshot.newest_chunk()
    if active is not None and active.fingerprint != embedder.fingerprint:
        raise EmbeddingMismatch(
            f"{target.path} was written with {active.name} ({active.dimensions} dimensions), and the store to copy "
            f"with {embedder.name} ({embedder.dimensions}), so nothing was copied. Change the model of one of them "
            "with `model use`, or copy into a new store."
        )
    taken = target.transfer.begin(embedder)
    if is_empty and (measured := contents.calibration()) is not None:
        target.writer.keep_calibration(taken, measured.chunks, measured.value)
    return embedder


def _put(
    target: Storage, contents: Contents, some: Sequence[Stored], embedder: _StoredModel | None, update: bool
) -> tuple[Counter[str], int]:
    known, left = looked_up(target, [(one.memory.id, one.draft) for one in some])
    wanted = [one for one in some if one.memory.id not in left]
    # What stays unchanged comes without its vectors: it is there for its runs alone.
    new = [one for one in wanted if update or one.memory.id not in known]
    prepared = dict(zip((one.memory.id for one in new), contents.prepared(new), strict=True))
    ready = [(one.memory, prepared.get(one.memory.id) or Prepared(one.draft, None), one.runs) for one in wanted]
    became: Counter[str] = Counter(left_out=len(left))
    without_vectors = 0
    # Within a call, either all have vectors or none has, and so with tokens; the order of the memories stays.
    for (embedded, _), group in groupby(ready, lambda one: (one[1].vectors is not None, len(one[1].tokens) > 0)):
        arriving = [Arriving(of.id, one, of.indexed_at, of.accessed, runs) for of, one, runs in group]
        done = target.transfer.put(arriving, embedder if embedded else None, update=update)
        became.update(done)
        without_vectors += 0 if embedded else sum(one != "kept" for one in done)
    return became, without_vectors


class _StoredModel:
    # A model that wrote vectors somewhere, as the embedder of a store that takes them over; it embeds nothing.

    threshold = 0.0

    def __init__(self, model: Model) -> None:
        self.name, self.dimensions, self.fingerprint = model.name, model.dimensions, model.fingerprint

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        raise EmbedderUnavailable(f"{self.name} is not open: its vectors are copied as they are.")

    embed_query = embed_documents


# Memories that are stored in one transaction.
_TOGETHER = 128
# What has no place in the name of a file, and characters of a title that have one.
_NO_NAME, _LONGEST = re.compile(r"[^\w]+"), 60


class StoreTransfer:
    """Export, import and copies of one store, in its space."""

    def __init__(self, storage: Storage, model: ModelChoice, settings: JupyterMemory, space: str) -> None:
        self._storage, self._model, self._settings, self._space = storage, model, settings, space

    def export(self, folder: str | Path) -> ExportReport:
        """Write the store, or its space if it has one, into a new folder; return what the folder holds.

        It has JSON lines, and the notes as Markdown besides. ``import_`` restores ids, pins, tags, times, texts,
        pictures, the history, indexed files and feedback, and computes the vectors anew. The texts are in clear,
        readable by you alone. Recent searches are left out.

        Raises:
            InputError: the folder is not empty, or cannot be written.
        """
        target = absolute(folder)
        with records.new_folder(target) as filled, self._storage.transfer.contents(self._space) as contents:
            (filled / records.NOTES).mkdir(0o700)
            records.write_text(filled / records.IGNORE, "*\n")
            notes: Counter[str] = Counter()
            stored: dict[str, Iterable[dict[str, Any]]] = {
                records.MEMORIES: _memories(filled, contents, notes),
                records.RUNS: (records.of_run(run) for one in contents.memories() for run in one.runs),
                records.PICTURES: (picture for one in contents.memories() for picture in records.of_pictures(one)),
                records.FILES: map(records.of_file, contents.files()),
                records.FOLDERS: (folder._asdict() for folder in contents.folders()),
                records.FEEDBACK: map(records.of_feedback, contents.feedback()),
            }
            counts = {
                name.removesuffix(".jsonl"): records.write_lines(filled / name, of) for name, of in stored.items()
            }
            report = ExportReport(target, notes=notes["notes"], **counts)
            names = ("memories", "notes", "runs", "pictures", "files", "folders", "feedback")
            about = {
                "format": records.FORMAT,
                "version": records.VERSION,
                "written": datetime.now(UTC).isoformat(timespec="seconds"),
                "by": f"jupyter-memory {version('jupyter-memory')}",
                "counts": {name: getattr(report, name) for name in names},
                "read": "`import` reads the .jsonl files; the Markdown in notes/ is a copy for other programs.",
            }
            records.write_text(filled / records.ABOUT, json_text(about, indent=2) + "\n")
            return report

    def import_(self, folder: str | Path, *, update: bool = False, progress: bool = True) -> ImportReport:
        """Take in a folder that ``export`` wrote, and return what became of its memories.

        The whole folder is checked first; memories are then stored in batches, and after an interruption the same call
        continues. The JSON lines count, not the Markdown of the notes. Content that is there under another id gives
        that one its tags and pin. Cells and parts of files that this store has indexed itself are left out where they
        differ, since the store knows the file better.

        Args:
            update: Whether a memory whose id is known becomes what the folder says; otherwise it is left unchanged.

        Raises:
            InputError: it is no exported folder, or a line in it is wrong; the error names file and line.
        """
        from jupyter_memory.ingest.pictures import Quota

        path = absolute(folder)
        found = ExportedFolder(path, redacting=self._settings.redact)
        self._model.for_writing()  # raises before anything is stored, where the model does not fit
        quota = Quota(self._storage, self._settings, self._space) if self._settings.thumbnails else None
        became: Counter[str] = Counter()
        for some in shown(found.memories(_TOGETHER), progress, "Importing"):
            became.update(self._model.writing(partial(self._put, some, update, quota)))
            if quota is not None:
                quota.written()
        pictures = PictureReport() if quota is None else quota.report
        # What has no room now is read from the files themselves later.
        complete = quota is not None and not pictures.left_out
        for batch in batches(map(records.to_file, records.lines(path, records.FILES)), 1_000):
            noted = batch if complete else [NotedFile(space, replace(one, pictures=False)) for space, one in batch]
            self._storage.transfer.note(noted, (), ())
        folders = [records.to_folder(one) for one in records.lines(path, records.FOLDERS)]
        feedback = [records.to_feedback(one) for one in records.lines(path, records.FEEDBACK)]
        self._storage.transfer.note((), folders, feedback)
        if became["added"] or became["updated"]:
            self._model.calibrate()
        return ImportReport(**became, pictures=pictures)

    def copy_to(
        self, target: str | Path | DatabaseAddress, *, update: bool = False, progress: bool = True
    ) -> CopyReport:
        """Copy this store into another one, which is made if it does not exist, and return what became of its memories.

        ``target`` is a file or the URL of a database. Ids, times, tags, pins, the history of what you ran, pictures,
        files, folders, feedback and vectors come along, and the recent searches unless the store has a space: they
        belong to none. Nothing is embedded. The store is read as it is at this moment and stored in batches; after an
        interruption the same call continues. Content that is there under another id gives that one its tags and pin.
        Cells and parts of files that the other store has indexed itself are left out where they differ.

        Args:
            update: Whether a memory whose id is known there becomes what it is here; otherwise it is left unchanged.

        Raises:
            InputError: it is the same store.
            EmbeddingMismatch: the other store has the vectors of another model; nothing is copied.
        """
        here, there = self._storage.path, store_at(target)
        is_same = here == there
        if isinstance(here, Path) and isinstance(there, Path) and here.exists() and there.exists():
            is_same = here.samefile(there)
        if is_same:
            raise InputError(f"{there} is the store itself. Name another one to copy it to.")
        filled = open_storage(there, busy_seconds=self._settings.busy_seconds)
        try:
            with self._storage.transfer.contents(self._space) as contents:
                return _filled(filled, contents, update=update, progress=progress, searches=not self._space)
        finally:
            filled.close()

    def _put(
        self, some: Sequence[Arrival], update: bool, quota: Quota | None, embedder: Embedder | None
    ) -> Counter[str]:
        from jupyter_memory.ingest.preparation import prepare

        known, left = looked_up(self._storage, [(one.stored.memory.id, one.draft) for one in some])
        wanted = [one for one in some if one.stored.memory.id not in left]
        for place, one in enumerate(wanted):
            there = known.get(one.stored.memory.id)
            if there is not None and there.thumbnails:
                wanted[place] = replace(one, draft=replace(one.draft, pictures=NO_PICTURES))
        # What stays unchanged needs no vectors.
        new = [one for one in wanted if update or one.stored.memory.id not in known]
        ready = dict(
            zip((one.stored.memory.id for one in new), prepare([one.draft for one in new], embedder), strict=True)
        )
        prepared = [ready.get(one.stored.memory.id) or Prepared(one.draft, None) for one in wanted]
        if quota is None:
            prepared = [replace(one, draft=replace(one.draft, pictures=NO_PICTURES)) for one in prepared]
        else:
            quota.begin(())
            prepared = quota.fitting(prepared)[0]
        arriving = [
            Arriving(of.id, ready_one, of.indexed_at, of.accessed, one.runs)
            for one, ready_one in zip(wanted, prepared, strict=True)
            for of in [one.stored.memory]
        ]
        became = self._storage.transfer.put(arriving, embedder, update=update) if arriving else []
        return Counter(became) + Counter(left_out=len(left))


def _memories(filled: Path, contents: Contents, counts: Counter[str]) -> Iterator[dict[str, object]]:
    for stored in contents.memories():
        memory = stored.memory
        if memory.kind == "note":
            words = _NO_NAME.sub("-", memory.title)[:_LONGEST].strip("-_").lower()
            # A name counts in bytes, of which a character may take four.
            name = words.encode()[: 2 * _LONGEST].decode(errors="ignore")
            date, tags = memory.event_at.isoformat(), list(memory.tags)
            fields = {"id": memory.id, "title": memory.title, "tags": tags, "date": date}
            lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value]
            file = filled / records.NOTES / (f"{name}-{memory.id}.md" if name else f"{memory.id}.md")
            records.write_text(file, "\n".join(["---", *lines, "---", "", memory.text, ""]))
            counts["notes"] += 1
        yield records.of_memory(stored)
