"""Progress bars for what takes a while, and work cut into batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")


def shown(items: Iterable[Item], progress: bool, what: str) -> Iterable[Item]:
    """Return the items, with a progress bar in a notebook or a terminal if ``progress``."""
    if not (progress and _is_seen()):
        return items
    from tqdm.auto import tqdm

    bar: Iterable[Item] = tqdm(items, desc=what, leave=False)
    return bar


@contextmanager
def counted(total: int, progress: bool, what: str, unit: str) -> Iterator[Callable[[int], object]]:
    """Give a function that says how many more are done, shown as a bar in a notebook or a terminal if ``progress``."""
    if not (progress and _is_seen()):
        yield lambda done: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc=what, unit=unit, unit_scale=unit == "B", leave=False) as bar:
        yield bar.update


def _is_seen() -> bool:
    """Return whether somebody sees a bar move: in a log or a pipe it would be a heap of lines."""
    stream = sys.stderr
    # A kernel's stream is no terminal, and shows in a notebook.
    return stream is not None and (stream.isatty() or type(stream).__module__.startswith("ipykernel."))


def batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield lists of ``size`` items, the last as long as what is left."""
    batch: list[Item] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
