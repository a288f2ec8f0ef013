"""Progress bars for what takes a while, and work cut into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def shown(items: Iterable[Item], progress: bool, what: str) -> Iterable[Item]:
    """Return the items, with a progress bar in a notebook or a terminal if ``progress``."""
    if not progress:
        return items
    from tqdm.auto import tqdm

    bar: Iterable[Item] = tqdm(items, desc=what, leave=False)
    return bar


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
