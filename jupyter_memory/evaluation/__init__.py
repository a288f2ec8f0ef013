"""Measures rankings on judged questions: sets, metrics, and profiles side by side."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "answerability": "FIRST HALVES answerability half_of",
        "bench": "bench",
        "charts": "golden_chart",
        "datasets": "JudgedSet Question read_set",
        "golden": "GoldenQuestion GoldenRun golden_path load",
        "metrics": "calibration_error",
        "results": "evaluate",
        "runner": "Bed arms beds",
    },
)
