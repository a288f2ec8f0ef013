"""The parts of `%memory`, in the order in which a person meets them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from jupyter_memory.interface.options import BROWSE, FORGET, MODEL
from jupyter_memory.magics import care, contents, models, profiles
from jupyter_memory.magics.subcommand import Subcommand, overview

SUBCOMMANDS: Mapping[str, Subcommand] = MappingProxyType(
    {
        one.name: one
        for one in (
            Subcommand(care.status),
            Subcommand(contents.index, "PATH…", values="path"),
            Subcommand(contents.browse, options=BROWSE),
            Subcommand(contents.explain, "RANK | QUERY ID"),
            Subcommand(contents.pin, "ID…", values="id"),
            Subcommand(contents.unpin, "ID…", values="id"),
            Subcommand(contents.forget, "ID…", FORGET, values="id"),
            Subcommand(
                profiles.profile,
                "[NAME | show NAME | save FILE]",
                values="profile",
                after={"show": "profile", "save": "path"},
            ),
            Subcommand(
                models.model,
                "[list | use NAME | drop [NAME] | remove NAME]",
                MODEL,
                after={"list": (), **dict.fromkeys(("use", "drop", "remove"), ("nomic", "static", "minilm"))},
            ),
            Subcommand(care.config),
            Subcommand(care.autoload, "on|off|status", values=("on", "off", "status")),
            Subcommand(care.doctor),
            Subcommand(care.backup, "PATH", values="path"),
        )
    }
)

MEMORY_HELP = f"""Look after the memory. `%memsearch?` searches, `%memadd?` adds a note, `%memeval?` compares rankings.

{overview(SUBCOMMANDS)}
`{{name}}` and `$name` are replaced by the values of variables, which %memsearch and %memadd leave as they are.
"""
