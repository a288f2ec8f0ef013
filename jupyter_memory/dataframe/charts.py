"""Altair charts as outputs that JupyterLab draws by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from jupyter_memory.errors import MissingExtra
from jupyter_memory.text.unicode import marked

if TYPE_CHECKING:
    import altair

# JupyterLab 4 and VS Code draw Vega-Lite up to 5, and altair 6 writes 6; the charts here use only what both know.
KIND = "application/vnd.vegalite.v5+json"
_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"


def local_chart(chart: Any, text: str) -> Any:
    """Return a subclass of a chart class of altair that JupyterLab draws by itself.

    Altair's own display fetches scripts from the network. ``text`` replaces the chart where nothing draws it;
    ``{rows}`` in it becomes the number of rows.
    """

    class LocalChart(chart):  # type: ignore[misc]
        def _repr_mimebundle_(self, *_: Any, **__: Any) -> dict[str, Any]:
            rows = len(self.data) if isinstance(self.data, pd.DataFrame) else 0
            return {KIND: self.to_dict() | {"$schema": _SCHEMA}, "text/plain": text.format(rows=rows)}

    return LocalChart


def contribution_chart(breakdown: pd.DataFrame) -> altair.Chart:
    """Return stacked bars of the contributions by hit, of the rows that ``df.memory.breakdown()`` returns.

    Raises:
        MissingExtra: altair is not installed; it comes with the extra ``plots``.
    """
    try:
        import altair
    except ImportError:
        raise MissingExtra("df.memory.plot()", "plots") from None
    # A signal that contributes nothing to any hit would only use up a colour.
    contributing = breakdown.loc[breakdown["contribution"] != 0, "signal"]
    long = breakdown[breakdown["signal"].isin(contributing)].assign(
        hit=lambda rows: rows["rank"].astype("str") + " " + rows["title"].map(marked)
    )
    signals = list(dict.fromkeys(long["signal"]))
    chart = local_chart(altair.Chart, "<altair.Chart of {rows} contributions>")
    return (
        chart(pd.DataFrame(long[["hit", "signal", "value", "contribution"]]))
        .mark_bar()
        .encode(
            x=altair.X("sum(contribution)", title="score"),
            y=altair.Y("hit", sort=None, title=None, axis=altair.Axis(labelLimit=420)),
            color=altair.Color("signal", sort=signals, scale=altair.Scale(scheme=_scheme(len(signals)))),
            tooltip=["signal", "value", "contribution"],
        )
    )


def _scheme(number: int) -> str:
    """Return a colour scheme in which no two of so many signals look alike."""
    return "tableau10" if number <= 10 else "tableau20"
