"""Hits, fixes of errors and versions of cells as DataFrames, as people see them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import PurePath
from shutil import get_terminal_size
from textwrap import indent
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from pandas.api.types import is_string_dtype

from jupyter_memory.dataframe.html import DOT, Place, Row, insert_button, picture, results, table
from jupyter_memory.text.dates import age
from jupyter_memory.text.display import Paint, coloured, has_colours, html, listing, percent, unpainted
from jupyter_memory.text.identifiers import without_file
from jupyter_memory.text.markdown import is_markdown, plain
from jupyter_memory.text.unicode import marked
from jupyter_memory.types import Answer, Fix, Hit, Version
from jupyter_memory.types.search import OWN, surest, told

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

# pandas drops the attrs where two different results become one. Here they are kept side by side, each with the memories
# that it found, so that every row still knows its search.

_KEY = "memsearch"
# In the attrs of several results: the searches; in one of them: its memories with their scores.
_SEVERAL, _FOUND = "results", "found"
# Recent answers by the id of their query, with the evidence that a DataFrame has no columns for; the oldest goes first.
_RECENT: dict[str, Answer] = {}
_KEPT = 32
_SCANNED = 120  # characters of a snippet in a first pass

Search = Mapping[str, Any]


def recent_answer(search: Search) -> Answer | None:
    return _RECENT.get(search["query_id"])


def recent_hits(search: Search) -> Mapping[str, Hit]:
    """Return the hits of a recent search by the ids of their memories, none if the answer is no longer kept."""
    answer = recent_answer(search)
    return {} if answer is None else {hit.memory.id: hit for hit in answer.hits}


def searches_of(frame: pd.DataFrame) -> list[Search]:
    """Return the searches that the rows of a DataFrame come from; none where it is no result."""
    known = frame.attrs.get(_KEY)
    if not isinstance(known, dict):
        return []
    return list(known[_SEVERAL]) if _SEVERAL in known else [known]


def search_of(row: pd.Series[Any], searches: list[Search]) -> Search:
    """Return the search that a row comes from; of several that found its memory, the one that gave it this score."""
    memory_id, score = str(row["memory_id"]), _number(row.get("score"))
    found = [one for one in searches if memory_id in one.get(_FOUND, (memory_id,))]
    scored = [one for one in found if one.get(_FOUND, {}).get(memory_id) == score]
    return (scored or found or searches)[0]


def joined(frames: Iterable[object]) -> dict[Hashable | None, Any]:
    """Return the attrs of results that were put together, none where none of these is a result."""
    by_query: dict[str, dict[str, Any]] = {}
    for frame in frames:
        if isinstance(frame, pd.DataFrame) and "memory_id" in frame.columns:
            for search in searches_of(frame):
                one = by_query.setdefault(search["query_id"], {**search, _FOUND: {}})
                scores = frame["score"] if "score" in frame.columns else [None] * len(frame)
                found = zip(frame["memory_id"], scores, strict=True)
                one[_FOUND] |= search.get(_FOUND) or {str(name): _number(score) for name, score in found}
    if len(by_query) > 1:
        return {_KEY: {_SEVERAL: list(by_query.values())}}
    [one] = by_query.values() or [{}]
    alone = {name: of for name, of in one.items() if name != _FOUND}
    return {_KEY: alone} if alone else {}


def _number(value: Any) -> float | None:
    return None if value is None or pd.isna(value) else float(value)


_NEEDED = {"title", "snippet", "score", "memory_id"}


def _is_result(frame: pd.DataFrame) -> bool:
    return set(frame.columns) >= _NEEDED and frame.columns.is_unique


def _shown_rows(frame: pd.DataFrame, now: datetime) -> list[Row]:
    searches = searches_of(frame)
    most = pd.get_option("display.max_rows") or len(frame)
    shown = []
    for label, row in frame.head(most).iterrows():
        memory_id, search = str(row["memory_id"]), search_of(row, searches) if searches else None
        hit = recent_hits(search).get(memory_id) if search else None
        # With its lines and its marks while the answer is still kept.
        snippet, marks = hit.plain_snippet() if hit is not None else (_cell_text(row, "snippet"), ())
        if hit is None and is_markdown(_cell_text(row, "kind"), _cell_text(row, "lang")):
            snippet, marks = plain(snippet)
        source, tokens, tags = _cell_text(row, "source"), row.get("token_estimate"), row.get("tags")
        where = (source, _cell_text(row, "location"), _cell_text(row, "kind"), hit.memory.cell if hit else None)
        strength, event_at = row.get("strength"), row.get("event_at")
        tags = tags if isinstance(tags, Sequence) and not isinstance(tags, str) else ()
        shown.append(
            Row(
                rank=DOT.join(map(str, label)) if isinstance(label, tuple) else str(label),
                title=without_file(_cell_text(row, "title"), source),
                snippet=snippet,
                marks=marks,
                badges=_cell_text(row, "badges"),
                strength="" if pd.isna(strength) else percent(strength),
                age=age(event_at.to_pydatetime(warn=False), now) if isinstance(event_at, pd.Timestamp) else "",
                place=Place(*where) if source else None,
                tags=", ".join(map(str, tags)),
                tokens="" if tokens is None or pd.isna(tokens) else f"{tokens} tokens",
                store=_cell_text(row, "store"),
                memory_id=memory_id,
                pictured=search is not None and memory_id in search.get("pictured", ()),
            )
        )
    return shown


def _verdict(frame: pd.DataFrame) -> str:
    verdicts = [search["verdict"] for search in searches_of(frame)]
    return told(surest(verdicts)) if verdicts and len(frame) else ""


def _cell_text(row: pd.Series[Any], name: str) -> str:
    value = row.get(name)
    return value if isinstance(value, str) else ""


class Column(pd.Series):
    """A column or a row of a result, which shows marks for invisible characters, as the result does."""

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

    def to_excel(self, *args: Any, **options: Any) -> None:  # type: ignore[misc,override,unused-ignore]
        """Write a copy, whose times are in UTC without saying so: Excel knows no zones; see ``DataFrame.to_excel``."""
        plain = pd.DataFrame(self)
        zoned = plain.select_dtypes("datetimetz")
        plain.assign(**{str(name): zoned[name].dt.tz_localize(None) for name in zoned}).to_excel(*args, **options)

    def __repr__(self) -> str:
        return _text(self, unpainted) if _is_result(self) else marked(super().__repr__())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        paint = coloured if _is_result(self) and has_colours(sys.stdout, os.environ) else None
        printer.text(repr(self) if paint is None else _text(self, paint))

    def _repr_html_(self) -> str | None:  # type: ignore[override,unused-ignore]
        if not (_is_result(self) and pd.get_option("display.notebook_repr_html")):
            plain = super()._repr_html_()  # type: ignore[misc,operator,unused-ignore]
            return None if plain is None else marked(plain)
        footer, questions = _footer(self), [search["query"] for search in searches_of(self)]
        if len(questions) == 1 and questions[0]:
            asked = f'class="jp-Memory-openOutput" value="{escape(questions[0])}"'
            footer += f' <button type="button" {asked} hidden>Open in Memory</button>'
        return results(_shown_rows(self, datetime.now(UTC)), _verdict(self), footer)


def _text(frame: pd.DataFrame, paint: Paint) -> str:
    cells = max(60, min(120, get_terminal_size((80, 24)).columns))
    rows = [row.entry for row in _shown_rows(frame, datetime.now(UTC))]
    return "\n\n".join(part for part in (_verdict(frame), listing(rows, cells, paint), _footer(frame)) if part)


def _footer(frame: pd.DataFrame) -> str:
    most = pd.get_option("display.max_rows") or len(frame)
    cut = f"the first {most} of " if most < len(frame) else ""
    hits = f"{cut}{len(frame)} {'memory' if len(frame) == 1 else 'memories'}"
    ranked = frame["score"].notna().any() and "badges" in frame.columns
    # Most searches are bound to no name, and a reader types what is written here: df alone would be a NameError.
    how = " · %memory explain 1 says why · as df: df.iloc[:, :6]" if ranked else ""
    return f"{hits}{how}" if len(frame) else "No memories."


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
        "tags": pd.Series([hit.memory.tags for hit in hits], dtype=object).array,
        "event_at": pd.array([hit.memory.dated for hit in hits], dtype="datetime64[us, UTC]"),
        "lang": _strings(hit.memory.lang for hit in hits),
        "session": _strings(hit.memory.session or "" for hit in hits),
        "domain": _strings(hit.memory.domain or "" for hit in hits),
        "space": _strings(hit.memory.space for hit in hits),
        "store": _strings(hit.store for hit in hits),
        "folder_description": _strings(hit.folder_description for hit in hits),
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
    frame = Results(columns, index=pd.RangeIndex(1, len(hits) + 1, name="rank"))
    _RECENT[answer.query_id] = answer
    while len(_RECENT) > _KEPT:
        _RECENT.pop(next(iter(_RECENT)))
    # One small JSON value: pandas copies attrs at every step, and Parquet writes them as JSON.
    frame.attrs[_KEY] = {
        "query": answer.query.written or answer.query.text,
        "profile": answer.profile,
        "verdict": answer.verdict,
        "query_class": answer.query.query_class,
        "time_range": answer.time_range,
        "elapsed_ms": round(answer.timings["total"], 3),
        "store": answer.store,
        "query_id": answer.query_id,
    }
    if answer.stores:
        frame.attrs[_KEY]["stores"] = dict(answer.stores)
    if pictured := [hit.memory.id for hit in answer.hits if hit.memory.thumbnails and hit.store in ("", OWN)]:
        frame.attrs[_KEY]["pictured"] = pictured
    return frame


def to_scan_frame(answer: Answer) -> pd.DataFrame:
    """Return the first pass over an answer: enough to choose from, with what the full text would cost in tokens."""
    frame = to_frame(answer)
    frame["snippet"] = frame["snippet"].str[:_SCANNED]
    frame["token_estimate"] = np.fromiter((hit.memory.token_estimate for hit in answer.hits), np.int64)
    return frame[["title", "score", "kind", "domain", "tags", "snippet", "token_estimate", "store", "memory_id"]]


def _strings(values: Iterable[str]) -> pd.Series[str]:
    return pd.array(list(values), dtype="str")  # type: ignore[return-value]


def _floats(values: Iterable[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.fromiter(values, np.float64)


_SHOWN = ("title", "snippet", "badges", "score", "kind", "tags", "event_at", "token_estimate", "memory_id")
# Columns that are left out if no row has a value in them.
_BLANK: dict[str, Callable[[Any], Any]] = {
    "score": lambda column: column.isna(),
    "badges": lambda column: column == "",
    "tags": lambda column: column.map(len) == 0,
}
# Half transparent, so that the words on a bar can be read on a light and on a dark page.
_BAR = "#3572b066"
# A bar lies behind its number, however many lines the row has.
_BEHIND = "background-size: 100% 1.9em; background-position: 0 0; background-repeat: no-repeat;"
_LEFT = "text-align: left; vertical-align: top;"
_STYLES: list[tuple[str, str]] = [
    ("", "table-layout: auto; width: 100%; border-collapse: collapse;"),
    ("th, td", f"{_LEFT} padding: 4px 8px;"),
    ("thead th", "font-weight: 600; white-space: nowrap; border-bottom: 1px solid #8888;"),
    ("tbody tr", "border-bottom: 1px solid #8883;"),
    ("td", "white-space: nowrap; font-variant-numeric: tabular-nums;"),
]
_FORMS = {
    "tags": lambda tags: html(", ".join(tags)),
    "event_at": lambda moment: str(moment.to_pydatetime(warn=False).astimezone().date()),
}
_OF_COLUMN = {
    "title": f"{_LEFT} white-space: normal; min-width: 13em; max-width: 18em; overflow-wrap: anywhere;",
    "snippet": f"{_LEFT} white-space: normal; min-width: 21em; overflow-wrap: anywhere;",
    "score": f"{_LEFT} width: 5em; min-width: 5em;",
    "tags": f"{_LEFT} white-space: normal;",
    "memory_id": f"{_LEFT} font-family: var(--jp-code-font-family, monospace); font-size: 85%; opacity: 0.75;",
}


def styled(frame: pd.DataFrame, *, evidence: bool = False) -> Styler:
    """Return a result as a styled table, every text escaped; with ``evidence`` all numbers, a bar a contribution."""
    blank = {name for name, of in _BLANK.items() if name in frame.columns and len(frame) and of(frame[name]).all()}
    shown = list(frame.columns) if evidence else [one for one in _SHOWN if one in frame.columns and one not in blank]
    contributions = [name for name in shown if name.startswith("contrib_")]
    table = pd.DataFrame(frame[shown]).rename_axis(None)
    forms: dict[str, Any] = {name: "{:.4f}" for name in shown if table[name].dtype == "float64"}
    forms |= {name: html for name in shown if is_string_dtype(table[name])}
    forms |= {name: form for name, form in _FORMS.items() if name in shown}
    styler = table.style.format(escape="html", na_rep="").format(forms, na_rep="", subset=list[Hashable](forms))
    known = {memory_id for search in searches_of(frame) for memory_id in search.get("pictured", ())}
    if known and "title" in shown and "memory_id" in frame.columns:
        for label, memory_id, title in zip(frame.index, frame["memory_id"], frame["title"], strict=True):
            if memory_id in known:
                # Each picture belongs to one row, which a form for the whole column would not know.
                cell = f"{html(str(title))}{picture(str(memory_id), str(title))}".replace("{", "{{").replace("}", "}}")
                styler = styler.format(cell, subset=([label], ["title"]))
    styler = styler.set_table_attributes('class="tex2jax_ignore mathjax_ignore"')
    styler = styler.set_table_styles([{"selector": selector, "props": props} for selector, props in _STYLES])
    of_columns = {name: [{"selector": "td", "props": props}] for name, props in _OF_COLUMN.items() if name in shown}
    styler = styler.set_table_styles(of_columns, overwrite=False)  # type: ignore[arg-type]
    for names in (["score"] if "score" in shown else [], contributions):
        if names:
            most = table[names].max().max() if len(table) else 0.0
            behind: dict[Any, Any] = {name: [{"selector": "td", "props": _BEHIND}] for name in names}
            styler = styler.set_table_styles(behind, overwrite=False)
            styler = styler.bar(subset=list[Hashable](names), color=_BAR, vmin=0.0, vmax=most or 1.0, align="left")
    return styler


_FIX_SHOWN = {"error", "strength", "fix", "diff", "kind", "notebook", "when", "memory_id"}
_DIFF = {"+": "background: #2da44e33;", "-": "background: #cf222e26;"}


class Fixes(pd.DataFrame):
    """A DataFrame of fixes; a part of its columns is shown as any other."""

    _what = "error"

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return type(self)

    def __repr__(self) -> str:
        if not self._is_whole:
            return super().__repr__()
        shown = []
        for rank, row in self._ranked():
            what, place, code, _ = self._told(rank, row)
            shown.append(f"{rank}  {DOT.join(filter(None, (what, place)))}\n\n{indent(code, '    ')}")
        return "\n\n".join(shown)

    def _repr_html_(self) -> str | None:  # type: ignore[override,unused-ignore]
        if not (self._is_whole and pd.get_option("display.notebook_repr_html")):
            plain: str | None = super()._repr_html_()  # type: ignore[misc,operator,unused-ignore]
            return plain
        rows = []
        for rank, row in self._ranked():
            what, place, code, inserted = self._told(rank, row)
            button = insert_button(inserted, row["memory_id"]) if inserted else ""
            looks = {} if code in (inserted, row.get("fix")) else _DIFF  # a whole text has no signs
            lines = [f'<span style="{looks.get(line[:1], "")}">{html(line)}</span>' for line in code.split("\n")]
            shown = "\n".join(lines)
            rows.append(
                f'<tr><th scope="row">{html(str(rank))}</th>'
                f'<td class="jp-mod-text">{html(what)}<br><small>{html(place)}</small></td>'
                f'<td class="jp-mod-text jp-mod-snippet"><pre>{shown}</pre>{button}</td></tr>'
            )
        return table(("", self._what, "code"), rows)

    @property
    def _is_whole(self) -> bool:
        return set(self.columns) >= _FIX_SHOWN

    def _told(self, rank: Hashable, row: Mapping[Hashable, Any]) -> tuple[str, str, str, str]:
        # What it is, when and where, its code, and what a button inserts: a note is no code.
        changed = [line for line in row["diff"].split("\n")[2:] if not line.startswith("@@")]
        when = row["when"]
        day = "" if pd.isna(when) else f"{when.to_pydatetime(warn=False).astimezone():%Y-%m-%d %H:%M}"
        place = DOT.join(filter(None, (day, PurePath(row["notebook"]).name)))
        return row["error"], place, "\n".join(changed) or row["fix"], "" if row["kind"] == "note" else row["fix"]

    def _ranked(self) -> Iterator[tuple[Hashable, Mapping[Hashable, Any]]]:
        yield from zip(self.index, self.to_dict("records"), strict=True)


def fixes_frame(fixes: Sequence[Fix], store: str) -> Fixes:
    """Return fixes as rows, indexed by rank; ``attrs["memfix"]`` has them as JSON values, with the store."""
    rows = [fix.to_json() for fix in fixes]
    frame = Fixes(
        {
            "memory_id": _strings(row["memory_id"] for row in rows),
            "error": _strings(row["error"] for row in rows),
            "strength": _floats(fix.strength for fix in fixes),
            **{name: _strings(row[name] for row in rows) for name in ("failed", "fix", "diff", "kind", "notebook")},
            "when": pd.array([fix.mended.dated for fix in fixes], dtype="datetime64[us, UTC]"),
            "failed_id": _strings(row["failed_id"] for row in rows),
        },
        index=pd.RangeIndex(1, len(rows) + 1, name="rank"),
    )
    frame.attrs["memfix"] = {"store": store, "fixes": rows}
    return frame


class Versions(Fixes):
    """A DataFrame of what ran in a cell; a part of its columns is shown as any other."""

    _what = "version"

    @property
    def _is_whole(self) -> bool:
        return "versions" in self.attrs and {"diff", "text", "memory_id"} <= set(self.columns)

    def _told(self, rank: Hashable, row: Mapping[Hashable, Any]) -> tuple[str, str, str, str]:
        told, code = self.attrs["versions"].get(str(rank), ("", row["diff"]))
        return told, "", code, row["text"]


def versions_frame(versions: Sequence[Version], *, every_run: bool) -> Versions:
    """Return what ran in a cell as rows, the newest first: of each text, or of every run."""
    of_others = ["durations", "runs"] if every_run else ["elsewhere"]
    rows = pd.DataFrame([one.to_json() for one in versions]).drop(columns=of_others)
    frame = Versions(rows.set_index("version").rename_axis("run" if every_run else "version"))
    frame["when"] = pd.to_datetime(frame["when"]).astype("datetime64[us, UTC]")
    frame["seconds"] = frame["seconds"].astype("float64")
    frame.attrs["versions"] = {str(one.number): (one.told, one.code) for one in versions}
    return frame
