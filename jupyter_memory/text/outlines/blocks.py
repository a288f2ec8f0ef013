"""A block of a text, such as a function or a section, and the blocks around a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """A function, class or section: where it begins and ends in its text, its level (1 is the highest), its name.

    ``about`` is its signature and the first line of its docstring, where it is so long that it is cut.
    """

    start: int
    end: int
    level: int
    name: str
    about: str = ""


def nested(found: Iterable[tuple[int, int, str]], length: int) -> list[Block]:
    """Return blocks that each end where the next of the same or a higher level begins: ``(start, level, name)`` each.

    >>> [(one.name, one.end) for one in nested([(0, 1, "Prices"), (9, 2, "Cleaning"), (20, 1, "Tariffs")], 30)]
    [('Prices', 20), ('Cleaning', 20), ('Tariffs', 30)]
    """
    opened: list[tuple[int, int, str]] = []
    closed = []
    for one in found:
        while opened and opened[-1][1] >= one[1]:
            start, level, name = opened.pop()
            closed.append(Block(start, one[0], level, name))
        opened.append(one)
    closed += [Block(start, length, level, name) for start, level, name in opened]
    return sorted(closed, key=lambda block: (block.start, block.level))


def around(blocks: Sequence[Block], places: Iterable[int]) -> Iterator[list[Block]]:
    """Yield for each place, in ascending order, the blocks around it, outermost first.

    Blocks are in the order in which they begin; two of them are apart, or one is within the other.
    """
    rest = iter(blocks)
    coming = next(rest, None)
    found: list[Block] = []
    for place in places:
        while coming is not None and coming.start <= place:
            found = [*(one for one in found if one.level < coming.level), coming]
            coming = next(rest, None)
        found = [one for one in found if one.end > place]
        yield found
