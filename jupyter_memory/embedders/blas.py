"""A fast BLAS for MLX on Linux, whose wheels contain the reference one: 6 GFLOP/s where OpenBLAS has 100 and more."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes.util import find_library
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

_SLOW = "MLX multiplies matrices with its own slow BLAS here"


@dataclass(frozen=True)
class Blas:
    """The library that multiplies matrices for MLX: its name, and a notice where it is slow."""

    name: str
    notice: str = ""
    library: ctypes.CDLL | None = None

    @contextmanager
    def threads(self, count: int) -> Iterator[None]:
        """Context manager: OpenBLAS uses ``count`` threads inside, and as many as before afterwards."""
        if self.library is None:
            yield
            return
        before = self.library.openblas_get_num_threads()
        self.library.openblas_set_num_threads(count)
        try:
            yield
        finally:
            self.library.openblas_set_num_threads(before)


@cache
def fast_blas() -> Blas:
    """Load OpenBLAS where MLX needs it, which helps only before the first import of MLX; return what MLX uses."""
    if sys.platform != "linux":
        return Blas("Apple's BLAS")
    if "mlx.core" in sys.modules:
        early = "it was imported first. Restart Python, and use the model once before you import MLX."
        return Blas("reference", f"{_SLOW}: {early}")
    problems = []
    for name, path in _candidates():
        try:
            library = _load(path)
        except OSError as error:
            problems.append(f"{name}: {error}")
        else:
            return Blas(name, library=library)
    tried = "; ".join(dict.fromkeys(problems)) or "no OpenBLAS found"
    return Blas("reference", f"{_SLOW} ({tried}). Install a fast one: pip install cmeel-openblas, or your system's.")


def _candidates() -> Iterator[tuple[str, str]]:
    for file in _files_of("cmeel-openblas", "libopenblas.so.0"):
        yield "cmeel-openblas", str(file)
    if system := find_library("openblas"):
        yield "system OpenBLAS", system


def _load(path: str) -> ctypes.CDLL:
    if _is_too_new(Path(path)):
        raise OSError("it is built for processors with AVX-512, which this one does not have")
    # Found before MLX's own: the functions of a global library win.
    try:
        library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        if "libgfortran" not in str(error):
            raise
        # A wheel's libraries carry a name of their own (``libgfortran-f7379c93.so.5.0.0``), and the system's
        # is often not installed. The copy with the common name lives in memory only.
        for helper in _files_of("mlx-cpu", "libquadmath"):
            ctypes.CDLL(str(helper))
        for file in _files_of("mlx-cpu", "libgfortran"):
            own = file.name.encode() + b"\0"
            content = file.read_bytes().replace(own, b"libgfortran.so.5\0".ljust(len(own), b"\0"))
            memory = os.memfd_create("libgfortran.so.5")
            try:
                with open(memory, "wb", closefd=False) as copy:
                    copy.write(content)
                ctypes.CDLL(f"/proc/self/fd/{memory}")
            finally:
                os.close(memory)

        library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    if not hasattr(library, "cblas_sgemm") or not hasattr(library, "openblas_set_num_threads"):
        raise OSError(f"{path} has no cblas_sgemm")
    return library


def _is_too_new(file: Path) -> bool:
    # Such a library loads without an error, and ends the process at its first product.
    try:
        processor = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    if "flags" not in processor or "avx512vl" in processor or not file.is_file():
        return False
    content = file.read_bytes()
    return b"SKYLAKEX" in content and b"DYNAMIC_ARCH" not in content


def _files_of(distribution: str, start: str) -> list[Path]:
    try:
        files = metadata.files(distribution) or []
    except metadata.PackageNotFoundError:
        return []
    return [Path(str(file.locate())) for file in files if file.name.startswith(start)]
