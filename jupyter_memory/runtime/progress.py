"""Progress bars for long work, and batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Item = TypeVar("Item")


def shown(items: Iterable[Item], progress: bool, what: str) -> Iterable[Item]:
    """Return the items, with a progress bar in a notebook or a terminal if ``progress``."""
    return _with_bar(items, what) if progress and _is_seen() else items


@contextmanager
def counted(total: int, progress: bool, what: str, unit: str) -> Iterator[Callable[[int], object]]:
    """Yield a function that takes how many more are done; if ``progress``, a notebook or terminal shows a bar."""
    if not (progress and _is_seen()):
        yield lambda done: None
        return
    with _bar(total=total, desc=what, unit=unit, unit_scale=unit == "B") as bar:
        yield bar.update


def _with_bar(items: Iterable[Item], what: str) -> Iterator[Item]:
    with _bar(iterable=items, desc=what) as bar:
        yield from bar


@contextmanager
def _bar(**how: Any) -> Iterator[Any]:
    """Show a bar for the time of a block."""
    from tqdm.auto import tqdm

    if not _is_widget(tqdm):
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


def _is_widget(kind: type) -> bool:
    """Return whether a kind of bar is a widget of a notebook."""
    return any(one.__module__ == "tqdm.notebook" for one in kind.__mro__)


def _is_seen() -> bool:
    """Return whether somebody sees a bar move: in a log or a pipe it would be a pile of lines."""
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
