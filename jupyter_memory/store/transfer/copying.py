"""Copies a store into another one, with the vectors that it has: from a file to a server, back, or wherever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from jupyter_memory.errors import EmbedderUnavailable, EmbeddingMismatch, InputError, StoreReadOnly
from jupyter_memory.runtime import batches, shown
from jupyter_memory.storage.base import Model, Prepared
from jupyter_memory.storage.databases import open_storage
from jupyter_memory.storage.writing import Arriving, Contents, Storage, Stored
from jupyter_memory.store.transfer.arriving import looked_up
from jupyter_memory.text.paths import StorePath
from jupyter_memory.types.protocols import Vectors
from jupyter_memory.types.report import CopyReport, ImportReport, PictureReport

# Memories that are stored in one transaction, and files. In a file, other writers wait for its end; on a server they do
# not, and each transaction costs more.
_TOGETHER, _ON_SERVER, _FILES = 128, 1_000, 1_000
# Seconds that a search waits for another writer before it is noted.
_PATIENCE = 30.0


def copied(
    source: Storage, target: StorePath, space: str, *, busy_seconds: float, update: bool, progress: bool
) -> CopyReport:
    """Copy what a store holds in a space, or all of it if that is empty, into the store at ``target``.

    Raises:
        InputError: it is the same store.
        EmbeddingMismatch: the other store has the vectors of another model; nothing is copied.
        StoreReadOnly: the other store may not be written into, or not in each of the spaces.
    """
    if _is_same(source.path, target):
        raise InputError(f"{target} is the store itself. Name another one to copy it to.")
    filled = open_storage(target, busy_seconds=busy_seconds)
    try:
        with source.transfer.contents(space) as contents:
            return _Filling(filled, contents, update).run(progress, searches=not space)
    finally:
        filled.close()


class _Filling:
    """Puts the contents of one store into another one."""

    def __init__(self, target: Storage, contents: Contents, update: bool) -> None:
        self._target = target
        self._contents = contents
        self._update = update
        model = contents.model()
        self._embedder = None if model is None else StoredModel(model)
        self._without_vectors = 0

    def run(self, progress: bool, *, searches: bool) -> CopyReport:
        """Copy everything; return what became of it."""
        self._check_rights()
        self._take_model()
        became: Counter[str] = Counter()
        together = _TOGETHER if isinstance(self._target.path, Path) else _ON_SERVER
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
        copied = self._copy_searches() if searches else 0
        return CopyReport(
            str(self._target.path), ImportReport(**became, pictures=PictureReport()), self._without_vectors, copied
        )

    def _check_rights(self) -> None:
        """Refuse before anything is copied what would be refused in the middle.

        Raises:
            StoreReadOnly: there is a space into which the other store lets this person write nothing.
        """
        if refused := self._target.transfer.refused(self._contents.spaces()):
            raise StoreReadOnly(
                f"Your role may not write into {len(refused)} of the spaces in {self._target.path}, so nothing was "
                "copied. Copy one space with `copy --space NAME`, or ask the owner of the store for the right."
            )

    def _take_model(self) -> None:
        """Let the other store have the same model, and the trust in it if the store is new.

        Raises:
            EmbeddingMismatch: it has another one.
        """
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
        """Store a batch of memories; return what became of them."""
        known, left = looked_up(self._target, [(one.memory.id, one.draft) for one in some])
        wanted = [one for one in some if one.memory.id not in left]
        # What stays as it is comes without its vectors: it is there for its runs alone.
        new = [one for one in wanted if self._update or one.memory.id not in known]
        prepared = dict(zip((one.memory.id for one in new), self._contents.prepared(new), strict=True))
        ready = [(one, prepared.get(one.memory.id)) for one in wanted]
        became: Counter[str] = Counter(left_out=len(left))
        # Within a call, either all have vectors or none has, and so with tokens; the order of the memories stays.
        for (embedded, _), group in groupby(ready, lambda pair: _has(pair[1])):
            together = list(group)
            arriving = [_arriving(one, with_) for one, with_ in together]
            done = self._target.transfer.put(arriving, self._embedder if embedded else None, update=self._update)
            became.update(done)
            self._without_vectors += 0 if embedded else sum(one != "kept" for one in done)
        return became

    def _copy_searches(self) -> int:
        """Note the searches that the other store lacks; return how many."""
        with self._target.snapshot() as snapshot:
            lacking = [one for one in self._contents.searches() if not snapshot.query_of(one.search.query_id)]
        for search, hits in lacking:
            self._target.writer.note_search(search, hits, _PATIENCE)
        return len(lacking)


class StoredModel:
    """A model that wrote vectors somewhere, as the embedder of a store that takes them over; it embeds nothing."""

    threshold = 0.0

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.dimensions = model.dimensions
        self.fingerprint = model.fingerprint

    def embed_documents(self, texts: Sequence[str], /) -> Vectors:
        """Raise: there is nothing here that embeds."""
        raise EmbedderUnavailable(f"{self.name} is not open: its vectors are copied as they are.")

    def embed_query(self, text: str, /) -> Vectors:
        """Raise: there is nothing here that embeds."""
        raise EmbedderUnavailable(f"{self.name} is not open: its vectors are copied as they are.")


def _arriving(one: Stored, prepared: Prepared | None) -> Arriving:
    memory = one.memory
    ready = prepared or Prepared(one.draft, None)
    return Arriving(memory.id, ready, memory.indexed_at, memory.accessed, one.runs)


def _has(prepared: Prepared | None) -> tuple[bool, bool]:
    """Return whether a memory comes with vectors, and whether it comes with tokens."""
    return (False, False) if prepared is None else (prepared.vectors is not None, bool(len(prepared.tokens)))


def _is_same(one: StorePath, other: StorePath) -> bool:
    if isinstance(one, Path) and isinstance(other, Path):
        return one == other or (one.exists() and other.exists() and one.samefile(other))
    return one == other
