"""A cell with the earlier cells that it needs: the names that code uses and defines, and what it does beside that."""

from __future__ import annotations

import ast
import builtins
import dis
import re
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

from jupyter_memory.text.code import changed_names, syntax_tree
from jupyter_memory.text.unicode import ENCODED, REDACTED

_REFILL = "  # redacted: put the value in again"
# What IPython gives every cell: its functions, and the names of earlier inputs and results.
_GIVEN = re.compile(r"__\w+__|_{1,3}|_i{0,3}\d*|_oh|_dh|In|Out|display|get_ipython|exit|quit")
_KINDS: Mapping[str, Mapping[str, Any]] = tomllib.loads(Path(__file__).with_name("effects.toml").read_text())
_SHELL = re.compile(r"^[ \t]*+(?:[\w., \t]++=)?[ \t]*+!", re.MULTILINE)
_MAGIC = re.compile(r"^[ \t]*+(?:[\w., \t]++=[ \t]*+)?%{1,2}(\w+)", re.MULTILINE)
# A magic that runs the rest of its line, or of its cell, as it is written there.
_TIMED = re.compile(r"^([ \t]*+)%(?:time|timeit|prun|memit)[ \t]++(?=[^-\s])", re.MULTILINE)
_AROUND = re.compile(r"\A\s*+%%(?:capture|time|timeit|prun)\b[^\n]*+\n?")
# They must be the first statements of a cell.
_FUTURE = re.compile(r"^from __future__ import [^\n]+", re.MULTILINE)
# Magics that may define any name, from where they read it.
_DEFINING = frozenset({"run", "pylab", "store", "load"})
_HARMLESS = frozenset({"time", "timeit", "capture", "prun", "memit", "matplotlib"})
# The beginnings of functions that read what an address names.
_READING = re.compile(r"(?:read|load|fetch|get|open|download|imread)")
_ADDRESS = re.compile(r"(?:https?|ftp|s3|gs)://")
# Methods that change what they are called on, where their result is shown; one that is thrown away says the same.
_CHANGING = frozenset(
    {"append", "extend", "insert", "add", "update", "fit", "sort", "execute", "executemany", "compile"}
)
_SHOWING = frozenset(
    {"head", "tail", "info", "describe", "show", "plot", "hist", "print", "summary", "close", "display"}
)
_FEW = 8  # names in a sentence


@dataclass(frozen=True, slots=True)
class Step:
    """A cell, or a run of one: what it is called in a sentence, such as ``cell 3``, and its source."""

    label: str
    source: str


@dataclass(frozen=True, slots=True)
class Runnable:
    """A text that runs by itself if it can, and in sentences what is missing in it or left out of it."""

    text: str
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Cell:
    step: Step
    readable: bool = True
    needs: frozenset[str] = frozenset()
    defines: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    deletes: frozenset[str] = frozenset()
    imports: Mapping[str, str] = field(default_factory=dict)  # the statement that alone binds a name
    stars: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    magics: frozenset[str] = frozenset()


def made_runnable(steps: Sequence[Step], at: int, held: Container[str] = (), *, effects: bool = False) -> Runnable:
    """Return the source at a place among steps in Python, below those above it that define or change what it uses."""
    imports: dict[str, str] = {}
    doing: dict[str, tuple[str, ...]] = {}
    cells = [_read(step, imports, doing) for step in steps]
    found, above = cells[at], cells[:at]
    if found.step.source.lstrip().startswith("%%") and not _AROUND.match(found.step.source):
        magic = found.step.source.split(maxsplit=1)[0]
        return Runnable(found.step.source, (f"The cell begins with {magic}, so it stands alone: nothing is added.",))
    if not found.readable:
        said = "The cell cannot be read as Python, so nothing is added to it."
        return Runnable(f"# {said}\n{_marked(found.step.source)[0]}", (said,))
    taken = _Taken(held, effects, imports.keys())
    late = frozenset[str]()
    # What a function uses may be defined below it.
    while more := taken.take(found, above, late) - late:
        late |= more
    notices = [*taken.notices, *_of_unknown(taken, cells, at)]
    if taken.used:
        notices.append(f"Not added, since the kernel has them: {_named(taken.used)}.")
    if found.effects:
        notices.append(f"The cell itself {_and(found.effects)}.")
    magics = found.magics.union(*(cell.magics for cell, _ in taken.chosen)) - _HARMLESS
    if magics:
        shown = _and([f"%{name}" for name in sorted(magics)])
        notices.append(f"It has magics, {shown}; what they need is not looked up.")
    return _joined(found, taken.chosen[::-1], [*taken.first][::-1], notices)


