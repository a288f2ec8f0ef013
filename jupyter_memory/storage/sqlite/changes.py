"""Changes within a transaction, and the transactions that they run in."""

from __future__ import annotations

import json
import os
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from jupyter_memory.errors import StoreError, StoreFull
from jupyter_memory.storage.base import Model, Prepared
from jupyter_memory.storage.cell_matching import Predecessor, by_file, content_hash, predecessors, succeeding
from jupyter_memory.storage.shared import identity, to_micros, with_errors
from jupyter_memory.storage.sqlite import keyword_query, scrubbing
from jupyter_memory.storage.sqlite.copies import sweep
from jupyter_memory.storage.sqlite.database import Database, translate_errors
from jupyter_memory.storage.sqlite.sql import Session
from jupyter_memory.storage.sqlite.tables import activity, arrivals, memories, runs, thumbnails
from jupyter_memory.storage.sqlite.vectors import VectorIndex
from jupyter_memory.storage.tables import files
from jupyter_memory.storage.writing import Arriving
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.types import Draft, Filters, Memory
from jupyter_memory.types.protocols import Embedder, FileState

_REBUILD_AT = 200  # if at least one chunk in so many is removed, the keyword index is rebuilt
# A memory that was written, by its key, and what is still to be written of it.
_Fresh = tuple[int, Draft, Prepared]


