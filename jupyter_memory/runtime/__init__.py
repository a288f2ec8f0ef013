"""What NumPy and long work need while they run: one core for a search, progress bars."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "one_core": "one_core",
        "progress": "batches counted shown",
    },
)
