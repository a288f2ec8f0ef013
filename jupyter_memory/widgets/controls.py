"""The sliders of an explorer with their numbers, its buttons, and the texts that follow the sliders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        self.sliders: dict[str, Any] = {}
        for name, weight in own.items():
            low, high, step = range_of(weight)
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
                value=neat(slider.value),
                min=slider.min,
                max=slider.max,
                step=slider.step,
                description=term.name,
                tooltip=f"{slider.tooltip}: {term}{silent}",
                style={"description_width": "7em"},
                layout={"flex": "0 0 13em", "max_width": "13em"},  # or its digits say how wide it is
            )
            ipywidgets.link((slider, "value"), (self.fields[term.name], "value"), transform=(neat, float))
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


def neat(weight: float) -> float:
    """Return a weight without the digits that steps leave behind."""
    return float(f"{weight:.6g}")


def range_of(weight: float) -> tuple[float, float, float]:
    """Return the ends and the step of a slider for a weight; it reaches below 0 only for a weight that does.

    >>> range_of(0.05), range_of(0.9)[1], range_of(0.0)[1], range_of(-0.3)[0]
    ((0.0, 0.2, 0.002), 5.0, 1.0, -1.0)
    """
    high = 1.0
    if weight:
        least = abs(weight) * _ROOM
        power = floor(log10(least))
        # Read back from text, so that 0.2 is 0.2.
        round_ones = [float(f"{digit}e{place}") for place in (power, power + 1) for digit in (1, 2, 5)]
        high = next(one for one in round_ones if one >= least)
    return -high if weight < 0 else 0.0, high, float(f"{high / _STEPS:.6g}")
