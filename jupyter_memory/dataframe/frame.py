"""Hits and other results as DataFrames, and as HTML in the colours of the theme."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from html import escape
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_string_dtype

from jupyter_memory.dataframe.rows import KEY, Row, attrs_of, doubts, is_result, joined, searches_of, shown_rows
from jupyter_memory.text.display import Paint, coloured, has_colours, html, listing, unpainted
from jupyter_memory.text.unicode import marked
from jupyter_memory.types import Answer

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

# Buttons and pictures are hidden elements, which the style sheet of the panel shows: nothing is seen where nothing
# would happen. The element of a picture holds the memory's id and no byte of the picture, so a saved notebook has none.
# The panel's `integrations/outputs.ts` knows them by their classes.


def insert_button(source: str, memory_id: str = "") -> str:
    """Return a button that inserts code as a new cell below the one whose output it stands in, without running it.

    ``memory_id`` names the memory of the code, whose use is then counted. Other front ends have `%memfix --insert 1`.
    """
    # A browser takes a line feed for a line feed in an attribute, but what cleans HTML may not.
    value = escape(source).replace("\r\n", "\n").replace("\r", "\n").replace("\n", "&#10;")
    counted = f' data-memory="{escape(memory_id)}"' if memory_id else ""
    return (
        f'<button type="button" class="jp-Memory-insertOutput" value="{value}"{counted} hidden>'
        "Insert as a new cell</button>"
    )


def picture(memory_id: str, title: str) -> str:
    """Return the place of the first picture of a memory."""
    named = f'data-memory="{escape(memory_id)}" title="{escape(title)}"'
    return f'<span class="jp-Memory-outputPicture" {named} hidden></span>'


# A result as an HTML table has no script, no picture and no text but what it shows, so a saved notebook stays small.
# Where nothing is trusted, and all styles are removed, it is still a table with links, whose code keeps its lines.

# JupyterLab gives every column of a table the same width and sets it flush right: the class is named twice, to be
# stronger than that. VS Code gives JupyterLab's names of colours those of a light page in every theme: text has the
# colour of the page, and grounds are half transparent.
_STYLE = """<style>
.jp-MemoryResult.jp-MemoryResult { table-layout: auto; width: 100%; border-collapse: collapse; }
.jp-MemoryResult.jp-MemoryResult :is(th, td) { text-align: left; vertical-align: top; padding: 4px 8px;
  white-space: nowrap; background: none; font-variant-numeric: tabular-nums; }
