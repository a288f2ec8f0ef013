"""Memories from a store to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_memory.errors import EmbedderUnavailable, EmbeddingMismatch, InputError, StoreReadOnly
from jupyter_memory.runtime import batches, shown
from jupyter_memory.storage.base import Arriving, Model, Prepared, Stored
from jupyter_memory.storage.databases import Storage, open_storage
from jupyter_memory.storage.transfer import Contents
from jupyter_memory.store import records
from jupyter_memory.store.models import ModelChoice
from jupyter_memory.store.sources import Part
from jupyter_memory.text.paths import DatabaseAddress, absolute, store_at
from jupyter_memory.text.unicode import REDACTED
from jupyter_memory.types import Draft, Filters, Memory
from jupyter_memory.types.memory import NO_PICTURES
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import CopyReport, ExportReport, ImportReport, PictureReport

if TYPE_CHECKING:
    from jupyter_memory.ingest.pictures import Quota

# Memories that are stored in one transaction, and files. Other writers wait for its end, but not on a server.
_TOGETHER, _ON_SERVER, _FILES = 128, 1_000, 1_000
_PATIENCE = 30.0  # seconds that a search waits for another writer before it is noted
_Arrival = tuple[Stored, Draft]
_Some = Sequence[_Arrival]
_Ids = Sequence[str]
# Which of the chosen memories go to another store, by whether history goes along.
_LEAVING = {True: Filters(), False: Filters(not_kind=("history",))}


class StoreTransfer(Part):
    def export(self, folder: str | Path) -> ExportReport:
        """Write the store, or its space if it has one, into a new folder, readable by you alone; return what it holds.

        It has JSON lines of all but vectors and recent searches, and the notes as Markdown besides. Raises
        ``InputError`` if the folder is not empty, or cannot be written.
        """
        target = absolute(folder)
        with records.new_folder(target) as filled, self._storage.transfer.contents(self._scope.space) as contents:
            return ExportReport(target, **records.write(filled, contents))

    def import_(self, folder: str | Path, *, update: bool = False, progress: bool = True) -> ImportReport:
        """Take in a folder that ``export`` wrote, checked whole before, and return what became of its memories.

        Content that is there under another id gives that one its tags and pin. Cells and parts of files that this store
        has indexed itself are left out where they differ. After an interruption the same call continues.

        Args:
            update: Whether a memory whose id is known is replaced; otherwise it is left unchanged.

        Raises:
            InputError: it is no exported folder, or a line in it is wrong; the error names file and line.
        """
        found = records.ExportedFolder(absolute(folder), redacting=self._settings.redact)
        self._model.for_writing()  # raises before anything is stored, where the model does not fit
        quota = self._quota()
        became: Counter[str] = Counter()
        for some in shown(found.memories(_TOGETHER), progress, "Importing"):
            became.update(self._model.writing(partial(self._put, some, update, quota, None)).values())
        pictures = PictureReport() if quota is None else quota.report
        # What has no room now is read from the files themselves later.
        complete = quota is not None and not pictures.left_out
        for files in batches(found.files(), _FILES):
            noted = files if complete else [one._replace(state=replace(one.state, pictures=False)) for one in files]
            self._storage.transfer.note(noted, (), ())
        self._storage.transfer.note((), list(found.folders()), list(found.feedback()))
        if became["added"] or became["updated"]:
            self._model.calibrate()
        return ImportReport(**became, pictures=pictures)

    def copy_to(
        self, target: str | Path | DatabaseAddress, *, update: bool = False, progress: bool = True
    ) -> CopyReport:
        """Copy this store into another file or database, made if need be, and return what became of its memories.

        Vectors come along, and the recent searches unless the store has a space: they belong to none. What the other
        store knows already is treated as by ``import_``, and if its chunks have another size, what it takes in is cut
        and embedded anew. After an interruption the same call continues.

        Raises:
            InputError: it is the same store.
            EmbeddingMismatch: the other store has the vectors of another model; nothing is copied.
            EmbedderUnavailable: it has chunks of another size, and the model cannot be opened; nothing is copied.
        """
        filled = open_storage(store_at(target), busy_seconds=self._settings.busy_seconds)
        try:
            self._refuse_itself(filled)
            with self._storage.transfer.contents(self._scope.space) as contents:
                return self._copied(filled, contents, update=update, progress=progress)
        finally:
            filled.close()

    def _copied(self, target: Storage, contents: Contents, *, update: bool, progress: bool) -> CopyReport:
        model, capacity, embedder = _taken_over(target, contents, self._model)

        def ready(new: _Some) -> Sequence[Prepared]:
            if capacity == contents.chunk_size()[0]:
                return contents.prepared([one for one, _ in new])
            return self._prepared([replace(draft, chunks=()) for _, draft in new], embedder, capacity)

        became: Counter[str] = Counter()
        without_vectors = 0
        # A folder is followed on the machine that has it: those who share a server have others.
        is_file = isinstance(target.path, Path)
        for some in shown(batches(contents.memories(), _TOGETHER if is_file else _ON_SERVER), progress, "Copying"):
            arriving, _, left_out = _arriving(target, [(one, one.draft) for one in some], update, ready)
            # Within a call, either all have vectors or none has, and so with tokens; the order of the memories stays.
            for (embedded, _), group in groupby(
                arriving, lambda one: (one.prepared.vectors is not None, len(one.prepared.tokens) > 0)
            ):
                try:
                    done = target.transfer.put(list(group), model if embedded else None, update=update)
                except StoreReadOnly:  # the right was taken away meanwhile
                    if not became.total():
                        raise
                    raise StoreReadOnly(
                        f"Your role may no longer write all of this into {target.path}. {became.total():,} memories "
                        "were copied before; the same command goes on from there."
                    ) from None
                became.update(done)
                without_vectors += 0 if embedded else sum(one != "kept" for one in done)
            became["left_out"] += left_out

        target.tidy()
        for files in batches(contents.files(), _FILES):
            target.transfer.note(files, (), ())
        folders = [one._replace(watched=one.watched and is_file) for one in contents.folders()]
        target.transfer.note((), folders, list(contents.feedback()))
        lacking = []
        if not self._scope.space:
            with target.snapshot() as snapshot:
                lacking = [one for one in contents.searches() if not snapshot.query_of(one.search.query_id)]
        for search, hits in lacking:
            target.writer.note_search(search, hits, _PATIENCE)
        report = ImportReport(**became, pictures=PictureReport())
        return CopyReport(str(target.path), report, without_vectors, len(lacking))

    def leaving(self, ids: _Ids, target: StoreTransfer, *, history: bool, move: bool) -> tuple[int, list[str], int]:
        """Return how many memories would go, the first titles, and how many have secrets; raise what keeps them."""
        self.check_leaving(ids, target, history=history, move=move)
        number, masked, titles = 0, 0, list[str]()
        with self._storage.transfer.contents(self._scope.space) as contents:
            for some in self._arrivals(contents, ids, history):
                number, masked = number + len(some), masked + _masked(some)
                titles += [one.memory.headline for one, _ in some[: _TITLES - len(titles)]]
        return number, titles, masked

    def check_leaving(self, ids: _Ids, target: StoreTransfer, *, history: bool, move: bool) -> None:
        """Raise the error that keeps these memories from going to another store."""
        self._refuse_itself(target._storage, "move" if move else "copy")
        within, spaces = self._scope.bound(_LEAVING[history]), set[str]()
        with self._storage.snapshot() as snapshot:
            for some in batches(ids, _TOGETHER):
                spaces.update(one.space for one in snapshot.by_id(some, within).values())
        for storage in (target._storage, *([self._storage] if move else [])):
            if storage.read_only:
                raise StoreReadOnly(f"{storage.path} is read-only, so nothing was copied.")
            _refuse(storage, sorted(spaces))
        target._model.for_writing()

    def give(
        self, ids: _Ids, target: StoreTransfer, *, history: bool, update: bool, progress: bool
    ) -> tuple[CopyReport, dict[str, str], set[str]]:
        """Copy memories into another store, as ``import_`` does.

        Returns a report, what became of each memory by its id, and the ids of those that went as they are.
        """
        became, plain, masked, quota = dict[str, str](), set[str](), 0, target._quota()
        with self._storage.transfer.contents(self._scope.space) as contents:
            for some in shown(self._arrivals(contents, ids, history), progress, "Copying"):
                became |= target._model.writing(partial(target._put, some, update, quota, contents))
                plain.update(one.memory.id for one, draft in some if _bare(draft) == _bare(one.draft))
                masked += _masked(some)
        target._model.calibrate(len(became))
        pictures = PictureReport() if quota is None else quota.report
        report = ImportReport(**Counter(became.values()), pictures=pictures)
        return CopyReport(str(target._storage.path), report, masked=masked), became, plain

    def held_by(self, target: StoreTransfer, ids: _Ids, plain: Collection[str] = ()) -> list[str]:
        """Return those of these memories that another store has just as ``give`` copies them.

        In those of ``plain``, which went as they are, no secrets are looked for again: that takes longer than all else.
        """
        held = list[str]()
        with self._storage.transfer.contents(self._scope.space) as ours, target._storage.transfer.contents("") as its:
            for some in batches(ours.memories(among=ids), _TOGETHER):
                found = its.memories(among=[one.memory.id for one in some])
                there = {one.memory.id: _bare(one.draft) for one in found}
                for one in some:
                    draft = one.draft if one.memory.id in plain else self._without_secrets(one)[1]
                    if there.get(one.memory.id) == _bare(draft):
                        held.append(one.memory.id)
        return held

    def _refuse_itself(self, target: Storage, verb: str = "copy") -> None:
        if self._storage.identity() == target.identity():
            raise InputError(f"{target.path} is the store itself. Name another one to {verb} it to.")

    def _arrivals(self, contents: Contents, ids: _Ids, history: bool) -> Iterator[list[_Arrival]]:
        for some in batches(contents.memories(_LEAVING[history], ids), _TOGETHER):
            yield list(map(self._without_secrets, some))

    def _without_secrets(self, one: Stored) -> _Arrival:
        return records.without_secrets(one, redacting=self._settings.redact)

    def _quota(self) -> Quota | None:
        from jupyter_memory.ingest.pictures import Quota

        return Quota(self._storage, self._settings, self._scope.space) if self._settings.thumbnails else None

    # What became of memories, by id, which are of ``contents`` unless they were exported.
    def _put(
        self, some: _Some, update: bool, quota: Quota | None, contents: Contents | None, embedder: Embedder | None
    ) -> dict[str, str]:
        def ready(new: _Some) -> Sequence[Prepared]:
            model = None if contents is None else contents.model()
            # Chunks of another length are cut anew; else, where nothing was masked, the vectors of the same model fit.
            fits = contents and model and embedder and model.fingerprint == embedder.fingerprint
            if contents and contents.chunk_size()[0] != self._settings.chunk_tokens:
                new = [(one, replace(draft, chunks=())) for one, draft in new]
            elif contents and fits:
                known, drafts = contents.prepared([one for one, _ in new]), [draft for _, draft in new]
                if [one.draft for one in known if one.vectors is not None] == drafts:
                    return known
            return self._prepared([draft for _, draft in new], embedder)

        arriving, known, _ = _arriving(self._storage, some, update, ready)
        prepared = [
            replace(one.prepared, draft=replace(one.prepared.draft, pictures=NO_PICTURES))
            if quota is None or (one.id in known and known[one.id].thumbnails)
            else one.prepared
            for one in arriving
        ]
        if quota is not None:
            quota.begin(())
            prepared = quota.fitting(prepared)[0]
        arriving = [replace(one, prepared=ready) for one, ready in zip(arriving, prepared, strict=True)]
        became = self._storage.transfer.put(arriving, embedder, update=update) if arriving else []
        if quota is not None:
            quota.written()
        left_out = dict.fromkeys((one.memory.id for one, _ in some), "left_out")
        return left_out | dict(zip((one.id for one in arriving), became, strict=True))


_TITLES = 5  # those of memories that leave are shown


def _bare(draft: Draft) -> Draft:
    # Without what another store may make anew.
    return replace(draft, chunks=(), context="")


def _masked(some: _Some) -> int:
    # In how many of them a secret was found on the way.
    pairs = ((_bare(draft), _bare(stored.draft)) for stored, draft in some)
    return sum(now != before and str(now).count(REDACTED) > str(before).count(REDACTED) for now, before in pairs)


def _arriving(
    target: Storage, some: _Some, update: bool, prepared: Callable[[_Some], Sequence[Prepared]]
) -> tuple[list[Arriving], dict[str, Memory], int]:
    # With the memories that the target knows, by id, and the number left out: it has read their files itself.
    with target.snapshot() as snapshot:
        known = snapshot.by_id(one.memory.id for one, _ in some)
        of_files = [(one, d) for one, d in some if d.kind in ("file", "cell") and one.memory.id not in known]
        states = snapshot.file_states([(draft.source, draft.space) for _, draft in of_files])
        same = snapshot.same_content([draft for _, draft in of_files])
    left = {
        one.memory.id
        for (one, draft), key in zip(of_files, same, strict=True)
        if key is None and (draft.source, draft.space) in states
    }
    wanted = [(one, draft) for one, draft in some if one.memory.id not in left]
    # What stays unchanged needs no vectors: it is there for its runs alone.
    new = [(one, draft) for one, draft in wanted if update or one.memory.id not in known]
    ready = dict(zip((one.memory.id for one, _ in new), prepared(new), strict=True))
    arriving = [
        Arriving(
            one.memory.id,
            ready.get(one.memory.id) or Prepared(draft, None),
            one.memory.indexed_at,
            one.memory.stored_at,
            one.memory.accessed,
            one.runs,
        )
        for one, draft in wanted
    ]
    return arriving, known, len(left)


def _refuse(target: Storage, spaces: _Ids) -> None:
    if refused := target.refused(spaces):
        raise StoreReadOnly(
            f"Your role may not write into {len(refused)} of the spaces in {target.path}, so nothing was copied. Copy "
            "one space with `copy --space NAME`, or ask the owner of the store for the right."
        )


# The model whose vectors go there, the size of the chunks there, and what embeds those of another size anew.
def _taken_over(target: Storage, contents: Contents, choice: ModelChoice) -> tuple[Model | None, int, Embedder | None]:
    _refuse(target, contents.spaces())
    with target.snapshot() as snapshot:
        active, is_empty = snapshot.active_model(), not snapshot.newest_chunk()
    model = contents.model()
    if model is not None and active is not None and active.fingerprint != model.fingerprint:
        raise EmbeddingMismatch(
            f"{target.path} was written with {active.name} ({active.dimensions} dimensions), and the store to copy "
            f"with {model.name} ({model.dimensions}), so nothing was copied. Change the model of one of them "
            "with `model use`, or copy into a new store."
        )
    tokens, since = contents.chunk_size()
    if is_empty:
        target.writer.note_once(f"chunks {since} {tokens}")
    with target.snapshot() as snapshot:
        capacity, _ = snapshot.chunk_size()
    embedder, notices = choice.for_searching() if capacity != tokens else (None, ())
    if notices:
        raise EmbedderUnavailable(
            f"{target.path} has chunks of another size, for which nothing can be embedded anew, so nothing was copied. "
            f"{notices[0]}"
        )
    if model is None:
        return None, capacity, None
    taken = target.transfer.begin(model)
    if is_empty and (measured := contents.calibration()) is not None:
        target.writer.keep_calibration(taken, measured.chunks, measured.value)
    return taken, capacity, embedder
