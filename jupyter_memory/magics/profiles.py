"""`%memory profile`: how results are ranked, every number of it, and another way for this session."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from jupyter_memory.magics.parsing import Line
from jupyter_memory.magics.session import Session, say
from jupyter_memory.text.layout import columns

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.search.profiles.builtin import Profile


def profile(session: Session, line: Line) -> pd.DataFrame | None:
    """Show the ways of ranking, every number of one, or choose one for this session: by name or as a TOML file.

    Examples::

        %memory profile
        %memory profile covalence
        %memory profile show covalence
        %memory profile save mine.toml
        %memory profile ./mine.toml
    """
    from jupyter_memory.search.profiles.builtin import PROFILES, profile_named

    match line.arguments:
        case ["show"]:
            return _shown(profile_named(session.settings.profile))
        case ["show", name]:
            return _shown(profile_named(name))
        case ["save", file]:
            _save(profile_named(session.settings.profile), Path(file).expanduser())
            return None
        case ["save"]:
            raise UsageError("Name the file to write: %memory profile save mine.toml")
        case [name]:
            profile_named(name)  # what is wrong with it is said before it is chosen
            session.settings.profile = name
        case []:
            pass
        case _:
            raise UsageError("Name one profile: %memory profile auto, or %memory profile show auto")
    active = session.settings.profile
    rows = [("*" if name == active else " ", name, one.summary) for name, one in PROFILES.items()]
    if active not in PROFILES:
        rows.append(("*", active, _summary(active)))
    say(columns(rows))
    return None


def frame_of(profile: Profile) -> pd.DataFrame:
    """Return every constant of a profile: columns part, name, form, constant, value; the formula is in its attrs."""
    import pandas as pd

    from jupyter_memory.search.profiles.constants import constants

    rows = [(one.part, one.name, one.form, one.constant, one.value) for one in constants(profile)]
    frame = pd.DataFrame(rows, columns=["part", "name", "form", "constant", "value"])
    frame = frame.astype(dict.fromkeys(["part", "name", "form", "constant"], "str"))
    frame["value"] = frame["value"].astype(object)
    frame.attrs["profile"] = {"name": profile.name, "formula": profile.formula}
    return frame


def _shown(profile: Profile) -> pd.DataFrame:
    say(f"{profile.name}: {profile.summary}\nscore = {profile.formula}")
    for step in profile.steps:
        say(f"then: {step}")
    return frame_of(profile)


def _save(profile: Profile, file: Path) -> None:
    """Write a profile as a file that can be changed; the name of the file becomes its own."""
    from jupyter_memory.search.profiles.builtin import PROFILES, profile_named

    if file.suffix != ".toml" or file.stem in PROFILES:
        raise UsageError(f"Name a new file that ends in .toml, such as my-{profile.name}.toml")
    if file.exists():
        raise UsageError(f"{file} is there already: name a new one.")
    file.write_text(profile.replace(name=file.stem).to_toml(), encoding="utf-8")
    profile_named(str(file))
    say(f"{profile.name} is written to {file}. Change it, and search with it: %memory profile {file}")


def _summary(name: str) -> str:
    """Return what a file says of itself; a setting may name what is not there."""
    from jupyter_memory.errors import InputError, UnknownProfile
    from jupyter_memory.search.profiles.builtin import profile_named

    try:
        return profile_named(name).summary
    except (UnknownProfile, InputError) as error:
        return str(error)
