"""A search result with sliders for the weights: every move ranks the candidates of the search again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import floor, log10
from pathlib import PurePath
from typing import Any
from uuid import uuid4

import ipywidgets
import pandas as pd
from IPython.display import display, update_display

from jupyter_memory.dataframe.frame import to_frame
from jupyter_memory.dataframe.html import picture, table, with_marks
from jupyter_memory.errors import InputError
from jupyter_memory.search.engine import Pooled
from jupyter_memory.search.fusion import weights_of, with_weights
from jupyter_memory.search.profiles import PROFILES, Profile, profile_named
from jupyter_memory.text.dates import iso_day
from jupyter_memory.text.display import html
from jupyter_memory.text.identifiers import without_file
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Answer

# How many times its weight a slider has room for, before it is rounded up.
_ROOM = 2.5
_STEPS = 100
_GONE = (
    "The sliders are not here: they need a running kernel and a front end that has ipywidgets, such as JupyterLab, "
    "Notebook 7 or VS Code. Run the cell again to have them."
)


class MemoryExplorer(ipywidgets.VBox):  # type: ignore[misc]
    """The hits of one search, a bar for each contribution, and sliders that re-rank them without searching again."""

    # The sliders are made when a front end shows this widget, or code asks for them: they add 190 KB to a notebook.
    def __init__(self, pooled: Pooled, written: str = "") -> None:
        self.pooled = pooled
        self.answer: Answer = pooled.answer
        base = pooled.profile
        # Feedback may have changed the profile into one that no name denotes.
        named = written or base.name
        known = PROFILES.get(named) == base or (written and profile_named(written) == base)
        self._written = named if known else ""
        self._name = base.name if base.name.startswith("my-") else f"my-{base.name}"
        # The field of the profile that holds the terms in use.
        self._field = "keyword_only" if base.keyword_only and not pooled.scored.hybrid else "terms"
        self._before = pooled.ranks(base)  # to compare with
        self._own = weights_of(pooled.terms)
        self._columns = [term.name for term in pooled.terms if pooled.speaks(term)]
        self._id = uuid4().hex
        self._shown = self._still = False
        # From 0, a front end counts its views of this widget, and says so.
        super().__init__(_view_count=0)
        self.observe(lambda _: self._controls, "_view_count")

    @property
    def sliders(self) -> Mapping[str, Any]:
        """Return the slider of each term that has a weight, by the term's name."""
        return self._controls.sliders

    @property
    def fields(self) -> Mapping[str, Any]:
        """Return the number beside each slider, by the term's name."""
        return self._controls.fields

    @cached_property
    def _controls(self) -> _Controls:
        made = _Controls(self.pooled, self._own, self._columns)
        self.children = made.rows
        for slider in made.sliders.values():
            slider.observe(self._move, "value")
        made.again.on_click(lambda _: self.reset())
        self._write(made)
        return made

    @property
    def weights(self) -> dict[str, float]:
        """Return the weights that differ from the profile's own, by term."""
        if "_controls" not in self.__dict__:
            return {}
        # Steps of a slider add up to 0.026000000000000002, and one moved there and back has lost its last digits.
        moved = {name: _neat(slider.value) for name, slider in self.sliders.items()}
        return {name: weight for name, weight in moved.items() if weight != _neat(self._own[name])}

    @property
    def profile(self) -> Profile:
        """Return the profile that the sliders make: the one searched with as long as none was moved."""
        base, weights = self.pooled.profile, self.weights
        if not weights:
            return base
        return base.replace(**{"name": self._name, self._field: with_weights(self.pooled.terms, weights)})

    @property
    def frame(self) -> pd.DataFrame:
        """Return the hits as they are ranked now, as the DataFrame that a search by ``profile`` returns."""
        return to_frame(self.answer)

    @property
    def code(self) -> str:
        """Return Python code that makes ``profile`` and binds it to ``mine``."""
        base, imports = "profile  # the one that you searched with", list[str]()
        if self._written:
            base = f"profile_named({json_text(self._written)})"
            imports = ["from jupyter_memory.search.profiles import profile_named", ""]
        weights = ", ".join(f"{json_text(name)}: {weight!r}" for name, weight in self.weights.items())
        return "\n".join(
            [
                "from dataclasses import replace",
                "",
                *imports,
                f"base = {base}",
                f"weights = {{{weights}}}",
                "mine = base.replace(",
                f"    name={json_text(self._name)},",
                f"    {self._field}=tuple(",
                "        replace(one, weight=weights[one.name]) if one.name in weights else one",
                f"        for one in base.{self._field}",
                "    ),",
                ")",
                "# store.search(question, profile=mine)",
            ]
        )

    @property
    def toml(self) -> str:
        """Return ``profile`` as the text of a TOML file: only what differs, if the profile searched with has a name."""
        base, name = self.pooled.profile, self._name
        head = f"# Save it as {name}.toml, and search with it: %memsearch --profile ./{name}.toml question"
        if PROFILES.get(base.name) == base:
            lines = [head, f"base = {json_text(base.name)}"]
            for term, weight in self.weights.items():
                key = term if term.isidentifier() and term.isascii() else json_text(term)
                lines += ["", f"[{self._field}.{key}]", f"weight = {weight!r}"]
            return "\n".join(lines)
        try:
            return f"{head}\n{self.profile.replace(name=name).to_toml()}".rstrip()
        except InputError as error:
            return f"# {error}"

    def reset(self) -> None:
        """Give every weight its own value again."""
        # Once at the end is enough.
        self._still = True
        for name, slider in self.sliders.items():
            slider.value = self._own[name]
        self._still = False
        self._move()

    def _move(self, _change: object = None) -> None:
        if self._still:
            return
        self.answer = self.pooled.weighed(self.profile)
        self._write(self._controls)
        if self._shown:
            update_display(self._plainly(), raw=True, display_id=self._id)  # type: ignore[no-untyped-call]

    def _write(self, controls: _Controls) -> None:
        # While this style is on the page, the table that stays when the sliders go is not shown beside it.
        hidden = f"<style>.jp-MemoryExplorer-{self._id} {{ display: none; }}</style>"
        controls.table.value = f"{_STYLE}{hidden}{self._html()}"
        controls.formula.value = f'<div class="jp-MemoryExplorer"><p>score = {html(self._sum)}</p></div>'
        python, toml = html(self.code), html(self.toml)
        controls.code.value = (
            f'<div class="jp-MemoryExplorer"><p>Python</p><pre>{python}</pre><p>TOML</p><pre>{toml}</pre></div>'
        )

    # A table with a column a term.
    def _html(self) -> str:
        answer, terms, rows = self.answer, self._columns, list[str]()
        query = answer.query.written or answer.query.text
        most = max((abs(hit.signals[name].contribution) for hit in answer.hits for name in terms), default=0.0)
        best = max((abs(hit.score) for hit in answer.hits), default=0.0)
        caption = f"No memories for “{query}”."
        if answer.hits:
            caption = (
                f"The first {len(answer.hits)} of {answer.counts['fused']:,} candidates for “{query}”, "
                f"by {answer.profile}. A score is the sum of the columns behind it."
            )
        for hit in answer.hits:
            memory, moved, was = hit.memory, "", self._before.get(hit.memory.id, hit.rank)
            if was != hit.rank:
                sign, way = ("▲", "up") if hit.rank < was else ("▼", "down")
                label = f"{abs(was - hit.rank)} {way} from {was}"
                named = f'role="img" aria-label="{label}" title="{label}"'
                moved = f' <span class="jp-MemoryExplorer-moved" {named}>{sign}{abs(was - hit.rank)}</span>'
            about = (hit.badges, memory.kind, iso_day(memory.event_at), PurePath(memory.source).name)
            details = html(" · ".join(filter(None, (*about, ", ".join(memory.tags)))))
            title = f"<strong>{html(without_file(hit.title, memory.source))}</strong><br>" if memory.title else ""
            seen = picture(memory.id, memory.title) if memory.thumbnails else ""
            told = f"{title}<div>{with_marks(*hit.plain_snippet())}</div>{seen}<small>{details}</small>"
            rows.append(
                f'<tr><th scope="row">{hit.rank}{moved}</th><td class="jp-mod-text jp-mod-snippet">{told}</td>'
                f"{_bar(hit.score, best)}{''.join(_bar(hit.signals[name].contribution, most) for name in terms)}</tr>"
            )
        notices = "".join(f"<p>{html(notice)}</p>" for notice in answer.notices)
        # It scrolls sideways where it is narrow, by keyboard too; its name distinguishes it from another search's.
        region = f'class="jp-MemoryExplorer" role="region" aria-label="Results for “{html(query)}”" tabindex="0"'
        shown = table(("rank", "memory", "score", *terms), rows, f"<caption>{html(caption)}</caption>")
        return f"<div {region}>{notices}{shown}</div>"

    @property
    def _sum(self) -> str:
        return " + ".join(map(str, self.profile.terms_for(self.pooled.scored.hybrid)))

    def __repr__(self) -> str:
        return f"{self.frame!r}\nscore = {self._sum}"

    def _plainly(self) -> dict[str, str]:
        return {
            "text/plain": repr(self),
            "text/html": f'<div class="jp-MemoryExplorer-{self._id}">{_STYLE}{self._html()}</div>',
        }

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        return {**bundle, **self._plainly()}

    def _ipython_display_(self, **kwargs: Any) -> None:
        # JupyterLab does not fall back to HTML for a widget whose state is gone: the table is an output of its own.
        self._shown = True
        display(self._plainly(), raw=True, display_id=self._id)  # type: ignore[no-untyped-call]
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        gone = {"text/plain": _GONE, "text/html": f"<p>{_GONE}</p>"}
        display({**bundle, **gone}, raw=True)  # type: ignore[no-untyped-call]


