"""What a store notes of its use: the last searches, the feedback on their hits, and how often memories are used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import InputError, StoreError
from jupyter_memory.ingest.redaction.redactor import redact
from jupyter_memory.storage.writing import Storage
from jupyter_memory.types import Answer
from jupyter_memory.types.report import ORIGINS, Feedback, Recent

# What is noted on the side, after an answer is ready, waits no longer than this for another writer.
_PATIENCE = 0.2


class Activity:
    """The recent searches of one store, the feedback on their hits, and how often its memories are used."""

    def __init__(self, storage: Storage, settings: JupyterMemory) -> None:
        self._storage = storage
        self._settings = settings

    @property
    def is_kept(self) -> bool:
        """Return whether searches are noted: the setting ``log_searches`` is on, and the store may be written."""
        return self._settings.log_searches and not self._storage.read_only

    def note_search(self, answer: Answer, origin: str) -> None:
        """Note a search among the recent ones; with the setting ``log_searches`` off nothing is kept.

        ``origin`` is ``"magic"``, ``"panel"``, ``"command line"``, ``"python"`` or ``"mcp"``. A busy, full or read-only
        store leaves the search out.
        """
        if origin not in ORIGINS:
            raise InputError(f"There is no origin {origin!r}. Known: {', '.join(ORIGINS)}.")
        if answer.query.written or not self._settings.log_searches:
            at, hits = datetime.now(UTC), [hit.memory.id for hit in answer.hits]
            self._note(Recent(answer.query_id, answer.query.written, answer.profile, at, origin, len(hits)), hits)

    def note_call(self, call: Recent, memory_ids: Sequence[str]) -> bool:
        """Note what a connected program called, with the memories that it was shown; return whether that is done.

        It is not in a store that is busy or full: then the caller may try again. With the setting ``log_searches`` off,
        and in a read-only store, there is nothing to do.
        """
        return self._note(call, memory_ids)

    def _note(self, search: Recent, memory_ids: Sequence[str]) -> bool:
        if self._storage.read_only:
            return True
        try:
            if self._settings.log_searches:
                hidden = replace(search, query=self._hidden(search.query))
                self._storage.writer.note_search(hidden, memory_ids, _PATIENCE)
            else:
                self._leave_no_searches()
        except StoreError:
            return False
        return True

    def note_access(self, memory_id: str) -> bool:
        """Count that a person opened, read in full, inserted or copied a memory; return whether it was counted.

        `memini` and `memini-rrf` rank a memory higher that was often used. Nothing is counted in a busy, full or
        read-only store, for an unknown id, nor with the setting ``log_searches`` off. Nothing is raised either: what a
        person does must not fail for being counted.
        """
        if not self.is_kept:
            return False
        try:
            return self._storage.writer.note_access(memory_id, _PATIENCE)
        except StoreError:
            return False

    def recent(self, limit: int = 50) -> list[Recent]:
        """Return the last searches by magic, panel and command line, and the calls of connected programs, newest first.

        200 of each are kept.
        """
        with self._storage.snapshot() as snapshot:
            return snapshot.recent_searches(limit)

    def last_search(self, origin: str) -> tuple[Recent, tuple[str, ...]] | None:
        """Return the last search of a person from one place, with the ids of its hits; None where none is kept."""
        with self._storage.snapshot() as snapshot:
            return snapshot.last_search(origin)

    def forget_recent(self) -> int:
        """Forget the recent searches, the feedback on their hits and how often memories were used, for good.

        Returns how many searches went.
        """
        # Searches and feedback went with what can still be taken back, too.
        self._storage.forgotten.drop(None)
        return self._storage.writer.forget_searches()

    def feedback(
        self,
        memory_id: str,
        accepted: bool,
        *,
        query: str | None = None,
        query_id: str | None = None,
        rank: int | None = None,
        profile: str | None = None,
    ) -> bool:
        """Note whether a hit was what you looked for; this replaces earlier feedback on it for the same question.

        From 30 judgements on, the profile `vault` gives words more or less weight by the share of accepted hits. For a
        search that was noted, ``query_id`` is enough. Feedback is forgotten with its memory, and with the recent
        searches. With the setting ``log_searches`` off nothing is kept, and the method returns False.

        Raises
        ------
        UnknownMemory
            No memory has this id.
        """
        now = datetime.now(UTC)
        with self._storage.snapshot() as snapshot:
            snapshot.key_of(memory_id)
            asked = self._hidden(query) if query else snapshot.query_of(query_id or "")
        if not self._settings.log_searches:
            return False
        self._storage.writer.judge(Feedback(memory_id, accepted, asked, query_id or "", profile or "", rank, now))
        return True

    def feedbacks(self) -> list[Feedback]:
        """Return the feedback on hits, the newest first."""
        with self._storage.snapshot() as snapshot:
            return snapshot.feedback()

    def _leave_no_searches(self) -> None:
        # Not every count of use is looked for here: this happens at each search.
        with self._storage.snapshot() as snapshot:
            noted = snapshot.recent_searches(1) or snapshot.feedback()
        if noted:
            self.forget_recent()

    def _hidden(self, text: str) -> str:
        return redact(text)[0] if self._settings.redact else text
