"""The names that a source in Python defines, as Python itself reads it: classes, functions, and what is assigned."""

from __future__ import annotations

import ast
import re
import symtable
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from jupyter_memory.text.code.languages import PYTHON
from jupyter_memory.text.structure import source_of

# Longer sources are data, and longer names too; nobody asks for the last of so many names.
LONGEST = 500_000
_LONGEST_NAME = 200
_MOST = 2_000
# `symtable` compares each name of a module with each of its functions and classes: a few milliseconds for so many.
_COMPARED = 200_000
# What Python calls a source while it reads it, and so the module of its warnings.
_NAMED = "<source of a memory>"
# Functions without a name, as `symtable` calls them.
_NAMELESS = frozenset({"lambda", "genexpr", "listcomp", "setcomp", "dictcomp"})
_IS_DEFINED = frozenset({"class", "function"})
# Without one of these, nothing is defined.
_DEFINING = re.compile(r"\b(?:def|class|for|with)\b|=")
# What only IPython understands: magics, commands of the shell, questions; alone, or with their result assigned.
_COMMAND = re.compile(r"^([ \t]*+)(?:[%!?][^\n]*|[\w.]++\?{1,2}[ \t]*+)$", re.MULTILINE)
_COMMAND_TAKEN = re.compile(r"^([ \t]*+\w[\w., \t]*+=)[ \t]*+[%!][^\n]*$", re.MULTILINE)


class Definitions(NamedTuple):
    """The names that a source defines, each once, in their order, separated by blanks.

    ``defined`` are the classes and functions of its top level, ``assigned`` its variables, ``nested`` the classes and
    functions within others. They stay in one piece, since a search looks at those of hundreds of files.
    """

    defined: str = ""
    assigned: str = ""
    nested: str = ""


def definitions(kind: str, lang: str, text: str) -> Definitions | None:
    """Return what the source of a memory defines, nothing where Python cannot read it; None if it is not in Python."""
    if lang.lower() != PYTHON:
        return None
    return definitions_of(source_of(text) if kind == "cell" else text)


def definitions_of(source: str) -> Definitions:
    """Return what a source defines, nothing where Python cannot read it.

    >>> definitions_of("RATE = 0.3\\nclass Meter:\\n    def read(self): ...")
    Definitions(defined='Meter', assigned='RATE', nested='read')
    """
    if len(source) > LONGEST or not _DEFINING.search(source):
        return Definitions()
    table = _table(source)
    if table is None:
        plain = without_commands(source)
        table = _table(plain) if plain != source else None
    return Definitions() if table is None else _definitions(table)


def without_commands(source: str) -> str:
    """Return a source with as many lines, and ``pass`` or 0 for what only IPython understands.

    >>> without_commands("%matplotlib inline\\nfiles = !ls")
    'pass\\nfiles = 0'
    """
    return _COMMAND_TAKEN.sub(r"\1 0", _COMMAND.sub(r"\1pass", source))


def _table(source: str) -> symtable.SymbolTable | None:
    """Return the names of a source, as Python's compiler lists them: far quicker than a tree of its syntax."""
    _ignore_warnings()
    try:
        return symtable.symtable(source, _NAMED, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Not Python, a null character or half a surrogate pair, nested too deeply, nested far too deeply.
        return None


def syntax_tree(source: str) -> ast.Module | None:
    """Return a source as Python reads it, the commands of IPython left out; None where it cannot, or that is long."""
    if len(source) > LONGEST:
        return None
    _ignore_warnings()
    for text in dict.fromkeys((source, without_commands(source))):
        try:
            return ast.parse(text, _NAMED)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # As above.
    return None


def _ignore_warnings() -> None:
    r"""Keep Python's warnings about a source, such as that of "\d" in a string, from whoever indexes it.

    The filter stays, since putting back those of before is not safe among threads. It concerns these sources only.
    """
    ours = ("ignore", None, Warning, re.compile(re.escape(_NAMED)), 0)
    if warnings.filters[:1] != [ours]:
        warnings.filterwarnings("ignore", module=re.escape(_NAMED))


def _definitions(table: symtable.SymbolTable) -> Definitions:
    top = list(_defined(table))
    children = max(1, len(table.get_children()))
    names = islice(table.get_identifiers(), _COMPARED // children)
    symbols = (table.lookup(name) for name in names)
    assigned = (one.get_name() for one in symbols if one.is_assigned() and not one.is_namespace())
    return Definitions(_few(one.get_name() for one in top), _few(assigned), _few(_nested(top)))


def _defined(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield the classes and functions right within another, or within a module."""
    for child in table.get_children():
        if str(child.get_type()) not in _IS_DEFINED:
            # The parameters of a generic class or function are a scope around it.
            yield from _defined(child)
        elif child.get_name() not in _NAMELESS:
            yield child


def _nested(tables: list[symtable.SymbolTable]) -> Iterator[str]:
    """Yield the names of classes and functions at any depth within others, in their order."""
    waiting = [child for table in reversed(tables) for child in reversed(list(_defined(table)))]
    while waiting:
        table = waiting.pop()
        yield table.get_name()
        waiting += reversed(list(_defined(table)))


def _few(names: Iterator[str]) -> str:
    short = (name for name in names if len(name) <= _LONGEST_NAME)
    return " ".join(islice(dict.fromkeys(short), _MOST))
