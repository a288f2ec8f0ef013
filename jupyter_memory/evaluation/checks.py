"""One statement about an answer: what is asked, and what must hold of the names that are found."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Check:
    """A question and what must hold of the answer; every claim that is given must hold.

    ``first`` is the first hit; ``among`` are all within the first ``within``; of ``above`` the one is found and the
    other not before it; ``absent`` are nowhere; ``space`` is that of every hit. ``why`` says what makes it hard.
    """

    category: str
    query: str
    why: str
    filters: Mapping[str, Any] = field(default_factory=dict)
    first: str = ""
    among: tuple[str, ...] = ()
    within: int = 0
    above: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    space: str = ""

    def judge(self, names: Sequence[str], spaces: Collection[str] = ()) -> str:
        """Return what does not hold of the names found, best first; empty where all holds.

        >>> Check("exact title", "roadmap 1.4", "", first="v1.4.md").judge(["v1.3.md", "v1.4.md"])
        'v1.4.md is not first but 2nd'
        """
        return "; ".join(self._failing(names, spaces))

    def _failing(self, names: Sequence[str], spaces: Collection[str]) -> Iterator[str]:
        if self.first and list(names[:1]) != [self.first]:
            yield f"{self.first} is not first but {_place(names, self.first)}"
        for name in self.among:
            if name not in names[: self.within]:
                yield f"{name} is not among the first {self.within} but {_place(names, name)}"
        if self.above:
            upper, lower = self.above
            if upper not in names:
                yield f"{upper} is not found"
            elif lower in names and names.index(lower) < names.index(upper):
                yield f"{lower} is before {upper}"
        yield from (f"{name} is found" for name in self.absent if name in names)
        if self.space and (others := set(spaces) - {self.space}):
            yield f"hits of the space {sorted(others)[0]!r} are found"


def check_from(given: Mapping[str, Any]) -> Check:
    """Return a check as ``checks.toml`` writes it."""
    facets = {"tag": "tag", "path": "path", "in_space": "space", "since": "since", "until": "until"}
    within, *among = given.get("among", [0])
    return Check(
        category=given["category"],
        query=given["query"],
        why=given["why"],
        filters={facet: given[name] for name, facet in facets.items() if name in given},
        first=given.get("first", ""),
        among=tuple(among),
        within=within,
        above=tuple(given.get("above", ())),
        absent=tuple(given.get("absent", ())),
        space=given.get("space", ""),
    )


def _place(names: Sequence[str], name: str) -> str:
    if name not in names:
        return "not found"
    place = names.index(name) + 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(place, "th")  # answers have ten hits
    return f"{place}{ending}"
