"""A result as an HTML table in a notebook: titles that are links, chips for the badges, matched words marked.

It has no script, no picture and no text but what it shows, so a saved notebook stays small. Where nothing is trusted,
and all styles are removed, it is still a table with links, whose code keeps its lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from jupyter_memory.dataframe.panel_elements import picture
from jupyter_memory.dataframe.rows import Row
from jupyter_memory.text.display import html
from jupyter_memory.text.unicode import marked

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
    body = "".join(f"<tr>{''.join(_cells(row, shown))}</tr>" for row in rows)
    # Prices in dollars are no formulas.
    return (
        f'{_STYLE}{above}<table class="jp-MemoryResult tex2jax_ignore mathjax_ignore">'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table><p>{footer}</p>"
    )


def _cells(row: Row, shown: dict[str, str]) -> Iterator[str]:
    yield f'<th scope="row">{html(row.rank)}</th><td class="jp-mod-text">{_title(row)}</td>'
    yield f'<td class="jp-mod-text jp-mod-snippet">{_snippet(row)}</td>'
    yield from (f"<td>{_value(row, name)}</td>" for name in shown)


def _value(row: Row, name: str) -> str:
    if name == "badges":
        return " ".join(_chip(badge) for badge in row.badges.split("+") if badge)
    return html(row.strength if name == "strength" else row.age)


def _chip(badge: str) -> str:
    look, meaning = _WORDS.get(badge, ("", ""))
    return f'<span class="jp-MemoryResult-chip {look}" title="{meaning}">{html(badge)}</span>'


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


def _snippet(row: Row) -> str:
    shown = "".join(_stretches(row))
    return f"<pre>{shown}</pre>" if "\n" in row.snippet else shown


def _stretches(row: Row) -> Iterator[str]:
    """Yield the snippet with the words that matched marked."""
    end = 0
    for start, stop in row.marks:
        yield f"{html(row.snippet[end:start])}<mark>{html(row.snippet[start:stop])}</mark>"
        end = stop
    yield html(row.snippet[end:])
