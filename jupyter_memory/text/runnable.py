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

from jupyter_memory.text.code import changed_names, syntax_tree
from jupyter_memory.text.unicode import ENCODED, REDACTED

_REFILL = "  # redacted: put the value in again"
# What IPython gives every cell: its functions, and the names of earlier inputs and results.
_GIVEN = re.compile(r"__\w+__|_{1,3}|_i{0,3}\d*|_oh|_dh|In|Out|display|get_ipython|exit|quit")
_KINDS: Mapping[str, Mapping[str, Sequence[str]]] = tomllib.loads(Path(__file__).with_name("effects.toml").read_text())
_SHELL = re.compile(r"^[ \t]*+(?:[\w., \t]++=)?[ \t]*+!", re.MULTILINE)
_MAGIC = re.compile(r"^[ \t]*+(?:[\w., \t]++=[ \t]*+)?%{1,2}(\w+)", re.MULTILINE)
# A magic that runs the rest of its line, or of its cell, as it is written there.
_TIMED = re.compile(r"^([ \t]*+)%(?:time|timeit|prun|memit)[ \t]++(?=[^-\s])", re.MULTILINE)
_AROUND = re.compile(r"\s*+%%(?:capture|time|timeit|prun)\b[^\n]*+\n?")
# They must be the first statements of a cell.
_FUTURE = re.compile(r"^from __future__ import [^\n]+", re.MULTILINE)
# Magics that may define any name, from where they read it.
_DEFINING = frozenset({"run", "pylab", "store", "load"})
# The beginnings of functions that read what an address names.
_READING = re.compile(r"(?:read|load|fetch|get|open|download|imread)")
_ADDRESS = re.compile(r"(?:https?|ftp|s3|gs)://")
# Methods that change what they are called on, where their result is shown; one that is thrown away says the same.
_CHANGING = frozenset({"append", "extend", "insert", "add", "update", "fit", "sort", "execute", "executemany", "compile"})
_SHOWING = frozenset({"head", "tail", "info", "describe", "show", "plot", "hist", "print", "summary", "close", "display"})
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
    """Return the source at a place among steps in Python, below those above it that define or change what it uses.

    Names that are ``held`` are known already. Imports come first. Steps that write files, use the network or run
    commands are left out, unless ``effects`` are wanted.
    """
    imports: dict[str, str] = {}
    doing: dict[str, tuple[str, ...]] = {}
    cells = [_read(step, imports, doing) for step in steps]
    found, above = cells[at], cells[:at]
    if found.step.source.lstrip().startswith("%%") and not _AROUND.match(found.step.source):
        magic = found.step.source.split(maxsplit=1)[0]
        return Runnable(found.step.source, (f"The cell begins with {magic}, so it stands alone: nothing is added.",))
    if not found.readable:
        return Runnable(
            _marked(found.step.source)[0], ("The cell cannot be read as Python, so nothing is added to it.",)
        )

    used: set[str] = set()

    def missing(cell: _Cell) -> frozenset[str]:
        used.update(name for name in cell.needs if name in held)
        return frozenset(name for name in cell.needs if name not in held)

    late = frozenset[str]()
    while True:
        wanted, notices, first = missing(found) | late, list[str](), dict[str, None]()
        chosen: list[tuple[_Cell, str]] = []
        by: dict[str, _Cell] = {}
        for cell in reversed(above):
            label, made = cell.step.label, cell.defines & wanted
            imported, changed = made & cell.imports.keys(), (cell.changes & wanted) - made - imports.keys()
            own = made - imported
            if gone := cell.deletes & wanted:
                notices.append(f"Deleted by {label}, so what is above that counts: {_named(gone)}.")
            if own | changed:
                did = " and ".join(f"{verb} {_named(some)}" for verb, some in (("defines", own), ("changes", changed)) if some)
                if cell.effects and not effects:
                    notices.append(f"Left out, since it {_and(cell.effects)}: {label}, which {did}.")
                    wanted -= own
                else:
                    chosen.append((cell, did))
                    by |= dict.fromkeys(own, cell)
                    wanted = (wanted - made) | missing(cell)
                    continue
            first |= dict.fromkeys(cell.imports[name] for name in sorted(imported))
            wanted -= imported
        # What a function uses may be defined below it.
        more = wanted.intersection(name for cell in above for name in cell.defines) - late
        if not more:
            break
        late |= more
    included = {id(cell) for cell, _ in chosen}
    again = {name for name, cell in by.items() for one in above[: above.index(cell)]
             if name in one.defines and id(one) not in included}  # fmt: skip
    if again:
        notices.append(f"Defined more than once, the last time above the cell counts: {_named(again)}.")
    if wanted:
        stars = [one for cell in above for one in cell.stars]
        below = {name for cell in cells[at + 1 :] for name in cell.defines & wanted}
        unread = [cell.step.label for cell in above if not cell.readable]
        magics = [cell.step.label for cell in above if cell.magics & _DEFINING]
        first |= dict.fromkeys(stars)
        if below:
            notices.append(f"Defined only below the cell, so not added: {_named(below)}.")
        if rest := wanted - below:
            maybe = [f"`{star}`" for star in stars[:3]]
            maybe += [f"{label}, which Python cannot read" for label in unread[:3]]
            maybe += [f"a magic of {label}" for label in magics[:3]]
            notices.append(
                f"Perhaps from {_and(maybe)}: {_named(rest)}." if maybe else f"Nothing known defines {_named(rest)}."
            )
    if used:
        notices.append(f"Not added, since the kernel has them: {_named(used)}.")
    if found.effects:
        notices.append(f"The cell itself {_and(found.effects)}.")
    if others := found.magics.union(*(cell.magics for cell, _ in chosen)) - {"time", "timeit", "capture", "prun"}:
        shown = _and([f"%{name}" for name in sorted(others)])
        notices.append(f"It has magics, {shown}; what they need is not looked up.")
    return _joined(found, chosen[::-1], [*first][::-1], notices)


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
            notices.append(f"The magic in the first line of {cell.step.label} is left out: it must be the first of a cell.")
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
        by, method = call.func, ""
        while isinstance(by, ast.Attribute):
            by, method = by.value, method or by.attr
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
            if kind not in ("NAME", "GLOBAL"):
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
        texts = [one.value for one in (*node.args, *(key.value for key in node.keywords)) if isinstance(one, ast.Constant)]
        for kind, rows in _KINDS.items():
            module = whole.partition(".")[0] in rows["modules"] and root in imports
            if module or whole in rows["functions"] or (dot and method in rows["methods"]):
                found.add(kind)
        if method == "open" and any(isinstance(one, str) and re.fullmatch(r"[rbt+]*[wax+][rbtwax+]*", one) for one in texts):
            found.add("files")
        if _READING.match(method) and any(isinstance(one, str) and _ADDRESS.match(one) for one in texts):
            found.add("network")
    return (*(rows["sentence"] for kind, rows in _KINDS.items() if kind in found | said), *sentences)
