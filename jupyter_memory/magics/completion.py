"""Completes options, subcommands and their values in lines of the magics."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from glob import escape, glob
from pathlib import Path
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.interactiveshell import InteractiveShell

from jupyter_memory.config import has_store
from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.interface.commands.command import Command, offered
from jupyter_memory.interface.options import ADD, SEARCH, Option
from jupyter_memory.magics.magics import FIX, IN_A_NOTEBOOK
from jupyter_memory.magics.memeval import MEMEVAL
from jupyter_memory.magics.parsing import MEMORY
from jupyter_memory.magics.session import Session
from jupyter_memory.stores import ALL, listed_stores

IDENTIFIER = "jupyter_memory.magics"
_LINE = re.compile(r"^\s*+(?:[\w.,\s]++=\s*+)?%{1,2}(memsearch|memadd|memfix|memory|memeval)\s++(.*)$")
_TIMES = ("today", "yesterday", '"last week"', '"last month"', '"this year"')
# A filter among the words, or an option with an equals sign: values follow both.
_NAMED = re.compile(r"-?(?P<filter>[a-z]+):|(?P<flag>--[a-z-]+)=")
_SAME = {"after": "since", "before": "until"}
_OPTIONS = {"memsearch": (*SEARCH, *IN_A_NOTEBOOK), "memadd": ADD, "memfix": FIX}
_LANGUAGES = ("python", "markdown", "text", "r", "julia", "sql")


def complete(session: Session, line: str, token: str) -> list[str]:
    """Return what can replace ``token``, the end of the line as IPython splits it."""
    match = _LINE.match(line)
    if match is None:
        return []
    rest = match[2]
    # What is being typed is a word, or all that follows the last quotation mark.
    word = len(rest) - len(rest.split(" ")[-1].split("\t")[-1])
    typed = rest[min(place for place in (word, rest.rfind('"'), rest.rfind("'")) if place >= 0) :]
    before = rest[: len(rest) - len(typed)].split()
    named = _NAMED.match(typed)
    candidates: Collection[str] = ()
    if named is not None:
        from jupyter_memory.search.query.parser import TIMES
        from jupyter_memory.types import FACETS

        if named["filter"] and (match[1] != "memsearch" or named["filter"] not in (*FACETS, *TIMES)):
            return []
        # IPython splits after a colon and after an equals sign: the part before stays.
        typed = typed[named.end() :]
        flag = named["flag"] or f"--{_SAME.get(named['filter'], named['filter'])}"
        option = next((one for one in _grammar(match[1], before)[0] if flag in one.flags and one.metavar), None)
    else:
        options, kinds = _grammar(match[1], before)
        option = next((one for one in options if before and before[-1] in one.flags and one.metavar), None)
        if option is None and typed.startswith("-"):
            candidates = [flag for one in options for flag in one.flags]
        elif option is None:
            candidates = [text for kind in kinds for text in _values(session, kind, typed)]
    if option is not None:
        candidates = _values(session, option.choices or option.name, typed)
    # IPython may have split what is one word here, and replaces only the second part.
    shared = len(typed) - len(token) if typed.endswith(token) else 0
    plain = [text[shared:] for text in candidates if text.startswith(typed)]
    quoted = [text for text in candidates if text.startswith(('"' + typed, "'" + typed))]
    return plain + (quoted if typed and not shared else [])


def _values(session: Session, kind: str | tuple[str, ...], typed: str) -> Collection[str]:
    match kind:
        case tuple():
            return kind
        case "tag" | "about_tag":
            # Completing tags must not create the store.
            with suppress(JupyterMemoryError):
                tags = session.store.tags() if has_store(session.settings) else []
                return [f'"{tag}"' if " " in tag else tag for tag in tags]
        case "profile":
            from jupyter_memory.search.profiles import PROFILES

            return _paths(typed) if "/" in typed else tuple(PROFILES)
        case "in" | "to":
            return [*(one.name for one in listed_stores(session.settings.stores)), *([ALL] if kind == "in" else [])]
        case "id":
            return session.shown.ids if session.shown else ()
        case "path" | "source":
            return _paths(typed)
        case "lang":
            return _LANGUAGES
        case "since" | "until" | "as_of" | "on" | "event_at":
            return _TIMES
        case "var":
            names = session.shell.user_ns.items()
            return [name for name, value in names if isinstance(value, str) and not name.startswith("_")]
    return ()


def _grammar(magic: str, before: Sequence[str]) -> tuple[Sequence[Option], Sequence[str | tuple[str, ...]]]:
    if magic in _OPTIONS:
        return _OPTIONS[magic], ()
    commands: Mapping[str, Command[Any]] = (MEMEVAL if magic == "memeval" else MEMORY).commands
    if not before:
        return (), (tuple(commands),)
    command = commands.get(before[0])
    if command is None:
        return (), ()
    below = offered(command.below, "notebook")
    if len(before) == 1:
        return command.options, (tuple(below), command.values)
    if below:
        return command.options, (below[before[1]].values if before[1] in below else (),)
    return command.options, (command.values,)


def _paths(typed: str) -> list[str]:
    # Folders with a slash, names with a space in quotes.
    quote = typed[:1] if typed[:1] in ("'", '"') else ""
    begun = typed.removeprefix(quote)
    home = str(Path("~").expanduser())
    expanded = home + begun[1:] if begun == "~" or begun.startswith("~/") else begun
    found = []
    for path in sorted(glob(escape(expanded) + "*")):  # noqa: PTH207  as typed: Path would tidy "./"
        shown = path + "/" if Path(path).is_dir() else path
        shown = "~" + shown[len(home) :] if expanded != begun else shown
        found.append(f"{quote or chr(34)}{shown}{quote or chr(34)}" if quote or " " in shown else shown)
    return found


def install(shell: InteractiveShell, session: Session) -> None:

    @context_matcher(identifier=IDENTIFIER, priority=100)  # type: ignore[untyped-decorator]
    def match(context: CompletionContext) -> SimpleMatcherResult:
        below_a_cell_magic = context.cursor_line > 0 and context.full_text.lstrip().startswith("%%")
        found = [] if below_a_cell_magic else complete(session, context.text_until_cursor, context.token)
        completions = [SimpleCompletion(text, type="option") for text in found]
        return {"completions": completions, "suppress": bool(found), "ordered": True}

    shell.Completer.custom_matchers.append(match)
