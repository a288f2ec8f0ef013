"""Safetensors files: read, checked for their length, and written in half precision one tensor at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders.runtime.mlx import mx
from jupyter_memory.embedders.runtime.mlx_thread import in_mlx_thread
from jupyter_memory.errors import EmbedderUnavailable

# How a safetensors header calls the types that are written here.
_TYPES = {mx.float16: "F16", mx.float32: "F32", mx.int32: "I32", mx.int64: "I64", mx.uint32: "U32", mx.bool_: "BOOL"}
# Tensors that a message names before it counts the rest.
SHOWN = 4


@in_mlx_thread
def read_tensors(file: Path) -> dict[str, mx.array]:
    """Return the tensors of a file by name; MLX reads each when it is first used, which must be in its thread."""
    tensors = mx.load(str(file))
    assert isinstance(tensors, dict), "a safetensors file holds tensors by name"
    return tensors


def check_length(file: Path) -> None:
    """Refuse a file that is shorter than its header says, with the tensors that are missing."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        length = int.from_bytes(opened.read(8), "little")
        header = opened.read(length) if length < size else b""
    try:
        entries = json.loads(header)
        ends = {name: 8 + length + entry["data_offsets"][1] for name, entry in entries.items() if name[:2] != "__"}
    except (ValueError, KeyError, TypeError, AttributeError) as broken:
        raise EmbedderUnavailable(
            f"{file} is not a safetensors file, or its beginning is lost. Fetch it again."
        ) from broken
    lost = [name for name, end in ends.items() if end > size]
    if lost:
        raise EmbedderUnavailable(
            f"{file} is cut short: it has {size:,} of {max(ends.values()):,} bytes. Missing in whole or in part: "
            f"{some(lost)}. Fetch it again."
        )


def write_half(source: Path, file: Path, moved: Callable[[int], object]) -> None:
    """Write the tensors of a folder into one safetensors file, one after the other.

    By hand, as MLX writes all at once and says nothing when the disk is full.
    """
    tensors: dict[str, mx.array] = {}
    for part in sorted(source.glob("*.safetensors")):
        tensors |= read_tensors(part)
    with file.open("wb") as opened:
        opened.write(_header(tensors))
        for name in list(tensors):
            # Taken out, so that one tensor at a time is in memory.
            values = np.ascontiguousarray(_halved(tensors.pop(name), name, source))
            opened.write(values.data)
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


@in_mlx_thread
def _halved(value: mx.array, name: str, source: Path) -> NDArray[Any]:
    if not mx.issubdtype(value.dtype, mx.floating):
        return np.asarray(value)
    half = value.astype(mx.float16)
    if not mx.all(mx.isfinite(half)).item():
        raise EmbedderUnavailable(
            f"The weights in {source} cannot be kept in half precision: {name} has values above 65,504."
        )
    return np.asarray(half)


def some(names: Iterable[str]) -> str:
    """Return the first names, and how many more there are."""
    names = list(names)
    shown = ", ".join(names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
