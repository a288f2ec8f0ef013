"""A failed run as the lookup compares it: its error's signature, and what the code that failed does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_memory.text.code import Words, features, origins, own_nodes, statement_at, syntax_tree, words_of
from jupyter_memory.text.errors import Frame, Raised, Signature, quoted, read_traceback, signature
from jupyter_memory.types import Run, RunError

# Earlier runs of a session in which the variables of a failed statement are looked for.
EARLIER = 25
# Sources are longer when they are data.
_LONGEST = 50_000
_WORD = re.compile(r"[^\W\d]\w*")
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed run: its signature, what the failed statement does, and where its variables came from."""

    run: Run
    signature: Signature
    code: frozenset[str]
    origins: frozenset[str]
    own: frozenset[str]


class Trees:
    """Sources as Python reads them, each read once."""

    def __init__(self) -> None:
        self._read: dict[str, ast.Module | None] = {}

    def of(self, source: str) -> ast.Module | None:
        """Return the tree of a source, None where there is none."""
        if source not in self._read:
            self._read[source] = syntax_tree(source) if len(source) <= _LONGEST else None
        return self._read[source]


def failure(run: Run, before: Sequence[Run], trees: Trees) -> Failure:
    """Return a failed run as it is compared; ``before`` are the earlier runs of its session, in their order.

    Without an error, only its code is compared.
    """
    error = run.error or RunError("", "")
    raised = read_traceback(error.traceback) if error.traceback else None
    modules = [module for one in before[-EARLIER:] if (module := trees.of(one.source)) is not None]
    module = trees.of(run.source)
    statement = statement_at(module, _line(run.source, raised)) if module is not None else None
    words = words_of(node for one in (*modules, module) if one is not None for node in ast.walk(one))
    if module is None or statement is None:
        code, made = _tokens(run.source, raised), frozenset[str]()
        words = Words(words.own | code, words.within)
    else:
        earlier = [one for part in modules for one in part.body]
        above = [one for one in module.body if one.lineno < statement.lineno]
        code, made = features(own_nodes(statement)), origins(statement, [*earlier, *above], _quoted(error.message))
    own = frozenset(word.lower() for word in words.own)
    return Failure(run, signature(error.name, error.message, raised, words), code, made, own)


def _quoted(message: str) -> frozenset[str]:
    """Return the words that a message quotes: of a path, the name of the file."""
    return frozenset(_WORD.findall(re.split(r"[/\\\\]", one)[-1])[0] for one in quoted(message) if _WORD.search(one))


def _line(source: str, raised: Raised | None) -> int | None:
    """Return the line of a cell at which an error left it: a function that failed may be of another cell."""
    lines = source.split("\n")
    for frame in _cells(raised):
        if frame.line and frame.line <= len(lines) and frame.source in lines[frame.line - 1]:
            return frame.line
    return None


def _cells(raised: Raised | None) -> Iterator[Frame]:
    for one in (raised, *raised.before) if raised else ():
        yield from (frame for frame in one.frames if frame.is_cell)


def _tokens(source: str, raised: Raised | None) -> frozenset[str]:
    """Return the words and signs of the line that failed, where Python cannot read the cell."""
    place = raised.of_user if raised else None
    return frozenset(_TOKEN.findall(place.source if place and place.source else source[:_LONGEST]))
