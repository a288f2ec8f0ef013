"""Opens embedders by name; a model's libraries are imported when it is opened, not before."""

from __future__ import annotations

from pathlib import Path

from jupyter_memory.embedders.registry import MLX, MODELS, NOMIC, CachedModel, built_in, names, parted, registered
from jupyter_memory.errors import EmbedderError, EmbedderUnavailable, InputError, UnknownEmbedder, guess
from jupyter_memory.lazy import exports
from jupyter_memory.text.display import size
from jupyter_memory.types.protocols import Embedder

__getattr__, __dir__, __all__ = exports(
    __name__,
    {
        "download": "DOWNLOAD address check_allowed disk_explained fetch missing take",
        "lifecycle": "computing",
        "mlx_runtime": "batches",
        "bert": "BertEmbedder",
        "registry": "MINILM STATIC CachedModel ModelEntry",
        "static": "StaticEmbedder arithmetic runs_mlx",
        "base": "TokenEmbedder Tokens WordPiece chunk_tokens starts token_vectors tokens unknown",
    },
)
__all__ += ["check_name", "default_name", "is_here", "names", "open_embedder"]


def open_embedder(
    name: str | Embedder | None = "auto", *, dimensions: int | None = None, models: Path | None = None
) -> Embedder:
    """Return the embedder of this name, with ``dimensions`` if given; an embedder is returned as it is.

    ``None`` means ``"auto"``: nomic if its weights are on this machine, else the static model. ``models`` is the folder
    of fetched models, the settings' if left out. Nothing is fetched.

    >>> open_embedder("static-64").dimensions
    64
    """
    name = "auto" if name is None else name
    embedder = _by_name(name, dimensions, models) if isinstance(name, str) else name
    if dimensions not in (None, embedder.dimensions):
        raise InputError(
            f"{name!r} gives vectors of {embedder.dimensions} dimensions, not {dimensions}. "
            'Leave dimensions= out, or open "static" with it.'
        )
    return embedder


def check_name(name: str) -> None:
    """Raise ``UnknownEmbedder``, with what is known, unless an embedder has this name; loads nothing."""
    if name in built_in() or name.startswith(MLX) or name in registered():
        return
    known = ", ".join((*MODELS, *registered()))
    sizes = "; ".join(
        f"{entry.name}-{entry.dimensions[-1]} to {entry.name}-{entry.dimensions[0]}"
        for entry in MODELS.values()
        if len(entry.dimensions) > 1
    )
    raise UnknownEmbedder(
        f"No embedder has the name {name!r}.{guess(name, names())} Known are: auto, {known} (shorter or longer: "
        f"{sizes}), and mlx:FOLDER."
    )


def default_name(models: Path | None = None) -> str:
    """Return the name that ``"auto"`` means in a new store."""
    return NOMIC.name if is_here(NOMIC.name, models) else "static"


def is_here(name: str, models: Path | None = None) -> bool:
    """Return whether one of our models need not be fetched before it can be opened."""
    return not MODELS[name].is_fetched or _cached(name, models).is_here


def damage(name: str, models: Path | None = None) -> str:
    """Return what is wrong with the files of one of our models and what to do; empty if all is well or it has none."""
    return _cached(name, models).damage() if name in MODELS and MODELS[name].is_fetched else ""


def _by_name(name: str, dimensions: int | None, models: Path | None) -> Embedder:
    check_name(name)
    if name == "auto":
        name = default_name(models)
        # Dimensions that were set for the other model must not keep a store shut.
        if dimensions is not None and dimensions not in MODELS[name].dimensions:
            name = "static"
    base, written = parted(name)
    wanted = written or dimensions
    try:
        if base.startswith(MLX):
            from jupyter_memory.embedders.mlx_models import open_mlx

            return open_mlx(base, wanted)
        if base == "static":
            from jupyter_memory.embedders.static import StaticEmbedder

            return StaticEmbedder() if wanted is None else StaticEmbedder(wanted)
        if base not in MODELS:
            return _open_registered(base, wanted)
        cached = _cached(base, models)
        if (folder := cached.found) is None:
            raise EmbedderUnavailable(
                f"The weights of {base} are not on this machine. To fetch them ({size(cached.entry.download)}), type "
                f"%memory model use {base}, or in a terminal jupyter-memory model use {base}."
            )
        from jupyter_memory.embedders.bert import BertEmbedder

        return BertEmbedder(base, folder, wanted or 0)
    except ImportError as missing:
        raise EmbedderUnavailable(
            f"The embedding model {name!r} cannot run here: {missing}. Keyword search works without it. "
            "The larger models need MLX, on Apple silicon or Linux: pip install 'jupyter-memory[hub]'"
        ) from missing


def _open_registered(name: str, dimensions: int | None) -> Embedder:
    point = registered()[name]
    package = point.dist.name if point.dist else point.module
    try:
        embedder: Embedder = point.load()(dimensions)
        itself = embedder.name
    except (EmbedderError, InputError):
        raise
    # It is someone else's code, which may raise anything.
    except Exception as error:
        raise EmbedderUnavailable(
            f"The embedder {name!r} of the package {package} cannot be opened: "
            f"{str(error) or type(error).__name__}. "
            "Keyword search works without it."
        ) from error
    if itself != name:
        raise EmbedderUnavailable(
            f"The package {package} registers the embedder {name!r}, which calls itself {itself!r}: a store could not "
            "open it again. Its attribute `name` must be the name that is registered."
        )
    return embedder


def _cached(name: str, models: Path | None) -> CachedModel:
    # Imported late: a worker process, which only prepares files, has no settings.
    from jupyter_memory.config import load_config, models_folder

    return CachedModel(models or models_folder(load_config(on_problem=lambda problem: None)), MODELS[name])
