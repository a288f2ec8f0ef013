"""Results to be played with in a notebook: the weights of a profile as sliders, the ranking that follows them."""

from jupyter_memory.widgets.explorer import MemoryExplorer, explore

__all__ = ["MemoryExplorer", "explore"]
