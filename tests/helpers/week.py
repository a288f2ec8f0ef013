"""A folder of three files, as one week of work leaves them."""

from __future__ import annotations

import json
from pathlib import Path

LAMBDA = "# Poisson λ\n\nThe λ of the Poisson model is 3.2 orders an hour."
ZURICH = "# Zürich\n\nSales in Zürich rose by four percent after the price cut."


def notebook(*sources: str) -> str:
    """Return a notebook of code cells without ids."""
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


def write_week(folder: Path) -> Path:
    """Write a note on the λ, one on Zürich, and a notebook of two cells; return the folder."""
    (folder / "notes").mkdir(parents=True)
    (folder / "lambda.md").write_text(LAMBDA)
    (folder / "notes" / "zürich.md").write_text(ZURICH)
    (folder / "prices.ipynb").write_text(notebook("prices = load('prices.csv')", "prices.groupby('shop').mean()"))
    return folder
