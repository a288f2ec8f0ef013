"""What pictures cost: indexing a notebook of many plots with thumbnails and without, and their bytes in the store.

    python benchmarks/pictures.py [--plots 300] [--rounds 3]

The plots are random walks of 640 x 480 pixels, which are harder to compress than most. With and without take turns.
"Again" is the same notebook after an edit of one cell, whose other pictures are known. The numbers are medians.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from base64 import b64encode
from collections import defaultdict
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageDraw

from jupyter_memory import JupyterMemory, MemoryStore


def plot(seed: int) -> str:
    """Return a plot of three random walks as a notebook holds it."""
    rng = random.Random(seed)
    picture = Image.new("RGB", (640, 480), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((60, 20, 620, 430), outline="black")
    for colour in ("#1f77b4", "#ff7f0e", "#2ca02c"):
        y, points = 225, []
        for x in range(60, 620, 3):
            y = min(max(y + rng.randint(-9, 9), 25), 425)
            points.append((x, y))
        draw.line(points, fill=colour, width=2)
    into = BytesIO()
    picture.save(into, "PNG")
    return b64encode(into.getvalue()).decode()


def write(path: Path, plots: list[str], edited: str = "") -> None:
    """Write a notebook with a cell for each plot; ``edited`` is added to the first."""
    cells = [
        {
            "cell_type": "code",
            "id": f"cell{number}",
            "execution_count": number,
            "metadata": {},
            "source": f"sales[{number}].plot(title='Sales of shop {number}')" + (edited if number == 0 else ""),
            "outputs": [{"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}}],
        }
        for number, picture in enumerate(plots)
    ]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "utf-8")


def measure(folder: Path, plots: list[str], on: bool) -> tuple[float, float, int, int]:
    """Return the seconds of the first and of the second indexing, the bytes of thumbnails, and of the store."""
    notebook = folder / "plots.ipynb"
    with (
        tempfile.TemporaryDirectory() as place,
        MemoryStore(Path(place) / "memory.sqlite", "static", settings=JupyterMemory(thumbnails=on)) as store,
    ):
        write(notebook, plots)
        begun = time.perf_counter()
        store.index(folder, progress=False)
        first = time.perf_counter() - begun
        write(notebook, plots, edited="  # in EUR")
        begun = time.perf_counter()
        store.index(folder, progress=False)
        stats = store.stats()
        return first, time.perf_counter() - begun, stats["thumbnails"]["bytes"], stats["bytes"]


def main() -> None:
    """Measure in turns, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plots", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    plots = [plot(seed) for seed in range(given.plots)]
    found: dict[bool, list[tuple[float, float, int, int]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(given.rounds):
            for on in (False, True):
                found[on].append(measure(Path(folder), plots, on))
        size = (Path(folder) / "plots.ipynb").stat().st_size
    without, with_ = ([statistics.median(column) for column in zip(*found[on], strict=True)] for on in (False, True))
    print(f"{given.plots} plots in a notebook of {size / 1e6:.1f} MB")
    print(f"first: {with_[0]:.2f} s with thumbnails, {without[0]:.2f} s without: {with_[0] / without[0]:.1f}x")
    print(f"each plot: {(with_[0] - without[0]) / given.plots * 1e3:.1f} ms, {with_[2] / given.plots:,.0f} bytes")
    print(f"again: {with_[1]:.2f} s with thumbnails, {without[1]:.2f} s without: {with_[1] / without[1]:.1f}x")
    print(
        f"store: {with_[3] / 1e6:.1f} MB with thumbnails ({with_[2] / 1e6:.1f} MB), {without[3] / 1e6:.1f} MB without"
    )


if __name__ == "__main__":
    main()
