"""Progress bars, and NumPy on one core."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager, suppress
from functools import cache
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import TypeVar

Item = TypeVar("Item")
# Whether to show a bar; or a function of how many are done and how many there are, which may stop it by an exception.
Progress = bool | Callable[[int, "int | None"], object]


def shown(items: Iterable[Item], progress: bool, what: str) -> Iterator[Item]:
    """Yield the items, with a progress bar in a notebook or a terminal if ``progress``."""
    with counted(len(items) if isinstance(items, Sized) else None, progress, what, "it") as done:
        for item in items:
            yield item
            done(1)


@contextmanager
def counted(total: int | None, progress: Progress, what: str, unit: str) -> Iterator[Callable[[int], object]]:
    """Yield a function that takes how many more are done; if ``progress``, a notebook or terminal shows a bar."""
    if callable(progress):
        told = 0

        def tell(more: int) -> None:
            nonlocal told
            told += more
            progress(told, total)

        tell(0)
        yield tell
        return
    stream = sys.stderr
    # A kernel's stream is no terminal, but a notebook shows it.
    is_seen = stream is not None and (stream.isatty() or type(stream).__module__.startswith("ipykernel."))
    if not (progress and is_seen):
        yield lambda done: None
        return
    from tqdm.auto import tqdm

    how = {"total": total, "desc": what, "unit": unit, "unit_scale": unit == "B", "leave": False}
    if not any(one.__module__ == "tqdm.notebook" for one in tqdm.__mro__):
        with tqdm(**how) as bar:
            yield bar.update
        return
    from IPython.display import display

    with tqdm(**how, display=False) as bar:
        place = display(bar.container, display_id=True)  # type: ignore[no-untyped-call]
        try:
            yield bar.update
        finally:
            # A notebook keeps its outputs. Without this it would keep a dead widget, an error when it is reopened.
            place.update({"text/plain": ""}, raw=True)


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items; the last one may be shorter."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def portions(items: Iterable[Item], size: Callable[[Item], int], most: int) -> Iterator[list[Item]]:
    """Yield the items in lists, each of which ends with the item that makes it as large as ``most``."""
    some: list[Item] = []
    total = 0
    for item in items:
        some.append(item)
        total += size(item)
        if total >= most:
            yield some
            some, total = [], 0
    if some:
        yield some


# NumPy on one core during a search: the threads of its OpenBLAS keep a core busy for a while after each product.

_lock = Lock()
_inside: list[int] = []  # the number of threads that each caller inside `one_core` found


def _begin_anew() -> None:
    global _lock  # a thread of the parent may have held it, or been inside
    _lock = Lock()
    _inside.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


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
    if sys.platform == "linux":
        import numpy as np

        for path in (Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas64_*"):
            with suppress(OSError):
                library = ctypes.CDLL(str(path), mode=os.RTLD_NOLOAD)
                if hasattr(library, "scipy_openblas_set_num_threads64_"):
                    return library
    return None