.jp-MemoryResult.jp-MemoryResult thead th { font-weight: 600; border-bottom: 1px solid #8888; }
.jp-MemoryResult.jp-MemoryResult tbody tr { border-bottom: 1px solid #8883; }
.jp-MemoryResult.jp-MemoryResult td.jp-mod-text { white-space: normal; min-width: 11em; overflow-wrap: anywhere; }
.jp-MemoryResult.jp-MemoryResult td.jp-mod-snippet { width: 65%; min-width: 18em; }
.jp-MemoryResult.jp-MemoryResult pre { margin: 0; padding: 0; background: none; font-size: 92%; text-align: left;
  white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere;
  font-family: var(--jp-code-font-family, monospace); }
.jp-MemoryResult.jp-MemoryResult small { opacity: 0.75; }
.jp-MemoryResult.jp-MemoryResult mark { color: inherit; background: #f5a62355; font-weight: 600; }
.jp-MemoryResult-chip { padding: 0 4px; border: 1px solid #2da44e; border-radius: 2px; background: #2da44e26;
  font-size: 77%; font-weight: 700; }
.jp-MemoryResult-chip.jp-mod-vector { border-color: #2f81f7; background: #2f81f726; }
</style>"""
_WORDS = {"KW": ("jp-mod-keyword", "found by its words"), "SEM": ("jp-mod-vector", "found by its meaning")}


def table(rows: Sequence[Row], doubt: str, footer: str) -> str:
    """Return a result as HTML; ``doubt`` is what is said above it, ``footer`` is HTML below it."""
    above = f"<p><strong>{html(doubt)}</strong></p>" if doubt else ""
    if not rows:
        return f"{above}<p>{footer}</p>"
    columns = [("badges", "found by"), ("strength", "strength"), ("age", "when")]
    shown = {name: head for name, head in columns if any(_value(row, name) for row in rows)}
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("", "title", "snippet", *shown.values()))
    body = ""
    for row in rows:
        said = with_marks(row.snippet, row.marks)
        said = f"<pre>{said}</pre>" if "\n" in row.snippet else said
        body += (
            f'<tr><th scope="row">{html(row.rank)}</th><td class="jp-mod-text">{_title(row)}</td>'
            f'<td class="jp-mod-text jp-mod-snippet">{said}</td>'
            f"{''.join(f'<td>{_value(row, name)}</td>' for name in shown)}</tr>"
        )
    # Prices in dollars are no formulas.
    return (
        f'{_STYLE}{above}<table class="jp-MemoryResult tex2jax_ignore mathjax_ignore">'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table><p>{footer}</p>"
    )


def _value(row: Row, name: str) -> str:
    if name == "badges":
        chips = []
        for badge in filter(None, row.badges.split("+")):
            look, meaning = _WORDS.get(badge, ("", ""))
            chips.append(f'<span class="jp-MemoryResult-chip {look}" title="{meaning}">{html(badge)}</span>')
        return " ".join(chips)
    return html(row.strength if name == "strength" else row.age)


def _title(row: Row) -> str:
    title, place = html(row.title or row.memory_id), row.place
    if place is not None:
        title = open_link(title, place.href, place.source, row.memory_id)
    about = " · ".join(part for part in (place.name if place else "", row.tags, row.tokens, row.memory_id) if part)
    shown = picture(row.memory_id, row.title) if row.pictured else ""
    return f"{title}<br><small>{html(about)}</small>{shown}"


def open_link(shown: str, href: str, source: str, memory_id: str) -> str:
    """Return a link to the file of a memory, which the panel opens at the cell or the line where it is now.

    The panel's `integrations/outputs.ts` knows it by its class; without the panel it is a link as any other.
    """
    known = f'class="jp-Memory-openSource" data-memory="{escape(memory_id)}"'
    target = f'href="{escape(href)}" target="_blank" rel="noopener" title="{escape(marked(source))}"'
    return f"<a {known} {target}>{shown}</a>"


def with_marks(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text as HTML with these parts of it marked."""
    shown, end = "", 0
    for start, stop in spans:
        shown += f"{html(text[end:start])}<mark>{html(text[start:stop])}</mark>"
        end = stop
    return shown + html(text[end:])


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
        paint = coloured if is_result(self) and has_colours(sys.stdout, os.environ) else None
        printer.text(repr(self) if paint is None else _text(self, _cells(), paint))

    def _repr_html_(self) -> str | None:  # type: ignore[override,unused-ignore]
        if not (is_result(self) and pd.get_option("display.notebook_repr_html")):
            plain = super()._repr_html_()  # type: ignore[misc,operator,unused-ignore]
            return None if plain is None else marked(plain)
        footer, questions = _footer(self), [search["query"] for search in searches_of(self)]
        if len(questions) == 1 and questions[0]:
            asked = f'class="jp-Memory-openOutput" value="{escape(questions[0])}"'
            footer += f' <button type="button" {asked} hidden>Open in Memory</button>'
        return table(shown_rows(self, datetime.now(UTC)), doubts(self), footer)


def _text(frame: pd.DataFrame, cells: int, paint: Paint) -> str:
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


_SCAN_SNIPPET = 120
_SCAN_COLUMNS = {
    "title": "str",
    "score": "float64",
    "kind": "str",
    "domain": "str",
    "tags": "object",
    "snippet": "str",
    "token_estimate": "int64",
    "memory_id": "str",
}


def to_frame(answer: Answer) -> pd.DataFrame:
    """Return the hits of an answer as rows, indexed by rank; columns and dtypes are the same for no hits at all."""
    hits = answer.hits
    columns: dict[str, Any] = {
        "title": _strings(hit.title for hit in hits),
        "snippet": _strings(" ".join(hit.snippet.split()) for hit in hits),
        "badges": _strings(hit.badges for hit in hits),
        "score": _floats(hit.score for hit in hits),
        "strength": _floats(hit.strength for hit in hits),
        "kind": _strings(hit.memory.kind for hit in hits),
        "tier": _strings(hit.memory.tier for hit in hits),
        "source": _strings(hit.memory.source for hit in hits),
        "location": _strings(hit.location for hit in hits),
        "tags": _objects(hit.memory.tags for hit in hits),
        "event_at": pd.array([hit.memory.event_at for hit in hits], dtype="datetime64[us, UTC]"),
        "lang": _strings(hit.memory.lang for hit in hits),
        "session": _strings(hit.memory.session or "" for hit in hits),
        "domain": _strings(hit.memory.domain or "" for hit in hits),
        "space": _strings(hit.memory.space for hit in hits),
        "freshness": _strings(hit.freshness for hit in hits),
        "kw_rank": pd.array([hit.kw_rank for hit in hits], dtype="Int64"),
        "sem_rank": pd.array([hit.sem_rank for hit in hits], dtype="Int64"),
        "bm25": _floats(hit.bm25 for hit in hits),
        "cosine": _floats(hit.cosine for hit in hits),
    }
    for name in answer.judges:
        columns[f"value_{name}"] = _floats(hit.signals[name].value for hit in hits)
    for name in answer.terms:
        columns[f"contrib_{name}"] = _floats(hit.signals[name].contribution for hit in hits)
    columns["memory_id"] = _strings(hit.memory.id for hit in hits)
    return _finished(columns, answer)


def to_scan_frame(answer: Answer) -> pd.DataFrame:
    """Return the first pass over an answer: enough to choose from, with what the full text would cost in tokens."""
    rows = [
        (
            hit.title,
            hit.score,
            hit.memory.kind,
            hit.memory.domain or "",
            hit.memory.tags,
            " ".join(hit.snippet.split())[:_SCAN_SNIPPET],
            hit.memory.token_estimate,
            hit.memory.id,
        )
        for hit in answer.hits
    ]
    columns: dict[str, Any] = {}
    for position, (name, dtype) in enumerate(_SCAN_COLUMNS.items()):
        # Objects first: pandas would take tuples for rows.
        columns[name] = pd.Series(_objects(row[position] for row in rows)).astype(dtype).array  # type: ignore[call-overload]
    return _finished(columns, answer)


def _finished(columns: dict[str, Any], answer: Answer) -> pd.DataFrame:
    frame = Results(columns, index=pd.RangeIndex(1, len(answer.hits) + 1, name="rank"))
    frame.attrs[KEY] = attrs_of(answer)
    return frame


def _strings(values: Iterable[str]) -> pd.Series[str]:
    return pd.Series(list(values), dtype="str").array  # type: ignore[return-value]


def _floats(values: Iterable[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.fromiter(values, np.float64)


def _objects(values: Iterable[Any]) -> np.ndarray[Any, np.dtype[np.object_]]:
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


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


def _with_picture(memory_id: str, title: object) -> str:
    return f"{html(str(title))}{picture(memory_id, str(title))}"


def styled(frame: pd.DataFrame, *, evidence: bool = False) -> Styler:
    """Return a result as a styled table, every text escaped; with ``evidence`` all numbers, a bar a contribution."""
    shown = list(frame.columns) if evidence else _worth_showing(frame)
    contributions = [name for name in shown if name.startswith("contrib_")]
    table = pd.DataFrame(frame[shown]).rename_axis(None)
    forms: dict[str, Any] = {name: "{:.4f}" for name in shown if table[name].dtype == "float64"}
    forms |= {name: html for name in shown if is_string_dtype(table[name])}
    forms |= {name: form for name, form in _FORMS.items() if name in shown}
    styler = table.style.format(escape="html", na_rep="").format(forms, na_rep="", subset=list[Hashable](forms))
    known = {memory_id for search in searches_of(frame) for memory_id in search.get("pictured", ())}
    if known and "title" in shown and "memory_id" in frame.columns:
        for label, memory_id in frame["memory_id"].items():
            if memory_id in known:
                # Each picture belongs to one row, which a form for the whole column would not know.
                styler = styler.format(partial(_with_picture, str(memory_id)), subset=([label], ["title"]))
    # Prices in dollars are no formulas.
    styler = styler.set_table_attributes('class="tex2jax_ignore mathjax_ignore"')
    styler = styler.set_table_styles([{"selector": selector, "props": props} for selector, props in _STYLES])
    of_columns = {name: [{"selector": "td", "props": props}] for name, props in _OF_COLUMN.items() if name in shown}
    styler = styler.set_table_styles(of_columns, overwrite=False)  # type: ignore[arg-type]
    if "score" in shown:
        styler = _barred(styler, table, ["score"])
    return _barred(styler, table, contributions)


def _worth_showing(frame: pd.DataFrame) -> list[str]:
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
