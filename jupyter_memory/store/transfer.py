"""Memories from a store to another."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import EmbedderUnavailable, EmbeddingMismatch, InputError, StoreReadOnly
from jupyter_memory.ingest.pictures import Quota, quota_of
from jupyter_memory.ingest.preparation import prepare
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

# Memories that are stored in one transaction, and files. In a file, other writers wait for its end; on a server they do
# not, and each transaction costs more.
_COPIED_TOGETHER, _ON_SERVER, _FILES = 128, 1_000, 1_000
# Seconds that a search waits for another writer before it is noted.
_PATIENCE = 30.0


class _Filling:
    def __init__(self, target: Storage, contents: Contents, update: bool) -> None:
        self._target, self._contents, self._update = target, contents, update
        model = contents.model()
        self._embedder = None if model is None else _StoredModel(model)
        self._without_vectors = 0

    def run(self, progress: bool, *, searches: bool) -> CopyReport:
        if refused := self._target.transfer.refused(self._contents.spaces()):
            raise StoreReadOnly(
                f"Your role may not write into {len(refused)} of the spaces in {self._target.path}, so nothing was "
                "copied. Copy one space with `copy --space NAME`, or ask the owner of the store for the right."
            )

        self._take_model()
        became: Counter[str] = Counter()
        together = _COPIED_TOGETHER if isinstance(self._target.path, Path) else _ON_SERVER
        for some in shown(batches(self._contents.memories(), together), progress, "Copying"):
            try:
                became.update(self._put(some))
            except StoreReadOnly:
                if not became.total():
                    raise
                # The right was taken away meanwhile.
                raise StoreReadOnly(
                    f"Your role may no longer write all of this into {self._target.path}. {became.total():,} memories "
                    "were copied before; the same command goes on from there."
                ) from None
        self._target.transfer.finish()
        for files in batches(self._contents.files(), _FILES):
            self._target.transfer.note(files, (), ())
        # A folder is followed on the machine that has it: those who share a server have others.
        watches = isinstance(self._target.path, Path)
        folders = [one._replace(watched=one.watched and watches) for one in self._contents.folders()]
        self._target.transfer.note((), folders, list(self._contents.feedback()))
        lacking = []
        if searches:
            with self._target.snapshot() as snapshot:
                lacking = [one for one in self._contents.searches() if not snapshot.query_of(one.search.query_id)]
        for search, hits in lacking:
            self._target.writer.note_search(search, hits, _PATIENCE)
        return CopyReport(
            str(self._target.path),
            ImportReport(**became, pictures=PictureReport()),
            self._without_vectors,
            len(lacking),
        )

    def _take_model(self) -> None:
        if self._embedder is None:
            return
        with self._target.snapshot() as snapshot:
            active, is_empty = snapshot.active_model(), not snapshot.newest_chunk()
        if active is not None and active.fingerprint != self._embedder.fingerprint:
            raise EmbeddingMismatch(
                f"{self._target.path} was written with {active.name} ({active.dimensions} dimensions), and the store "
                f"to copy with {self._embedder.name} ({self._embedder.dimensions}), so nothing was copied. Change the "
                "model of one of them with `model use`, or copy into a new store."
            )
        model = self._target.transfer.begin(self._embedder)
        if is_empty and (measured := self._contents.calibration()) is not None:
            self._target.writer.keep_calibration(model, measured.chunks, measured.value)

    def _put(self, some: Sequence[Stored]) -> Counter[str]:
        known, left = looked_up(self._target, [(one.memory.id, one.draft) for one in some])
        wanted = [one for one in some if one.memory.id not in left]
        # What stays unchanged comes without its vectors: it is there for its runs alone.
        new = [one for one in wanted if self._update or one.memory.id not in known]
        prepared = dict(zip((one.memory.id for one in new), self._contents.prepared(new), strict=True))
        ready = [(one.memory, prepared.get(one.memory.id) or Prepared(one.draft, None), one.runs) for one in wanted]
        became: Counter[str] = Counter(left_out=len(left))
        # Within a call, either all have vectors or none has, and so with tokens; the order of the memories stays.
        for (embedded, _), group in groupby(ready, lambda one: (one[1].vectors is not None, len(one[1].tokens) > 0)):
            arriving = [Arriving(of.id, one, of.indexed_at, of.accessed, runs) for of, one, runs in group]
            done = self._target.transfer.put(arriving, self._embedder if embedded else None, update=self._update)
            became.update(done)
            self._without_vectors += 0 if embedded else sum(one != "kept" for one in done)
        return became


class _StoredModel:
    # A model that wrote vectors somewhere, as the embedder of a store that takes them over; it embeds nothing.

    threshold = 0.0

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.dimensions = model.dimensions
        self.fingerprint = model.fingerprint

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        raise EmbedderUnavailable(f"{self.name} is not open: its vectors are copied as they are.")

    def embed_query(self, text: str, /) -> Vectors:
        raise EmbedderUnavailable(f"{self.name} is not open: its vectors are copied as they are.")


# Memories that are stored in one transaction.
_TOGETHER = 128
# What has no place in the name of a file, and characters of a title that have one.
_NO_NAME, _LONGEST = re.compile(r"[^\w]+"), 60


class StoreTransfer:
    """Export, import and copies of one store, in its space."""

    def __init__(self, storage: Storage, model: ModelChoice, settings: JupyterMemory, space: str) -> None:
        self._storage, self._model, self._settings, self._space = storage, model, settings, space

    def export(self, folder: str | Path) -> ExportReport:
        """Write the store into a new folder as JSON lines, with the notes as Markdown, and return what it holds.

        Of a store with a space, this is what the space holds. ``import_`` restores all of it: ids, pins, tags,
        times, texts, pictures, the history, what is known of indexed files, feedback. Vectors are computed anew. The
        texts are in clear, readable by you alone. Recent searches are left out.

        Raises:
            InputError: the folder is not empty, or cannot be written.
        """
        target = absolute(folder)
        with records.new_folder(target) as filled, self._storage.transfer.contents(self._space) as contents:
            (filled / records.NOTES).mkdir(0o700)
            records.write_text(filled / records.IGNORE, "*\n")
            counts: Counter[str] = Counter()
            with_runs = filled / records.RUNS
            memories = records.write_lines(filled / records.MEMORIES, _memories(filled, contents, counts))
            runs = records.write_lines(
                with_runs, (records.of_run(run) for stored in contents.memories() for run in stored.runs)
            )
            pictures = records.write_lines(
                filled / records.PICTURES,
                (record for stored in contents.memories() for record in records.of_pictures(stored)),
            )
            files = records.write_lines(filled / records.FILES, map(records.of_file, contents.files()))
            folders = records.write_lines(filled / records.FOLDERS, map(records.of_folder, contents.folders()))
            feedback = records.write_lines(filled / records.FEEDBACK, map(records.of_feedback, contents.feedback()))
            report = ExportReport(target, memories, counts["notes"], runs, files, folders, feedback, pictures)

            names = ("memories", "notes", "runs", "pictures", "files", "folders", "feedback")
            records.write_text(
                filled / records.ABOUT,
                json_text(
                    {
                        "format": records.FORMAT,
                        "version": records.VERSION,
                        "written": datetime.now(UTC).isoformat(timespec="seconds"),
                        "by": f"jupyter-memory {version('jupyter-memory')}",
                        "counts": {name: getattr(report, name) for name in names},
                        "read": "`import` reads the .jsonl files; the Markdown in notes/ is a copy for other programs.",
                    },
                    indent=2,
                )
                + "\n",
            )
            return report

    def import_(self, folder: str | Path, *, update: bool = False, progress: bool = True) -> ImportReport:
        """Take in a folder that ``export`` wrote, and return what became of its memories.

        The whole folder is checked before anything is stored. Memories are then stored in batches; if the import is
        interrupted, the same call continues it. What the JSON lines say counts, not the Markdown of the notes. A memory
        whose content is there under another id gives that one its tags and pin. Cells and parts of a file that this
        store has indexed itself are left out where they differ, since the store knows the file better.

        Parameters
        ----------
        update : bool, default False
            Whether a memory whose id is known becomes what the folder says; otherwise it is left unchanged.

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
        files, folders, feedback and vectors come along; nothing is embedded. Recent searches come along too, unless
        the store has a space: they belong to none. The store is read as it is at this moment. Memories are stored in
        batches; if the copy is interrupted, the same call continues it. A memory whose content is there under another
        id gives that one its tags and pin. Cells and parts of a file that the other store has indexed itself are left
        out where they differ.

        Parameters
        ----------
        update : bool, default False
            Whether a memory whose id is known there becomes what it is here; otherwise it is left unchanged.

        Raises
        ------
        InputError
            It is the same store.
        EmbeddingMismatch
            The other store has the vectors of another model; nothing is copied.
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
                return _Filling(filled, contents, update).run(progress, searches=not self._space)
        finally:
            filled.close()

    def _put(
        self, some: Sequence[Arrival], update: bool, quota: Quota | None, embedder: Embedder | None
    ) -> Counter[str]:
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
            Arriving(memory.id, of_it, memory.indexed_at, memory.accessed, one.runs)
            for one, of_it in zip(wanted, prepared, strict=True)
            for memory in (one.stored.memory,)
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
            fields = {
                "id": memory.id,
                "title": memory.title,
                "tags": list(memory.tags),
                "date": memory.event_at.isoformat(),
            }
            front = "\n".join(
                f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items() if value
            )
            records.write_text(
                filled / records.NOTES / (f"{name}-{memory.id}.md" if name else f"{memory.id}.md"),
                f"---\n{front}\n---\n\n{memory.text}\n",
            )

            counts["notes"] += 1
        yield records.of_memory(stored)
