"""NumPy on one core during a search: the threads of its OpenBLAS keep a core busy for a while after each product."""

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
# The number of threads that each caller inside `one_core` found.
_inside: list[int] = []


@contextmanager
def one_core() -> Iterator[None]:
    """Context manager: NumPy multiplies matrices on one core, unless it uses another BLAS than its own."""
    library = _numpy_openblas()
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
            # A caller that enters while another is inside finds one thread; the largest number is the original one.
            before = max(_inside)
            _inside.remove(1 if len(_inside) > 1 else before)
            library.scipy_openblas_set_num_threads64_(1 if _inside else before)


@cache
def _numpy_openblas() -> ctypes.CDLL | None:
    """Return the OpenBLAS of NumPy's wheels for Linux, if NumPy has loaded it."""
    if sys.platform == "linux":
        for path in (Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas64_*"):
            with suppress(OSError):
                library = ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD)
                if hasattr(library, "scipy_openblas_set_num_threads64_"):
                    return library
    return None
