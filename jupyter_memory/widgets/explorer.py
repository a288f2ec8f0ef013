"""A search result with sliders for the weights: every move ranks the candidates of the search again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack
from uuid import uuid4

import ipywidgets
from IPython.display import display, update_display

from jupyter_memory.search.engine import Pooled
from jupyter_memory.search.fusion import weights_of, with_weights
from jupyter_memory.search.profiles import PROFILES, Profile, profile_named
from jupyter_memory.store.searching import SearchOptions, keywords
from jupyter_memory.store.store import MemoryStore, frame_of
from jupyter_memory.text.display import html
from jupyter_memory.types import Answer
from jupyter_memory.widgets.code import ProfileCode
from jupyter_memory.widgets.controls import Controls, neat
from jupyter_memory.widgets.table import STYLE, table

if TYPE_CHECKING:
    import pandas as pd

_GONE = (
    "The sliders are not here: they need a running kernel and a front end that has ipywidgets, such as JupyterLab, "
    "Notebook 7 or VS Code. Run the cell again to have them."
)


@keywords(SearchOptions)
def explore(store: MemoryStore, query: str, **arguments: Unpack[SearchOptions]) -> MemoryExplorer:
    """Search once and return the result with a slider for every weight of the profile.

    Raises:
        QueryError: the query is empty or holds nothing but filters, so that nothing is ranked.
    """
    profile = arguments.get("profile")
    return MemoryExplorer(store.pooled(query, **arguments), profile if isinstance(profile, str) else "")


class MemoryExplorer(ipywidgets.VBox):  # type: ignore[misc]
    """The hits of one search, a bar for each contribution, and sliders that re-rank them without searching again.

    ``answer``, ``frame`` and ``profile`` are what the sliders come to now. Where they cannot be shown, a table stays.
    They are made when a front end shows this widget, or code asks for them: a notebook that nobody looks at while it
    runs would keep 190 KB of them.
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
    def _controls(self) -> Controls:
        made = Controls(self.pooled, self._own, self._columns)
        self.children = made.rows()
        for slider in made.sliders.values():
            slider.observe(self._move, "value")
        made.again.on_click(lambda _: self.reset())
        made.open.observe(self._show_code, "value")
        self._write(made)
        return made

    @property
    def weights(self) -> dict[str, float]:
        """Return the weights that differ from the profile's own, by term."""
        if "_controls" not in self.__dict__:
            return {}
        # Steps of a slider add up to 0.026000000000000002, and one moved there and back has lost its last digits.
        moved = {name: neat(slider.value) for name, slider in self.sliders.items()}
        return {name: weight for name, weight in moved.items() if weight != neat(self._own[name])}

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
        alone = bool(base.keyword_only) and not self.pooled.scored.hybrid
        return ProfileCode(base, self.weights, "keyword_only" if alone else "terms", self._written)

    def _move(self, _change: object = None) -> None:
        if self._still:
            return
        self.answer = self.pooled.weighed(self.profile)
        self._write(self._controls)
        if self._shown:
            update_display(self._plainly(), raw=True, display_id=self._id)  # type: ignore[no-untyped-call]

    def _show_code(self, _change: object = None) -> None:
        button, code = self._controls.open, self._controls.code
        button.description = "Hide code" if button.value else "Show code"
        code.layout.display = None if button.value else "none"

    def _write(self, controls: Controls) -> None:
        # While this style is on the page, the table that stays when the sliders go is not shown beside it.
        hidden = f"<style>.jp-MemoryExplorer-{self._id} {{ display: none; }}</style>"
        controls.table.value = f"{STYLE}{hidden}{self._html()}"
        controls.formula.value = f'<div class="jp-MemoryExplorer"><p>score = {html(self._sum)}</p></div>'
        python, toml = html(self.code), html(self.toml)
        controls.code.value = (
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
        return " + ".join(map(str, self.profile.terms_for(self.pooled.scored.hybrid)))

    def __repr__(self) -> str:
        return f"{self.frame!r}\nscore = {self._sum}"

    def _plainly(self) -> dict[str, str]:
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
