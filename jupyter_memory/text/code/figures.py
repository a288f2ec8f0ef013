"""What a plot looks like by the code that drew it, in the words of who saw it and not of who wrote it.

Whoever remembers "the plot with two y axes" would not find `twinx`. What the code puts on a plot (titles, names of
axes, legends) is in its text already; saying it twice made searches worse, and so did naming common kinds of plots.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from jupyter_memory.text.code.definitions import syntax_tree

_TWO_Y, _TWO_X = "two y axes", "two x axes"
_LOG = "logarithmic scale"
_3D = "three dimensions"
# Methods of matplotlib, and keywords of any call, with their values: of matplotlib, pandas and plotly.
_CALLS = {
    "twinx": _TWO_Y,
    "twiny": _TWO_X,
    "semilogx": _LOG,
    "semilogy": _LOG,
    "loglog": _LOG,
    "plot_surface": _3D,
    "scatter3D": _3D,
    "plot3D": _3D,
}
_KEYWORDS: dict[tuple[object, object], str] = {
    ("overlaying", "y"): _TWO_Y,
    ("overlaying", "x"): _TWO_X,
    ("projection", "3d"): _3D,
    ("projection", "polar"): "polar plot",
}
# Keywords whose value may be true or name columns.
_SWITCHES = {
    "secondary_y": _TWO_Y,
    **dict.fromkeys(("logx", "logy", "loglog", "log_x", "log_y"), _LOG),
}
_INDEPENDENT: dict[str | None, str] = {"x": _TWO_X, "y": _TWO_Y}  # of altair
_SCALES = frozenset({"xscale", "yscale", "set_xscale", "set_yscale"})
# Without one of these, nothing is said.
_ANY = re.compile("|".join((*_CALLS, *_SCALES, *_SWITCHES, "overlaying", "projection", "resolve_scale")))


def look(source: str) -> list[str]:
    """Return what the plots of a source in Python look like, each thing once.

    >>> look("ax.plot(x)\\nax.twinx().plot(y)\\nax.set_yscale('log')")
    ['logarithmic scale', 'two y axes']
    """
    tree = syntax_tree(source) if _ANY.search(source) else None
    nodes = ast.walk(tree) if tree is not None else ()
    return sorted(set(chain.from_iterable(map(_seen, nodes))))


def _seen(node: ast.AST) -> Iterator[str]:
    """Yield what a call or a mapping, which stands for keywords in plotly, says of a plot."""
    if isinstance(node, ast.Call):
        yield from _of_method(node)
        for keyword in node.keywords:
            yield from _of_value(keyword.arg, keyword.value)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            yield from _of_value(_constant(key), value)


def _of_method(call: ast.Call) -> Iterator[str]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name in _CALLS:
        yield _CALLS[name]
    if name in _SCALES and call.args and _constant(call.args[0]) == "log":
        yield _LOG
    if name == "resolve_scale":
        independent = [one.arg for one in call.keywords if _constant(one.value) == "independent"]
        yield from (_INDEPENDENT[arg] for arg in independent if arg in _INDEPENDENT)


def _of_value(name: object, value: ast.expr) -> Iterator[str]:
    if (name, _constant(value)) in _KEYWORDS:
        yield _KEYWORDS[name, _constant(value)]
    if isinstance(name, str) and name in _SWITCHES and _is_on(value):
        yield _SWITCHES[name]


def _is_on(value: ast.expr) -> bool:
    """Return whether a value is True, the name of a column, or the names of several."""
    named = value.elts if isinstance(value, (ast.List, ast.Tuple)) else [value]
    return any(_constant(one) for one in named)


def _constant(node: ast.expr | None) -> object:
    """Return a text, True or False as it is written; None for anything else."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (str, bool)) else None
