"""The state of a store, its upkeep, and what was searched in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from jupyter_memory.config import budget, load_config, store_path
from jupyter_memory.embedders import base
from jupyter_memory.embedders.base import chunk_tokens
from jupyter_memory.errors import InputError, StoreDamaged, StoreError
from jupyter_memory.runtime import Progress, counted
from jupyter_memory.storage import databases
from jupyter_memory.storage.journal import recording
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.store.sources import Part
from jupyter_memory.text.code import definitions
from jupyter_memory.text.markdown import embedding_text
from jupyter_memory.text.paths import DatabaseAddress, absolute, store_at
from jupyter_memory.types import ORIGINS, Answer, Feedback, Filters, Query, Recent
from jupyter_memory.types.protocols import Embedder
from jupyter_memory.types.report import StoreSize, budget_notice

_BATCH, _EMBEDDED = 512, 256  # rows that are read and written together, and chunks that are embedded

Row = TypeVar("Row")


class Maintenance(Part):
    """The maintenance of one store: statistics, checks, vectors, copies."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Return the status of the store in sentences: read-only, no write-ahead log, nearly too large."""
        most = budget(self._settings)
        said = budget_notice(self._storage.held(), most) if most is not None else ""
        return tuple(filter(None, dict.fromkeys([*self._storage.notices, said])))

    def stats(self, *, sizes: bool = False) -> dict[str, Any]:
        """Return what the store holds: counts by kind, tier and space, models, files, bytes on disk, history, undo.

        With ``sizes`` also what the bytes are for, those that the budget counts (``held``), and the ``budget``, None
        without one; this reads the whole file, a second for about 3 GB.
        """
        found = self._storage.stats()
        if sizes:
            size = StoreSize(self._storage.sizes(), budget(self._settings))
            found |= {"sizes": size.parts, "bytes": size.bytes, "held": size.held, "budget": size.budget}
            with self._storage.snapshot() as snapshot:
                found["other_chunks"] = snapshot.of_other_chunks(self._settings.chunk_tokens)
        runs = self._storage.runs.status(self._scope.space).runs
        found["history"] = {"recording": recording(self._storage.path), "runs": runs}
        if pending := self._storage.forgotten.pending(self._scope.space):
            found["undo"] = {"memories": pending[0].memories, "until": pending[0].until.isoformat()}
        return found

    def count(self) -> int:
        """Return how many memories a search can see: those of the store, or of its space if it has one."""
        with self._storage.snapshot() as snapshot:
            return snapshot.count(self._scope.bound(Filters()))

    def known(self, contents: Mapping[str, str]) -> set[str]:
        """Return which of these ids a search can see, or another memory with the content hash that they map to."""
        with self._storage.snapshot() as snapshot:
            return snapshot.known(contents, self._scope.bound(Filters()))

    def tags(self) -> list[str]:
        """Return every tag, the most used first."""
        with self._storage.snapshot() as snapshot:
            return snapshot.tags()

    def doctor(self) -> list[str]:
        """Check the store and return what is wrong, each with what to do; empty when all is well."""
        problems = list(self._storage.problems())
        with suppress(StoreDamaged):  # which the problems tell
            problems += self._model.for_searching()[1]
        return [*problems, *self._storage.notices]  # not its budget: a store that outgrows it is sound

    def reembed(self, embedder: str | Embedder | None = None, *, progress: Progress = True, keep: bool = True) -> int:
        """Write a model's vectors for every chunk that lacks them, then search with that model; return how many.

        Until then, searches use the old vectors. If it is interrupted, the next call continues from there.

        Args:
            embedder: The model to change to; by default the store's own, for chunks that were stored without one.
            progress: Whether to show a bar; or a function of how many chunks are done, and how many there are.
            keep: Keep the other models' vectors, so that changing back takes a moment; ``drop_vectors`` removes them.

        Raises:
            EmbedderError: the model is unknown, or does not run here; the old one stays in use.
            InputError: the store was opened with ``embedder=None``, and none is given.
        """
        chosen = self._model.embedder() if embedder is None else self._model.opened(embedder)
        if chosen is None:
            raise InputError("This store was opened with embedder=None. Open it with a model to write vectors.")
        written = self._embed(chosen, progress)
        if not keep:
            self.drop_vectors()
        self._model.adopt(chosen)
        self._model.calibrate()
        return written

    def drop_vectors(self, name: str | None = None) -> int:
        """Remove the vectors of models that are not in use, those of one name if given; return the number removed.

        Raises ``InputError`` if the store has no vectors of that name, or searches with them.
        """
        with self._storage.snapshot() as snapshot:
            active, models = snapshot.active_model(), snapshot.models()
        known = [model for model in models if name in (None, model.name, model.fingerprint)]
        chosen = [model for model in known if model != active]
        if name is not None and not chosen:
            if known:
                raise InputError(
                    f"The vectors of {name} are in use, so they stay. Embed with another model first: "
                    "store.reembed('static')."
                )
            names = ", ".join(dict.fromkeys(model.name for model in models)) or "none"
            raise InputError(f"The store has no vectors of {name!r}; it has those of: {names}.")
        return self._storage.writer.drop_models(chosen)

    def rebuild(self) -> None:
        """Rebuild the keyword index, and tokens, definitions and vectors that are damaged or missing.

        Raises ``EmbedderError`` if the model gives no vectors that can be stored; the rest is still done.
        """
        writer = self._storage.writer
        writer.drop_damaged_tokens()
        for parts in self._batches(
            lambda snapshot, last: snapshot.embedded_parts(snapshot.chunks_without_tokens(_BATCH, last))
        ):
            _, tokens = chunk_tokens(part.head_and_text() for part in parts.values())
            writer.keep_tokens(dict(zip(parts, tokens, strict=True)))
        writer.drop_damaged_definitions()
        for memories in self._batches(
            lambda snapshot, last: snapshot.memories(snapshot.without_definitions(_BATCH, last))
        ):
            found = {key: definitions(one.kind, one.lang, one.text) for key, one in memories.items()}
            writer.keep_definitions({key: one for key, one in found.items() if one is not None})
        writer.rebuild()
        embedder, _ = self._model.for_searching()
        if embedder is not None:
            self._embed(embedder, progress=False)

    def _embed(self, embedder: Embedder, progress: Progress) -> int:
        storage, written, last = self._storage, 0, 0
        model = storage.writer.register_model(embedder)
        storage.writer.drop_damaged_vectors(embedder)
        with storage.snapshot() as snapshot:
            left = snapshot.count_without_vectors(model)
        with counted(left, progress, "Embedding", "chunk") as advance:
            while True:
                with storage.snapshot() as snapshot:
                    stored = snapshot.model(embedder.fingerprint)
                    chunks = [] if stored is None else snapshot.chunks_without_vectors(stored, _EMBEDDED, last)
                    parts = snapshot.embedded_parts(chunks)
                if len(parts) < len(chunks):
                    raise StoreDamaged(
                        f"{storage.path} has chunks without a text. Restore a backup with `jupyter-memory restore`."
                    )
                if parts:
                    texts = {chunk: embedding_text(*part) for chunk, part in parts.items()}
                    vectors = base.documents(embedder, list(texts.values()))
                    done = storage.writer.add_vectors(embedder, dict(zip(texts, vectors, strict=True)))
                    written, last = written + done, max(texts)
                    advance(done)
                elif storage.writer.activate_model(embedder):
                    return written
                else:
                    last = 0  # a chunk was added, or our vectors dropped, at this very moment

    def _batches(self, read: Callable[[Snapshot, int], Mapping[int, Row]]) -> Iterator[Mapping[int, Row]]:
        last = 0
        while True:
            with self._storage.snapshot() as snapshot:
                rows = read(snapshot, last)
            if not rows:
                return
            yield rows
            last = max(rows)

    def backup(self, path: str | Path) -> Path:
        """Copy the store as it is at this moment into a new file, and return its path."""
        target = absolute(path)
        self._storage.backup(target)
        return target

    @staticmethod
    def restore(path: str | Path, to: str | Path | DatabaseAddress | None = None, overwrite: bool = False) -> Path:
        """Make a store out of a backup at ``to`` (your default store if left out), and return its path.

        Raises:
            StoreOpen: the store at ``to`` is open, here or in another program.
            InputError: no backup is at ``path``, a store is at ``to`` without ``overwrite``, or ``to`` is a server.
        """
        target = store_at(to if to is not None else store_path(load_config()))
        if isinstance(target, DatabaseAddress):
            raise InputError(
                f"A backup can be restored to a file, and {target} is a server. To fill that with it: "
                f"`jupyter-memory copy {path} {target}`."
            )
        databases.restore(Path(path), target, overwrite=overwrite)
        return target


