"""The demand model: expected departures of each station and hour."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping


class DemandModel:
    """λ by station, weekday and hour: the mean of past departures, pulled towards the station's own mean."""

    def __init__(self, shrinkage: float = 4.0) -> None:
        self.shrinkage = shrinkage
        self.rates: dict[tuple[int, int, int], float] = {}

    def fit_rates(self, departures: Iterable[tuple[int, int, int, float]]) -> DemandModel:
        """Learn the rates from (station, weekday, hour, departures)."""
        sums: Mapping[tuple[int, int, int], list[float]] = defaultdict(list)
        for station, weekday, hour, count in departures:
            sums[station, weekday, hour].append(count)
        overall = sum(map(sum, sums.values())) / max(1, sum(map(len, sums.values())))
        self.rates = {
            key: (sum(counts) + self.shrinkage * overall) / (len(counts) + self.shrinkage)
            for key, counts in sums.items()
        }
        return self
