"""Reads the stations of the city and how far they are from each other."""

from __future__ import annotations

import csv
from math import asin, cos, radians, sin, sqrt
from pathlib import Path

EARTH_KM = 6371.0


class StationLoader:
    """Stations by number: name, capacity and place."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load_stations(self) -> dict[int, dict[str, str]]:
        """Return the rows of stations.csv by station number; a number that occurs twice keeps the later row."""
        with self.path.open(encoding="utf-8", newline="") as file:
            return {int(row["number"]): row for row in csv.DictReader(file)}


def haversine_km(lat: float, lon: float, other_lat: float, other_lon: float) -> float:
    """Return the distance of two places on the globe in kilometres."""
    north, east = radians(other_lat - lat), radians(other_lon - lon)
    half = sin(north / 2) ** 2 + cos(radians(lat)) * cos(radians(other_lat)) * sin(east / 2) ** 2
    return 2 * EARTH_KM * asin(sqrt(half))
