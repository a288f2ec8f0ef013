"""Answers as pandas DataFrames: the only package that imports pandas at the top."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "accessor": "local_chart",
        "explorer": "MemoryExplorer",
        "frame": "fixes_frame to_frame to_scan_frame versions_frame",
        "html": "Place insert_button open_link",
    },
)
