"""Reads the fields of a JSON record that may hold anything, and says which one is wrong, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from jupyter_memory.errors import InputError

_LARGEST = 2**63


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one record; ``where`` names its file and line in errors, which never hold its values."""

    values: Mapping[str, Any]
    where: str

    def wrong(self, name: str, must: str) -> InputError:
        """Return the error of a field that is not what it must be."""
        return InputError(f"{self.where}: {name} must be {must}. Nothing was imported.")

    def text(self, name: str) -> str:
        value = self.values.get(name)
        if not isinstance(value, str):
            raise self.wrong(name, "a string")
        return value

    def maybe_text(self, name: str) -> str | None:
        return None if self.values.get(name) is None else self.text(name)

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def integer(self, name: str, *, least: int = 0) -> int:
        value = self.values.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value < _LARGEST:
            raise self.wrong(name, f"a whole number from {least}" if least >= 0 else "a whole number")
        return value

    def maybe_integer(self, name: str, *, least: int = 0) -> int | None:
        return None if self.values.get(name) is None else self.integer(name, least=least)

    def maybe_number(self, name: str) -> float | None:
        value = self.values.get(name)
        if value is not None and (not isinstance(value, int | float) or isinstance(value, bool)):
            raise self.wrong(name, "a number")
        return None if value is None else float(value)

    def moment(self, name: str) -> datetime:
        try:
            found = datetime.fromisoformat(self.text(name))
        except ValueError:
            raise self.wrong(name, "a time such as 2026-03-06T18:00:00+00:00") from None
        if found.tzinfo is None:
            raise self.wrong(name, "a time with its zone, such as 2026-03-06T18:00:00+00:00")
        return found

    def maybe_moment(self, name: str) -> datetime | None:
        return None if self.values.get(name) is None else self.moment(name)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self.wrong(name, "a list of strings")
        return tuple(value)

    def mapping(self, name: str) -> dict[str, Any]:
        value = self.values.get(name)
        if not isinstance(value, dict):
            raise self.wrong(name, "an object")
        return value

    def path(self, name: str) -> str:
        """Return a path as the catalog has it: from the root, and without ways back up."""
        value = self.text(name)
        rooted = PurePosixPath(value).is_absolute() or PureWindowsPath(value).is_absolute()
        if "\0" in value or not rooted or {".", ".."} & set(value.replace("\\", "/").split("/")):
            raise self.wrong(name, "a path from the root, without . and ..")
        return value
