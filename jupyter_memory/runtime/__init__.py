"""Progress bars, and NumPy on one core."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

Item = TypeVar("Item")


def shown(items: Iterable[Item], progress: bool, what: str) -> Iterable[Item]:
    """Return the items, with a progress bar in a notebook or a terminal if ``progress``."""
    if not (progress and _is_seen()):
        return items

    def with_bar() -> Iterator[Item]:
        with _bar(iterable=items, desc=what) as bar:
            yield from bar

    return with_bar()


@contextmanager
def counted(total: int, progress: bool, what: str, unit: str) -> Iterator[Callable[[int], object]]:
    """Yield a function that takes how many more are done; if ``progress``, a notebook or terminal shows a bar."""
    if not (progress and _is_seen()):
        yield lambda done: None
        return
    with _bar(total=total, desc=what, unit=unit, unit_scale=unit == "B") as bar:
        yield bar.update


@contextmanager
def _bar(**how: Any) -> Iterator[Any]:
    from tqdm.auto import tqdm

    if not any(one.__module__ == "tqdm.notebook" for one in tqdm.__mro__):
        with tqdm(**how, leave=False) as bar:
            yield bar
        return
    from IPython.display import display

    with tqdm(**how, leave=False, display=False) as bar:
        place = display(bar.container, display_id=True)  # type: ignore[no-untyped-call]
        try:
            yield bar
        finally:
            # A notebook keeps its outputs. Without this it would keep a dead widget, an error when it is reopened.
            place.update({"text/plain": ""}, raw=True)


def _is_seen() -> bool:
    stream = sys.stderr
    # A kernel's stream is no terminal, but a notebook shows it.
    return stream is not None and (stream.isatty() or type(stream).__module__.startswith("ipykernel."))


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items; the last one may be shorter."""
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


# NumPy on one core during a search: the threads of its OpenBLAS keep a core busy for a while after each product.

_lock = Lock()
# The number of threads that each caller inside `one_core` found.
_inside: list[int] = []


def _begin_anew() -> None:
    # A thread of the parent may have held the lock, or been inside.
    global _lock
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
