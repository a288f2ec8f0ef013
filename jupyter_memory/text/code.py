"""Code: its language, definitions, statements and figures."""

from __future__ import annotations

import ast
import builtins
import json
import re
import symtable
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from jupyter_memory.text.markdown import source_of

# If it is not stated, this much of a text is looked at.
_READ = 2_400
_PYTHON = re.compile(
    r"^[ \t]*+(?:(?:async )?def \w++\(|class \w++(?:\([^\n]*\))?:"
    r"|from [\w.]++ import \w|import [\w.]++(?: as \w++)?[ \t]*+$)",
    re.MULTILINE,
)
PYTHON = "python"
_PROSE = frozenset({"text", "markdown", "rst"})
# Who writes one of these words in a question does not ask for all prose, nor for all files of data.
EVERYDAY = _PROSE | {"data"}
_DOCUMENTS = frozenset({"pdf", "docx", "pptx", "odt", "odp"})
# Other names of what is written for people.
_FOR_PEOPLE = (
    _PROSE | _DOCUMENTS | {"", "md", "txt", "plain", "restructuredtext", "html", "latex", "org", "asciidoc", "bibtex"}
)
# JSON, as in `languages`: other names that kernels, magics and chunks give to languages, and the magics of IPython and
# its extensions whose cell is in another language than the kernel's.
_DATA = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_ALIASES: dict[str, str] = {alias: name for name, aliases in _DATA["aliases"].items() for alias in aliases.split()}
_MAGICS: dict[str, str] = {magic: _ALIASES.get(magic, magic) for magic in " ".join(_DATA["magics"]).split()}
_MAGICS |= _DATA["magics with a language of their own"]
# A magic in the first line of a cell; `%%script bash` names its program. `#!fsharp` is .NET Interactive's, and `%sql`
# with nothing after it that of Databricks.
_CELL_MAGIC = re.compile(
    r"(?:%%(?:script[ \t]+(?:--?\S+[ \t]+)*+(?:\S*/)?)?|#!(?=\w+[ \t]*$)"
    r"|%(?=(?:sql|python|scala|r|sh)[ \t]*$|md\b))(\w+)"
)
# Those that run the rest of the cell as it is written there.
_AROUND = frozenset({"capture", "time", "timeit", "prun"})


def language(lang: str, text: str) -> str:
    """Return the language of a text: ``lang``, what its notebook or file says, else Python if it looks like that."""
    return lang.lower() or (PYTHON if _PYTHON.search(text, 0, _READ) else "")


def known_language(name: str) -> str:
    """Return a language by the one name that it has here.

    >>> known_language("C++17"), known_language("ipython3"), known_language("R")
    ('cpp', 'python', 'r')
    """
    plain = name.strip().lower()
    return _ALIASES.get(plain, plain)


def kernel_language(name: str) -> str:
    """Return the language of a kernel by its name.

    >>> kernel_language("ir"), kernel_language("julia-1.11"), kernel_language("sas")
    ('r', 'julia', 'sas')
    """
    return known_language(re.split(r"[-_ ]\d", name.strip().lower(), maxsplit=1)[0])


def cell_language(kernel: str, source: str) -> str:
    """Return the language of a code cell: that of its magic, such as `%%bash`, else that of its kernel."""
    for line in source.splitlines():
        if not line.strip():
            continue
        magic = _CELL_MAGIC.match(line)
        if magic is None:
            break
        if magic[1].lower() not in _AROUND:
            return _MAGICS.get(magic[1].lower(), kernel)
    return kernel


_OUR_MAGIC = re.compile(
    r"^[ \t]*+(?:[\w., \t\[\]'\"]*=[ \t]*|%%?\w+[ \t][^\n]*?)?%%?mem(?:search|add|ory|eval|fix)\b"
    r"|^[ \t]*+![ \t]*jupyter-memory\b"
    r"|run_(?:line|cell)_magic\(\s*['\"]mem(?:search|add|ory|eval|fix)\b",
    re.MULTILINE,
)
_LOADS_US = re.compile(r"^[ \t]*+%(?:re|un)?load_ext[ \t]+jupyter_memory\b.*|^[ \t]*+#.*", re.MULTILINE)


def uses_memory(source: str) -> bool:
    """Return whether a code cell uses this memory: remembered, a search would find itself."""
    if "mem" not in source:
        return False
    if _OUR_MAGIC.search(source):
        return True
    return "load_ext" in source and not _LOADS_US.sub("", source).strip()


