"""The sources of a text for a prompt: hits with their duplicates merged, cut to size, and neighbouring cells joined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from jupyter_memory.search.postprocessing import normalised
from jupyter_memory.search.presentation.prompts.passages import Passage, passage
from jupyter_memory.text.markdown import outputs_of, source_of
from jupyter_memory.types import Hit, Memory

# Tokens quoted of a long text, unless it is a cell that has room: about those of a chunk.
PART = 600
# Fewer tokens than this say nothing.
SMALLEST = 50
NOTHING = Passage("", 1, 1, whole=True)


@dataclass(frozen=True, slots=True)
class Source:
    """A hit with what is quoted of its memory, and the other memories that say the same."""

    hit: Hit
    also: tuple[Memory, ...] = ()
    passage: Passage = NOTHING

    @property
    def index(self) -> int | None:
        """Return the place of a cell in its notebook, None for anything else."""
        index = self.hit.memory.metadata.get("index")
        return index if self.hit.memory.kind == "cell" and isinstance(index, int) else None

    @property
    def lines(self) -> str:
        """Return which lines of a file or of a cut text are quoted; empty where it is all of a cell or a note."""
        memory, shown = self.hit.memory, self.passage
        if shown.whole and memory.kind != "file":
            return ""
        return f"line {shown.first}" if shown.first == shown.last else f"lines {shown.first}-{shown.last}"

    def within(self, most: int) -> Source:
        """Return the source with its text, or with the part around the hit where that has more than ``most`` tokens.

        A cell is cut only then; of any other long text, a part is quoted whatever the room.
        """
        memory, part = self.hit.memory, min(PART, most)
        if most < SMALLEST:
            return self
        shown = passage(memory.text, most if memory.kind == "cell" else part, self.hit.span)
        return replace(self, passage=shown if shown.whole else passage(memory.text, part, self.hit.span))


def sources(hits: Iterable[Hit]) -> list[Source]:
    """Return hits as sources, in their order; those that say the same are one."""
    return [Source(quoted, tuple(hit.memory for hit in also)) for quoted, *also in _merged(hits)]


def joined(chosen: Iterable[Source]) -> list[list[Source]]:
    """Return sources with neighbouring cells of a notebook together, in its order; groups are in that of their best."""
    groups: list[list[Source]] = []
    for source in chosen:
        beside = [group for group in groups if any(_are_neighbours(source, other) for other in group)]
        group = [source, *(other for one in beside for other in one)]
        group.sort(key=lambda one: one.index or 0)
        place = groups.index(beside[0]) if beside else len(groups)
        groups = [one for one in [*groups[:place], group, *groups[place:]] if one not in beside]
    return groups


def _merged(hits: Iterable[Hit]) -> list[list[Hit]]:
    """Return hits in groups that say the same, in the order of their best; the first of a group is to be quoted."""
    groups: list[list[Hit]] = []
    for hit in hits:
        source, outputs = _said(hit.memory)
        for group in groups:
            known, shown = _said(group[0].memory)
            if source == known and (outputs == shown or not outputs or not shown):
                group.insert(0 if outputs and not shown else len(group), hit)
                break
        else:
            groups.append([hit])
    return groups


def _said(memory: Memory) -> tuple[str, str]:
    """Return the text of a memory and its outputs, without what two copies may differ in."""
    if memory.kind != "cell":
        return normalised(memory.text), ""
    return normalised(source_of(memory.text)), normalised(outputs_of(memory.text))


def _are_neighbours(one: Source, other: Source) -> bool:
    first, second = one.hit.memory, other.hit.memory
    if one.index is None or other.index is None or (first.source, first.space) != (second.source, second.space):
        return False
    return abs(one.index - other.index) == 1
