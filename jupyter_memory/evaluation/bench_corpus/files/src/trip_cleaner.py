"""Throws out trips that nobody rode, and cuts those that a broken lock made endless."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

GHOST_SECONDS = 90
LONGEST_SECONDS = 6 * 3600


def drop_ghost_trips(trips: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the trips without those that end where they began within a minute and a half."""
    for trip in trips:
        back = trip["from_station"] == trip["to_station"]
        if not (back and trip["seconds"] < GHOST_SECONDS):
            yield trip


def clip_durations(trips: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield trips of six hours at most: a longer one is a lock that did not close."""
    for trip in trips:
        yield {**trip, "seconds": min(trip["seconds"], LONGEST_SECONDS)}
