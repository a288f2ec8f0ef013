"""Everything that changes a store, each change whole: memory, chunks, keyword rows and vectors in one transaction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import apsw
import numpy as np

from jupyter_memory.protocols import Embedder, FileState, Vectors
from jupyter_memory.storage import keyword, rows
from jupyter_memory.storage.filters import below, to_micros
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import Model, VectorIndex
from jupyter_memory.types import Draft, Filters, Memory

_INDEXED = "('file', 'cell')"  # the kinds of memory that come from files


@dataclass(frozen=True, slots=True)
class Prepared:
    """A draft ready to be written: chunked, with a vector a chunk, or None where there is no model."""

    draft: Draft
    vectors: Vectors | None


class Library:
    """The write side of a store."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self.database = database
        self.vectors = vectors
        self._removed = False

    def add(self, prepared: Sequence[Prepared], embedder: Embedder | None) -> list[Memory]:
        """Store memories; known content gets the new tags and metadata instead of a second copy."""
        now = datetime.now(UTC)
        with self.database.write() as connection:
            model = self._model(connection, embedder)
            fresh: list[tuple[list[int], Vectors | None]] = []
            keys = [self._add(connection, one, now, fresh) for one in prepared]
            self._add_vectors(connection, model, fresh)
            loaded = rows.load(connection, list(dict.fromkeys(keys)))
        return [loaded[key] for key in keys]

    def merge(self, drafts: Sequence[Draft]) -> list[Memory | None]:
        """Give known memories the tags, metadata and pin of these drafts; None for each draft that is not known."""
        with self.database.write() as connection:
            keys = [rows.find_known(connection, draft) for draft in drafts]
            for key, draft in zip(keys, drafts, strict=True):
                if key is not None:
                    self._merge(connection, key, draft)
            loaded = rows.load(connection, [key for key in keys if key is not None])
        return [None if key is None else loaded[key] for key in keys]

    def replace_files(self, files: Sequence[tuple[FileState, Sequence[Prepared]]], embedder: Embedder | None) -> None:
        """Store files in place of what they were: a cell that is still there keeps its id, pin and tags."""
        now = datetime.now(UTC)
        with self.database.write() as connection:
            model = self._model(connection, embedder)
            for state, prepared in files:
                self._replace_file(connection, state, prepared, model, now)

    def touch_file(self, state: FileState) -> None:
        """Note that a file has a new modification time but the content it had."""
        with self.database.write() as connection:
            self._note_file(connection, state, datetime.now(UTC))

    def files_under(self, root: str) -> dict[str, FileState]:
        """Return the indexed files at or below a path, by path."""
        at, low, high = below(root)
        with self.database.read() as connection:
            found = connection.execute(
                "select path, mtime_ns, size, content_hash from files where path = ? or (path >= ? and path < ?)",
                (at, low, high),
            )
            return {row[0]: FileState(*row) for row in found}

    def forget_files(self, paths: Sequence[str]) -> int:
        """Remove files and their memories; return how many memories went."""
        with self.database.write() as connection:
            keys = [key for path in paths for key in self._keys_of_file(connection, path)]
            self._delete(connection, keys)
            connection.executemany("delete from files where path = ?", ((path,) for path in paths))
        self.tidy()
        return len(keys)

    def forget(self, chosen: Sequence[str] | Filters) -> int:
        """Remove memories by id or by filter, and the record of files none of whose memories remain; then tidy.

        Raises:
            UnknownMemory: one of the ids is not there; nothing is removed then.
        """
        with self.database.write() as connection:
            if isinstance(chosen, Filters):
                keys = rows.keys_where(connection, chosen)
            else:
                keys = [rows.known_key(connection, memory_id) for memory_id in dict.fromkeys(chosen)]
            count = self._delete(connection, keys)
            connection.execute(
                f"""
                delete from files where not exists (
                    select 1 from memories where memories.source = files.path and memories.kind in {_INDEXED}
                )
                """
            )
        self.tidy()
        return count

    def tidy(self) -> None:
        """Rid the file of all traces of what was removed or replaced since the last time."""
        if self._removed:
            self.database.scrub(keyword.clear_traces)
            self._removed = False

    def rebuild(self) -> None:
        """Build the keyword index anew, and rid the file of all traces of what was removed."""
        with self.database.write() as connection:
            keyword.rebuild(connection)
        self.database.scrub(keyword.clear_traces)

    def update(
        self,
        memory_id: str,
        prepared: Prepared | None,
        values: Mapping[str, Any],
        embedder: Embedder | None,
        tags: Sequence[str] | None = None,
    ) -> Memory:
        """Change a memory: ``prepared`` where its words change, else ``tags``; ``values`` for its other columns.

        Raises:
            UnknownMemory: no memory has this id.
        """
        with self.database.write() as connection:
            key = rows.known_key(connection, memory_id)
            if prepared is not None:
                model = self._model(connection, embedder)
                self.vectors.remove(connection, rows.delete_chunks(connection, key))
                draft = prepared.draft
                hash_ = rows.content_hash(draft)
                rows.update_columns(connection, key, {"title": draft.title, "content_hash": hash_})
                connection.execute("update texts set text = ? where memory = ?", (draft.text, key))
                rows.set_tags(connection, key, draft.tags)
                chunks = rows.insert_chunks(connection, key, draft)
                self._add_vectors(connection, model, [(chunks, prepared.vectors)])
            elif tags is not None:
                rows.retag(connection, key, tags)
            rows.update_columns(connection, key, values)
            memory = rows.load(connection, [key])[key]
            self._removed |= prepared is not None or tags is not None or not set(values) <= {"pinned"}
        self.tidy()
        return memory

    def _add(
        self,
        connection: apsw.Connection,
        prepared: Prepared,
        now: datetime,
        fresh: list[tuple[list[int], Vectors | None]],
    ) -> int:
        known = rows.find_known(connection, prepared.draft)
        if known is not None:
            self._merge(connection, known, prepared.draft)
            return known
        key, chunks = rows.insert(connection, prepared.draft, now)
        fresh.append((chunks, prepared.vectors))
        return key

    def _merge(self, connection: apsw.Connection, key: int, draft: Draft) -> None:
        memory = rows.load(connection, [key])[key]
        metadata = {**memory.metadata, **draft.metadata}
        values = {
            "metadata": json.dumps(metadata, ensure_ascii=False),
            "pinned": int(memory.pinned or draft.pinned),
        }
        rows.update_columns(connection, key, values)
        tags = tuple(dict.fromkeys((*memory.tags, *draft.tags)))
        if set(tags) != set(memory.tags):
            rows.retag(connection, key, tags)

    def _replace_file(
        self,
        connection: apsw.Connection,
        state: FileState,
        prepared: Sequence[Prepared],
        model: Model | None,
        now: datetime,
    ) -> None:
        keys = self._keys_of_file(connection, state.path)
        carry = _Carry(rows.load(connection, keys).values())
        self._delete(connection, keys)
        # Exact predecessors first, so that an edited cell does not take the place of one that stayed as it was.
        carried = carry.match([one.draft for one in prepared])
        fresh = [
            (rows.insert(connection, one.draft, now, predecessor)[1], one.vectors)
            for one, predecessor in zip(prepared, carried, strict=True)
        ]
        self._add_vectors(connection, model, fresh)
        self._note_file(connection, state, now)

    def _add_vectors(
        self,
        connection: apsw.Connection,
        model: Model | None,
        fresh: Sequence[tuple[Sequence[int], Vectors | None]],
    ) -> None:
        """Write the vectors of new chunks, all at once: one by one, making their codes takes longer than writing."""
        embedded = [(chunks, vectors) for chunks, vectors in fresh if vectors is not None and len(chunks)]
        if model is not None and embedded:
            ids = [chunk for chunks, _ in embedded for chunk in chunks]
            self.vectors.add(connection, model, ids, np.concatenate([vectors for _, vectors in embedded]))

    def _model(self, connection: apsw.Connection, embedder: Embedder | None) -> Model | None:
        return None if embedder is None else self.vectors.for_writing(connection, embedder)

    def _delete(self, connection: apsw.Connection, keys: Iterable[int]) -> int:
        chunks: list[int] = []
        count = 0
        for key in keys:
            chunks += rows.delete(connection, key)
            count += 1
            self._removed = True
        if chunks:
            self.vectors.remove(connection, chunks)
        return count

    def _keys_of_file(self, connection: apsw.Connection, path: str) -> list[int]:
        found = connection.execute(f"select key from memories where source = ? and kind in {_INDEXED}", (path,))
        return [row[0] for row in found]

    def _note_file(self, connection: apsw.Connection, state: FileState, now: datetime) -> None:
        connection.execute(
            "insert or replace into files (path, mtime_ns, size, content_hash, indexed_at) values (?, ?, ?, ?, ?)",
            (state.path, state.mtime_ns, state.size, state.content_hash, to_micros(now)),
        )


class _Carry:
    """Matches the memories of a file before a change with those after it."""

    def __init__(self, before: Iterable[Memory]) -> None:
        self._before = list(before)

    def match(self, drafts: Sequence[Draft]) -> list[rows.Carried | None]:
        """Return what each draft carries on: from itself, else the same cell, else the same content."""
        found: list[rows.Carried | None] = [None] * len(drafts)
        left = dict(enumerate(self._before))
        identities = (
            lambda kind, location, hash_: (kind, location, hash_),
            # "#7" is only a position: another cell may stand there now.
            lambda kind, location, hash_: None if location.startswith("#") else (kind, location),
            lambda kind, location, hash_: (kind, hash_),
        )
        for identity in identities:
            places: dict[Any, list[int]] = {}
            for index, memory in left.items():
                if (name := identity(memory.kind, memory.location, memory.content_hash)) is not None:
                    places.setdefault(name, []).append(index)
            for i, draft in enumerate(drafts):
                name = identity(draft.kind, draft.location, rows.content_hash(draft))
                if found[i] is None and name is not None and places.get(name):
                    memory = left.pop(places[name].pop(0))
                    found[i] = rows.Carried(memory.id, memory.pinned, memory.tags, memory.accessed)
        return found
