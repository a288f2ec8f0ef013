"""Charts of a golden run: each metric by profile, and each signal's share of the scores of the right answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_memory.dataframe.charts import local_chart
from jupyter_memory.errors import MissingExtra
from jupyter_memory.evaluation.golden import GoldenRun

if TYPE_CHECKING:
    import altair

SHOWN = ("ndcg@10", "recall@5", "mrr@10", "success@1")


def golden_chart(runs: list[GoldenRun]) -> altair.VConcatChart:
    """Return the metrics by profile above the shares of the signals; a panel a model.

    Raises:
        MissingExtra: altair is not installed; it comes with the extra ``plots``.
    """
    try:
        import altair
        import pandas as pd
    except ImportError:
        raise MissingExtra("%memeval plot", "plots") from None
    rows = [(run, row) for run in runs for row in run.rows]
    metrics = [
        {"profile": row.profile, "model": run.model, "metric": name, "mean": row.metrics[name]}
        | dict(zip(("low", "high"), row.ci95[name], strict=True))
        for run, row in rows
        for name in SHOWN
    ]
    shares = [
        {"profile": profile, "model": run.model, "signal": term, "share": share}
        for run in runs
        for profile, terms in run.shares.items()
        for term, share in terms.items()
    ]
    order = list(dict.fromkeys(row.profile for _, row in rows))
    chart = local_chart(altair.VConcatChart, "<altair.VConcatChart of a golden run>")
    return chart(vconcat=[_metrics(altair, pd.DataFrame(metrics), order), _shares(altair, pd.DataFrame(shares), order)])


def _metrics(altair: Any, frame: Any, order: list[str]) -> Any:
    base = altair.Chart(frame).encode(y=altair.Y("profile:N", sort=order, title=None))
    points = base.mark_point(filled=True, size=60).encode(
        x=altair.X("mean:Q", title="mean, with its 95 % interval", scale=altair.Scale(domain=[0, 1])),
        color=altair.Color("model:N", title="model"),
        tooltip=["profile", "model", "metric", "mean", "low", "high"],
    )
    spans = base.mark_rule(opacity=0.5).encode(x="low:Q", x2="high:Q", color="model:N")
    width = {"width": 150, "height": altair.Step(18)}
    return (
        altair.layer(spans, points).properties(**width).facet(column=altair.Column("metric:N", title=None, sort=SHOWN))
    )


def _shares(altair: Any, frame: Any, order: list[str]) -> Any:
    return (
        altair.Chart(frame)
        .mark_bar()
        .encode(
            x=altair.X(
                "share:Q", stack="zero", title="share of the right answers' scores", axis=altair.Axis(format="%")
            ),
            y=altair.Y("profile:N", sort=order, title=None),
            row=altair.Row("model:N", title=None),
            color=altair.Color("signal:N", title="signal"),
            tooltip=["profile", "model", "signal", altair.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=640, height=altair.Step(18))
    )
