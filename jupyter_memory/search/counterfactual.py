"""Where a candidate would stand without the points of a term: the same candidates, added up again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from jupyter_memory.search.pipeline import Gathered, tallied
from jupyter_memory.search.postprocessing.copies import newer_first
from jupyter_memory.search.postprocessing.tally import Tally
from jupyter_memory.search.profiles.builtin import Profile


def ranks_without(gathered: Gathered, profile: Profile, keys: Collection[int]) -> dict[int, dict[str, int]]:
    """Return the rank of these candidates without the points of each term, by key and term.

    Where a candidate would be folded into one that says the same, it has no rank without that term.
    """
    found: dict[int, dict[str, int]] = {key: {} for key in keys}
    if not found:
        return found
    age = {one.key: newer_first(one.memory) for one in gathered.pool}
    whole = tallied(gathered, profile)
    for term in whole.contributions:
        left = {name: values for name, values in whole.contributions.items() if name != term}
        totals = _totals(replace(whole, contributions=left), profile)
        ordered = sorted(totals, key=lambda key: (-totals[key], *age[key]))
        ranks = {key: rank for rank, key in enumerate(ordered, start=1)}
        for key in keys & ranks.keys():
            found[key][term] = ranks[key]
    return found


def _totals(tally: Tally, profile: Profile) -> dict[int, float]:
    for step in profile.steps:
        tally = step(tally)
    return tally.totals()
