"""Everything that changes a store, each change whole: memory, chunks, keyword rows and vectors in one transaction."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import apsw
import numpy as np

from jupyter_memory.protocols import Embedder, FileState
from jupyter_memory.storage import filed, folders, keyword_upkeep, moving, query_cache, rows, searches, token_ids
from jupyter_memory.storage.base import Model, Prepared
from jupyter_memory.storage.carrying import between, successors
from jupyter_memory.storage.filters import below, to_micros
from jupyter_memory.storage.rows import Carried
from jupyter_memory.storage.sqlite import Database
from jupyter_memory.storage.vectors import VectorIndex
from jupyter_memory.types import Draft, Filters, Memory

_SMALL = 50_000_000  # bytes that are written anew in less than a second
_REBUILD_AT = 200  # one chunk removed in so many: the keyword index is built anew


# A memory that was written, by its key, and what is to be written of it yet.
_Fresh = tuple[int, Draft, Prepared]


class Library:
    """The write side of a store."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self.database = database
        self.vectors = vectors
        self._removed = False  # by a person's word, or with a file: no trace may stay
        self._replaced = False  # by a newer text of the same file
        self._outdated = False

    def add(self, prepared: Sequence[Prepared], embedder: Embedder | None) -> list[Memory]:
        """Store memories; known content gets the new tags and metadata instead of a second copy."""
        return self.memories(self.write(prepared, embedder))

    def write(self, prepared: Sequence[Prepared], embedder: Embedder | None) -> list[int]:
        """Store memories as ``add`` does, and return their keys."""
        now = datetime.now(UTC)
        identities = [rows.identity(one.draft) for one in prepared]
        with self._writing() as connection:
            model = self._model(connection, embedder)
            known = rows.find_known(connection, identities)
            # The first of several that are alike is written, the others are merged into it.
            first = dict(zip(reversed(identities), reversed(prepared), strict=True))
            new = dict.fromkeys(name for name, key in zip(identities, known, strict=True) if key is None)
            drafts = [(name, first[name].draft) for name in new]
            keys = dict(zip(new, rows.insert(connection, drafts, now), strict=True))
            fresh = [(key, first[name].draft, first[name]) for name, key in keys.items()]
            self._add_chunks(connection, model, fresh)
            found = [keys[name] if key is None else key for name, key in zip(identities, known, strict=True)]
            for name, one, key in zip(identities, prepared, found, strict=True):
                if name not in keys or first[name] is not one:
                    self._merge(connection, key, one.draft)
        return found

    def memories(self, keys: Sequence[int]) -> list[Memory]:
        """Return memories by their keys, all of which must be there."""
        with self.database.read() as connection:
            loaded = rows.load(connection, list(dict.fromkeys(keys)))
        return [loaded[key] for key in keys]

    def merge(self, drafts: Sequence[Draft]) -> list[Memory | None]:
        """Give known memories the tags, metadata and pin of these drafts; None for each draft that is not known."""
        identities = [rows.identity(draft) for draft in drafts]
        with self.database.read() as connection:
            if not any(rows.find_known(connection, identities)):
                return [None] * len(drafts)
        with self._writing() as connection:
            keys = rows.find_known(connection, identities)
            for key, draft in zip(keys, drafts, strict=True):
                if key is not None:
                    self._merge(connection, key, draft)
            loaded = rows.load(connection, [key for key in keys if key is not None])
        return [None if key is None else loaded[key] for key in keys]

    def replace_files(
        self, files: Sequence[tuple[FileState, Sequence[Prepared]]], embedder: Embedder | None, space: str
    ) -> None:
        """Store files in place of what they were: a cell that is still there keeps its id, pin and tags."""
        now = datetime.now(UTC)
        with self._writing() as connection:
            model = self._model(connection, embedder)
            carried = self._carried(connection, files, space)
            written = [
                (one, before)
                for (_, of_it), of_file in zip(files, carried, strict=True)
                for one, before in zip(of_it, of_file, strict=True)
            ]
            drafts = [one.draft if before is None else rows.carrying_on(one.draft, before) for one, before in written]
            keys = rows.insert(
                connection, [(rows.identity(draft), draft) for draft in drafts], now, [before for _, before in written]
            )
            fresh = [(key, draft, one) for key, draft, (one, _) in zip(keys, drafts, written, strict=True)]
            self._note_files(connection, [state for state, _ in files], now, space)
            self._add_chunks(connection, model, fresh)

    def touch_file(self, state: FileState, space: str) -> None:
        """Note that a file has a new modification time but the content it had."""
        with self._writing() as connection:
            self._note_files(connection, [state], datetime.now(UTC), space)

    def files_under(self, root: str, space: str) -> dict[str, FileState]:
        """Return the files at or below a path that are indexed in a space, by path."""
        at, low, high = below(root)
        with self.database.read() as connection:
            found = connection.execute(
                """
                select path, mtime_ns, size, content_hash, indexed_at from files
                where space = ? and (path = ? or (path >= ? and path < ?))
                """,
                (space, at, low, high),
            )
            return {row[0]: FileState(*row) for row in found}

    def held(self, paths: Sequence[str], space: str) -> dict[str, list[tuple[str, str]]]:
        """Return the location and the text of each memory that these files hold in a space, by path."""
        with self.database.read() as connection:
            return filed.texts(connection, paths, space)

    def forget_files(self, paths: Sequence[str], space: str) -> int:
        """Remove files and their memories from a space; return how many memories went."""
        with self._writing() as connection:
            keys = self._keys_of_files(connection, paths, space)
            searches.forget_about(connection, keys)
            self._delete(connection, keys)
            connection.executemany("delete from files where path = ? and space = ?", ((path, space) for path in paths))
            self._removed = True
        self.tidy()
        return len(keys)

    def rename(self, old: str, new: str) -> int:
        """Give all memories of the file or folder ``old`` the path ``new``; return how many."""
        with self._writing() as connection:
            replaced = moving.in_the_way(connection, old, new)
            self._delete(connection, replaced)
            moved = moving.move(connection, old, new)
            self._removed |= bool(replaced)
        self.tidy()
        return moved

    def forget(self, chosen: Sequence[str] | Filters, *, everything: bool = False) -> int:
        """Remove memories by id or by filter, and the record of files none of whose memories remain; then tidy.

        The searches that showed them go as well, all of them with ``everything``, and folders that hold nothing more.

        Raises:
            UnknownMemory: one of the ids is not there; nothing is removed then.
        """
        with self._writing() as connection:
            if isinstance(chosen, Filters):
                keys = rows.keys_where(connection, chosen)
            else:
                keys = [rows.known_key(connection, memory_id) for memory_id in dict.fromkeys(chosen)]
            held, files = folders.holding(connection), filed.holding(connection)
            told = searches.forget_about(connection, keys)
            if everything:
                told |= not searches.is_empty(connection)
                searches.clear(connection)
            self._delete(connection, keys)
            # A question about what is forgotten says something of it, too.
            asked = query_cache.clear(connection)
            changes = connection.total_changes()
            if everything:
                filed.drop_all_empty(connection)
            filed.drop_emptied(connection, files, chosen.path if isinstance(chosen, Filters) else ())
            folders.drop_emptied(connection, held)
            self._removed = bool(keys or asked or told or connection.total_changes() != changes)
        self.tidy()
        return len(keys)

    def tidy(self) -> None:
        """Rid the file of all traces of what was removed since the last time.

        That means writing the file anew, which takes as long as the store is large. What was edited in a file waits,
        in a large store, for the next time that something is forgotten or rewritten.
        """
        needed = self._removed or (self._replaced and self.database.path.stat().st_size < _SMALL)
        if needed:
            self._removed = self._replaced = False
            self.database.scrub(keyword_upkeep.clear_traces)

    def rebuild(self) -> None:
        """Build the keyword index anew, and rid the file of all traces of what was removed."""
        with self.database.write() as connection:
            keyword_upkeep.rebuild(connection)
        self.database.scrub(keyword_upkeep.clear_traces)

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
        with self._writing() as connection:
            key = rows.known_key(connection, memory_id)
            if prepared is not None:
                model = self._model(connection, embedder)
                self._delete_chunks(connection, key)
                draft = prepared.draft
                hash_ = rows.content_hash(draft)
                rows.update_columns(connection, key, {"title": draft.title, "content_hash": hash_})
                connection.execute("update texts set text = ? where memory = ?", (draft.text, key))
                rows.set_tags(connection, key, draft.tags)
                self._add_chunks(connection, model, [(key, draft, prepared)])
            elif tags is not None:
                self._retag(connection, key, tags)
            rows.update_columns(connection, key, values)
            memory = rows.load(connection, [key])[key]
            self._removed |= prepared is not None or tags is not None or "metadata" in values
        self.tidy()
        return memory

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
            self._retag(connection, key, tags)

    def _carried(
        self, connection: apsw.Connection, files: Sequence[tuple[FileState, Sequence[Prepared]]], space: str
    ) -> list[list[Carried | None]]:
        """Remove what files held before; return what each of their new memories carries on of it."""
        keys = self._keys_of_files(connection, [state.path for state, _ in files], space)
        if not keys:
            return [[None] * len(prepared) for _, prepared in files]
        self._replaced = True
        before: dict[str, list[Memory]] = defaultdict(list)
        for memory in rows.load(connection, keys).values():
            before[memory.source].append(memory)
        self._delete(connection, keys)
        after = {state.path: [one.draft for one in prepared] for state, prepared in files}
        now = between(before, after)
        return [successors(now[path], drafts) for path, drafts in after.items()]

    def _add_chunks(self, connection: apsw.Connection, model: Model | None, fresh: Sequence[_Fresh]) -> None:
        """Write chunks and vectors of new memories, all at once: one by one takes twice as long."""
        chunks = rows.insert_chunks(connection, [(key, draft, one.idents) for key, draft, one in fresh])
        if tokens := [ids for _, _, one in fresh for ids in one.tokens]:
            token_ids.keep(connection, dict(zip(chunks, tokens, strict=True)))
        embedded = [one.vectors for _, _, one in fresh if one.vectors is not None]
        if model is not None and embedded:
            self.vectors.add(connection, model, chunks, np.concatenate(embedded))

    def _model(self, connection: apsw.Connection, embedder: Embedder | None) -> Model | None:
        return None if embedder is None else self.vectors.for_writing(connection, embedder)

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        """Change the store in one transaction, the keyword index in step at its end."""
        with self.database.write() as connection:
            self._outdated = False
            yield connection
            if self._outdated:
                keyword_upkeep.rebuild(connection)

    def _delete(self, connection: apsw.Connection, keys: Sequence[int]) -> None:
        chunks = rows.chunks_of(connection, keys)
        self._take_out(connection, chunks)
        rows.delete(connection, keys)
        if chunks:
            self.vectors.remove(connection, chunks)

    def _delete_chunks(self, connection: apsw.Connection, key: int) -> None:
        chunks = rows.chunks_of(connection, [key])
        self._take_out(connection, chunks)
        rows.delete_chunks(connection, key)
        self.vectors.remove(connection, chunks)

    def _retag(self, connection: apsw.Connection, key: int, tags: Sequence[str]) -> None:
        """Give a stored memory other tags, in the keyword index too; its chunks and vectors stay."""
        chunks = rows.chunks_of(connection, [key])
        self._take_out(connection, chunks)
        rows.set_tags(connection, key, tags)
        if not self._outdated:
            keyword_upkeep.put_in(connection, chunks)

    def _take_out(self, connection: apsw.Connection, chunks: Sequence[int]) -> None:
        """Take chunks out of the keyword index, while the view that it reads still shows them.

        Without a trace, word by word, that takes FTS5 up to 10 ms a chunk, and building the index anew 0.04 ms: beyond
        some share of the store it is quicker to do that once, at the end of the transaction.
        """
        total = connection.execute("select count(*) from chunks").get
        if len(chunks) * _REBUILD_AT >= total:
            self._outdated = True
        if not self._outdated:
            connection.executemany("delete from keyword where rowid = ?", ((chunk,) for chunk in chunks))

    def _keys_of_files(self, connection: apsw.Connection, paths: Sequence[str], space: str) -> list[int]:
        found = connection.execute(
            f"""
            select memories.key from json_each(?) as path cross join memories
            where source = path.value and space = ? and kind in {filed.INDEXED}
            """,
            (json.dumps(list(paths)), space),
        )
        return [row[0] for row in found]

    def _note_files(self, connection: apsw.Connection, states: Sequence[FileState], now: datetime, space: str) -> None:
        connection.executemany(
            """
            insert or replace into files (path, space, mtime_ns, size, content_hash, indexed_at)
            values (?, ?, ?, ?, ?, ?)
            """,
            [(state.path, space, state.mtime_ns, state.size, state.content_hash, to_micros(now)) for state in states],
        )
