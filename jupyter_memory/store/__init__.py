"""The store of memories: `MemoryStore`, and the parts that its methods come from."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "federation": "Vaults",
        "listed": "Stores",
        "searching": "Searching changes_notice",
        "store": "MemoryStore frame_of open_store",
    },
)
