"""Changes of memories in one transaction, with their chunks, words, tokens and vectors."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from jupyter_memory.storage.base import Model, Prepared
from jupyter_memory.storage.cell_matching import Predecessor, by_file, content_hash, predecessors, succeeding
from jupyter_memory.storage.postgres import postings, vectors
from jupyter_memory.storage.postgres.database import Overtaken, Session, of
from jupyter_memory.storage.postgres.tables import activity, arrivals, memories, runs, thumbnails
from jupyter_memory.storage.shared import identity, to_micros, with_errors
from jupyter_memory.storage.tables import files
from jupyter_memory.storage.writing import Arriving
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.types import Draft, Filters, Memory
from jupyter_memory.types.protocols import Embedder

# A memory that was written, by its key, and what is still to be written of it.
_Fresh = tuple[int, Draft, Prepared]


class Changes:
    """Changes of memories within one transaction.

    What is changed or removed is locked first, in the order of its keys: others wait, rather than in a circle, and
    nothing is taken out of the index twice.
    """

    def __init__(self, session: Session) -> None:
        self.session = session

    def model(self, embedder: Embedder | None) -> Model | None:
        return None if embedder is None else vectors.for_writing(self.session, embedder)

    def add(self, prepared: Sequence[Prepared], model: Model | None, now: datetime) -> list[int]:
        """Write memories and return their keys; what is known already gets the new tags and metadata."""
        session = self.session
        identities = [identity(one.draft) for one in prepared]
        known = memories.find_known(session, identities)
        self.lock_known(known)
        # The first of several equal drafts is written; the others are merged into it.
        first = dict(zip(reversed(identities), reversed(prepared), strict=True))
        new = dict.fromkeys(name for name, key in zip(identities, known, strict=True) if key is None)
        drafts = [(name, first[name].draft) for name in new]
        keys = dict(zip(new, memories.insert(session, drafts, now), strict=True))
        thumbnails.insert(session, [(key, first[name].draft) for name, key in keys.items()])
        self._add_chunks(model, [(key, first[name].draft, first[name]) for name, key in keys.items()])
        found = [keys[name] if key is None else key for name, key in zip(identities, known, strict=True)]
        for name, one, key in zip(identities, prepared, found, strict=True):
            if name not in keys or first[name] is not one:
                self.merge(key, one.draft)
        return found

    def put_in(self, arriving: Sequence[Arriving], model: Model | None) -> None:
        """Write memories of another store, with their ids, times, counts and runs."""
        session = self.session
        identified = [(identity(one.prepared.draft), one.prepared.draft) for one in arriving]
        before = [Predecessor(one.id, False, (), one.accessed) for one in arriving]
        keys = memories.insert(session, identified, datetime.now(UTC), before)
        session.execute(
            f"""
            update memories set indexed_at = given.at
            from unnest(:keys::bigint[], :times::bigint[]) as given (key, at)
            where {of("memories")} and memories.key = given.key
            """,
            keys=keys,
            times=[to_micros(one.indexed_at) for one in arriving],
        )
        fresh: list[_Fresh] = []
        for key, one in zip(keys, arriving, strict=True):
            draft = one.prepared.draft
            idents = list(one.prepared.idents or memories.idents_of(draft))
            if arrivals.add_runs(session, key, one.runs):
                idents[0] = with_errors(idents[0], runs.errors(session, key))
            fresh.append((key, draft, replace(one.prepared, idents=idents)))
        thumbnails.insert(session, [(key, draft) for key, draft, _ in fresh])
        self._add_chunks(model, fresh)

    def overwrite(self, key: int, one: Arriving, model: Model | None) -> None:
        """Give a memory all that it is in another store, but for its runs."""
        values = arrivals.columns(one)
        del values["space"]  # a memory never leaves its space: an id is known in one only
        memories.update_columns(self.session, key, values)
        self.rewrite(key, one.prepared, model)
        thumbnails.replace(self.session, key, one.prepared.draft)
        self.index_errors([key])

    def add_runs(self, key: int, one: Arriving) -> None:
        """Give a memory that is there the runs that it lacks, and the pictures if it has none."""
        if one.prepared.draft.pictures.thumbnails and not thumbnails.by_memory(self.session, [key]):
            thumbnails.insert(self.session, [(key, one.prepared.draft)])
        if arrivals.add_runs(self.session, key, one.runs):
            runs.describe(self.session, [key])
            self.index_errors([key])

    def replace_files(
        self, contents: Mapping[str, Sequence[Prepared]], model: Model | None, now: datetime, space: str
    ) -> None:
        """Write what files hold, by path, in place of what they held."""
        keys = files.memories_of_paths(self.session, list(contents), space)
        before: dict[str, list[Predecessor | None]] = {}
        if keys:
            held: dict[str, list[Memory]] = defaultdict(list)
            locked = memories.lock(self.session, keys)
            for memory in memories.load(self.session, locked).values():
                held[memory.source].append(memory)
            self.delete(locked)
            after = {path: [one.draft for one in of_it] for path, of_it in contents.items()}
            matched = by_file(held, after)
            before = {path: predecessors(matched[path], drafts) for path, drafts in after.items()}
        written = [
            (one, predecessor)
            for path, of_it in contents.items()
            for one, predecessor in zip(of_it, before.get(path) or [None] * len(of_it), strict=True)
        ]
        drafts = [one.draft if earlier is None else succeeding(one.draft, earlier) for one, earlier in written]
        identified = [(identity(draft), draft) for draft in drafts]
        new = memories.insert(self.session, identified, now, [earlier for _, earlier in written])
        thumbnails.insert(self.session, list(zip(new, drafts, strict=True)))
        self._add_chunks(model, [(key, draft, one) for key, draft, (one, _) in zip(new, drafts, written, strict=True)])

    def rewrite(self, key: int, prepared: Prepared, model: Model | None) -> None:
        """Give a memory other words and tags, with new chunks."""
        draft = replace(prepared.draft, space=memories.space_of(self.session, key))
        postings.take_out(self.session, self._locked_chunks([key]))
        self.session.execute(f"delete from chunks where {of('chunks')} and memory = :key", key=key)
        memories.update_columns(self.session, key, {"title": draft.title, "content_hash": content_hash(draft)})
        self.session.execute(
            f"update texts set text = :text where {of('texts')} and memory = :key",
            key=key,
            text=draft.text,
        )
        memories.drop_definitions(self.session, [key])
        memories.set_tags(self.session, key, draft.tags)
        self._add_chunks(model, [(key, draft, prepared)])

    def merge(self, key: int, draft: Draft) -> None:
        """Give a memory the tags, metadata and pin of a draft that says the same."""
        self._lock([key])
        memory = memories.load(self.session, [key])[key]
        values = {
            "metadata": json.dumps({**memory.metadata, **draft.metadata}, ensure_ascii=False),
            "pinned": memory.pinned or draft.pinned,
        }
        memories.update_columns(self.session, key, values)
        tags = tuple(dict.fromkeys((*memory.tags, *draft.tags)))
        if set(tags) != set(memory.tags):
            self.retag(key, tags)

    def retag(self, key: int, tags: Sequence[str]) -> None:
        chunks = self._locked_chunks([key])
        postings.take_out(self.session, chunks)
        memories.set_tags(self.session, key, tags)
        postings.put_back(self.session, chunks)

    def index_errors(self, keys: Iterable[int]) -> None:
        """Index the errors that the runs of memories have now; nothing is embedded."""
        changed: dict[int, str] = {}
        for key in memories.lock(self.session, list(keys)):
            [(chunk, words, stored)] = self.session.rows(
                "select id, title || chr(10) || text, ident from chunk_texts "
                f"where {of('chunk_texts')} and memory = :memory order by id limit 1",
                memory=key,
            )
            ident = with_errors(ident_column(words), runs.errors(self.session, key))
            if ident != stored:
                changed[chunk] = ident
        if changed:
            postings.take_out(self.session, list(changed))
            self.session.execute(
                f"""
                update chunks set ident = changed.ident
                from unnest(:ids::bigint[], :idents::text[]) as changed (id, ident)
                where {of("chunks")} and chunks.id = changed.id
                """,
                ids=list(changed),
                idents=list(changed.values()),
            )
            postings.put_back(self.session, list(changed))

    def delete(self, keys: Sequence[int]) -> int:
        if not keys:
            return 0
        postings.take_out(self.session, self._locked_chunks(keys))
        return memories.delete(self.session, keys)

    def update(
        self,
        memory_id: str,
        values: Mapping[str, Any],
        tags: Sequence[str] | None,
        prepared: Prepared | None,
        embedder: Embedder | None,
    ) -> Memory:
        key = memories.known_key(self.session, memory_id)
        self._lock([key])
        if "lang" in values and values["lang"] != memories.load(self.session, [key])[key].lang:
            memories.drop_definitions(self.session, [key])
        stored = dict(values)
        for name, value in values.items():
            if isinstance(value, datetime):
                stored[name] = to_micros(value)
            elif isinstance(value, Mapping):
                stored[name] = json.dumps(dict(value), ensure_ascii=False)
        memories.update_columns(self.session, key, stored)
        if prepared is not None:
            self.rewrite(key, prepared, self.model(embedder))
            self.index_errors([key])
        elif tags is not None:
            self.retag(key, tags)
        return memories.load(self.session, [key])[key]

    def forget(self, chosen: Sequence[str] | Filters, among: Sequence[str] | None, everything: bool) -> int:
        """Remove memories, and the searches, queries, files and folders that would tell of them; return how many."""
        session = self.session
        if isinstance(chosen, Filters):
            keys = memories.keys_where(session, chosen, among)
        else:
            keys = [memories.known_key(session, memory_id) for memory_id in dict.fromkeys(chosen)]
        full_folders, full_files = files.holding_folders(session), files.holding(session)
        forgotten = self.forget_keys(keys)
        if isinstance(chosen, Filters) and chosen.path and chosen == Filters(path=chosen.path, space=chosen.space):
            # Texts that ran elsewhere later stay, but not what happened to them here.
            emptied, left = runs.forget_places(session, chosen.path, chosen.space)
            self.index_errors(left)
            # A text that first ran here after the person was shown what would go would have no run left.
            forgotten += self.forget_keys(emptied)
        if everything:
            activity.clear_searches(session)
            files.drop_all_empty(session)
        files.drop_emptied(session, full_files, chosen.path if isinstance(chosen, Filters) else ())
        files.drop_emptied_folders(session, full_folders)
        return forgotten

    def forget_keys(self, keys: Sequence[int]) -> int:
        """Remove memories, the searches that showed them and the vectors of questions; return how many there were."""
        activity.forget_about(self.session, keys)
        forgotten = self.delete(keys)
        activity.clear_query_vectors(self.session)
        return forgotten

    def forget_files(self, paths: Sequence[str], space: str) -> int:
        keys = files.memories_of_paths(self.session, paths, space)
        activity.forget_about(self.session, keys)
        forgotten = self.delete(keys)
        files.drop(self.session, paths, space)
        return forgotten

    def _add_chunks(self, model: Model | None, fresh: Sequence[_Fresh]) -> None:
        if not fresh:
            return
        memories.insert_definitions(
            self.session, {key: one.definitions for key, _, one in fresh if one.definitions is not None}
        )
        chunks = memories.insert_chunks(self.session, [(key, draft, one.idents) for key, draft, one in fresh])
        if tokens := [ids for _, _, one in fresh for ids in one.tokens]:
            memories.keep_tokens(self.session, dict(zip(chunks, tokens, strict=True)))
        embedded = [one.vectors for _, _, one in fresh if one.vectors is not None]
        if model is not None and embedded:
            vectors.add(self.session, model, chunks, np.concatenate(embedded))

    def lock_known(self, keys: Sequence[int | None]) -> None:
        self._lock([key for key in keys if key is not None])

    def _lock(self, keys: Sequence[int]) -> None:
        if keys and len(memories.lock(self.session, keys)) < len(set(keys)):
            raise Overtaken

    def _locked_chunks(self, keys: Sequence[int]) -> list[int]:
        return memories.chunks_of(self.session, memories.lock(self.session, keys))