class Changes:
    """Changes of memories within one transaction; ``finish`` updates the keyword index at its end."""

    def __init__(self, connection: Session, vectors: VectorIndex) -> None:
        self.connection = connection
        self._vectors = vectors
        self._index_outdated = False

    def model(self, embedder: Embedder | None) -> Model | None:
        """Return the model of an embedder, which is the active one."""
        return None if embedder is None else self._vectors.for_writing(self.connection, embedder)

    def add(self, prepared: Sequence[Prepared], model: Model | None, now: datetime) -> list[int]:
        """Write memories and return their keys; what is known already gets the new tags and metadata."""
        connection = self.connection
        identities = [identity(one.draft) for one in prepared]
        known = memories.find_known(connection, identities)
        # The first of several equal drafts is written; the others are merged into it.
        first = dict(zip(reversed(identities), reversed(prepared), strict=True))
        new = dict.fromkeys(name for name, key in zip(identities, known, strict=True) if key is None)
        keys = dict(
            zip(new, memories.insert(connection, [(name, first[name].draft) for name in new], now), strict=True)
        )
        thumbnails.insert(connection, [(key, first[name].draft) for name, key in keys.items()])
        self._add_chunks(model, [(key, first[name].draft, first[name]) for name, key in keys.items()])
        found = [keys[name] if key is None else key for name, key in zip(identities, known, strict=True)]
        for name, one, key in zip(identities, prepared, found, strict=True):
            if name not in keys or first[name] is not one:
                self.merge(key, one.draft)
        return found

    def put_in(self, arriving: Sequence[Arriving], model: Model | None) -> None:
        """Write memories of another store that are not there yet, with their ids, times, counts and runs."""
        connection = self.connection
        identified = [(identity(one.prepared.draft), one.prepared.draft) for one in arriving]
        before = [Predecessor(one.id, False, (), one.accessed) for one in arriving]
        keys = memories.insert(connection, identified, datetime.now(UTC), before)
        thumbnails.insert(connection, list(zip(keys, (one.prepared.draft for one in arriving), strict=True)))
        arrivals.set_indexed(connection, [(key, one.indexed_at) for key, one in zip(keys, arriving, strict=True)])
        fresh: list[_Fresh] = []
        for key, one in zip(keys, arriving, strict=True):
            draft = one.prepared.draft
            idents = list(one.prepared.idents or memories.idents_of(draft))
            if arrivals.add_runs(connection, key, one.runs):
                idents[0] = with_errors(idents[0], runs.errors(connection, key))
            fresh.append((key, draft, replace(one.prepared, idents=idents)))
        self._add_chunks(model, fresh)

    def overwrite(self, key: int, one: Arriving, model: Model | None) -> None:
        """Give a memory all that it is in another store, but for its runs."""
        memories.update_columns(self.connection, key, arrivals.columns(one))
        self.rewrite(key, one.prepared, model)
        thumbnails.replace(self.connection, key, one.prepared.draft)
        self.index_errors([key])
        scrubbing.note_removal(self.connection)

    def complete(self, key: int, one: Arriving) -> None:
        """Give a memory that is there the runs that it lacks, and the pictures if it has none."""
        thumbnails.complete(self.connection, key, one.prepared.draft)
        if arrivals.add_runs(self.connection, key, one.runs):
            runs.describe(self.connection, [key])
            self.index_errors([key])

    def replace_files(
        self, contents: Mapping[str, Sequence[Prepared]], model: Model | None, now: datetime, space: str
    ) -> bool:
        """Write what files hold, by path, in place of what they held; return whether they held anything."""
        keys = files.memories_of_paths(self.connection, list(contents), space)
        before: dict[str, list[Predecessor | None]] = {}
        if keys:
            earlier: dict[str, list[Memory]] = defaultdict(list)
            for memory in memories.load(self.connection, keys).values():
                earlier[memory.source].append(memory)
            self.delete(keys)
            now_held = {path: [one.draft for one in of_it] for path, of_it in contents.items()}
            moved = by_file(earlier, now_held)
            before = {path: predecessors(moved[path], drafts) for path, drafts in now_held.items()}
        written = [
            (one, predecessor)
            for path, of_it in contents.items()
            for one, predecessor in zip(of_it, before.get(path) or [None] * len(of_it), strict=True)
        ]
        drafts = [one.draft if last is None else succeeding(one.draft, last) for one, last in written]
        identified = [(identity(draft), draft) for draft in drafts]
        new = memories.insert(self.connection, identified, now, [last for _, last in written])
        thumbnails.insert(self.connection, list(zip(new, drafts, strict=True)))
        self._add_chunks(model, [(key, draft, one) for key, draft, (one, _) in zip(new, drafts, written, strict=True)])
        return bool(keys)

    def rewrite(self, key: int, prepared: Prepared, model: Model | None) -> None:
        draft = prepared.draft
        chunks = memories.chunks_of(self.connection, [key])
        self.remove_keywords(chunks)
        memories.delete_chunks(self.connection, key)
        self._vectors.remove(self.connection, chunks)
        memories.update_columns(self.connection, key, {"title": draft.title, "content_hash": content_hash(draft)})
        self.connection.execute("update texts set text = ? where memory = ?", (draft.text, key))
        memories.set_tags(self.connection, key, draft.tags)
        self._add_chunks(model, [(key, draft, prepared)])

    def merge(self, key: int, draft: Draft) -> None:
        """Give a memory the tags, metadata and pin of a draft that says the same."""
        memory = memories.load(self.connection, [key])[key]
        values = {
            "metadata": json.dumps({**memory.metadata, **draft.metadata}, ensure_ascii=False),
            "pinned": int(memory.pinned or draft.pinned),
        }
        memories.update_columns(self.connection, key, values)
        tags = tuple(dict.fromkeys((*memory.tags, *draft.tags)))
        if set(tags) != set(memory.tags):
            self.retag(key, tags)

    def retag(self, key: int, tags: Sequence[str]) -> None:
        """Give a memory other tags, in the keyword index too; its chunks and vectors stay."""
        chunks = memories.chunks_of(self.connection, [key])
        self.remove_keywords(chunks)
        memories.set_tags(self.connection, key, tags)
        self.put_keywords(chunks)

    def index_errors(self, keys: Iterable[int]) -> None:
        """Let what was run be found by the errors of its runs, as they are now; nothing is embedded."""
        changed: dict[int, str] = {}
        for key in keys:
            chunk, words, stored = memories.first_words(self.connection, key)
            ident = with_errors(ident_column(words), runs.errors(self.connection, key))
            if ident != stored:
                changed[chunk] = ident
        if not changed:
            return
        self.remove_keywords(list(changed))
        memories.set_idents(self.connection, changed)
        self.put_keywords(list(changed))

    def delete(self, keys: Sequence[int]) -> None:
        chunks = memories.chunks_of(self.connection, keys)
        self.remove_keywords(chunks)
        memories.delete(self.connection, keys)
        if chunks:
            self._vectors.remove(self.connection, chunks)

    def update(
        self,
        memory_id: str,
        values: Mapping[str, Any],
        tags: Sequence[str] | None,
        prepared: Prepared | None,
        embedder: Embedder | None,
    ) -> Memory:
        """Give a memory other values in its columns, with other words (``prepared``) or other tags; return it."""
        key = memories.known_key(self.connection, memory_id)
        columns = dict(values)
        for name, value in values.items():
            if isinstance(value, datetime):
                columns[name] = to_micros(value)
            elif isinstance(value, Mapping):
                columns[name] = json.dumps(dict(value), ensure_ascii=False)
        memories.update_columns(self.connection, key, columns)
        if prepared is not None:
            self.rewrite(key, prepared, self.model(embedder))
            self.index_errors([key])
        elif tags is not None:
            self.retag(key, tags)
        if prepared is not None or tags is not None or "metadata" in values:
            scrubbing.note_removal(self.connection)
        return memories.load(self.connection, [key])[key]

    def forget(self, chosen: Sequence[str] | Filters, among: Sequence[str] | None, everything: bool) -> int:
        """Remove memories, and what would tell of them: searches, queries, files and folders; return how many."""
        connection = self.connection
        if isinstance(chosen, Filters):
            keys = memories.keys_where(connection, chosen, among)
        else:
            keys = [memories.known_key(connection, memory_id) for memory_id in dict.fromkeys(chosen)]
        full_folders, full_files = files.holding_folders(connection), files.holding(connection)
        removed = self.forget_keys(keys)
        if isinstance(chosen, Filters) and chosen.path and chosen == Filters(path=chosen.path, space=chosen.space):
            # Texts that ran elsewhere later stay, but not what happened to them here.
            went, emptied, left = runs.forget_places(connection, chosen.path, chosen.space)
            self.index_errors(left)
            # A text that first ran here after the person was shown what would go would have no run left.
            removed |= self.forget_keys(emptied) or went
            keys = [*keys, *emptied]
        if everything:
            removed |= not activity.has_no_searches(connection)
            activity.clear_searches(connection)
        before = connection.total_changes()
        if everything:
            files.drop_all_empty(connection)
        files.drop_emptied(connection, full_files, chosen.path if isinstance(chosen, Filters) else ())
        files.drop_emptied_folders(connection, full_folders)
        if removed or connection.total_changes() != before:
            scrubbing.note_removal(connection)
        return len(keys)

    def forget_keys(self, keys: Sequence[int]) -> bool:
        """Remove memories, the searches that showed them and the vectors of questions; return whether any went."""
        removed = activity.forget_about(self.connection, keys) or bool(keys)
        self.delete(keys)
        # A question about forgotten memories reveals something of them, too.
        return bool(activity.clear_query_vectors(self.connection)) or removed

    def forget_files(self, paths: Sequence[str], space: str) -> int:
        keys = files.memories_of_paths(self.connection, paths, space)
        activity.forget_about(self.connection, keys)
        self.delete(keys)
        files.drop(self.connection, paths, space)
        scrubbing.note_removal(self.connection)
        return len(keys)

    def finish(self) -> None:
        if self._index_outdated:
            keyword_query.rebuild(self.connection)

    def _add_chunks(self, model: Model | None, fresh: Sequence[_Fresh]) -> None:
        defined = [(key, one.definitions) for key, _, one in fresh if one.definitions is not None]
        memories.insert_definitions(self.connection, defined)
        chunks = memories.insert_chunks(self.connection, [(key, draft, one.idents) for key, draft, one in fresh])
        if tokens := [ids for _, _, one in fresh for ids in one.tokens]:
            memories.keep_tokens(self.connection, dict(zip(chunks, tokens, strict=True)))
        embedded = [one.vectors for _, _, one in fresh if one.vectors is not None]
        if model is not None and embedded:
            self._vectors.add(self.connection, model, chunks, np.concatenate(embedded))

    def remove_keywords(self, chunks: Sequence[int]) -> None:
        """Remove chunks from the keyword index, while the view that it reads still shows them."""
        # FTS5 takes up to 10 ms a chunk to remove words without a trace, and 0.04 ms a chunk to build the index anew.
        total = self.connection.execute("select count(*) from chunks").get
        if len(chunks) * _REBUILD_AT >= total:
            self._index_outdated = True
        if not self._index_outdated:
            self.connection.executemany("delete from keyword where rowid = ?", ((chunk,) for chunk in chunks))

    def put_keywords(self, chunks: Sequence[int]) -> None:
        """Put chunks into the keyword index as its view shows them now."""
        if not self._index_outdated:
            keyword_query.put_in(self.connection, chunks)


