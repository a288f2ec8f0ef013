"""Reads a profile from a TOML file."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, get_type_hints

from jupyter_memory.errors import InputError, UnknownProfile, guess
from jupyter_memory.search import fusion
from jupyter_memory.search.profiles.profile import FORMS, LISTED, NAMED, PROFILES, OverFetch, Profile
from jupyter_memory.text.identifiers import COLUMNS

_OWN = ("base", "without")


def read_profile(path: str | Path) -> Profile:
    """Return the profile that a TOML file describes; its name is the file's unless the file says another.

    ``base`` names the profile that it changes; without one the file says everything. ``without`` lists terms to leave
    out, ``[terms.NAME]`` and ``[signals.NAME]`` change one or add one (``is = "Weighted"``), ``[columns]`` replaces the
    columns.
    """
    file = Path(path).expanduser()
    try:
        # Windows' editors begin a file with a mark.
        given = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise UnknownProfile(
            f"There is no file {path}. Profiles that come with the package: {', '.join(PROFILES)}."
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8. Save it as UTF-8.") from None
    except OSError as error:
        raise UnknownProfile(f"{path} cannot be read: {error.__class__.__name__}.") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML: {error}.") from None
    return _Reader(str(path)).profile(given, file.stem)


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path

    def profile(self, given: Mapping[str, Any], stem: str) -> Profile:
        known = [*_OWN, *(field.name for field in dataclasses.fields(Profile))]
        self._check_keys("", given, known)
        if (asked := given.get("base")) not in (None, *PROFILES):
            raise UnknownProfile(
                f"{self.path}: base: there is no profile {asked!r}.{guess(asked, PROFILES)} "
                f"Known: {', '.join(PROFILES)}."
            )
        base = None if asked is None else PROFILES[asked]
        name = self._typed("name", given.get("name", stem), str)
        if name in PROFILES:
            self._fail(
                f'{name} is a profile that comes with the package; give this one another name: name = "my-{name}"'
            )
        try:
            start = base or Profile(name, "", (fusion.ReciprocalRank("keyword", 1.0),), {"text": 1.0})
            for term in self._typed("without", tuple(given.get("without", ())), tuple[str, ...]):
                start = start.without(term)
            if base is None and not given.get("terms"):
                self._fail(
                    f'it has neither a base nor terms. Start with: base = "covalence" (or {", ".join(PROFILES)})'
                )
            changes = {key: self._field(key, value, start, base) for key, value in given.items() if key not in _OWN}
            summary = f"{base.name}, changed by {Path(self.path).name}." if base else ""
            return dataclasses.replace(start, **{"summary": summary, **changes, "name": name})
        except InputError as error:
            if str(error).startswith(f"{self.path}: "):
                raise
            raise InputError(f"{self.path}: {error}") from None

    def _field(self, key: str, value: Any, start: Profile, base: Profile | None) -> Any:
        if key in NAMED:
            return self._parts(key, self._typed(key, value, dict), getattr(start, key) if base else (), base)
        if key in LISTED:
            tables = self._typed(key, value, list)
            return tuple(self._made(f"{key}[{at}]", key, self._typed(key, one, dict)) for at, one in enumerate(tables))
        if key == "columns":
            self._check_keys("columns", self._typed(key, value, dict), COLUMNS)
            return {name: self._typed(f"columns.{name}", weight, float) for name, weight in value.items()}
        kind = get_type_hints(Profile)[key]
        if dataclasses.is_dataclass(kind) and isinstance(value, dict):
            held = getattr(start, key)
            return dataclasses.replace(held or OverFetch(), **self._values(key, type(held or OverFetch()), value))
        return self._typed(key, value, kind)

    def _parts(self, key: str, given: Mapping[str, Any], held: Sequence[Any], base: Profile | None) -> tuple[Any, ...]:
        # Those held, changed where the file names them, and those that it adds.
        parts = {one.name: one for one in held}
        for name, table in given.items():
            where, values = f"{key}.{name}", dict(self._typed(f"{key}.{name}", table, dict))
            if name in parts and values.get("is", type(parts[name]).__name__) == type(parts[name]).__name__:
                values.pop("is", None)
                parts[name] = dataclasses.replace(parts[name], **self._values(where, type(parts[name]), values))
            elif "is" in values:
                parts[name] = self._made(where, key, {**values, "name": name})
            else:
                has = f"{base.name} has no {name!r} among its {key}.{guess(name, parts)} " if base else ""
                self._fail(f'{where}: {has}A new one needs a class: is = "{next(iter(FORMS[key]))}"')
        return tuple(parts.values())

    def _made(self, where: str, key: str, values: Mapping[str, Any]) -> Any:
        form = values.get("is")
        if form not in FORMS[key]:
            self._fail(f"{where}: is = {form!r} is not one of {', '.join(FORMS[key])}.{guess(form, FORMS[key])}")
        cls = FORMS[key][str(form)]
        checked = self._values(where, cls, {name: value for name, value in values.items() if name != "is"})
        needed = [one.name for one in dataclasses.fields(cls) if one.default is dataclasses.MISSING]
        if missing := [name for name in needed if name not in checked]:
            self._fail(f"{where}: {missing[0]} is missing.")
        return cls(**checked)

    def _values(self, where: str, cls: type, given: Mapping[str, Any]) -> dict[str, Any]:
        hints = get_type_hints(cls)
        self._check_keys(where, given, [one.name for one in dataclasses.fields(cls)])
        return {name: self._typed(f"{where}.{name}", value, hints[name]) for name, value in given.items()}

    def _typed(self, where: str, value: Any, kind: Any) -> Any:
        if kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            if not isfinite(value):
                self._fail(f"{where} must be finite.")
            return float(value)
        if kind is int and isinstance(value, int) and not isinstance(value, bool):
            return value
        if kind == bool | float:
            return value if isinstance(value, bool) else self._typed(where, value, float)
        if kind in (str, bool, dict, list):
            if isinstance(value, kind):
                return value
        elif kind == tuple[str, ...]:
            if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
                return tuple(value)
        elif kind not in (int, float):
            return value
        return self._fail(f"{where} must be {_SAID.get(kind, 'a list of texts')}, not {value!r:.60}.")

    def _check_keys(self, where: str, given: Mapping[str, Any], known: Sequence[str]) -> None:
        for key in given:
            if key not in known:
                place = f"{where}.{key}" if where else key
                self._fail(f"{place} is not known.{guess(key, known)} Known: {', '.join(known)}.")

    def _fail(self, why: str) -> NoReturn:
        raise InputError(f"{self.path}: {why}")


_SAID = {
    float: "a number",
    int: "a whole number",
    str: "a text",
    bool: "true or false",
    dict: "a table",
    list: "a list of tables",
}
