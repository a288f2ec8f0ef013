"""Statements of Python by what they do: what they call and how, which names they read, and which they change."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

_LONGEST_VALUE = 40
_LONGEST_TEXT = 10_000
_WORD = re.compile(r"\w+")
# The module that a path names.
_FILE = re.compile(r"(?<!\w)(\w+)\.py\b")
_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_BUILTINS = frozenset(dir(builtins))
# Nodes that every statement has, or whose parts say all.
_SILENT = (
    ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
    ast.alias, ast.keyword, ast.Expr, ast.Assign,
)  # fmt: skip
_OPERATIONS = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.AugAssign)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class Words:
    """The words of some code: ``own`` are variables, texts and their pieces, ``within`` all words in texts.

    What libraries call their parts is in neither.
    """

    own: frozenset[str]
    within: frozenset[str]


def statement_at(module: ast.Module, line: int | None) -> ast.stmt | None:
    """Return the smallest statement that has a line, or else the last one of the module."""
    found = [node for node in ast.walk(module) if isinstance(node, ast.stmt) and line and _has(node, line)]
    if found:
        return min(found, key=lambda node: (node.end_lineno or node.lineno) - node.lineno)
    return module.body[-1] if module.body else None


def _has(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement without the statements in it: of a loop, its first line."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        for field, value in ast.iter_fields(node):
            if field not in _BODIES or not isinstance(value, list):
                values = value if isinstance(value, list) else [value]
                waiting += [child for child in values if isinstance(child, ast.AST)]


def features(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return what some nodes do, one phrase each, whatever their variables are called.

    >>> sorted(features(own_nodes(ast.parse("frame = left.merge(right, on='id')").body[0])))
    ['arg merge:Name', 'attr merge', 'call merge', 'kw on', "kw on='id'"]
    """
    return frozenset(phrase for node in nodes for phrase in _phrases(node))


def _phrases(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, ast.Attribute):
        yield f"attr {node.attr}"
    elif isinstance(node, ast.Import):
        yield from (f"import {name}" for alias in node.names for name in _packages(alias.name))
    elif isinstance(node, ast.ImportFrom):
        yield from (f"import {name}" for name in _packages(node.module or "."))
        yield from (f"name {alias.name}" for alias in node.names)
        if node.level:
            yield "relative import"
    elif isinstance(node, _OPERATIONS):
        yield f"op {type(node.op).__name__}"
    elif isinstance(node, ast.Compare):
        yield from (f"op {type(one).__name__}" for one in node.ops)
    elif isinstance(node, ast.Subscript):
        yield f"subscript {type(node.slice).__name__} {type(node.ctx).__name__}"
    elif not isinstance(node, _SILENT):
        yield type(node).__name__


def _call(node: ast.Call) -> Iterator[str]:
    name = called(node)
    if name:
        yield f"call {name}"
    for keyword in node.keywords:
        if keyword.arg:
            yield f"kw {keyword.arg}"
            yield f"kw {keyword.arg}{_value(keyword.value)}"
    yield from (f"arg {name}:{_kind(argument)}" for argument in node.args)


def called(node: ast.Call) -> str:
    """Return the last name of what a call calls; nothing where it has none."""
    function = node.func
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def _value(node: ast.expr) -> str:
    return f"={node.value!r}"[:_LONGEST_VALUE] if isinstance(node, ast.Constant) else f":{_kind(node)}"


def _kind(node: ast.expr) -> str:
    return type(node.value if isinstance(node, ast.Constant) else node).__name__


def _packages(module: str) -> Iterator[str]:
    parts = module.split(".")
    return (".".join(parts[: length + 1]) for length in range(len(parts)))


def read_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the variables that some nodes name."""
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def changed_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that some nodes define, import, delete or change a part of.

    >>> sorted(changed_names(ast.walk(ast.parse("import os; frame['a'] = 1; del rows; x.y[0] = 2"))))
    ['frame', 'os', 'rows', 'x']
    """
    return frozenset(name for node in nodes for name in _changed(node))


def _changed(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        whole: ast.expr = node
        while isinstance(whole, ast.Attribute | ast.Subscript):
            whole = whole.value
        if isinstance(whole, ast.Name):
            yield whole.id
    elif isinstance(node, _DEFINITIONS):
        yield node.name
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).split(".")[0]


def origins(statement: ast.stmt, earlier: Sequence[ast.stmt], quoted: Set[str] = frozenset()) -> frozenset[str]:
    """Return what the statements do that made what a statement reads, step by step back through the earlier ones.

    Statements with a text that has one of the ``quoted`` words are among them: they may have made the file that is not
    found, or the column.
    """
    wanted = read_names(own_nodes(statement))
    found: set[str] = set()
    for one in reversed(earlier):
        if isinstance(one, ast.Import | ast.ImportFrom):
            continue
        nodes = list(ast.walk(one))
        if (made := changed_names(own_nodes(one)) & wanted) or not quoted.isdisjoint(_texts(nodes)):
            found |= features(nodes)
            wanted = (wanted - made) | read_names(nodes)
    return frozenset(found)


def _texts(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the words of the texts among some nodes."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _WORD.findall(node.value[:_LONGEST_TEXT])


def words_of(nodes: Iterable[ast.AST]) -> Words:
    """Return the words of some nodes.

    >>> words = words_of(ast.walk(ast.parse("frame.query('price>3'); import numpy")))
    >>> sorted(words.own), sorted(words.within)
    (['frame', 'price>3'], ['3', 'price'])
    """
    own: set[str] = set()
    within: set[str] = set()
    interface: set[str] = set()
    imports: list[ast.ImportFrom] = []
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            own.update((node.value, *node.value.split()))
            within.update(_WORD.findall(node.value[:_LONGEST_TEXT]))
        elif isinstance(node, ast.Name):
            own.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            imports.append(node)
        else:
            interface.update(_interface(node))
    # A module of one's own is imported like any other, but its file was written.
    files = frozenset(name for text in own for name in _FILE.findall(text[:_LONGEST_TEXT]))
    for node in imports:
        if node.module not in files:
            interface.update((node.module or "", *(alias.name for alias in node.names)))
        else:
            within.update(alias.name for alias in node.names)
    return Words(frozenset(own - interface - _BUILTINS | files), frozenset(within - interface | files))


def _interface(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.keyword) and node.arg:
        yield node.arg
    elif isinstance(node, ast.Import):
        yield from (name for alias in node.names for name in (alias.name, *alias.name.split(".")))
