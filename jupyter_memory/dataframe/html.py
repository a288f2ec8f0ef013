"""Hits as an HTML table in the colours of the theme: places, rows, buttons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from os.path import relpath
from pathlib import Path, PurePath
from urllib.parse import quote

from jupyter_memory.text.display import Entry, html, placed
from jupyter_memory.text.unicode import marked
from jupyter_memory.types.search import address

_WEB = ("https://", "http://")


class Place:
    """Where a memory comes from: a link in a notebook, a path elsewhere."""

    def __init__(self, source: str, location: str, kind: str, cell: int | None = None) -> None:
        self.source, self.location, self.kind, self.cell = source, location, kind, cell

    def __repr__(self) -> str:
        return marked(placed(self.source, self.location, self.kind, self.cell))

    def _repr_html_(self) -> str:
        return f'<a href="{escape(self.href)}" target="_blank" rel="noopener">{escape(repr(self))}</a>'

    @property
    def href(self) -> str:
        """Return a link from the folder of the notebook; of a cell, one that JupyterLab opens at the cell."""
        if self.source.startswith(_WEB):
            return self.source
        path = Path(self.source)
        try:
            path = Path(relpath(path)) if path.is_absolute() else path
            # Quoted whole: a source is any text, and a colon in it must not make a scheme such as javascript.
            href = quote(path.as_posix())
        except OSError:  # the working folder is gone
            href = quote(path.as_posix())
        except ValueError:  # it is on another drive of Windows
            href = path.as_uri()
        if self.source.lower().endswith(".pdf") and self.location.startswith("page "):
            return f"{href}#page={quote(self.location.removeprefix('page '))}"
        # JupyterLab opens a notebook at the cell that the fragment names.
        notebook = self.kind == "cell" and self.source.lower().endswith(".ipynb")
        cell = notebook and self.location and not self.location.startswith("#")
        return f"{href}#cell-id={quote(self.location)}" if cell else href

    @property
    def name(self) -> str:
        """Return the file by its name alone, with the line, the page or the cell."""
        name = self.source if self.source.startswith(_WEB) else PurePath(self.source).name or self.source
        return placed(name, self.location, self.kind, self.cell)


DOT = " · "


@dataclass(frozen=True, slots=True)
class Row:
    """What is shown of a memory; ``place`` is None where it comes from no file."""

    rank: str
    title: str
    snippet: str
    marks: tuple[tuple[int, int], ...]
    badges: str
    strength: str
    age: str
    place: Place | None
    tags: str
    tokens: str
    store: str
    memory_id: str
    pictured: bool

    @property
    def address(self) -> str:
        return address(self.store, self.memory_id)

    @property
    def facts(self) -> str:
        # The address first, since a line is cut at its end.
        facts = (self.address, self.tokens, self.place.name if self.place else "", self.tags)
        return DOT.join(fact for fact in facts if fact)

    @property
    def entry(self) -> Entry:
        likely = (self.strength, self.age)
        return Entry(self.rank, self.title, self.snippet, self.marks, self.badges, likely, self.facts)


# Buttons and pictures are hidden elements, which the panel shows: nothing is seen where nothing would happen. The
# element of a picture holds no byte of it, so a saved notebook has none. `integrations/outputs.ts` knows their classes.


def insert_button(source: str, memory_id: str = "") -> str:
    """Return a button that inserts code as a new cell below, without running it, and counts that as a use."""
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


def fix_hint(said: str, fix: str, failed: str) -> str:
    """Return a sentence that a fix is known, with the ids of the memories beside which the panel shows the fix."""
    return f'<span class="jp-Memory-fixHint" data-memory="{escape(fix)}" data-failed="{escape(failed)}">{said}</span>'


# A result as an HTML table has no script, no picture and no text but what it shows, so a saved notebook stays small.
# Where nothing is trusted, and all styles are removed, it is still a table with links, whose code keeps its lines.
# JupyterLab gives every column of a table the same width and sets it flush right: the class is named twice, to be
# stronger than that. VS Code gives JupyterLab's names of colours those of a light page in every theme: text has the
# colour of the page, and grounds are half transparent.
_STYLE = """<style>
.jp-MemoryResult.jp-MemoryResult { table-layout: auto; width: 100%; border-collapse: collapse; }
.jp-MemoryResult.jp-MemoryResult :is(th, td) { text-align: left; vertical-align: top; padding: 4px 8px;
  white-space: nowrap; background: none; font-variant-numeric: tabular-nums; font-weight: 400; }
