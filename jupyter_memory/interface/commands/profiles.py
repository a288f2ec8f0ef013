"""The commands about profiles: how results are ranked, every number of it, and another way for this session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_memory.errors import InputError, UnknownProfile
from jupyter_memory.interface.commands.command import Call, WrongUsage, usage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.text.display import columns
from jupyter_memory.text.unicode import json_text

if TYPE_CHECKING:
    from jupyter_memory.search.profiles import Profile

USAGE = "Name one profile: %memory profile auto, or %memory profile show auto"


def profile(front: Front, call: Call) -> None:
    """Show the ranking profiles or every number of one, or choose one for this session: by name or as a TOML file.

    Examples::

        %memory profile
        %memory profile covalence
        %memory profile show covalence
        %memory profile save mine.toml
        %memory profile ./mine.toml
    """
    # Imported late, here and below: help and wrong usage need no profiles.
    from jupyter_memory.search.profiles import profile_named

    if len(call.words) > 1:
        raise WrongUsage(USAGE)
    for name in call.words:
        profile_named(name)  # a mistake in it is reported before it is chosen
        front.settings.profile = name
    list_(front, call)


def list_(front: Front, call: Call) -> None:
    """Show the profiles; a star marks the one that the settings choose."""
    from jupyter_memory.search.profiles import PROFILES

    active = front.settings.profile
    rows = [("*" if name == active else " ", name, one.summary) for name, one in PROFILES.items()]
    if active not in PROFILES:
        rows.append(("*", active, _summary(active)))
    front.say(columns(rows))


def show(front: Front, call: Call) -> object:
    """Show a profile by name, or one in a TOML file: its formula and every constant."""
    from jupyter_memory.search.profiles import profile_named

    if len(call.words) > 1:
        raise WrongUsage(USAGE)
    with usage():
        chosen = profile_named(call.words[0] if call.words else front.settings.profile)
    if call.values.get("toml"):
        front.say(_as_new_file(chosen).rstrip("\n"))
    elif call.values.get("json"):
        front.say(json_text(_to_json(chosen), indent=2))
    else:
        return front.show_profile(chosen)
    return None


def save(front: Front, call: Call) -> None:
    """Write the profile in use into a file that can be changed; the name of the file becomes its own."""
    from jupyter_memory.search.profiles import PROFILES, profile_named

    chosen, file = profile_named(front.settings.profile), Path(call.words[0]).expanduser()
    if file.suffix != ".toml" or file.stem in PROFILES:
        raise WrongUsage(f"Name a new file that ends in .toml, such as my-{chosen.name}.toml")
    if file.exists():
        raise WrongUsage(f"{file} is there already: name a new one.")
    file.write_text(chosen.replace(name=file.stem).to_toml(), encoding="utf-8")
    profile_named(str(file))
    front.say(f"{chosen.name} is written to {file}. Change it, and search with it: %memory profile {file}")


def _as_new_file(profile: Profile) -> str:
    """Return a profile as TOML; a file may not have the name of a profile that comes with the package."""
    from jupyter_memory.search.profiles import PROFILES

    named = profile.replace(name=f"my-{profile.name}") if profile.name in PROFILES else profile
    return named.to_toml()


def _to_json(profile: Profile) -> dict[str, object]:
    from jupyter_memory.search.profiles.profile import constants

    rows = [
        {"part": one.part, "name": one.name, "form": one.form, "constant": one.constant, "value": one.value}
        for one in constants(profile)
    ]
    return {"name": profile.name, "summary": profile.summary, "formula": profile.formula, "constants": rows}


def _summary(name: str) -> str:
    """Return the summary in a profile's file, or what is wrong with it: a setting may name a file that is gone."""
    from jupyter_memory.search.profiles import profile_named

    try:
        return profile_named(name).summary
    except (UnknownProfile, InputError) as error:
        return str(error)
