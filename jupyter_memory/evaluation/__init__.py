"""Measures rankings on judged questions: sets, metrics, and profiles side by side."""

# These two have the names of their modules, which would hide them if they were looked up later.
from jupyter_memory.evaluation.answerability import answerability as answerability
from jupyter_memory.evaluation.bench import bench as bench
from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "answerability": "answerability",
        "bench": "bench scores",
        "datasets": "HALVES Document JudgedSet Question read_set",
        "golden": "GoldenQuestion GoldenRun add answerable asked forget golden_chart golden_file judge load "
        "other_model pool run score take_back tune",
        "metrics": "METRICS calibration_error interval p_value",
        "runner": "Bed arms beds evaluate",
    },
)
