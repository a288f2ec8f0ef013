"""An answer as an HTML table: a row a memory, a bar a contribution, every text escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from jupyter_memory.dataframe.html import picture, with_marks
from jupyter_memory.text.display import html
from jupyter_memory.types import Answer, Hit

# VS Code gives JupyterLab's names of colours those of a light page in every theme. So text has the colour of the page,
# lines and grounds are a grey that is seen on light and on dark, and bars alone have JupyterLab's colours.
STYLE = """<style>
.jp-MemoryExplorer { color: inherit; line-height: 1.45; overflow-x: auto; }
.jp-MemoryExplorer p { margin: 0 0 4px; }
.jp-MemoryExplorer table.jp-MemoryExplorer-table { border-collapse: collapse; table-layout: auto; width: 100%;
  margin: 4px 0; font-size: var(--jp-ui-font-size1, 13px); font-variant-numeric: tabular-nums; }
.jp-MemoryExplorer-table caption { caption-side: top; text-align: left; padding: 4px 0; color: inherit; }
.jp-MemoryExplorer table.jp-MemoryExplorer-table th, .jp-MemoryExplorer table.jp-MemoryExplorer-table td {
  text-align: left; vertical-align: top; padding: 4px 8px; background: none; white-space: nowrap;
  border: 0; border-bottom: 1px solid #8886; font-weight: 400; max-width: none; }
.jp-MemoryExplorer table.jp-MemoryExplorer-table thead th { font-weight: 600; vertical-align: bottom;
  border-bottom: 1px solid #888a; }
.jp-MemoryExplorer table.jp-MemoryExplorer-table tbody tr { background: none; }
.jp-MemoryExplorer table.jp-MemoryExplorer-table td.jp-MemoryExplorer-memory { white-space: normal; min-width: 18em;
  overflow-wrap: anywhere; }
.jp-MemoryExplorer-title { font-weight: 600; }
.jp-MemoryExplorer-about, .jp-MemoryExplorer-moved { opacity: 0.75; font-size: 92%; }
.jp-MemoryExplorer-code { font-family: var(--jp-code-font-family, monospace); font-size: 92%; white-space: pre-wrap;
  tab-size: 4; }
.jp-MemoryExplorer mark { background: none; color: inherit; font-weight: 700; }
.jp-MemoryExplorer td + td > div { height: 4px; margin-top: 3px; min-width: 1px; border-radius: 1px;
  background: var(--jp-brand-color1, #3572b0); }
.jp-MemoryExplorer td + td > div.jp-mod-negative { background: var(--jp-error-color1, #d32f2f); }
.jp-MemoryExplorer pre { margin: 0 0 8px; padding: 8px; overflow-x: auto; white-space: pre; user-select: all;
  font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 13px);
  color: inherit; background: #8881; border: 1px solid #8886; }
</style>"""


def table(answer: Answer, terms: Sequence[str], before: Mapping[str, int]) -> str:
    """Return the hits as a table with a column a term; ``before`` are ranks to compare with, by the memory's id."""
    heads = "".join(f'<th scope="col">{html(name)}</th>' for name in ("rank", "memory", "score", *terms))
    most = max((abs(hit.signals[name].contribution) for hit in answer.hits for name in terms), default=0.0)
    best = max((abs(hit.score) for hit in answer.hits), default=0.0)
    query, rows = answer.query.written or answer.query.text, ""
    caption = f"No memories for “{query}”."
    if answer.hits:
        caption = (
            f"The first {len(answer.hits)} of {answer.counts['fused']:,} candidates for “{query}”, "
            f"by {answer.profile}. A score is the sum of the columns behind it."
        )
    for hit in answer.hits:
        moved, was = "", before.get(hit.memory.id, hit.rank)
        if was != hit.rank:
            sign, way = ("▲", "up") if hit.rank < was else ("▼", "down")
            label = f"{abs(was - hit.rank)} {way} from {was}"
            named = f'role="img" aria-label="{label}" title="{label}"'
            moved = f' <span class="jp-MemoryExplorer-moved" {named}>{sign}{abs(was - hit.rank)}</span>'
        rows += (
            f'<tr><th scope="row">{hit.rank}{moved}</th>'
            f'<td class="jp-MemoryExplorer-memory">{_memory(hit)}</td>{_cell(hit.score, best)}'
            f"{''.join(_cell(hit.signals[name].contribution, most) for name in terms)}</tr>"
        )
    # Prices in dollars are no formulas.
    return (
        '<table class="jp-MemoryExplorer-table tex2jax_ignore mathjax_ignore">'
        f"<caption>{html(caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _memory(hit: Hit) -> str:
    memory = hit.memory
    about = [hit.badges, memory.kind, str(memory.event_at.astimezone().date())]
    if memory.source:
        about.append(PurePath(memory.source).name)
    about += [", ".join(memory.tags)] if memory.tags else []
    title = f'<div class="jp-MemoryExplorer-title">{html(hit.title)}</div>' if memory.title else ""
    details = html(" · ".join(part for part in about if part))
    look = ' class="jp-MemoryExplorer-code"' if "\n" in hit.snippet else ""
    shown = picture(memory.id, memory.title) if memory.thumbnails else ""
    about_it = f'<div class="jp-MemoryExplorer-about">{details}</div>'
    return f"{title}<div{look}>{with_marks(hit.snippet, hit.highlights)}</div>{shown}{about_it}"


def _cell(value: float, most: float) -> str:
    if not value:
        return "<td>0</td>"
    share = f"width:{abs(value) / most:.0%}" if most else "width:0"
    sign = ' class="jp-mod-negative"' if value < 0 else ""
    # A notebook keeps a hundred of these: short is what counts.
    return f'<td>{value:.4f}<div{sign} style="{share}"></div></td>'
