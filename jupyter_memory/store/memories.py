"""What goes into a store, is changed there, and leaves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import InputError
from jupyter_memory.ingest import preparation as records
from jupyter_memory.ingest.preparation import prepare
from jupyter_memory.progress import batches, shown
from jupyter_memory.protocols import Embedder
from jupyter_memory.search.query.filters import filters_from
from jupyter_memory.storage import folders, moving, rows
from jupyter_memory.storage.library import Library
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.store.asking import Asking, Moment
from jupyter_memory.store.model import StoreModel
from jupyter_memory.store.revising import revise
from jupyter_memory.text.paths import called_before, normal
from jupyter_memory.types import Draft, Filters, IndexReport, Memory, as_tuple

# So many memories at once are worth finding out how far meaning can be trusted among them.
_MANY = 50


class Remembering:
    """The part of a ``MemoryStore`` that writes memories."""

    space: str
    _settings: JupyterMemory
    _database: Database
    _model: StoreModel
    _library: Library
    _asking: Asking

    def add(
        self,
        text: str,
        *,
        title: str | None = None,
        tags: str | Sequence[str] = (),
        tier: str = "note",
        kind: str = "note",
        source: str | None = None,
        event_at: Moment = None,
        severity: str | None = None,
        domain: str | None = None,
        valid_from: Moment = None,
        valid_until: Moment = None,
        session: str | None = None,
        space: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Remember a text.

        Content that is known already (same title, text, kind, source and space) is not stored twice: the stored memory
        comes back, with the new tags and metadata merged into it. Secrets such as passwords and tokens are replaced by
        a mark before anything is written.

        Parameters
        ----------
        tier : {"note", "mcp", "file", "core"}
            Where it comes from; ``"core"`` stores a note and pins it.
        event_at : str, date or datetime, optional
            When it happened, now if left out. Naive times are local.
        severity : {"critical", "warning", "suggestion"}, optional
        valid_from, valid_until : str, date or datetime, optional
            From when and until when it holds.
        metadata : mapping, optional
            JSON values of your own.

        Returns
        -------
        Memory

        Raises
        ------
        InputError
            The text is empty, or a value is not one of those known.
        """
        record = {name: value for name, value in locals().items() if name not in ("self", "text")}
        return self.add_many([{"text": text, **record}], progress=False)[0]

    def add_many(self, records: Iterable[Mapping[str, Any]], progress: bool = True) -> list[Memory]:
        """Remember many texts: dicts with the keys that ``add`` takes, and ``lang``, the language of a piece of code.

        They are written in batches; should one record be wrong, nothing of its batch is stored.
        """
        self._model.for_writing()  # a model that does not fit is said before anything is read
        added: list[Memory] = []
        for batch in batches(shown(records, progress, "Remembering"), 512):
            drafts = [self._draft(record) for record in batch]
            merged = self._library.merge(drafts)
            fresh = [draft for draft, memory in zip(drafts, merged, strict=True) if memory is None]
            written = iter(self._model.writing(partial(self._remember, fresh)) if fresh else ())
            added += [memory if memory is not None else next(written) for memory in merged]
        if len(added) >= _MANY:
            self._model.measure_trust()
        return added

    def index(self, path: str | Path, *, progress: bool | Callable[[int, int | None], None] = True) -> IndexReport:
        """Index a file or a folder: notebooks by cell, Markdown, text, reStructuredText and Python files.

        Unchanged files are skipped, changed ones replaced, deleted ones forgotten; what ``.gitignore`` and the
        settings name is left out. A file that was moved, also from another folder, keeps its ids, tags and pins. It
        can be interrupted at any time, and goes on from there the next time.

        Parameters
        ----------
        progress : bool or callable, default True
            Whether to show a bar; or what is told how many files are done and how many there are (None while they are
            still looked for). What it raises ends the indexing, and what was written until then stays.

        Returns
        -------
        IndexReport
            Counts, and each file that was skipped or failed with the reason.

        Raises
        ------
        InputError
            There is nothing at ``path``, or it is a file of an unknown kind.
        """
        # Imported late: who only searches need not wait for what reads files.
        from jupyter_memory.ingest.catalog import FileCatalog
        from jupyter_memory.ingest.indexer import index

        self._model.for_writing()  # a model that does not fit is said before anything is read
        filing, where = FileCatalog(self._library, self._model, self.space), normal(path)
        with self._database.read() as connection:
            known = folders.noted(connection, self.space)
        where = called_before(where, known)  # looks at disks, which may take long
        with self._database.read() as connection:
            above = folders.above(connection, str(where), self.space)
        try:
            report = index(
                where,
                filing,
                # A file of an indexed folder is called the same, whichever of the two is indexed.
                named_from=None if above is None else Path(above),
                ignore=self._settings.ignore,
                max_bytes=int(self._settings.max_file_mb * 1_000_000),
                redacting=self._settings.redact,
                progress=(lambda paths: shown(paths, True, "Indexing")) if progress is True else None,
                tell=progress if callable(progress) else None,
            )
            self._model.measure_trust()
            if report.moved:
                with self._database.write() as connection:
                    moving.drop_vacated(connection, self.space)
            return report
        finally:
            filing.close()
            self._note_folder(str(where))
            self._library.tidy()

    def get(self, memory_id: str) -> Memory:
        """Return a memory by its id; raises ``UnknownMemory`` when there is none."""
        with self._database.read() as connection:
            key = rows.known_key(connection, memory_id)
            return rows.load(connection, [key])[key]

    def update(self, memory_id: str, **changes: Any) -> Memory:
        """Change a memory and return it: any of the keywords of ``add`` but ``kind`` and ``source``.

        Tags and metadata are replaced, not merged. None takes a value away, but for text, tier and event_at, which
        every memory has: there it changes nothing. A pin stays until ``unpin``, whatever the tier.

        Raises
        ------
        InputError
            Another memory says the same already, or a value cannot be stored.
        UnknownMemory
            No memory has this id.
        """
        return revise(self._library, self._model, self.get(memory_id), changes, self._draft)

    def pin(self, memory_id: str) -> Memory:
        """Mark a memory as permanently important: while it is pinned, its tier is core."""
        return self._library.update(memory_id, None, {"pinned": 1}, None)

    def unpin(self, memory_id: str) -> Memory:
        """Take the pin off a memory; it has the tier again that it was stored with."""
        return self._library.update(memory_id, None, {"pinned": 0}, None)

    def forget(
        self,
        ids: str | Sequence[str] | None = None,
        *,
        source: str | None = None,
        filters: Filters | Mapping[str, Any] | None = None,
        everything: bool = False,
    ) -> int:
        """Remove memories for good, from every table, index and log of the file; return how many went.

        Parameters
        ----------
        ids : str or sequence of str, optional
        source : str, optional
            A file, or a folder with all below it.
        filters : Filters or mapping, optional
            As in ``search``. With ``source``, both must fit.
        everything : bool, default False
            All memories of the store (of its space, if it has one).

        Raises
        ------
        InputError
            Nothing says what to forget.
        UnknownMemory
            One of the ids is not there; nothing is forgotten then.
        """
        # Filters without a value leave nothing out, and an empty source is above every file.
        chosen = filters_from(filters, None, None, datetime.now(UTC))
        if ids is None and not source and not chosen and not everything:
            raise InputError("forget() needs to know what: ids, source=, filters=, or everything=True.")
        if ids is not None and (source is not None or filters or everything):
            raise InputError("forget() takes ids, or a choice by source and filters, not both.")
        if ids is not None:
            return self._library.forget(as_tuple(ids) if isinstance(ids, Iterable) else (str(ids),))
        chosen = self._asking.filters(chosen, None, None, datetime.now(UTC))
        if source:
            if chosen.path:
                raise InputError("forget() takes one path: source= or a path among the filters, not both.")
            chosen = replace(chosen, path=self._sources(source))
        return self._library.forget(chosen, everything=everything)

    def _sources(self, source: str) -> tuple[str, ...]:
        """Return a source as it is written, which may be a note's, and as a path of the store's folder."""
        now = datetime.now(UTC)
        written = filters_from({"path": source}, None, None, now)
        return tuple(dict.fromkeys((*written.path, *self._asking.filters(written, None, None, now).path)))

    def _note_folder(self, path: str) -> None:
        """Note a folder that was indexed, if only in part; not one from which nothing came."""
        if self._library.files_under(path, self.space):
            with self._database.write() as connection:
                folders.note(connection, path, self.space, datetime.now(UTC))

    def _remember(self, drafts: Sequence[Draft], embedder: Embedder | None) -> list[Memory]:
        return self._library.add(prepare(drafts, embedder), embedder)

    def _draft(self, record: Mapping[str, Any]) -> Draft:
        if not isinstance(record, Mapping):
            raise InputError(
                f"A record is a dict such as {{'text': 'prices are net of tax'}}, not {type(record).__name__}. "
                "Those of a DataFrame are df.to_dict('records')."
            )
        return records.draft_from(record, space=self.space, redacting=self._settings.redact)
