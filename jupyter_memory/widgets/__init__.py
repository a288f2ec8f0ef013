"""Interactive results in a notebook: sliders for the weights of a profile, and the ranking that follows them."""

from jupyter_memory.widgets.explorer import MemoryExplorer, explore

__all__ = ["MemoryExplorer", "explore"]
