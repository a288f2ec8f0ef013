"""The other cells: notebooks of ordinary work, made by filling recipes with words of many fields and with numbers."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from random import Random
from string import Template

from cells import Case, Notebook, read_cases

KEPT = 0.65  # the share of the cells marked "maybe" that a notebook has
FIRST_DAY = date(2023, 1, 1)


def other_notebooks(folder: Path, seed: int = 18) -> Iterator[Notebook]:
    """Yield each recipe once for every field, the recipes in turn."""
    random = Random(seed)
    fields = tomllib.loads((folder / "domains.toml").read_text(encoding="utf-8"))["domain"]
    recipes = read_cases(folder / "recipes.txt")
    for turn in range(len(fields)):
        for place, recipe in enumerate(recipes):
            yield _filled(recipe, fields[(turn + place) % len(fields)], random)


def _filled(recipe: Case, field: dict[str, str], random: Random) -> Notebook:
    assert recipe.earlier is not None, recipe.name
    words = _words(field, random)
    kept = [cell for cell in recipe.earlier.cells if cell.role != "maybe" or random.random() < KEPT]
    name = Template(recipe.earlier.name).substitute(words)
    return Notebook(name, tuple(replace(cell, source=Template(cell.source).substitute(words)) for cell in kept))


def _words(field: dict[str, str], random: Random) -> dict[str, object]:
    low_to_high = {"k": (2, 4), "n1": (1, 99), "n2": (11, 40), "n3": (20, 90), "n4": (5, 9), "n5": (50, 400)}
    numbers = {name: random.randint(*ends) for name, ends in low_to_high.items()}
    floats = {name: round(random.uniform(0.3, 9), 2) for name in ("f1", "f2")}
    day = FIRST_DAY + timedelta(days=random.randrange(1000))
    return {**field, **numbers, **floats, "day": day.isoformat(), "Thing": field["thing"].title()}


def sample_notebooks(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield name and code cells of the project's own notebooks; they ran without failing, as their outputs show."""
    for path in sorted(folder.rglob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        yield f"samples/{path.stem}", ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
