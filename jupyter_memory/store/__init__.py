"""A store of memories, and the user's own store opened by its name."""

from jupyter_memory.store.memory_store import MemoryStore, frame_of, open_store

__all__ = ["MemoryStore", "frame_of", "open_store"]
