"""Embedders by name; a model's libraries are imported when it is opened, not before."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import cast

from jupyter_memory.errors import EmbedderUnavailable, InputError, UnknownEmbedder
from jupyter_memory.protocols import Embedder

# name: (module, class, dimensions or None where the caller may choose)
_KNOWN: dict[str, tuple[str, str, int | None]] = {
    "auto": ("static", "StaticEmbedder", None),
    "static": ("static", "StaticEmbedder", None),
    "static-128": ("static", "StaticEmbedder", 128),
    "static-64": ("static", "StaticEmbedder", 64),
}


def open_embedder(name: str | Embedder | None = "auto", *, dimensions: int | None = None) -> Embedder:
    """Return the embedder of this name, with ``dimensions`` if given; an embedder is returned as it is.

    ``None`` means ``"auto"``: the best model at hand.

    >>> open_embedder("static-64").dimensions
    64

    Raises:
        UnknownEmbedder: no embedder has this name.
        InputError: the embedder does not come with these dimensions.
        EmbedderUnavailable: the model's libraries do not run here.
    """
    name = "auto" if name is None else name
    embedder = _by_name(name, dimensions) if isinstance(name, str) else name
    if dimensions not in (None, embedder.dimensions):
        raise InputError(
            f"{name!r} gives vectors of {embedder.dimensions} dimensions, not {dimensions}. "
            'Leave dimensions= out, or open "static" with it.'
        )
    return embedder


def check_name(name: str) -> None:
    """Raise ``UnknownEmbedder``, with what is known, unless an embedder has this name; loads nothing."""
    if name not in _KNOWN:
        near = get_close_matches(name, _KNOWN, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        raise UnknownEmbedder(f"No embedder has the name {name!r}.{guess} Known are: {', '.join(_KNOWN)}.")


def names() -> tuple[str, ...]:
    """Return the names that ``open_embedder`` takes."""
    return tuple(_KNOWN)


def _by_name(name: str, dimensions: int | None) -> Embedder:
    check_name(name)
    module, maker, fixed = _KNOWN[name]
    try:
        make = getattr(import_module(f"{__name__}.{module}"), maker)
    except ImportError as missing:
        raise EmbedderUnavailable(
            f"The embedding model {name!r} cannot run here: {missing}. Keyword search works without it. "
            "MLX runs on Apple silicon (pip install mlx) and on Linux (pip install 'mlx[cpu]')."
        ) from missing
    size = fixed or dimensions
    return cast(Embedder, make() if size is None else make(size))
