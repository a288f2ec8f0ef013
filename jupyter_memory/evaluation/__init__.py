"""Measures rankings on judged questions: sets, metrics, and profiles side by side."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "answerability": "answerability",
        "bench": "bench",
        "charts": "golden_chart",
        "golden": "GoldenQuestion GoldenRun golden_path load",
        "results": "evaluate",
        "runner": "arms",
    },
)