_PATIENCE = 0.2  # seconds that a note on the side, after an answer is ready, waits for another writer


class Activity(Part):
    """The recent searches of one store, the feedback on their hits, and how often its memories are used."""

    @property
    def is_kept(self) -> bool:
        """Return whether searches are noted: the setting ``log_searches`` is on, and the store may be written."""
        return self._settings.log_searches and not self._storage.read_only

    def note_search(self, answer: Answer, origin: str) -> None:
        """Note a recent search, unless the store is busy, full or read-only, or keeps no searches."""
        if origin not in ORIGINS:
            raise InputError(f"There is no origin {origin!r}. Known: {', '.join(ORIGINS)}.")
        if answer.query.written or not self._settings.log_searches:
            at, hits = datetime.now(UTC), [hit.address for hit in answer.hits]
            self.note_call(Recent(answer.query_id, answer.query.written, answer.profile, at, origin, len(hits)), hits)

    def note_call(self, call: Recent, memory_ids: Sequence[str]) -> bool:
        """Note what a connected program called, with the memories that it was shown; return False to try again."""
        if self._storage.read_only:
            return True
        try:
            if self._settings.log_searches:
                hidden = replace(call, query=self._hidden(call.query))
                self._storage.writer.note_search(hidden, memory_ids, _PATIENCE)
            else:
                with self._storage.snapshot() as snapshot:
                    noted = snapshot.recent_searches(1) or snapshot.feedback()
                if noted:
                    self.forget_recent()
        except StoreError:
            return False
        return True

    def note_access(self, memory_id: str) -> bool:
        """Count that a person opened, read in full, inserted or copied a memory; return whether it was counted."""
        if not self.is_kept:
            return False
        try:
            return self._storage.writer.note_access(memory_id, _PATIENCE)
        except StoreError:
            return False

    def recent(self, limit: int = 50) -> list[Recent]:
        """Return the last searches, and calls of connected programs, newest first; 200 of each are kept."""
        with self._storage.snapshot() as snapshot:
            return snapshot.recent_searches(limit)

    def last_search(self, origin: str) -> tuple[Recent, tuple[str, ...]] | None:
        """Return the last search of a person from one place, with the ids of its hits; None where none is kept."""
        with self._storage.snapshot() as snapshot:
            return snapshot.last_search(origin)

    def forget_recent(self) -> int:
        """Forget the recent searches, with feedback and counts of use, for good; return the number of searches."""
        # Searches and feedback went with what can still be taken back, too.
        self._storage.forgotten.drop(None)
        self._storage.removals += 1  # those that were never noted, too
        return self._storage.writer.forget_searches()

    def forget_found(self, addresses: Sequence[str]) -> int:
        """Forget the recent searches that found these memories of other stores, ``team:ID``; return how many."""
        return 0 if self._storage.read_only else self._storage.writer.drop_searches(addresses)

    def feedback(
        self,
        memory_id: str,
        accepted: bool | None,
        *,
        query: str | Query | None = None,
        query_id: str | None = None,
        rank: int | None = None,
        profile: str | None = None,
    ) -> bool:
        """Note whether a hit was what you looked for, in place of earlier feedback on it for the same question.

        None takes it back, without a question whatever was asked. ``query`` is a text, or an answer's ``query``; for a
        search that was noted, ``query_id`` is enough.
        Returns False where no searches are kept, or nothing was there. Raises ``UnknownMemory`` if no memory has this
        id.
        """
        if accepted not in (None, True, False):
            raise InputError("accepted is True, False, or None to take back what was noted.")
        if accepted is None:
            given = self.said(memory_id, query, query_id)
            for one in given:
                self._storage.writer.judge(one, taken_back=True)
            return bool(given)
        asked, now = self._asked(memory_id, query, query_id), datetime.now(UTC)
        if not self._settings.log_searches:
            return False
        said = Feedback(memory_id, bool(accepted), asked, query_id or "", profile or "", rank, now)
        self._storage.writer.judge(said)
        return True

    def said(self, memory_id: str, query: str | Query | None, query_id: str | None) -> list[Feedback]:
        """Return the feedback on a hit for one question, or without a question for all."""
        asked, every = self._asked(memory_id, query, query_id), not (query or query_id)
        return [one for one in self.feedbacks() if one.memory_id == memory_id and (every or one.query == asked)]

    def _asked(self, memory_id: str, query: str | Query | None, query_id: str | None) -> str:
        if isinstance(query, Query):
            query = query.written or query.text
        if not isinstance(query, str | None):
            raise InputError(f"query is a text, or the query of an answer, not {type(query).__name__}.")
        with self._storage.snapshot() as snapshot:
            snapshot.key_of(memory_id)
            return self._hidden(query) if query else snapshot.query_of(query_id or "")

    def feedbacks(self) -> list[Feedback]:
        """Return the feedback on hits, the newest first."""
        with self._storage.snapshot() as snapshot:
            return snapshot.feedback()

    def _hidden(self, text: str) -> str:
        if not self._settings.redact:
            return text
        from jupyter_memory.ingest.redaction.redactor import redact

        return redact(text)[0]