# The sliders of an explorer with their numbers, its buttons, and the texts that follow the sliders.
class _Controls:
    def __init__(self, pooled: Pooled, own: Mapping[str, float], columns: Sequence[str]) -> None:
        self.sliders: dict[str, Any] = {}
        for name, weight in own.items():
            low, high, step = _range_of(weight)
            # With room between the slider and the number.
            layout = {"flex": "1 1 8em", "width": "auto", "margin": "2px 2px 2px 10px"}
            self.sliders[name] = ipywidgets.FloatSlider(
                value=weight, min=low, max=high, step=step, readout=False, tooltip=f"Weight of {name}", layout=layout
            )
        self.fields: dict[str, Any] = {}
        for term in pooled.terms:
            if (slider := self.sliders.get(term.name)) is None:
                continue
            silent = "" if term.name in columns else "; it says nothing of these memories"
            self.fields[term.name] = ipywidgets.BoundedFloatText(
                value=_neat(slider.value),
                min=slider.min,
                max=slider.max,
                step=slider.step,
                description=term.name,
                tooltip=f"{slider.tooltip}: {term}{silent}",
                style={"description_width": "7em"},
                layout={"flex": "0 0 13em", "max_width": "13em"},  # or its digits say how wide it is
            )
            ipywidgets.link((slider, "value"), (self.fields[term.name], "value"), transform=(_neat, float))
        self.table, self.formula, self.code = ipywidgets.HTML(), ipywidgets.HTML(), ipywidgets.HTML()
        self.again = ipywidgets.Button(description="Reset weights", tooltip=f"The weights of {pooled.profile.name}")
        self.open = ipywidgets.ToggleButton(tooltip="Python and TOML of this profile")
        pressed = (self.open, "value")
        ipywidgets.dlink(pressed, (self.open, "description"), lambda shown: "Hide code" if shown else "Show code")
        ipywidgets.dlink(pressed, (self.code.layout, "display"), lambda shown: None if shown else "none")

        columns = "repeat(auto-fill, minmax(24em, 1fr))"
        rows = [ipywidgets.HBox([self.fields[name], slider]) for name, slider in self.sliders.items()]
        grid = ipywidgets.GridBox(rows, layout={"grid_template_columns": columns})
        grid.add_class("jp-MemoryExplorer-sliders")  # by which the panel knows them: outputs.ts
        self.rows = [grid, ipywidgets.HBox([self.again, self.open]), self.code, self.formula, self.table]


