"""Fixes of errors as a pandas DataFrame, which a notebook shows with a button for each fix."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from pathlib import PurePath
from textwrap import indent
from typing import Any

import pandas as pd

from jupyter_memory.dataframe.html import insert_button
from jupyter_memory.text.display import html
from jupyter_memory.types import Fix

_TEXTS = ("memory_id", "error", "failed", "fix", "diff", "kind", "notebook", "failed_id")
_SHOWN = {"error", "strength", "fix", "diff", "kind", "notebook", "when", "memory_id"}
# Half transparent, so that it can be read on a light and on a dark page.
_LINES = {"+": "background: #2da44e33;", "-": "background: #cf222e26;"}
_CELL = "text-align: left; vertical-align: top; padding: 4px 8px;"
_CODE = "margin: 0 0 4px; white-space: pre-wrap; overflow-wrap: anywhere; background: none;"


class Fixes(pd.DataFrame):
    """A DataFrame of fixes; a part of its columns is shown as any other."""

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return Fixes

    def __repr__(self) -> str:
        if not set(self.columns) >= _SHOWN:
            return super().__repr__()
        shown = []
        for rank, row in self._ranked():
            text = "\n".join(_changed(row["diff"])) or row["fix"]
            shown.append(f"{rank}  {row['error']} · {_place(row)}\n\n{indent(text, '    ')}")
        return "\n\n".join(shown)

    def _repr_html_(self) -> str | None:  # type: ignore[override,unused-ignore]
        if not (set(self.columns) >= _SHOWN and pd.get_option("display.notebook_repr_html")):
            plain: str | None = super()._repr_html_()  # type: ignore[misc,operator,unused-ignore]
            return plain
        rows = ""
        for rank, row in self._ranked():
            # What is no code is not inserted.
            button = "" if row["kind"] == "note" else insert_button(row["fix"], row["memory_id"])
            lines = [
                f'<span style="{_LINES.get(line[:1], "")}">{html(line)}</span>' for line in _changed(row["diff"])
            ] or [html(row["fix"])]
            code = "\n".join(lines)
            rows += (
                f'<tr style="border-bottom: 1px solid #8883;"><th style="{_CELL}">{html(str(rank))}</th>'
                f'<td style="{_CELL} min-width: 14em;">{html(row["error"])}<br>'
                f"<small>{html(_place(row))}</small></td>"
                f'<td style="{_CELL} width: 75%;"><pre style="{_CODE}">{code}</pre>{button}</td></tr>'
            )
        return f'<table style="table-layout: auto; width: 100%; border-collapse: collapse;">{rows}</table>'

    def _ranked(self) -> Iterator[tuple[Hashable, Mapping[Hashable, Any]]]:
        yield from zip(self.index, self.to_dict("records"), strict=True)


def fixes_frame(fixes: Sequence[Fix], store: str) -> Fixes:
    """Return fixes as rows, indexed by rank; ``attrs["memfix"]`` has them as JSON values, with the store."""
    rows = [fix.to_json() for fix in fixes]
    columns = {name: pd.Series([row[name] for row in rows], dtype="str").array for name in _TEXTS}
    frame = Fixes(columns, index=pd.RangeIndex(1, len(rows) + 1, name="rank"))
    frame.insert(2, "strength", [fix.strength for fix in fixes])
    frame.insert(
        len(frame.columns) - 1,
        "when",
        pd.Series([fix.mended.started for fix in fixes], index=frame.index).astype("datetime64[us, UTC]"),
    )
    frame.attrs["memfix"] = {"store": store, "fixes": rows}
    return frame


def _place(row: Mapping[Hashable, Any]) -> str:
    when = row["when"].to_pydatetime(warn=False).astimezone()
    facts = (f"{when:%Y-%m-%d %H:%M}", PurePath(row["notebook"]).name)
    return " · ".join(fact for fact in facts if fact)


def _changed(diff: str) -> list[str]:
    return [line for line in diff.split("\n")[2:] if not line.startswith("@@")]
