"""Recording what a kernel runs: noted before a cell runs and after it, remembered in quiet moments."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, {"recorder": "Recorder last_shown"})
