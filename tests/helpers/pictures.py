"""Pictures and notebooks that show them, made up from a seed."""

import json
import random
from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c")


def plot(seed: int = 0, size: tuple[int, int] = (640, 480), format: str = "PNG", **options: Any) -> bytes:
    rng = random.Random(seed)
    width, height = size
    picture = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((width // 10, height // 20, width - 10, height * 9 // 10), outline="black")
    for colour in _COLOURS:
        y = height / 2
        points = []
        for x in range(width // 10, width - 10, 3):
            y = min(max(y + rng.randint(-9, 9), height / 20), height * 0.9)
            points.append((x, y))
        draw.line(points, fill=colour, width=2)
    return written(picture, format, **options)


def noise(size: tuple[int, int] = (900, 700)) -> bytes:
    return written(Image.frombytes("RGB", size, random.Random(7).randbytes(3 * size[0] * size[1])), "PNG")


def written(picture: Image.Image, format: str, **options: Any) -> bytes:
    into = BytesIO()
    picture.save(into, format, **options)
    return into.getvalue()


def base64(data: bytes) -> str:
    return b64encode(data).decode()


def plotting(source: str, *pictures: bytes, id: str = "", kind: str = "image/png") -> dict[str, Any]:
    return {
        "cell_type": "code", "execution_count": 1, "metadata": {}, "source": source, **({"id": id} if id else {}),
        "outputs": [
            {
                "output_type": "display_data",
                "metadata": {},
                "data": {kind: base64(one), "text/plain": "<Figure size 640x480 with 1 Axes>"},
            }
            for one in pictures
        ],
    }  # fmt: skip


def saved(path: Path, *cells: dict[str, Any], **metadata: Any) -> Path:
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")
    return path
