"""A result as a styled table of pandas: its first columns, and on request all numbers behind them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.api.types import is_string_dtype

from jupyter_memory.dataframe.panel_elements import picture
from jupyter_memory.dataframe.searches import searches_of
from jupyter_memory.text.display import html

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

_SHOWN = ("title", "snippet", "badges", "score", "kind", "tags", "event_at", "token_estimate", "memory_id")
# Half transparent, so that the words on a bar can be read on a light and on a dark page.
_BAR = "#3572b066"
# A bar lies behind its number, however many lines the row has.
_BEHIND = "background-size: 100% 1.9em; background-position: 0 0; background-repeat: no-repeat;"
_LEFT = "text-align: left; vertical-align: top;"
# JupyterLab gives every column of a table the same width and sets it flush right. VS Code gives JupyterLab's names of
# colours those of a light page in every theme: a line is grey.
_STYLES: list[tuple[str, str]] = [
    ("", "table-layout: auto; width: 100%; border-collapse: collapse;"),
    ("th, td", f"{_LEFT} padding: 4px 8px;"),
    ("thead th", "font-weight: 600; white-space: nowrap; border-bottom: 1px solid #8888;"),
    ("tbody tr", "border-bottom: 1px solid #8883;"),
    ("td", "white-space: nowrap; font-variant-numeric: tabular-nums;"),
]
_OF_COLUMN = {
    "title": f"{_LEFT} white-space: normal; min-width: 13em; max-width: 18em; overflow-wrap: anywhere;",
    "snippet": f"{_LEFT} white-space: normal; min-width: 21em; overflow-wrap: anywhere;",
    "score": f"{_LEFT} width: 5em; min-width: 5em;",
    "tags": f"{_LEFT} white-space: normal;",
    "memory_id": f"{_LEFT} font-family: var(--jp-code-font-family, monospace); font-size: 85%; opacity: 0.75;",
}


def styled(frame: pd.DataFrame, *, evidence: bool = False) -> Styler:
    """Return a result as a styled table, every text escaped; with ``evidence`` all numbers, a bar a contribution."""
    shown = list(frame.columns) if evidence else _worth_showing(frame)
    contributions = [name for name in shown if name.startswith("contrib_")]
    table = pd.DataFrame(frame[shown]).rename_axis(None)
    forms: dict[str, Any] = {name: "{:.4f}" for name in shown if table[name].dtype == "float64"}
    forms |= {name: html for name in shown if is_string_dtype(table[name])}
    forms |= {name: form for name, form in _FORMS.items() if name in shown}
    styler = table.style.format(escape="html", na_rep="").format(forms, na_rep="", subset=list[Hashable](forms))
    for label, memory_id in _pictured(frame) if "title" in shown else ():
        # Each picture belongs to one row, which a form for the whole column would not know.
        styler = styler.format(_with_picture(memory_id), subset=([label], ["title"]))
    # Prices in dollars are no formulas.
    styler = styler.set_table_attributes('class="tex2jax_ignore mathjax_ignore"')
    styler = styler.set_table_styles([{"selector": selector, "props": props} for selector, props in _STYLES])
    of_columns = {name: [{"selector": "td", "props": props}] for name, props in _OF_COLUMN.items() if name in shown}
    styler = styler.set_table_styles(of_columns, overwrite=False)  # type: ignore[arg-type]
    if "score" in shown:
        styler = _barred(styler, table, ["score"])
    return _barred(styler, table, contributions)


def _with_picture(memory_id: str) -> Callable[[object], str]:
    """Return what shows a title with the place of a picture below it."""
    return lambda title: f"{html(str(title))}{picture(memory_id, str(title))}"


def _pictured(frame: pd.DataFrame) -> list[tuple[Hashable, str]]:
    """Return the rows whose memories have a picture, by label, with the memories' ids."""
    known = {memory_id for search in searches_of(frame) for memory_id in search.get("pictured", ())}
    if not known or "memory_id" not in frame.columns:
        return []
    return [(label, str(memory_id)) for label, memory_id in frame["memory_id"].items() if memory_id in known]


def _worth_showing(frame: pd.DataFrame) -> list[str]:
    """Return the columns to show, without empty ones: a list without a query has no scores."""
    known = [name for name in _SHOWN if name in frame.columns]
    empty = {
        "score": lambda column: column.isna().all(),
        "badges": lambda column: not column.astype(bool).any(),
        "tags": lambda column: not column.map(len).any(),
    }
    return [name for name in known if len(frame) == 0 or name not in empty or not empty[name](frame[name])]  # type: ignore[no-untyped-call,unused-ignore]


def _barred(styler: Styler, table: pd.DataFrame, names: Sequence[str]) -> Styler:
    if not names:
        return styler
    most = table[list(names)].max().max() if len(table) else 0.0
    behind: dict[Any, Any] = {name: [{"selector": "td", "props": _BEHIND}] for name in names}
    styler = styler.set_table_styles(behind, overwrite=False)
    return styler.bar(subset=list[Hashable](names), color=_BAR, vmin=0.0, vmax=most or 1.0, align="left")


def _day(moment: Any) -> str:
    return str(moment.to_pydatetime(warn=False).astimezone().date())


def _tags(tags: Iterable[str]) -> str:
    return html(", ".join(tags))


_FORMS = {"tags": _tags, "event_at": _day}
