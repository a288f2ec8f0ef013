"""The memories that are named to a command: by their ranks in the last results, by ranges of ranks, or by their ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_memory.errors import InputError, UnknownMemory
from jupyter_memory.interface import messages
from jupyter_memory.interface.commands.command import Call, WrongUsage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.text.display import count_of
from jupyter_memory.types import Memory

# An id may consist of digits; a rank is shorter.
_RANKS = re.compile(r"(?P<first>\d{1,15})(?:[-–](?P<last>\d{1,15}))?")

_ID = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Pick:
    """A memory that was picked, with its rank in the last results; None where it is not among them."""

    memory: Memory
    rank: int | None


def picked(front: Front, words: Sequence[str]) -> list[Pick]:
    """Return the memories that words name, each once, in the order in which they were named.

    A word is a rank (``3``), a range (``1-3``), several of them (``1,3``) or an id.

    Raises:
        WrongUsage: a range runs backwards.
        InputError: there are no such ranks, a word names nothing, or a memory is gone.
        UnknownMemory: no memory has this id.
    """
    ids: dict[str, None] = {}
    for word in (part for given in words for part in given.split(",") if part):
        ranks = _RANKS.fullmatch(word)
        ids |= dict.fromkeys([word] if ranks is None else _at(front, ranks))
    shown = () if front.shown is None else front.shown.ids
    return [Pick(_memory(front, one, shown), shown.index(one) + 1 if one in shown else None) for one in ids]


def typed_ids(front: Front, call: Call, what: str) -> tuple[str, ...]:
    """Return the ids that were typed; a rank is refused, since the person may be looking at an earlier search."""
    for word in call.words:
        if is_rank(word) and front.shown is not None:
            [first, *_] = picked(front, [word])
            meant = messages.named(first.memory, f"Rank {first.rank} of the last results is")
            command = front.command(f"{what} {first.memory.id}")
            raise WrongUsage(f"{word} is a rank, and an id is needed. {meant}: {command}")
    return call.words


def names_hits(word: str) -> bool:
    """Return whether a word names ranks, or looks like the id of a memory."""
    return is_rank(word) or _ID.fullmatch(word) is not None


def is_rank(word: str) -> bool:
    """Return whether a word names ranks, rather than a memory by its id.

    >>> is_rank("3"), is_rank("1-3"), is_rank("1,2"), is_rank("3f2a9c1b2d4e5f60"), is_rank("1234567890123456")
    (True, True, True, False, False)
    """
    parts = [part for part in word.split(",") if part]
    return bool(parts) and all(map(_RANKS.fullmatch, parts))


def _at(front: Front, ranks: re.Match[str]) -> Iterator[str]:
    """Yield the ids that the last results have at a rank, or from one rank to another."""
    shown = front.shown
    if shown is None:
        raise InputError(front.no_results)
    first = int(ranks["first"])
    last = first if ranks["last"] is None else int(ranks["last"])
    if first > last:
        raise WrongUsage(f"{ranks[0]} runs backwards: write {last}-{first}.")
    for rank in (first, last):
        if not 1 <= rank <= len(shown.ids):
            raise InputError(no_rank(shown.what, len(shown.ids), rank))
    yield from shown.ids[first - 1 : last]


def no_rank(what: str, results: int, rank: int) -> str:
    """Return the message that so many results have no such rank; ``what`` names them at its beginning.

    >>> no_rank("The last search", 0, 1), no_rank("This search", 1, 3)
    ('The last search has no results, so there is no rank 1.', 'This search has 1 result, so there is no rank 3.')
    """
    return f"{what} has {count_of(results, 'result') if results else 'no results'}, so there is no rank {rank}."


def _memory(front: Front, memory_id: str, shown: Sequence[str]) -> Memory:
    try:
        return front.store.get(memory_id)
    except UnknownMemory:
        if memory_id not in shown:
            if _ID.fullmatch(memory_id):
                raise
            raise InputError(f"{memory_id!r} is neither a rank, such as 1 or 1-3, nor the id of a memory.") from None
        rank = shown.index(memory_id) + 1
        raise InputError(
            f"Rank {rank} of the last results ({memory_id}) is gone: it was forgotten, or its file has changed. "
            "Search again."
        ) from None
