"""What is compared: profiles, single legs, and profiles with one part left out."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from jupyter_memory.search.fusion.terms import ReciprocalRank
from jupyter_memory.search.profiles.builtin import LEGS, PROFILES, Profile, profile_named

_COLUMNS = MappingProxyType({"title": 5.0, "text": 1.0})


def arms(names: Sequence[str] = ()) -> dict[str, Profile]:
    """Return profiles by label: those named, or every profile, each single leg, and ``auto-<term>`` for each term.

    Raises:
        UnknownProfile: a name is neither a profile, nor a leg, nor a profile and one of its terms.
    """
    if names:
        return {name: _arm(name) for name in names}
    auto = PROFILES["auto"]
    ablations = {f"auto-{term.name}": auto.without(term.name) for term in auto.terms}
    return {**PROFILES, **{leg: _arm(leg) for leg in LEGS}, **ablations}


def _arm(name: str) -> Profile:
    if name in LEGS:
        # In the order of the leg's own ranks.
        return Profile(name, f"The {name} leg alone.", (ReciprocalRank(name, 1.0),), _COLUMNS)
    base, dash, term = name.rpartition("-")
    if name not in PROFILES and dash and base in PROFILES and term in {one.name for one in PROFILES[base].terms}:
        return PROFILES[base].without(term)
    return profile_named(name)
