"""Answers as pandas DataFrames: the only package that imports pandas at the top."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "accessor": "local_chart",
        "fixes": "fixes_frame",
        "frame": "insert_button open_link picture to_frame to_scan_frame with_marks",
        "rows": "Place",
    },
)
