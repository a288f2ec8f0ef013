"""Changes of memories in one transaction, with their chunks, words, tokens and vectors."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from jupyter_memory.storage.base import (
    Arriving,
    Engine,
    Model,
    Predecessor,
    Prepared,
    content_hash,
    identity,
    to_micros,
)
from jupyter_memory.storage.sql import Overtaken, Session
from jupyter_memory.storage.tables import activity, files, memories, runs, thumbnails
from jupyter_memory.text.identifiers import ident_column
from jupyter_memory.text.markdown import is_position, source_of
from jupyter_memory.types import Draft, Filters, Memory
from jupyter_memory.types.protocols import Embedder

_Fresh = tuple[int, Draft, Prepared]  # a memory that was written, by its key, and what is still to be written of it


class Changes:
    """Changes of memories within one transaction; ``finish`` updates the keyword index at its end.

    What is changed or removed is locked first, in the order of its keys: others wait, rather than in a circle, and
    nothing is taken out of the index twice.
    """

    def __init__(self, engine: Engine, session: Session) -> None:
        self.session = session
        self._keywords, self._vectors = engine.keywords, engine.vectors
        self._index_outdated = False

    def model(self, embedder: Embedder | Model | None) -> Model | None:
        """Return the model of an embedder, which is the active one."""
        return None if embedder is None else self._vectors.for_writing(self.session, embedder)

    def add(self, prepared: Sequence[Prepared], model: Model | None, now: datetime) -> list[int]:
        """Write memories and return their keys; what is known already gets the new tags and metadata."""
        session = self.session
        identities = [identity(one.draft) for one in prepared]
        known = memories.find_known(session, identities)
        self.lock([key for key in known if key is not None])
        # The first of several equal drafts is written; the others are merged into it.
        first = dict(zip(reversed(identities), reversed(prepared), strict=True))
        new = dict.fromkeys(name for name, key in zip(identities, known, strict=True) if key is None)
        drafts = [(name, first[name].draft) for name in new]
        keys = dict(zip(new, memories.insert(session, drafts, [now] * len(drafts)), strict=True))
        self._add_chunks(model, [(key, first[name].draft, first[name]) for name, key in keys.items()])
        found = [keys[name] if key is None else key for name, key in zip(identities, known, strict=True)]
        for name, one, key in zip(identities, prepared, found, strict=True):
            if name not in keys or first[name] is not one:
                self.merge(key, one.draft)
        return found

    def put_in(self, arriving: Sequence[Arriving], model: Model | None) -> None:
        """Write memories of another store that are not there yet, with their ids, times, counts and runs."""
        session = self.session
        identified = [(identity(one.prepared.draft), one.prepared.draft) for one in arriving]
        before = [Predecessor(one.id, False, (), one.accessed, one.stored_at) for one in arriving]
        keys = memories.insert(session, identified, [one.indexed_at for one in arriving], before)
        fresh: list[_Fresh] = []
        for key, one in zip(keys, arriving, strict=True):
            draft = one.prepared.draft
            idents = list(one.prepared.idents or memories.idents_of(draft))
            if runs.add(session, key, one.runs):
                idents[0] = runs.with_errors(idents[0], runs.errors(session, key))
            fresh.append((key, draft, replace(one.prepared, idents=idents)))
        self._add_chunks(model, fresh)

    def overwrite(self, key: int, one: Arriving, model: Model | None) -> None:
        """Give a memory all that it is in another store, but for its runs."""
        draft = one.prepared.draft
        columns = memories.columns(identity(draft), draft, one.indexed_at, one.stored_at, one.accessed)
        memories.update_columns(self.session, key, columns)
        self.rewrite(key, one.prepared, model)
        thumbnails.put(self.session, key, draft, replacing=True)
        self.index_errors([key])
        self.session.note_removal()

    def complete(self, key: int, one: Arriving) -> None:
        """Give a memory that is there the runs that it lacks, and the pictures if it has none."""
        thumbnails.put(self.session, key, one.prepared.draft, replacing=False)
        if runs.add(self.session, key, one.runs):
            runs.describe(self.session, [key])
            self.index_errors([key])

    def replace_files(
        self, contents: Mapping[str, Sequence[Prepared]], model: Model | None, now: datetime, space: str
    ) -> bool:
        """Write what files hold, by path, in place of what they held; return whether they held anything."""
        keys = files.memories_of_paths(self.session, list(contents), space)
        before: dict[str, list[Predecessor | None]] = {}
        if keys:
            earlier: dict[str, list[Memory]] = defaultdict(list)
            locked = self.session.lock(keys)
            for memory in memories.load(self.session, locked).values():
                earlier[memory.source].append(memory)
            self.delete(locked)
            now_held = {path: [one.draft for one in of_it] for path, of_it in contents.items()}
            moved = by_file(earlier, now_held)
            before = {path: predecessors(moved[path], drafts) for path, drafts in now_held.items()}
        written = [
            (one, predecessor)
            for path, of_it in contents.items()
            for one, predecessor in zip(of_it, before.get(path) or [None] * len(of_it), strict=True)
        ]
        drafts = []
        for one, last in written:
            draft = one.draft
            if last is not None:
                tags = tuple(dict.fromkeys((*draft.tags, *last.tags)))
                draft = replace(draft, pinned=draft.pinned or last.pinned, tags=tags)
            drafts.append(draft)
        identified = [(identity(draft), draft) for draft in drafts]
        new = memories.insert(self.session, identified, [now] * len(drafts), [last for _, last in written])
        self._add_chunks(model, [(key, draft, one) for key, draft, (one, _) in zip(new, drafts, written, strict=True)])
        return bool(keys)

    def rewrite(self, key: int, prepared: Prepared, model: Model | None) -> None:
        """Give a memory other words and tags, with new chunks."""
        # A memory stays in its space.
        draft = replace(prepared.draft, space=memories.space_of(self.session, key))
        chunks = self._locked_chunks([key])
        self.remove_words(chunks)
        self._vectors.remove(self.session, chunks)
        memories.rewrite(self.session, key, draft)
        self._add_chunks(model, [(key, draft, prepared)])

    def merge(self, key: int, draft: Draft) -> None:
        """Give a memory the tags, metadata and pin of a draft that says the same, and what that says of its worth."""
        self.lock([key])
        memory = memories.load(self.session, [key])[key]
        given = {name: getattr(draft, name) for name in ("severity", "domain", "valid_from", "valid_until")}
        values = {
            "metadata": json.dumps({**memory.metadata, **draft.metadata}, ensure_ascii=False),
            "pinned": memory.pinned or draft.pinned,
            **{name: to_micros(at) if isinstance(at, datetime) else at for name, at in given.items() if at is not None},
        }
        memories.update_columns(self.session, key, values)
        tags = tuple(dict.fromkeys((*memory.tags, *draft.tags)))
        if set(tags) != set(memory.tags):
            self.retag(key, tags)

    def retag(self, key: int, tags: Sequence[str]) -> None:
        """Give a memory other tags, in the keyword index too; its chunks and vectors stay."""
        chunks = self._locked_chunks([key])
        self.remove_words(chunks)
        memories.set_tags(self.session, key, tags)
        self.put_words(chunks)

    def index_errors(self, keys: Iterable[int]) -> None:
        """Let what was run be found by the errors of its runs, as they are now; nothing is embedded."""
        changed: dict[int, str] = {}
        for key in self.session.lock(list(keys)):
            chunk, words, stored = memories.first_words(self.session, key)
            ident = runs.with_errors(ident_column(words), runs.errors(self.session, key))
            if ident != stored:
                changed[chunk] = ident
        if changed:
            self.remove_words(list(changed))
            memories.set_idents(self.session, changed)
            self.put_words(list(changed))

    def delete(self, keys: Sequence[int]) -> int:
        """Remove memories with all that depends on them; return how many there were."""
        if not keys:
            return 0
        chunks = self._locked_chunks(keys)
        self.remove_words(chunks)
        if chunks:
            self._vectors.remove(self.session, chunks)
        return memories.delete(self.session, keys)

    def update(
        self,
        memory_id: str,
        values: Mapping[str, Any],
        tags: Sequence[str] | None,
        prepared: Prepared | None,
        embedder: Embedder | None,
    ) -> Memory:
        """Give a memory other values in its columns, with other words (``prepared``) or other tags; return it."""
        key = memories.known_key(self.session, memory_id)
        self.lock([key])
        held = memories.load(self.session, [key])[key]
        if "lang" in values and values["lang"] != held.lang:
            memories.drop_definitions(self.session, [key])
        columns = dict(values)
        if prepared is not None and prepared.draft.text != held.text:
            columns["stored_at"] = to_micros(datetime.now(UTC))
        for name, value in values.items():
            if isinstance(value, datetime):
                columns[name] = to_micros(value)
            elif isinstance(value, Mapping):
                columns[name] = json.dumps(dict(value), ensure_ascii=False)
        memories.update_columns(self.session, key, columns)
        if prepared is not None:
            self.rewrite(key, prepared, self.model(embedder))
            self.index_errors([key])
        elif tags is not None:
            self.retag(key, tags)
        if prepared is not None or tags is not None or "metadata" in values:
            self.session.note_removal()
        return memories.load(self.session, [key])[key]

    def forget(self, chosen: Sequence[str] | Filters, among: Sequence[str] | None, everything: bool) -> int:
        """Remove memories, and what would tell of them: searches, queries, files and folders; return how many."""
        session = self.session
        before = session.written
        if isinstance(chosen, Filters):
            keys = memories.keys_where(session, chosen, among)
        else:
            keys = [memories.known_key(session, memory_id) for memory_id in dict.fromkeys(chosen)]
        held = files.holding(session)
        forgotten = self.forget_keys(keys)
        if isinstance(chosen, Filters) and chosen.path and chosen == Filters(path=chosen.path, space=chosen.space):
            # Texts that ran elsewhere later stay, but not what happened to them here.
            emptied, left = runs.forget_places(session, chosen.path, chosen.space)
            self.index_errors(left)
            # A text that first ran here after the person was shown what would go would have no run left.
            forgotten += self.forget_keys(emptied)
        if everything:
            activity.clear_searches(session)
        below = chosen.path if isinstance(chosen, Filters) else ()
        files.drop_emptied(session, held, below, everything=everything)
        if session.written != before:
            session.note_removal()
        return forgotten

    def forget_keys(self, keys: Sequence[int]) -> int:
        """Remove memories, the searches that showed them and the vectors of questions; return how many there were."""
        self.session.forget_asked(keys)
        forgotten = self.delete(keys)
        # A question about forgotten memories reveals something of them, too.
        activity.clear_query_vectors(self.session)
        return forgotten

    def forget_files(self, paths: Sequence[str], space: str) -> int:
        keys = files.memories_of_paths(self.session, paths, space)
        self.session.forget_asked(keys)
        forgotten = self.delete(keys)
        files.drop(self.session, paths, space)
        self.session.note_removal()
        return forgotten

    def remove_words(self, chunks: Sequence[int]) -> None:
        """Take chunks out of the keyword index, while the tables still hold what it has of them."""
        if chunks and not self._keywords.remove(self.session, chunks):
            self._index_outdated = True

    def put_words(self, chunks: Sequence[int]) -> None:
        """Put chunks into the keyword index as the tables hold them now."""
        if chunks:
            self._keywords.put(self.session, memories.words_of(self.session, chunks))

    def finish(self) -> None:
        if self._index_outdated:
            self._keywords.finish(self.session)

    def lock(self, keys: Sequence[int]) -> None:
        if keys and len(self.session.lock(keys)) < len(set(keys)):
            raise Overtaken

    def _locked_chunks(self, keys: Sequence[int]) -> list[int]:
        return memories.chunks_of(self.session, self.session.lock(keys))

    def _add_chunks(self, model: Model | None, fresh: Sequence[_Fresh]) -> None:
        if not fresh:
            return
        defined = {key: one.definitions for key, _, one in fresh if one.definitions is not None}
        memories.insert_definitions(self.session, defined)
        words = memories.insert_chunks(self.session, [(key, draft, one.idents) for key, draft, one in fresh])
        self._keywords.put(self.session, words)
        chunks = [one.chunk for one in words]
        if tokens := [ids for _, _, one in fresh for ids in one.tokens]:
            memories.keep_tokens(self.session, dict(zip(chunks, tokens, strict=True)))
        embedded = [one.vectors for _, _, one in fresh if one.vectors is not None]
        if model is not None and embedded:
            self._vectors.add(self.session, model, chunks, np.concatenate(embedded))


# The cells of a changed file, matched with the memories of its earlier cells.

_SIMILAR = 0.6  # two texts at least this similar, by difflib's ratio, are one cell that was edited
# How much of a text is compared, and with how many neighbours: enough for an edit, bounded for a book.
_COMPARED = 2_000
_NEIGHBOURS = 8

Identity = Callable[[str, str, str], Hashable]
# In this order, so that an edited cell does not take the place of one that stayed as it was.
_IDENTITIES: tuple[Identity, ...] = (
    lambda kind, location, hash_: (kind, location, hash_),
    # "#7" and "page 7" are only positions: another cell or page may be there now.
    lambda kind, location, hash_: None if is_position(location) else (kind, location),
    lambda kind, location, hash_: (kind, hash_),
)


def predecessors(before: Sequence[Memory], after: Sequence[Draft]) -> list[Predecessor | None]:
    """Return the predecessor of each draft: itself, else the same cell, the same content, or a similar text."""
    # Where a file was one memory and has parts now, the first continues it; its tags were those of all of the file.
    if len(before) == 1 and len(after) > 1 and not before[0].location and all(draft.location for draft in after):
        whole = _predecessor(before[0], after[0])
        return [whole, *[Predecessor(None, False, whole.tags, 0)] * (len(after) - 1)]
    found: list[Memory | None] = [None] * len(after)
    left = dict(enumerate(before))
    hashes = [content_hash(draft) for draft in after]
    for identify in _IDENTITIES:
        places: dict[Hashable, list[int]] = {}
        for index, memory in left.items():
            if (name := identify(memory.kind, memory.location, memory.content_hash)) is not None:
                places.setdefault(name, []).append(index)
        for i, draft in enumerate(after):
            name = identify(draft.kind, draft.location, hashes[i])
            if found[i] is None and name is not None and places.get(name):
                found[i] = left.pop(places[name].pop(0))
    for index, memory in list(left.items()):
        open_ = [i for i, draft in enumerate(after) if found[i] is None and draft.lang == memory.lang]
        near = sorted(open_, key=lambda i: abs(i - index))[:_NEIGHBOURS]
        text = source_of(memory.text)[:_COMPARED]
        similarity = {
            i: SequenceMatcher(None, text, source_of(after[i].text)[:_COMPARED], autojunk=False).ratio() for i in near
        }
        best = max(similarity, key=lambda i: similarity[i], default=None)
        if best is not None and similarity[best] >= _SIMILAR:
            found[best] = left.pop(index)
    return [None if one is None else _predecessor(one, draft) for one, draft in zip(found, after, strict=True)]


def by_file(before: Mapping[str, Sequence[Memory]], after: Mapping[str, Sequence[Draft]]) -> dict[str, list[Memory]]:
    """Return the memories by the file that each is in now: notebooks may swap their names, or one become two."""
    now_here = {path: {_moved_identity(draft) for draft in drafts} for path, drafts in after.items()}
    was_here = {path: {_moved_identity(memory) for memory in held} for path, held in before.items()}
    left: dict[Hashable, list[Memory]] = {}
    for path, held in before.items():
        for memory in held:
            if (name := _moved_identity(memory)) not in now_here.get(path, ()):
                left.setdefault(name, []).append(memory)
    moved: dict[str, list[Memory]] = {path: [] for path in after}
    for path, drafts in after.items() if left else ():
        for name in map(_moved_identity, drafts):
            if name not in was_here.get(path, ()) and left.get(name):
                moved[path].append(left[name].pop(0))
    gone = {memory.id for arrived in moved.values() for memory in arrived}
    # What is exactly the same comes first.
    return {path: moved[path] + [one for one in before.get(path, ()) if one.id not in gone] for path in after}


def _moved_identity(one: Memory | Draft) -> Hashable:
    # A title holds the file's name, and "#7" is only a position.
    return one.kind, "#" if is_position(one.location) else one.location, one.text


def _predecessor(memory: Memory, draft: Draft) -> Predecessor:
    # The tags that its file named come from the file anew.
    named = memory.metadata.get("file_tags", ())
    tags = tuple(tag for tag in memory.tags if tag not in named)
    stored_at = memory.stored_at if memory.text == draft.text else None
    return Predecessor(memory.id, memory.pinned, tags, memory.accessed, stored_at)
