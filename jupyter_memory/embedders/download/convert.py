"""Convert a published model to the one that is kept: half precision, one file, with a manifest of its origin."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from jupyter_memory.embedders.bert_weights import read_folder, write_half
from jupyter_memory.embedders.download import cache
from jupyter_memory.embedders.download.cache import Manifest


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
        write_half(source, target / cache.WEIGHTS, moved)
    (target / "config.json").write_bytes(config)
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
    made = replace(
        origin,
        identity=cache.identity(source),
        kept=cache.weights_identity(target),
        recipe=recipe,
        source=origin.source or checksums(source),
        files=checksums(target),
    )
    made.write(target)
    return made


def checksums(folder: Path) -> dict[str, str]:
    """Return the sha256 of each of a model's files by name."""
    files = [*sorted(folder.glob("*.safetensors")), folder / "config.json", folder / "tokenizer.json"]
    return {file.name: cache.sha256_of(file) for file in files}
