"""A published model's folder made the one that is kept: half precision, one file, its origin written beside it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from jupyter_memory.embedders import manifest
from jupyter_memory.embedders.arrays import mx
from jupyter_memory.embedders.manifest import Manifest
from jupyter_memory.embedders.nomic_folder import read_folder
from jupyter_memory.errors import EmbedderUnavailable

# How a safetensors header calls the types that are written here.
_TYPES = {mx.float16: "F16", mx.float32: "F32", mx.int32: "I32", mx.int64: "I64", mx.uint32: "U32", mx.bool_: "BOOL"}


def convert(source: Path, target: Path, origin: Manifest, moved: Callable[[int], object]) -> Manifest:
    """Write the model of ``source`` into the empty folder ``target`` and return its manifest, written too.

    Weights of more than 16 bits become float16; quantised ones stay as they are. ``moved`` is told the bytes written.

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
        _write_half(source, target / manifest.WEIGHTS, moved)
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


def _write_half(source: Path, file: Path, moved: Callable[[int], object]) -> None:
    """Write the tensors of a folder into one safetensors file, one after the other.

    By hand, as MLX writes all at once and says nothing when the disk is full.
    """
    tensors: dict[str, mx.array] = {}
    for part in sorted(source.glob("*.safetensors")):
        tensors |= cast(dict[str, mx.array], mx.load(str(part)))
    with file.open("wb") as opened:
        opened.write(_header(tensors))
        for name in list(tensors):
            # Taken out, so that one tensor at a time is in memory.
            values = np.asarray(_halved(tensors.pop(name), name, source))
            opened.write(np.ascontiguousarray(values).data)
            moved(values.nbytes)


def _header(tensors: dict[str, mx.array]) -> bytes:
    entries: dict[str, object] = {"__metadata__": {"format": "mlx"}}
    end = 0
    for name, value in tensors.items():
        kind = mx.float16 if mx.issubdtype(value.dtype, mx.floating) else value.dtype
        start, end = end, end + value.size * kind.size
        entries[name] = {"dtype": _TYPES[kind], "shape": list(value.shape), "data_offsets": [start, end]}
    written = json.dumps(entries, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)
    return len(written).to_bytes(8, "little") + written


def _halved(value: mx.array, name: str, source: Path) -> mx.array:
    if not mx.issubdtype(value.dtype, mx.floating):
        return value
    half = value.astype(mx.float16)
    if not mx.all(mx.isfinite(half)).item():
        raise EmbedderUnavailable(
            f"The weights in {source} cannot be kept in half precision: {name} has values above 65,504."
        )
    return half