class _Taken:
    """The cells and imports that are taken from above a cell, and what is said of the others."""

    def __init__(self, held: Container[str], effects: bool, modules: Set[str]) -> None:
        self._held, self._effects, self._modules = held, effects, modules
        self.used: set[str] = set()

    def take(self, found: _Cell, above: Sequence[_Cell], late: Set[str]) -> frozenset[str]:
        """Go up from a cell; return the names that are left, and yet defined in one of the cells above."""
        self.wanted, self.notices, self.first = self._missing(found) | late, list[str](), dict[str, None]()
        self.chosen: list[tuple[_Cell, str]] = []
        twice, met = set[str](), set[str]()
        for cell in reversed(above):
            label, made = cell.step.label, cell.defines & self.wanted
            imported, changed = made & cell.imports.keys(), (cell.changes & self.wanted) - made - self._modules
            own, deleted = made - imported, cell.deletes & self.wanted
            if deleted:
                self.notices.append(f"Deleted by {label}, so what is above that counts: {_named(deleted)}.")
            did = [f"{verb} {_named(some)}" for verb, some in (("defines", own), ("changes", changed)) if some]
            if did and (self._effects or not cell.effects):
                self.chosen.append((cell, " and ".join(did)))
                self.wanted = (self.wanted - made) | (self._missing(cell) - late)
            else:
                twice |= cell.defines & met
                self.first |= dict.fromkeys(cell.imports[name] for name in sorted(imported))
                self.wanted -= made
                if did:
                    self.notices.append(f"Left out, since it {_and(cell.effects)}: {label}, which {' and '.join(did)}.")
            met |= own
        if twice:
            self.notices.append(f"Defined more than once, the last time above the cell counts: {_named(twice)}.")
        return self.wanted.intersection(name for cell in above for name in cell.defines)

    def _missing(self, cell: _Cell) -> frozenset[str]:
        self.used.update(name for name in cell.needs if name in self._held)
        return frozenset(name for name in cell.needs if name not in self._held)


def _of_unknown(taken: _Taken, cells: Sequence[_Cell], at: int) -> Iterator[str]:
    # What is said of the names that nothing above defines, for which all that is imported with a star is taken.
    if not taken.wanted:
        return
    stars = [one for cell in cells[:at] for one in cell.stars]
    taken.first |= dict.fromkeys(stars)
    if below := {name for cell in cells[at + 1 :] for name in cell.defines & taken.wanted}:
        yield f"Defined only below the cell, so not added: {_named(below)}."
    if rest := taken.wanted - below:
        maybe = [f"`{star}`" for star in stars]
        maybe += [f"{cell.step.label}, which Python cannot read" for cell in cells[:at] if not cell.readable]
        maybe += [f"a magic of {cell.step.label}" for cell in cells[:at] if cell.magics & _DEFINING]
        yield (
            f"Perhaps from {_and(maybe[:_FEW])}: {_named(rest)}." if maybe else f"Nothing known defines {_named(rest)}."
        )


def _joined(found: _Cell, chosen: Sequence[tuple[_Cell, str]], first: Sequence[str], notices: list[str]) -> Runnable:
    if not (chosen or first or notices or REDACTED in found.step.source or ENCODED in found.step.source):
        return Runnable(found.step.source)
    future = [line for cell, _ in chosen for line in _FUTURE.findall(cell.step.source)]
    future += _FUTURE.findall(found.step.source)
    first = [*dict.fromkeys((*future, *(line for line in first if line not in future)))]
    blocks = ["# Imports.\n" + "\n".join(first)] if first else []
    for cell, why in (*chosen, (found, "")):
        source, hidden = _marked(_FUTURE.sub("", _AROUND.sub("", cell.step.source, count=1)).strip("\n"))
        if hidden:
            notices.append(f"A value in {cell.step.label} was redacted: put it in again.")
        if _AROUND.match(cell.step.source):
            notices.append(
                f"The magic in the first line of {cell.step.label} is left out: it must be the first of a cell."
            )
        careful = f"; it {_and(cell.effects)}" if why and cell.effects else ""
        about = f"{cell.step.label} {why}{careful}." if why else f"{cell.step.label}, the one that was found."
        blocks.append(f"# {about[0].upper()}{about[1:]}\n{source}")
    if not chosen and not first:
        blocks = [blocks[-1].partition("\n")[2]]
    # The newest sentence is about what is nearest to the cell.
    said = "\n".join(f"# {notice}" for notice in notices)
    return Runnable("\n\n".join(filter(None, (said, *blocks))), tuple(notices))


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _named(names: Iterable[str]) -> str:
    every = sorted(names)
    return ", ".join(every[:_FEW]) + (f" and {len(every) - _FEW} more" if len(every) > _FEW else "")


def _marked(source: str) -> tuple[str, bool]:
    # Marks the lines with a redacted value, but not within a text of several lines, which a comment would change.
    lines, tree = source.split("\n"), syntax_tree(source)
    hidden = [place for place, line in enumerate(lines) if REDACTED in line or ENCODED in line]
    for place in hidden:
        marked = "\n".join([*lines[:place], lines[place] + _REFILL, *lines[place + 1 :]])
        with_it = syntax_tree(marked)
        if tree is None or (with_it is not None and ast.dump(with_it) == ast.dump(tree)):
            lines[place] += _REFILL
    return "\n".join(lines), bool(hidden)


