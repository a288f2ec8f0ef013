"""The sliders of an explorer with their numbers, its buttons, and the texts that follow the sliders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import ipywidgets

from jupyter_memory.search.engine import Pooled

# How many times its weight a slider has room for, before it is rounded up.
_ROOM = 2.5
_STEPS = 100


class Controls:
    """The sliders of an explorer with their numbers, the buttons, and the texts that follow them."""

    def __init__(self, pooled: Pooled, own: Mapping[str, float], columns: Sequence[str]) -> None:
        self.sliders: Mapping[str, Any] = {name: _slider(name, weight) for name, weight in own.items()}
        self.fields: Mapping[str, Any] = {
            term.name: _field(term.name, str(term), self.sliders[term.name], term.name in columns)
            for term in pooled.terms
            if term.name in self.sliders
        }
        self.table, self.formula, self.code = ipywidgets.HTML(), ipywidgets.HTML(), ipywidgets.HTML()
        self.code.layout.display = "none"
        self.again = ipywidgets.Button(description="Reset weights", tooltip=f"The weights of {pooled.profile.name}")
        self.open = ipywidgets.ToggleButton(description="Show code", tooltip="Python and TOML of this profile")

    def rows(self) -> list[Any]:
        """Return what is shown, from top to bottom."""
        columns = "repeat(auto-fill, minmax(24em, 1fr))"
        rows = [ipywidgets.HBox([self.fields[name], slider]) for name, slider in self.sliders.items()]
        grid = ipywidgets.GridBox(rows, layout={"grid_template_columns": columns})
        grid.add_class("jp-MemoryExplorer-sliders")  # by which the panel knows them: outputs.ts
        return [grid, ipywidgets.HBox([self.again, self.open]), self.code, self.formula, self.table]


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
    # The tooltip says so if the term contributes nothing here.
    field = ipywidgets.BoundedFloatText(
        value=neat(slider.value),
        min=slider.min,
        max=slider.max,
        step=slider.step,
        description=name,
        tooltip=f"{slider.tooltip}: {formula}" + ("" if speaks else "; it says nothing of these memories"),
        style={"description_width": "7em"},
        layout={"flex": "0 0 13em", "max_width": "13em"},  # or its digits say how wide it is
    )
    ipywidgets.link((slider, "value"), (field, "value"), transform=(neat, float))
    return field


def neat(weight: float) -> float:
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
    power = floor(log10(number))
    for power_of_ten in (power, power + 1):
        for digit in (1, 2, 5):
            # Read back from text, so that 0.2 is 0.2.
            if (candidate := float(f"{digit}e{power_of_ten}")) >= number:
                return candidate
    raise AssertionError(number)
