"""The code of a profile with weights set by sliders: Python, and a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_memory.errors import InputError
from jupyter_memory.search.profiles import PROFILES, Profile
from jupyter_memory.text.unicode import json_text


@dataclass(frozen=True, slots=True)
class ProfileCode:
    """The profile ``base`` with other ``weights`` by term.

    ``field`` is the field of the profile that holds those terms. ``written`` is how ``profile_named`` knows the base, a
    name or a file; empty where it does not.
    """

    base: Profile
    weights: Mapping[str, float]
    field: str = "terms"
    written: str = ""

    @property
    def name(self) -> str:
        """Return the name of the new profile."""
        return self.base.name if self.base.name.startswith("my-") else f"my-{self.base.name}"

    def python(self) -> str:
        """Return code that makes the profile and binds it to ``mine``."""
        base = (
            f"profile_named({json_text(self.written)})" if self.written else "profile  # the one that you searched with"
        )
        weights = ", ".join(f"{json_text(name)}: {weight!r}" for name, weight in self.weights.items())
        imports = ["from jupyter_memory.search.profiles import profile_named", ""] if self.written else []
        return "\n".join(
            [
                "from dataclasses import replace",
                "",
                *imports,
                f"base = {base}",
                f"weights = {{{weights}}}",
                "mine = base.replace(",
                f"    name={json_text(self.name)},",
                f"    {self.field}=tuple(",
                "        replace(one, weight=weights[one.name]) if one.name in weights else one",
                f"        for one in base.{self.field}",
                "    ),",
                ")",
                "# store.search(question, profile=mine)",
            ]
        )

    def toml(self, profile: Profile) -> str:
        """Return ``profile``, the new one, as the text of a file: only what differs, if the base has a name."""
        head = f"# Save it as {self.name}.toml, and search with it: %memsearch --profile ./{self.name}.toml question"
        if PROFILES.get(self.base.name) == self.base:
            lines = [head, f"base = {json_text(self.base.name)}"]
            for name, weight in self.weights.items():
                key = name if name.isidentifier() and name.isascii() else json_text(name)
                lines += ["", f"[{self.field}.{key}]", f"weight = {weight!r}"]
            return "\n".join(lines)
        try:
            return f"{head}\n{profile.to_toml()}".rstrip()
        except InputError as error:
            return f"# {error}"