def is_code(kind: str, lang: str) -> bool:
    """Return whether a memory of this kind and language is known to be code; what was typed at a prompt always is."""
    return kind == "history" or lang.lower() not in _FOR_PEOPLE


# Characters in which a line is looked for that says what a source does.
_BEGINNING = 10_000
# Lines that say little of that: imports, magics that set something up or are of the whole cell, brackets, decorators.
_SAYS_LITTLE = re.compile(
    r"(?:import|from)\b|%(?:%|(?:matplotlib|load_ext|reload_ext|autoreload|config)\b)|@|try:|\W*$"
)
_COMMENT = re.compile(r"^(?:#|//|--)+[ \t]*+")
# A class or function at the top level; a comment in words, which is no code that is switched off.
_NAMING = (
    re.compile(r"^(?:async )?(?:def|class) (\w{3,})", re.MULTILINE),
    re.compile(r"^(?:#|//|--)[-=* \t]*+(?![^\n]*(?:=|\w\())(\w+[ \t][^\n]*\w)", re.MULTILINE),
)


def telling_line(source: str) -> str:
    """Return the first line of a source that says what it does, without comment marks."""
    lines = [line for line in (_COMMENT.sub("", line.strip()) for line in source[:_BEGINNING].splitlines()) if line]
    return next((line for line in lines if not _SAYS_LITTLE.match(line)), (lines or [source.strip()])[0])


def name_of(source: str) -> str:
    """Return the first class or function that a source defines, or else its first comment; nothing without either.

    >>> name_of("import re\\nclass Net(Module):"), name_of("# Two axes\\nax.twinx()"), name_of("#plot(x)\\nx")
    ('Net', 'Two axes', '')
    """
    return next((found[1] for naming in _NAMING if (found := naming.search(source[:_BEGINNING]))), "")


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
_DEFINING = re.compile(r"\b(?:def|class|for|with)\b|=")
# What only IPython understands: magics, commands of the shell, questions; alone, or with their result assigned.
_COMMAND = re.compile(r"^([ \t]*+)(?:[%!?][^\n]*|[\w.]++\?{1,2}[ \t]*+)$", re.MULTILINE)
_COMMAND_TAKEN = re.compile(r"^([ \t]*+\w[\w., \t]*+=)[ \t]*+[%!][^\n]*$", re.MULTILINE)


Tree = TypeVar("Tree")


class Definitions(NamedTuple):
    """The names that a source defines, each once, in their order, separated by blanks."""

    defined: str = ""  # classes and functions of its top level
    assigned: str = ""  # its variables
    nested: str = ""  # classes and functions within others


class Place(NamedTuple):
    """Where a class or function is defined: its line, counted from 1, and its level, 1 for the top level."""

    line: int
    level: int
    name: str


def definitions(kind: str, lang: str, text: str) -> Definitions | None:
    """Return what the source of a memory defines, nothing where Python cannot read it; None if it is not in Python."""
    return definitions_and_places(kind, text)[0] if lang.lower() == PYTHON else None


