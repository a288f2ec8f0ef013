"""Convert a published model to the one that is kept: half precision, one file, with a manifest of its origin."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from jupyter_memory.embedders.download import manifest
from jupyter_memory.embedders.download.manifest import Manifest
from jupyter_memory.embedders.nomic.folder import read_folder
from jupyter_memory.embedders.runtime.safetensors import write_half


def convert(source: Path, target: Path, origin: Manifest, moved: Callable[[int], object]) -> Manifest:
    """Write the model of ``source`` into the empty folder ``target`` and return its manifest, written too.

    Weights of more than 16 bits become float16; quantised ones stay as they are. ``moved`` is called with the number of
    bytes written.

    Raises:
        EmbedderUnavailable: a file of the source is missing, damaged or of another model; the tensors are named.
        OSError: it cannot be written.
    """
    # Loading it is the check: names, shapes, lengths, numbers, and that the tokenizer fits.
    read_folder(source)
    config = (source / "config.json").read_bytes()
    if "quantization" in json.loads(config):
        recipe = "as published"
        for file in source.glob("*.safetensors"):
            shutil.copyfile(file, target / file.name)
            moved(file.stat().st_size)
    else:
        recipe = "float16, names as published"
        write_half(source, target / manifest.WEIGHTS, moved)
    (target / "config.json").write_bytes(config)
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
    made = replace(
        origin,
        identity=manifest.identity(source),
        kept=manifest.weights_identity(target),
        recipe=recipe,
        source=origin.source or checksums(source),
        files=checksums(target),
    )
    made.write(target)
    return made


def checksums(folder: Path) -> dict[str, str]:
    """Return the sha256 of each of a model's files by name."""
    files = [*sorted(folder.glob("*.safetensors")), folder / "config.json", folder / "tokenizer.json"]
    return {file.name: manifest.sha256_of(file) for file in files}
