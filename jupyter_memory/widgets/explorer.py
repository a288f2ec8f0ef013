"""A search result with sliders for the weights: every move ranks the candidates of the search again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4

import ipywidgets
from IPython.display import display, update_display

from jupyter_memory.search.fusion import weights_of, with_weights
from jupyter_memory.search.profiles import PROFILES, Profile, profile_named
from jupyter_memory.search.runs import Pooled
from jupyter_memory.store.delegation import keywords
from jupyter_memory.store.memory_store import MemoryStore, frame_of
from jupyter_memory.store.searching import SearchOptions
from jupyter_memory.text.layout import html
from jupyter_memory.types import Answer
from jupyter_memory.widgets.code import ProfileCode
from jupyter_memory.widgets.table import STYLE, table

if TYPE_CHECKING:
    import pandas as pd

_GONE = (
    "The sliders are not here: they need a running kernel and a front end that has ipywidgets, such as JupyterLab, "
    "Notebook 7 or VS Code. Run the cell again to have them."
)
# How many times its weight a slider has room for, before it is rounded up.
_ROOM = 2.5
_STEPS = 100


@keywords(SearchOptions)
def explore(store: MemoryStore, query: str, **arguments: Unpack[SearchOptions]) -> MemoryExplorer:
    """Search once and return the result with a slider for every weight of the profile.

    Parameters
    ----------
    store : MemoryStore
        Where to search.
    query : str
        A question or words.
    **arguments
        The keyword arguments of ``store.search``.

    Raises
    ------
    QueryError
        The query is empty or holds nothing but filters, so that nothing is ranked.
    """
    profile = arguments.get("profile")
    return MemoryExplorer(store.pooled(query, **arguments), profile if isinstance(profile, str) else "")


class MemoryExplorer(ipywidgets.VBox):  # type: ignore[misc]
    """The hits of one search, a bar for each contribution, and sliders that re-rank them without searching again.

    ``sliders`` holds the slider of each term that has a weight, by the term's name, and ``fields`` the numbers beside
    them. ``answer``, ``frame`` and ``profile`` are what they come to now. Where the sliders cannot be shown, a table
    stays.
    """

    def __init__(self, pooled: Pooled, written: str = "") -> None:
        self.pooled = pooled
        self.answer: Answer = pooled.answer
        # Feedback may have changed the profile into one that no name denotes.
        named = written or pooled.profile.name
        known = PROFILES.get(named) == pooled.profile or (written and profile_named(written) == pooled.profile)
        self._written = named if known else ""
        self._before = pooled.ranks(pooled.profile)
        self._own = weights_of(pooled.terms)
        self._columns = [term.name for term in pooled.terms if pooled.speaks(term)]
        self._id = uuid4().hex
        self._shown = self._still = False
        self.sliders: Mapping[str, Any] = {name: _slider(name, weight) for name, weight in self._own.items()}
        self.fields: Mapping[str, Any] = {
            term.name: _field(term.name, str(term), self.sliders[term.name], term.name in self._columns)
            for term in pooled.terms
            if term.name in self.sliders
        }
        self._table, self._formula, self._code = ipywidgets.HTML(), ipywidgets.HTML(), ipywidgets.HTML()
        self._again = ipywidgets.Button(description="Reset weights", tooltip=f"The weights of {pooled.profile.name}")
        self._open = ipywidgets.ToggleButton(description="Show code", tooltip="Python and TOML of this profile")
        super().__init__([self._sliders(), ipywidgets.HBox([self._again, self._open]), *self._texts()])
        for slider in self.sliders.values():
            slider.observe(self._move, "value")
        self._again.on_click(lambda _: self.reset())
        self._open.observe(self._show_code, "value")
        self._write()

    @property
    def weights(self) -> dict[str, float]:
        """Return the weights that differ from the profile's own, by term."""
        # Steps of a slider add up to 0.026000000000000002, and one moved there and back has lost its last digits.
        moved = {name: _neat(slider.value) for name, slider in self.sliders.items()}
        return {name: weight for name, weight in moved.items() if weight != _neat(self._own[name])}

    @property
    def profile(self) -> Profile:
        """Return the profile that the sliders make: the one searched with as long as none was moved."""
        base, code = self.pooled.profile, self._profile_code
        if not code.weights:
            return base
        terms = with_weights(self.pooled.terms, code.weights)
        return base.replace(**{"name": code.name, code.field: terms})

    @property
    def frame(self) -> pd.DataFrame:
        """Return the hits as they are ranked now, as the DataFrame that a search by ``profile`` returns."""
        return frame_of(self.answer)

    @property
    def code(self) -> str:
        """Return Python code that makes ``profile``."""
        return self._profile_code.python()

    @property
    def toml(self) -> str:
        """Return ``profile`` as the text of a TOML file."""
        return self._profile_code.toml(self.profile.replace(name=self._profile_code.name))

    def reset(self) -> None:
        """Give every weight its own value again."""
        # Once at the end is enough.
        self._still = True
        for name, slider in self.sliders.items():
            slider.value = self._own[name]
        self._still = False
        self._move()

    @property
    def _profile_code(self) -> ProfileCode:
        base = self.pooled.profile
        alone = bool(base.keyword_only) and not self.pooled.hybrid
        return ProfileCode(base, self.weights, "keyword_only" if alone else "terms", self._written)

    def _move(self, _change: object = None) -> None:
        if self._still:
            return
        self.answer = self.pooled.weighed(self.profile)
        self._write()
        if self._shown:
            update_display(self._plainly(), raw=True, display_id=self._id)  # type: ignore[no-untyped-call]

    def _show_code(self, _change: object = None) -> None:
        self._open.description = "Hide code" if self._open.value else "Show code"
        self._code.layout.display = None if self._open.value else "none"

    def _write(self) -> None:
        # While this style is on the page, the table that stays when the sliders go is not shown beside it.
        hidden = f"<style>.jp-MemoryExplorer-{self._id} {{ display: none; }}</style>"
        self._table.value = f"{STYLE}{hidden}{self._html()}"
        self._formula.value = f'<div class="jp-MemoryExplorer"><p>score = {html(self._sum)}</p></div>'
        python, toml = html(self.code), html(self.toml)
        self._code.value = (
            f'<div class="jp-MemoryExplorer"><p>Python</p><pre>{python}</pre><p>TOML</p><pre>{toml}</pre></div>'
        )

    def _html(self) -> str:
        notices = "".join(f"<p>{html(notice)}</p>" for notice in self.answer.notices)
        # It scrolls sideways where it is narrow, by keyboard too; its name distinguishes it from another search's.
        query = html(self.answer.query.written or self.answer.query.text)
        region = f'class="jp-MemoryExplorer" role="region" aria-label="Results for “{query}”" tabindex="0"'
        return f"<div {region}>{notices}{table(self.answer, self._columns, self._before)}</div>"

    @property
    def _sum(self) -> str:
        return " + ".join(map(str, self.profile.terms_for(self.pooled.hybrid)))

    def _sliders(self) -> Any:
        columns = "repeat(auto-fill, minmax(24em, 1fr))"
        rows = [ipywidgets.HBox([self.fields[name], slider]) for name, slider in self.sliders.items()]
        grid = ipywidgets.GridBox(rows, layout={"grid_template_columns": columns})
        grid.add_class("jp-MemoryExplorer-sliders")  # by which the panel knows them: sliders.ts
        return grid

    def _texts(self) -> list[Any]:
        self._code.layout.display = "none"
        return [self._code, self._formula, self._table]

    def __repr__(self) -> str:
        return f"{self.frame!r}\nscore = {self._sum}"

    def _plainly(self) -> dict[str, str]:
        """Return the result as it stays in the notebook when the sliders are gone."""
        return {
            "text/plain": repr(self),
            "text/html": f'<div class="jp-MemoryExplorer-{self._id}">{STYLE}{self._html()}</div>',
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


def _slider(name: str, weight: float) -> Any:
    ends = range_of(weight)
    return ipywidgets.FloatSlider(
        value=weight,
        min=ends.low,
        max=ends.high,
        step=ends.step,
        readout=False,
        tooltip=f"Weight of {name}",
        layout={
            "flex": "1 1 8em",
            "width": "auto",
            "margin": "2px 2px 2px 10px",
        },  # room between the slider and the number
    )


def _field(name: str, formula: str, slider: Any, speaks: bool) -> Any:
    """Return the number of a slider to be read and typed, with its name; a slider of ipywidgets alone has no label.

    The tooltip says so if the term contributes nothing here.
    """
    field = ipywidgets.BoundedFloatText(
        value=_neat(slider.value),
        min=slider.min,
        max=slider.max,
        step=slider.step,
        description=name,
        tooltip=f"{slider.tooltip}: {formula}" + ("" if speaks else "; it says nothing of these memories"),
        style={"description_width": "7em"},
        layout={"flex": "0 0 13em", "max_width": "13em"},  # or its digits say how wide it is
    )
    ipywidgets.link((slider, "value"), (field, "value"), transform=(_neat, float))
    return field


def _neat(weight: float) -> float:
    """Return a weight without the digits that steps leave behind."""
    return float(f"{weight:.6g}")


@dataclass(frozen=True, slots=True)
class Range:
    """A slider from ``low`` to ``high`` in steps of ``step``."""

    low: float
    high: float
    step: float


def range_of(weight: float) -> Range:
    """Return the range of a slider for a weight; it reaches below 0 only for a weight that does.

    >>> range_of(0.05), range_of(0.9).high, range_of(0.0).high, range_of(-0.3).low
    (Range(low=0.0, high=0.2, step=0.002), 5.0, 1.0, -1.0)
    """
    high = _rounded_up(abs(weight) * _ROOM) if weight else 1.0
    step = float(f"{high / _STEPS:.6g}")
    return Range(-high if weight < 0 else 0.0, high, step)


def _rounded_up(number: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, 50 … and 0.5, 0.2, 0.1 …"""
    power = floor(log10(number))
    for power_of_ten in (power, power + 1):
        for digit in (1, 2, 5):
            # Read back from text, so that 0.2 is 0.2.
            if (candidate := float(f"{digit}e{power_of_ten}")) >= number:
                return candidate
    raise AssertionError(number)