def definitions_and_places(kind: str, text: str) -> tuple[Definitions, list[Place]]:
    """Return what the source of a memory in Python defines, and where."""
    source = source_of(text) if kind == "cell" else text
    if len(source) > LONGEST or not _DEFINING.search(source):
        return Definitions(), []
    table = _read(source, lambda plain: symtable.symtable(plain, _NAMED, "exec"))
    if table is None:
        return Definitions(), []
    top, places = list(_defined(table)), []
    for outer in top:
        places.append(Place(outer.get_lineno(), 1, outer.get_name()))
        places += [Place(inner.get_lineno(), 2, inner.get_name()) for inner in _defined(outer)]

    children = max(1, len(table.get_children()))
    names = islice(table.get_identifiers(), _COMPARED // children)
    symbols = (table.lookup(name) for name in names)
    assigned = (one.get_name() for one in symbols if one.is_assigned() and not one.is_namespace())
    within = []
    waiting = [child for one in reversed(top) for child in reversed(list(_defined(one)))]
    while waiting:
        one = waiting.pop()
        within.append(one.get_name())
        waiting += reversed(list(_defined(one)))
    return Definitions(_few(one.get_name() for one in top), _few(assigned), _few(within)), places


def syntax_tree(source: str) -> ast.Module | None:
    """Return a source as Python reads it, the commands of IPython left out; None where it cannot, or that is long."""
    return None if len(source) > LONGEST else _read(source, lambda text: ast.parse(text, _NAMED))


def _read(source: str, read: Callable[[str], Tree]) -> Tree | None:
    # The filter stays, since putting back those of before is not safe among threads. It concerns these sources only.
    ours = ("ignore", None, Warning, re.compile(re.escape(_NAMED)), 0)
    if warnings.filters[:1] != [ours]:
        warnings.filterwarnings("ignore", module=re.escape(_NAMED))
    try:
        return read(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Not Python, a null character or half a surrogate pair, nested too deeply, nested far too deeply.
        plain = _COMMAND_TAKEN.sub(r"\1 0", _COMMAND.sub(r"\1pass", source))
    return _read(plain, read) if plain != source else None


def _defined(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    for child in table.get_children():
        if str(child.get_type()) not in _IS_DEFINED:
            # The parameters of a generic class or function are a scope around it.
            yield from _defined(child)
        elif child.get_name() not in _NAMELESS:
            yield child


def _few(names: Iterable[str]) -> str:
    short = (name for name in names if len(name) <= _LONGEST_NAME)
    return " ".join(islice(dict.fromkeys(short), _MOST))


_LONGEST_VALUE = 40
_LONGEST_TEXT = 10_000
_WORD = re.compile(r"\w+")
_FILE = re.compile(r"(?<!\w)(\w+)\.py\b")
_BODIES = ("body", "orelse", "finalbody", "handlers", "cases")
_BUILTINS = frozenset(dir(builtins))
# Nodes that every statement has, or whose parts say all.
_SILENT = (
    ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
    ast.alias, ast.keyword, ast.Expr, ast.Assign,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Words:
    """The words of some code but for names of libraries: ``own`` are variables and texts, ``within`` words of texts."""

    own: frozenset[str]
    within: frozenset[str]


def statement_at(module: ast.Module, line: int | None) -> ast.stmt | None:
    """Return the smallest statement that has a line, or else the last one of the module."""
    statements = [node for node in ast.walk(module) if isinstance(node, ast.stmt)] if line else []
    found = [node for node in statements if node.lineno <= (line or 0) <= (node.end_lineno or node.lineno)]
    if found:
        return min(found, key=lambda node: (node.end_lineno or node.lineno) - node.lineno)
    return module.body[-1] if module.body else None


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
    """Return what some nodes do, one phrase each, whatever their variables are called."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call):
            found.update(_call(node))
        elif isinstance(node, ast.Attribute):
            found.add(f"attr {node.attr}")
        elif isinstance(node, ast.Import):
            found.update(f"import {name}" for alias in node.names for name in _packages(alias.name))
        elif isinstance(node, ast.ImportFrom):
            found.update(f"import {name}" for name in _packages(node.module or "."))
            found.update(f"name {alias.name}" for alias in node.names)
            found.update(["relative import"] if node.level else ())
        elif isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp | ast.AugAssign):
            found.add(f"op {type(node.op).__name__}")
        elif isinstance(node, ast.Compare):
            found.update(f"op {type(one).__name__}" for one in node.ops)
        elif isinstance(node, ast.Subscript):
            found.add(f"subscript {type(node.slice).__name__} {type(node.ctx).__name__}")
        elif not isinstance(node, _SILENT):
            found.add(type(node).__name__)
    return frozenset(found)


def _call(node: ast.Call) -> Iterator[str]:
    by = node.func
    name = by.attr if isinstance(by, ast.Attribute) else by.id if isinstance(by, ast.Name) else ""
    if name:
        yield f"call {name}"
    for keyword in node.keywords:
        if keyword.arg:
            yield f"kw {keyword.arg}"
            value = keyword.value
            shown = f"={value.value!r}"[:_LONGEST_VALUE] if isinstance(value, ast.Constant) else f":{_kind(value)}"
            yield f"kw {keyword.arg}{shown}"
    yield from (f"arg {name}:{_kind(argument)}" for argument in node.args)


def _kind(node: ast.expr) -> str:
    return type(node.value if isinstance(node, ast.Constant) else node).__name__


def _packages(module: str) -> Iterator[str]:
    return accumulate(module.split("."), "{}.{}".format)


def _read_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def changed_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that some nodes define, import, delete or change a part of."""
    names = set()
    for node in nodes:
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            whole: ast.expr = node
            while isinstance(whole, ast.Attribute | ast.Subscript):
                whole = whole.value
            if isinstance(whole, ast.Name):
                names.add(whole.id)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
    return frozenset(names)


def origins(statement: ast.stmt, earlier: Sequence[ast.stmt], quoted: Set[str] = frozenset()) -> frozenset[str]:
    """Return what the statements do that made what a statement reads, step by step back through the earlier ones.

    Those with a text that has one of the ``quoted`` words are among them: they may have made the missing column.
    """
    wanted = _read_names(own_nodes(statement))
    found: set[str] = set()
    for one in reversed(earlier):
        if isinstance(one, ast.Import | ast.ImportFrom):
            continue
        nodes = list(ast.walk(one))
        texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        made = changed_names(own_nodes(one)) & wanted
        if made or any(not quoted.isdisjoint(_WORD.findall(text[:_LONGEST_TEXT])) for text in texts):
            found |= features(nodes)
            wanted = (wanted - made) | _read_names(nodes)
    return frozenset(found)


def words_of(nodes: Iterable[ast.AST]) -> Words:
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
        elif isinstance(node, ast.Attribute):
            interface.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            interface.add(node.arg)
        elif isinstance(node, ast.Import):
            interface.update(name for alias in node.names for name in (alias.name, *alias.name.split(".")))
    # A module of one's own is imported like any other, but its file was written.
    files = frozenset(name for text in own for name in _FILE.findall(text[:_LONGEST_TEXT]))
    for node in imports:
        if node.module not in files:
            interface.update((node.module or "", *(alias.name for alias in node.names)))
        else:
            within.update(alias.name for alias in node.names)
    return Words(frozenset(own - interface - _BUILTINS | files), frozenset(within - interface | files))


# What a plot looks like by the code that drew it: "the plot with two y axes" would not find `twinx`. What the code puts
# on a plot (titles, names of axes, legends) is in its text already; saying it twice made searches worse, and so did
# naming common kinds of plots, and plots in three dimensions, which the code calls `3d` itself.

_TWO_Y, _TWO_X = "two y axes", "two x axes"
_LOG = "logarithmic scale"
# Methods of matplotlib, and keywords of any call, with their values: of matplotlib, pandas and plotly.
_CALLS = {"twinx": _TWO_Y, "twiny": _TWO_X, "semilogx": _LOG, "semilogy": _LOG, "loglog": _LOG}
_KEYWORDS: dict[tuple[object, object], str] = {
    ("overlaying", "y"): _TWO_Y,
    ("overlaying", "x"): _TWO_X,
    ("projection", "polar"): "polar plot",
}
# Keywords whose value may be true or name columns.
_SWITCHES = {"secondary_y": _TWO_Y, **dict.fromkeys(("logx", "logy", "loglog", "log_x", "log_y"), _LOG)}
_INDEPENDENT: dict[str | None, str] = {"x": _TWO_X, "y": _TWO_Y}  # of altair
_SCALES = frozenset({"xscale", "yscale", "set_xscale", "set_yscale"})
_ANY = re.compile("|".join((*_CALLS, *_SCALES, *_SWITCHES, "overlaying", "projection", "resolve_scale")))


def look(source: str) -> list[str]:
    """Return what the plots of a source in Python look like, each thing once."""
    tree = syntax_tree(source) if _ANY.search(source) else None
    found: set[str] = set()
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in _CALLS:
                found.add(_CALLS[name])
            if name in _SCALES and node.args and _constant(node.args[0]) == "log":
                found.add(_LOG)
            if name == "resolve_scale":
                independent = [one.arg for one in node.keywords if _constant(one.value) == "independent"]
                found |= {_INDEPENDENT[arg] for arg in independent if arg in _INDEPENDENT}
            for keyword in node.keywords:
                found.update(_of_value(keyword.arg, keyword.value))
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                found.update(_of_value(_constant(key), value))
    return sorted(found)


def _of_value(name: object, value: ast.expr) -> Iterator[str]:
    if (name, _constant(value)) in _KEYWORDS:
        yield _KEYWORDS[name, _constant(value)]
    if isinstance(name, str) and name in _SWITCHES:
        named = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
        if any(map(_constant, named)):
            yield _SWITCHES[name]


def _constant(node: ast.expr | None) -> object:
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (str, bool)) else None
