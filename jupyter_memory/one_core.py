"""NumPy's matrix products on one core: the threads of its OpenBLAS keep a core busy for a while after each product."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

_lock = Lock()
# How many threads each of those who are inside found.
_inside: list[int] = []


@contextmanager
def one_core() -> Iterator[None]:
    """Let NumPy multiply matrices on one core for a while; where it has another BLAS than its own, nothing changes."""
    library = _openblas()
    if library is None:
        yield
        return
    with _lock:
        _inside.append(library.scipy_openblas_get_num_threads64_())
        library.scipy_openblas_set_num_threads64_(1)
    try:
        yield
    finally:
        with _lock:
            # Those who come while others are inside find one; the most is what was before all of them.
            before = max(_inside)
            _inside.remove(1 if len(_inside) > 1 else before)
            library.scipy_openblas_set_num_threads64_(1 if _inside else before)


@cache
def _openblas() -> ctypes.CDLL | None:
    """Return the library that NumPy's wheels for Linux bring and NumPy has loaded."""
    if sys.platform == "linux":
        for path in (Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas64_*"):
            with suppress(OSError):
                library = ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD)
                if hasattr(library, "scipy_openblas_set_num_threads64_"):
                    return library
    return None