# Memories of new files that are written in one transaction: some 50 ms, in which nobody else can write.
_STEP = 128
# A file that was read, and its memories.
_FileRead = tuple[FileState, Sequence[Prepared]]


def in_steps(connection: Session, read: Sequence[_FileRead], space: str) -> list[Sequence[_FileRead]]:
    """Return the files to write in each transaction; those that hold memories together, since cells may move."""
    if files.memories_of_paths(connection, [state.path for state, _ in read], space):
        return [read]
    steps: list[list[_FileRead]] = [[]]
    held = 0
    for one in read:
        steps[-1].append(one)
        held += len(one[1])
        if held >= _STEP:
            steps.append([])
            held = 0
    return [step for step in steps if step]


# Room on the disk: some set aside to forget on a full disk, and what is free in the file given back.
#
# Forgetting needs room for the log of its own change, and for moving into the file what the log held before. Where the
# disk is nearly full, a reserve beside the store keeps that much, and goes when something must be forgotten.

_RESERVE = 8_000_000
# With less than this free, a reserve is made; with twice as much, it goes.
_LOW = 8 * _RESERVE

Result = TypeVar("Result")


def _keep_reserve(store: Path) -> None:
    reserve = _reserve_of(store)
    with suppress(OSError):
        free = shutil.disk_usage(store.parent).free
        if free >= 2 * _LOW:
            reserve.unlink(missing_ok=True)
        elif free < _LOW:
            there = reserve.stat().st_size if reserve.exists() else 0
            wanted = min(_RESERVE, (free + there) // 2)
            if wanted > 2 * there:
                reserve.unlink(missing_ok=True)
                file = os.open(reserve, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
                try:
                    os.write(file, os.urandom(wanted))
                finally:
                    os.close(file)


def with_room(database: Database, forget: Callable[[], Result]) -> Result:
    """Run what forgets; on a full disk, with the room of the reserve, of the log and of interrupted copies."""
    if database.read_only:
        return forget()
    _keep_reserve(database.path)
    try:
        return forget()
    except StoreFull:
        _make_room(database)
    try:
        return forget()
    except StoreFull:
        raise StoreFull(
            f"The disk of {database.path} is full, and forgetting needs about {_RESERVE // 1_000_000} MB of it for a "
            "moment. Nothing was forgotten. Remove or move other files, such as those in the trash, and forget again."
        ) from None


def compact(database: Database, least: float) -> None:
    """Rewrite the file if more than this part of it is free. Where that is not possible now, it stays as it is."""
    connection = database.connection
    if int(connection.pragma("freelist_count")) <= least * int(connection.pragma("page_count")):
        return
    with suppress(StoreError, MemoryError), translate_errors(database.path):
        # In memory, although that takes as much as the store has: with a connection of its own and a temporary file in
        # the store's folder, writes of other threads failed as busy.
        connection.execute("vacuum")
    _empty_log(database)


def _make_room(database: Database) -> None:
    _reserve_of(database.path).unlink(missing_ok=True)
    sweep(database.path)
    _empty_log(database)


def _reserve_of(store: Path) -> Path:
    store = Path(os.path.realpath(store))
    return store.with_name(f".{store.name}.reserve")


def _empty_log(database: Database) -> None:
    with suppress(StoreError), translate_errors(database.path):
        database.connection.execute("pragma wal_checkpoint(truncate)").fetchall()


class Transactions:
    """The transactions that change memories: room for them on a full disk, and no trace of what they removed."""

    def __init__(self, database: Database, vectors: VectorIndex) -> None:
        self._database = database
        self._vectors = vectors

    @contextmanager
    def changing(self, *, yielding: bool = False) -> Iterator[Changes]:
        """Change memories in one transaction; the keyword index is updated at its end."""
        with self._database.write(yielding=yielding) as connection:
            changes = Changes(connection, self._vectors)
            yield changes
            changes.finish()
        _keep_reserve(self._database.path)

    def removed(self, remove: Callable[[Changes], int]) -> int:
        """Run what removes memories, also on a full disk, and tidy up after it; return how many went."""

        def run() -> int:
            with self.changing() as changes:
                return remove(changes)

        count = with_room(self._database, run)
        self.scrub()
        return count

    def scrub(self, *, compact_at: float = 0.5) -> None:
        """Overwrite what is left of what was removed; rewrite the file if more than this part of it is free."""
        with self._database.read() as connection:
            needed = scrubbing.pending(connection) is not None
        if needed:
            database = self._database
            sweep(database.path)
            database.scrub()
            if database.traces_may_remain and _reserve_of(database.path).exists():
                _make_room(database)
                database.scrub()
            compact(database, compact_at)
