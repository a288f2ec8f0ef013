"""The Model Context Protocol: what an agent may ask of a store, over stdio. Only this package imports the SDK."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, {"server": "server_of tools_of"})