def _read(step: Step, imports: dict[str, str], doing: dict[str, tuple[str, ...]]) -> _Cell:
    # ``imports`` is what the names of all cells so far stand for, ``doing`` what their functions do when called.
    magics = frozenset(_MAGIC.findall(step.source))
    if step.source.lstrip().startswith("%%") and not _AROUND.match(step.source):
        return _Cell(step, effects=_effects((), step.source, magics, imports, doing), magics=magics)
    plain = _TIMED.sub(r"\1", step.source)
    tree = syntax_tree(plain)
    try:
        names = None if tree is None else _Names(tree)
    except (SyntaxError, ValueError, RecursionError):
        names = None
    if tree is None or names is None:
        return _Cell(step, readable=False, magics=magics)
    nodes = list(_executed(tree))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    stored |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)}
    own, stars = {}, []
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            stars += [ast.unparse(node)] * any(alias.name == "*" for alias in node.names)
            for alias in node.names:
                name = alias.asname or (alias.name if module else alias.name.partition(".")[0])
                imports[name] = f"{module}{alias.name}" if alias.asname or module else name
                if node in tree.body and name not in stored and alias.name != "*":
                    one = ast.copy_location(type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]}), node)
                    own[name] = ast.unparse(one)
    found = _effects(nodes, step.source, magics, imports, doing)
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            doing[node.name] = _effects(list(ast.walk(node)), "", frozenset(), imports, doing)
    changes = changed_names(nodes) | _called_for_change(tree, nodes, stored)
    return _Cell(
        step,
        needs=names.needs,
        defines=names.defines,
        changes=frozenset(changes - names.defines),
        deletes=names.deletes,
        imports=own,
        stars=tuple(stars),
        effects=found,
        magics=magics,
    )


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    # The nodes that run with the cell itself: not the bodies of its functions.
    for child in ast.iter_child_nodes(tree):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _executed(child)


def _called_for_change(tree: ast.Module, nodes: Iterable[ast.AST], stored: Set[str]) -> set[str]:
    last, changed = tree.body[-1] if tree.body else None, set[str]()
    for node in nodes:
        if not (isinstance(node, ast.Expr) and isinstance(call := node.value, ast.Call)):
            continue
        by: ast.expr = call.func
        method = by.attr if isinstance(by, ast.Attribute) else ""
        while isinstance(by, ast.Attribute):
            by = by.value
        in_place = any(one.arg == "inplace" for one in call.keywords)
        if not isinstance(by, ast.Name) or by.id in stored:
            continue
        if method and (method in _CHANGING or in_place or (node is not last and method not in _SHOWING)):
            changed.add(by.id)
    return changed


class _Names:
    """The names of a module as its compiler sees them: used before they are bound, bound at its end, and deleted."""

    def __init__(self, tree: ast.Module) -> None:
        code = compile(tree, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        caught = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)}
        bound, needs, deletes = set[str](), set[str](), set[str]()
        for one in dis.get_instructions(code):
            operation, _, kind = one.opname.partition("_")
            if kind not in ("NAME", "GLOBAL") or operation not in ("LOAD", "STORE", "DELETE"):
                continue
            if operation == "STORE":
                bound.add(one.argval)
                deletes.discard(one.argval)
            elif one.argval not in bound:
                needs.add(one.argval)
            if operation == "DELETE":
                bound.discard(one.argval)
                deletes |= {one.argval} - caught
        # What functions use may be bound until they are called.
        needs.update(name for name in _used_within(code) if name not in bound)
        given = {name for name in needs if name in vars(builtins) or _GIVEN.fullmatch(name)}
        self.needs, self.defines, self.deletes = frozenset(needs - given), frozenset(bound), frozenset(deletes)


def _used_within(code: CodeType) -> Iterator[str]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            own = {one.argval for one in dis.get_instructions(inner) if one.opname == "STORE_NAME"}
            for one in dis.get_instructions(inner):
                if one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") and one.argval not in own:
                    yield one.argval
            yield from _used_within(inner)


def _effects(
    nodes: Iterable[ast.AST],
    source: str,
    magics: Set[str],
    imports: Mapping[str, str],
    doing: Mapping[str, tuple[str, ...]],
) -> tuple[str, ...]:
    found = {kind for kind, rows in _KINDS.items() if not magics.isdisjoint(rows["magics"])}
    said = {"shell"} if _SHELL.search(source) else set[str]()
    sentences = dict[str, None]()
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        root, dot, rest = name.partition(".")
        whole, method = imports.get(root, root) + dot + rest, name.rpartition(".")[2]
        sentences |= dict.fromkeys(doing.get(name, ()))
        texts = [
            one.value for one in (*node.args, *(key.value for key in node.keywords)) if isinstance(one, ast.Constant)
        ]
        for kind, rows in _KINDS.items():
            module = whole.partition(".")[0] in rows["modules"] and root in imports
            if module or whole in rows["functions"] or (dot and method in rows["methods"]):
                found.add(kind)
        modes = (set(one) for one in texts if isinstance(one, str))
        if method == "open" and any(mode <= set("rbtwax+") and mode & set("wax+") for mode in modes):
            found.add("files")
        if _READING.match(method) and any(isinstance(one, str) and _ADDRESS.match(one) for one in texts):
            found.add("network")
    return (*(rows["sentence"] for kind, rows in _KINDS.items() if kind in found | said), *sentences)