.jp-MemoryResult.jp-MemoryResult thead :is(th, td) { font-weight: 600; border-bottom: 1px solid #8888; }
.jp-MemoryResult.jp-MemoryResult tbody tr { border-bottom: 1px solid #8883; }
.jp-MemoryResult.jp-MemoryResult td.jp-mod-text { white-space: normal; min-width: 11em; overflow-wrap: anywhere; }
.jp-MemoryResult.jp-MemoryResult td.jp-mod-snippet { width: 65%; min-width: 18em; }
.jp-MemoryResult.jp-MemoryResult pre { margin: 0; padding: 0; border: 0; background: none; font-size: 92%; tab-size: 4;
  text-align: left; white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere;
  font-family: var(--jp-code-font-family, monospace); }
.jp-MemoryResult.jp-MemoryResult small { opacity: 0.75; }
.jp-MemoryResult.jp-MemoryResult mark { color: inherit; background: #f5a62355; font-weight: 600; }
.jp-MemoryResult-chip { padding: 0 4px; border: 1px solid #2da44e; border-radius: 2px; background: #2da44e26;
  font-size: 77%; font-weight: 700; }
.jp-MemoryResult-chip.jp-mod-vector { border-color: #2f81f7; background: #2f81f726; }
</style>"""
_CHIPS = {
    "KW": '<span class="jp-MemoryResult-chip jp-mod-keyword" title="found by its words">KW</span>',
    "SEM": '<span class="jp-MemoryResult-chip jp-mod-vector" title="found by its meaning">SEM</span>',
}


def table(heads: Iterable[str], rows: Iterable[str], caption: str = "") -> str:
    """Return a table of hits with its styles; rows and caption are HTML."""
    # An empty head would be read aloud as one.
    cells = "".join(f'<th scope="col">{html(head)}</th>' if head else "<td></td>" for head in heads)
    # Prices in dollars are no formulas.
    return (
        f'{_STYLE}<table class="jp-MemoryResult tex2jax_ignore mathjax_ignore">{caption}'
        f"<thead><tr>{cells}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def results(rows: Sequence[Row], verdict: str, footer: str) -> str:
    """Return a result as HTML; ``verdict`` is what is said above it, ``footer`` is HTML below it."""
    above = f"<p><strong>{html(verdict)}</strong></p>" if verdict else ""
    if not rows:
        return f"{above}<p>{footer}</p>"
    columns = {"found by": "badges", "strength": "strength", "when": "age"}
    heads = [head for head, name in columns.items() if any(getattr(row, name) for row in rows)]
    body = []
    for row in rows:
        title = html(row.title or row.memory_id)
        if row.place is not None:
            title = open_link(title, row.place.href, row.place.source, row.address)
        shown = picture(row.memory_id, row.title) if row.pictured else ""
        chips = " ".join(_CHIPS.get(badge, html(badge)) for badge in row.badges.split("+"))
        cells = {"found by": chips, "strength": html(row.strength), "when": html(row.age)}
        body.append(
            f'<tr><th scope="row">{html(row.rank)}</th>'
            f'<td class="jp-mod-text">{title}<br><small>{html(row.facts)}</small>{shown}</td>'
            f'<td class="jp-mod-text jp-mod-snippet">{with_marks(row.snippet, row.marks)}</td>'
            f"{''.join(f'<td>{cells[head]}</td>' for head in heads)}</tr>"
        )
    return f"{above}{table(('', 'title', 'snippet', *heads), body)}<p>{footer}</p>"


def open_link(shown: str, href: str, source: str, named: str) -> str:
    """Return a link to the file of a memory, which the panel opens at the cell or the line where it is now.

    The panel knows the ids of your own store; by the address of a memory of another, ``team:ID``, the link is plain.
    """
    known = "" if ":" in named else f'class="jp-Memory-openSource" data-memory="{escape(named)}" '
    target = f'href="{escape(href)}" target="_blank" rel="noopener" title="{escape(marked(source))}"'
    return f"<a {known}{target}>{shown}</a>"


def with_marks(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text as HTML with these parts of it marked; one of several lines keeps them."""
    shown, end = "", 0
    for start, stop in spans:
        shown += f"{html(text[end:start])}<mark>{html(text[start:stop])}</mark>"
        end = stop
    shown += html(text[end:])
    return f"<pre>{shown}</pre>" if "\n" in text else shown
