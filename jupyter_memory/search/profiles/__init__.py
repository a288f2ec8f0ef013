"""The profiles: named rankings that say which evidence counts and how much."""

from __future__ import annotations

from jupyter_memory.errors import UnknownProfile, guess
from jupyter_memory.search.profiles.profile import (
    PROFILES,
    OverFetch,
    Profile,
    alike,
    auto,
    covalence,
    memini,
    memini_rrf,
    trovella,
    vault,
)
from jupyter_memory.search.profiles.toml import read_profile

__all__ = [
    "PROFILES", "OverFetch", "Profile", "alike", "auto", "covalence", "memini", "memini_rrf", "profile_named",
    "read_profile", "trovella", "vault",
]  # fmt: skip


def profile_named(name: str | Profile) -> Profile:
    """Return a profile by its name, from its file (a name that ends in ``.toml``), or the profile itself."""
    if isinstance(name, Profile):
        return name
    if isinstance(name, str) and name.endswith(".toml"):
        return read_profile(name)
    if isinstance(name, str) and name in PROFILES:
        return PROFILES[name]
    raise UnknownProfile(
        f"There is no profile {name!r}.{guess(name, PROFILES)} Known: {', '.join(PROFILES)}, or a file: ./mine.toml."
    )
