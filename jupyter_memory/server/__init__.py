"""The server side of the Lab panel: answers over HTTP from the user's store."""

from jupyter_memory.lazy import exports

__getattr__, __dir__, __all__ = exports(__name__, {"handlers": "load"})
