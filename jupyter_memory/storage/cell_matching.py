"""Matching the cells of a changed file with the memories of its earlier cells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from hashlib import blake2b

from jupyter_memory.text.markdown import is_position, source_of
from jupyter_memory.types import Draft, Memory

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


@dataclass(frozen=True, slots=True)
class Predecessor:
    """What a memory keeps when its content is replaced: its id, what its user gave it, how often it was read."""

    id: str | None  # None for the further parts of a file that was one memory so far
    pinned: bool
    tags: tuple[str, ...]
    accessed: int


def content_hash(draft: Draft) -> str:
    return fingerprint(draft.title, draft.text)


def fingerprint(title: str, text: str) -> str:
    return blake2b(f"{title}\0{text}".encode(), digest_size=16).hexdigest()


def succeeding(draft: Draft, predecessor: Predecessor) -> Draft:
    """Return a draft with the pin and the tags that a user gave its predecessor."""
    tags = tuple(dict.fromkeys((*draft.tags, *predecessor.tags)))
    return replace(draft, pinned=draft.pinned or predecessor.pinned, tags=tags)


def predecessors(before: Sequence[Memory], after: Sequence[Draft]) -> list[Predecessor | None]:
    """Return the predecessor of each draft: itself, else the same cell, the same content, or a similar text."""
    # Where a file was one memory and has parts now, the first continues it; its tags were those of all of the file.
    if len(before) == 1 and len(after) > 1 and not before[0].location and all(draft.location for draft in after):
        whole = _predecessor(before[0])
        return [whole, *[Predecessor(None, False, whole.tags, 0)] * (len(after) - 1)]
    found: list[Memory | None] = [None] * len(after)
    left = dict(enumerate(before))
    hashes = [content_hash(draft) for draft in after]
    for identity in _IDENTITIES:
        places: dict[Hashable, list[int]] = {}
        for index, memory in left.items():
            if (name := identity(memory.kind, memory.location, memory.content_hash)) is not None:
                places.setdefault(name, []).append(index)
        for i, draft in enumerate(after):
            name = identity(draft.kind, draft.location, hashes[i])
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
    return [None if memory is None else _predecessor(memory) for memory in found]


def by_file(before: Mapping[str, Sequence[Memory]], after: Mapping[str, Sequence[Draft]]) -> dict[str, list[Memory]]:
    """Return the memories by the file that each is in now: notebooks may swap their names, or one become two."""
    now_here = {path: {_moved_identity(draft) for draft in drafts} for path, drafts in after.items()}
    was_here = {path: {_moved_identity(memory) for memory in memories} for path, memories in before.items()}
    left: dict[Hashable, list[Memory]] = {}
    for path, memories in before.items():
        for memory in memories:
            if (name := _moved_identity(memory)) not in now_here.get(path, ()):
                left.setdefault(name, []).append(memory)
    moved: dict[str, list[Memory]] = {path: [] for path in after}
    for path, drafts in after.items() if left else ():
        for name in map(_moved_identity, drafts):
            if name not in was_here.get(path, ()) and left.get(name):
                moved[path].append(left[name].pop(0))
    gone = {memory.id for memories in moved.values() for memory in memories}
    # What is exactly the same comes first.
    return {path: moved[path] + [one for one in before.get(path, ()) if one.id not in gone] for path in after}


def _moved_identity(one: Memory | Draft) -> Hashable:
    # A title holds the file's name, and "#7" is only a position.
    return one.kind, "#" if is_position(one.location) else one.location, one.text


def _predecessor(memory: Memory) -> Predecessor:
    # The tags that its file named come from the file anew.
    named = memory.metadata.get("file_tags", ())
    tags = tuple(tag for tag in memory.tags if tag not in named)
    return Predecessor(memory.id, memory.pinned, tags, memory.accessed)
