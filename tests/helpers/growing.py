"""Files of any length that repeat one thing, and how fast something grows with its input."""

import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PARAGRAPH = "Prices in Zürich are net of λ tax. " * 20 + "\n\n"
# Up to here, a machine's noise is as long as what is measured.
_MEASURABLE = 0.02


def exponent(cost: Callable[[int], float], size: int) -> float:
    """Return by which power a cost grows from a size to four times of it: 1 is linear, 2 is quadratic."""
    return math.log(max(cost(4 * size), 1e-9) / max(cost(size), 1e-9), 4)


def cpu(run: Callable[[], object], times: int = 2) -> float:
    """Return the least CPU time of some runs, which other processes of the machine lengthen least."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        run()
        taken.append(time.process_time() - started)
    return min(taken)


def steps(run: Callable[[], object]) -> float:
    """Return how many calls of functions a run takes, which is the same on every machine."""
    count = 0

    def note(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return float(count)


def cpu_exponent(work: Callable[[int], Callable[[], object]], size: int, largest: int, tries: int = 2) -> float:
    """Return by which power the CPU time of ``work(size)()`` grows, the least of some tries; 0 if it is never long.

    Sizes are multiplied by four up to ``largest``, until there is something to measure.
    """
    while (before := cpu(work(size), 1)) < _MEASURABLE:
        size *= 4
        if size > largest:
            return 0.0
    if before > 50 * _MEASURABLE:
        tries = 1
    return min(exponent(lambda of: cpu(work(of)), size // 4 or 1) for _ in range(tries))


def _above(name: str, n: int) -> str:
    return f"{name}\n\n" + PARAGRAPH * (n // (2 * len(PARAGRAPH)))


def _notebook(*cells: Mapping[str, Any], **metadata: Any) -> str:
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 2})


def _code(source: str, *outputs: Mapping[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": outputs, "metadata": {}, "execution_count": 1}


def _prose(source: str, **more: Any) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source, "metadata": {}, **more}


def _cells(n: int) -> list[dict[str, Any]]:
    return [_code(f"shop_{i} = prices[{i}]\n" * 9) for i in range(n // 400)]


def _printed(n: int) -> dict[str, Any]:
    printed = {"output_type": "stream", "name": "stdout", "text": "λ\n"}
    return _code("run()", *[printed] * (n // 70))


def _shown(n: int) -> dict[str, Any]:
    return _code("show()", {"output_type": "display_data", "data": {f"a/{i}": "x" for i in range(n // 14)}})


def _pictures(n: int) -> list[dict[str, Any]]:
    picture = {"image/png": "iVBO" * 100}
    return [_prose(f"![a](attachment:{i}.png)", attachments={f"{i}.png": picture}) for i in range(n // 500)]


def _deeper(n: int) -> str:
    marks = "=-`:.'\"~^_*+#" * (n // (13 * len(PARAGRAPH)) or 1)
    return "".join(f"Prices\n{mark * 8}\n\n{PARAGRAPH}" for mark in marks)


def _tags(n: int) -> str:
    return _above("---\ntags:\n" + "".join(f"  - tag {i}\n" for i in range(n // 24)) + "---", n)


Shape = Callable[[int], str]
MARKDOWN: Mapping[str, Shape] = {
    "one heading": lambda n: _above("# " + "Prices net of tax " * (n // 36), n),
    "a heading of one word": lambda n: _above("# " + "x" * (n // 2), n),
    "six headings": lambda n: _above("\n\n".join(f"{'#' * i} {'Prices ' * (n // 84)}" for i in range(1, 7)), n),
    "many headings": lambda n: "".join(f"# Prices {i}\n\nNet of tax.\n\n" for i in range(n // 26)),
    "a heading of links": lambda n: "# " + "[a](b" * (n // 5),
    "a heading of tags": lambda n: "# " + "<a " * (n // 3),
    "one tag": lambda n: _above(f"---\ntags: {'t' * (n // 2)}\n---", n),
    "many tags": _tags,
    "front matter without an end": lambda n: "---\ntitle: x\n" + "#\n" * (n // 4) + "\n---" * (n // 8) + "x",
    "links": lambda n: "".join(f"[price {i}](https://shops.example/{i}?q=λ) " for i in range(n // 46)),
    "open links": lambda n: "[" * (n // 2) + "](" * (n // 4),
    "a long list": lambda n: "".join(f"{' ' * (i % 40)}- price {i}\n" for i in range(n // 30)),
    "an ever deeper list": lambda n: "".join(f"{' ' * i}- price\n" for i in range(math.isqrt(2 * n))),
    "a table": lambda n: "| shop | price |\n|---|---|\n" + "".join(f"| {i} | {i}.5 |\n" for i in range(n // 14)),
    "a wide table": lambda n: "| price " * (n // 16) + "|\n" + "|---" * (n // 8) + "|\n",
    "rules": lambda n: "- " * (n // 2) + "x\n",
    "blanks": lambda n: "x" + " " * n + "x",
    "line ends": lambda n: "x" + "\n" * n + "x",
}
TEXT: Mapping[str, Shape] = {
    "identifiers": lambda n: "".join(f"priceOfShop_{i}.netOfTax{i}()\n" for i in range(n // 32)),
    "one identifier": lambda n: "price_of_shop." * (n // 14), "underscores": lambda n: "λ" + "_" * n,
    "capitals": lambda n: "λ " + "A" * n, "one line": lambda n: "net of tax, " * (n // 12),
    "one word": lambda n: "x" * n, "one word in Japanese": lambda n: "価格" * (n // 2),
    "colours": lambda n: "\x1b]" * (n // 2), "combining marks": lambda n: "e" + "\u0301" * n,
}  # fmt: skip
NOTEBOOKS: Mapping[str, Shape] = {
    "a heading above cells": lambda n: _notebook(_prose(f"# {'Prices ' * (n // 14)}"), *_cells(n)),
    "words above cells": lambda n: _notebook(*(one for cell in _cells(n) for one in (_prose("x" * 200), cell))),
    "a language": lambda n: _notebook(*_cells(n), language_info={"name": "p" * (n // 2)}),
    "metadata": lambda n: _notebook(*_cells(n), **{f"key {i}": "v" * 90 for i in range(n // 200)}),
    "outputs": lambda n: _notebook(_printed(n)),
    "attachments": lambda n: _notebook(*_pictures(n)),
    "deep JSON": lambda n: '{"cells": [], "metadata": ' + "[" * (n // 2) + "]" * (n // 2) + "}",
    "wide JSON": lambda n: _notebook(_shown(n)),
}
# By name: the ending of a file, and its text of about so many characters.
SHAPES: Mapping[str, tuple[str, Shape]] = {
    "an underlined heading": (".rst", lambda n: _above("Prices " * (n // 28) + "\n" + "=" * (n // 4), n)),
    "ever deeper headings": (".rst", _deeper),
    **{name: (".md", shape) for name, shape in MARKDOWN.items()},
    **{name: (".txt", shape) for name, shape in TEXT.items()},
    **{name: (".ipynb", shape) for name, shape in NOTEBOOKS.items()},
}


def written(folder: Path, shape: str, size: int) -> Path:
    """Write a file of a shape, of about so many characters, and return its path."""
    ending, write = SHAPES[shape]
    path = folder / f"{size}{ending}"
    path.write_text(write(size), "utf-8")
    return path
