"""A folder with a model's files, found in what a person names: the folder itself, or one of Hugging Face's cache."""

from __future__ import annotations

import re
from pathlib import Path

from jupyter_memory.embedders.registry import ModelEntry
from jupyter_memory.errors import InputError
from jupyter_memory.text.paths import absolute

_COMMIT = re.compile(r"[0-9a-f]{40}")


def find(path: str | Path, entry: ModelEntry) -> tuple[Path, str]:
    """Return the folder with the files of a model below ``path``, and its revision where the cache tells it.

    ``path`` is a folder with ``config.json``, ``tokenizer.json`` and ``*.safetensors``, or of Hugging Face's cache: the
    whole cache, the model in it, or one snapshot of the model.

    Raises:
        InputError: there is no such folder, or no model in it.
    """
    folder = absolute(path)
    if folder.is_file():
        raise InputError(f"{folder} is a file. Name the folder that holds it: --from {folder.parent}")
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}. --from takes a folder with the model's files.")
    for model in (folder, folder / _cached(entry), folder / "hub" / _cached(entry)):
        if (model / "snapshots").is_dir():
            folder = _snapshot(model, entry)
            break
    if not (folder / "config.json").is_file():
        wanted = ", ".join(file.name for file in entry.files)
        raise InputError(f"There is no model in {folder}: config.json is missing. The folder should hold {wanted}.")
    known = folder.parent.name == "snapshots" and _COMMIT.fullmatch(folder.name)
    return folder, folder.name if known else ""


def _cached(entry: ModelEntry) -> str:
    return "models--" + entry.repository.replace("/", "--")


def _snapshot(model: Path, entry: ModelEntry) -> Path:
    """Return the snapshot of the pinned revision, else the one that `main` names, else the only one."""
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
