"""Every number that a profile consists of, by name, so that it can be shown and compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from jupyter_memory.search.profiles.profile import Profile

# What names a part or describes the whole is no constant of the sum.
_NAMES = ("name", "summary")


@dataclass(frozen=True, slots=True)
class Constant:
    """One value of a profile: ``part`` is term, signal, column …, ``form`` the class of the part, such as Weighted."""

    part: str
    name: str
    form: str
    constant: str
    value: Any


def constants(profile: Profile) -> list[Constant]:
    """Return every constant of a profile: of its terms and signals, the columns, the fetch, the steps and the rest.

    >>> from jupyter_memory.search.profiles.builtin import trovella
    >>> [(one.name, one.constant, one.value) for one in constants(trovella)][:2]
    [('keyword', 'weight', 1.0), ('keyword', 'k', 60.0)]
    """
    found: list[Constant] = []
    for field in fields(profile):
        value = getattr(profile, field.name)
        if field.name == "columns":
            found += [Constant("column", name, "", "weight", weight) for name, weight in value.items()]
        elif field.name == "keyword_only":
            found += [one for part in value for one in _of_part("term, words alone", part)]
        elif isinstance(value, tuple):
            found += [one for part in value for one in _of_part(field.name.removesuffix("s"), part)]
        elif is_dataclass(value):
            found += _of_part(field.name, value)
        elif field.name not in _NAMES:
            found.append(Constant("rule", "", "", field.name, value))
    return found


def _of_part(part: str, value: Any) -> Iterator[Constant]:
    """Yield the constants of a term, a signal or a step; one that has none is named all the same."""
    form = type(value).__name__
    name = getattr(value, "name", "")
    held = [one.name for one in fields(value)] if is_dataclass(value) else []
    told = [one for one in held if one != "name" and getattr(value, one) not in ("", ())]
    if not told:
        yield Constant(part, name, form, "", "")
    for constant in told:
        yield Constant(part, name, form, constant, getattr(value, constant))