def _neat(weight: float) -> float:
    # Without the digits that steps leave behind.
    return float(f"{weight:.6g}")


def _range_of(weight: float) -> tuple[float, float, float]:
    # The ends and the step of its slider, which reaches below 0 only for a weight that does.
    high = 1.0
    if weight:
        least = abs(weight) * _ROOM
        power = floor(log10(least))
        # Read back from text, so that 0.2 is 0.2.
        round_ones = [float(f"{digit}e{place}") for place in (power, power + 1) for digit in (1, 2, 5)]
        high = next(one for one in round_ones if one >= least)
    return -high if weight < 0 else 0.0, high, float(f"{high / _STEPS:.6g}")


# Colours as those of a result (`html`): lines and grounds are a grey that is seen on light and on dark.
_STYLE = """<style>
.jp-MemoryExplorer { color: inherit; line-height: 1.45; overflow-x: auto; font-size: var(--jp-ui-font-size1, 13px); }
.jp-MemoryExplorer p { margin: 0 0 4px; }
.jp-MemoryExplorer caption { caption-side: top; text-align: left; padding: 4px 0; color: inherit; }
.jp-MemoryExplorer-moved { opacity: 0.75; font-size: 92%; }
.jp-MemoryExplorer td + td > div { height: 4px; margin-top: 3px; min-width: 1px; border-radius: 1px;
  background: var(--jp-brand-color1, #3572b0); }
.jp-MemoryExplorer td + td > div.jp-mod-negative { background: var(--jp-error-color1, #d32f2f); }
.jp-MemoryExplorer pre { margin: 0 0 8px; padding: 8px; overflow-x: auto; white-space: pre; user-select: all;
  font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 13px);
  color: inherit; background: #8881; border: 1px solid #8886; }
</style>"""


def _bar(value: float, most: float) -> str:
    if not value:
        return "<td>0</td>"
    share = f"width:{abs(value) / most:.0%}" if most else "width:0"
    sign = ' class="jp-mod-negative"' if value < 0 else ""
    # A notebook keeps a hundred of these: short is what counts.
    return f'<td>{value:.4f}<div{sign} style="{share}"></div></td>'
