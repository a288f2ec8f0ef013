"""The DataFrame of a result: plain pandas, but for how it is shown, and what is kept where results are put together."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from shutil import get_terminal_size
from typing import Any, Self

import pandas as pd

from jupyter_memory.dataframe import html
from jupyter_memory.dataframe.panel_elements import open_button
from jupyter_memory.dataframe.rows import doubts, is_result, shown_rows
from jupyter_memory.dataframe.searches import joined, searches_of
from jupyter_memory.text.display import Paint, coloured, has_colours, listing, unpainted
from jupyter_memory.text.unicode import marked


class Column(pd.Series):
    """A column or a row of a result, which shows marks for what nobody sees, as the result does."""

    @property
    def _constructor(self) -> Callable[..., pd.Series]:
        return Column

    def __repr__(self) -> str:
        return marked(super().__repr__())


class Results(pd.DataFrame):
    """A DataFrame that shows what people look for in a result, and a part of its columns as any other."""

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return Results

    @property
    def _constructor_sliced(self) -> Callable[..., pd.Series]:
        return Column

    def __finalize__(self, other: Any, method: str | None = None, **options: Any) -> Self:
        """Keep the attrs; of results that are put together, which differ, those of each."""
        done: Self = super().__finalize__(other, method, **options)  # type: ignore[misc,unused-ignore]
        if method == "concat" and not done.attrs:
            done.attrs.update(joined(other.input_objs))
        return done

    def __repr__(self) -> str:
        return _text(self, _cells(), unpainted) if is_result(self) else marked(super().__repr__())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Show the result in IPython: in a terminal that can, in colours."""
        paint = coloured if is_result(self) and has_colours(sys.stdout, os.environ) else None
        printer.text(repr(self) if paint is None else _text(self, _cells(), paint))

    def _repr_html_(self) -> str | None:  # type: ignore[override,unused-ignore]
        if not (is_result(self) and pd.get_option("display.notebook_repr_html")):
            plain = super()._repr_html_()  # type: ignore[misc,operator,unused-ignore]
            return None if plain is None else marked(plain)
        return html.table(shown_rows(self, datetime.now(UTC)), doubts(self), f"{_footer(self)}{_to_panel(self)}")


def _text(frame: pd.DataFrame, cells: int, paint: Paint) -> str:
    """Return a result as lines of text, none wider than so many cells of a terminal."""
    rows = [row.entry for row in shown_rows(frame, datetime.now(UTC))]
    return "\n\n".join(part for part in (doubts(frame), listing(rows, cells, paint), _footer(frame)) if part)


def _cells() -> int:
    return max(60, min(120, get_terminal_size((80, 24)).columns))


def _footer(frame: pd.DataFrame) -> str:
    most = pd.get_option("display.max_rows") or len(frame)
    cut = f"the first {most} of " if most < len(frame) else ""
    hits = f"{cut}{len(frame)} {'memory' if len(frame) == 1 else 'memories'}"
    ranked = frame["score"].notna().any() and "badges" in frame.columns
    # Most searches are bound to no name, and a reader types what is written here: df alone would be a NameError.
    how = " · %memory explain 1 says why · as df: df.memory.style(evidence=True)" if ranked else ""
    return f"{hits}{how}" if len(frame) else "No memories."


def _to_panel(frame: pd.DataFrame) -> str:
    """Return a button that opens the question in JupyterLab's panel; hidden where there is no panel to show it."""
    questions = [search["query"] for search in searches_of(frame)]
    return f" {open_button(questions[0])}" if len(questions) == 1 and questions[0] else ""
