"""What the tests of moved files write, and how they look at what was kept."""

from __future__ import annotations

import json

DIARY = [
    "# Wöchentliche Notizen",
    "On Monday we set the λ of the Poisson model to 3.2 orders an hour.",
    "On Tuesday Müller asked for the prices of Zürich, net of tax.",
    "On Thursday the join of both tables lost every shop without sales.",
]
CHANCE = ["5e2c41b0", "aa17f09d", "0d4c6b1e", "77bb2f3a"]
SOURCES = [
    "prices = load('prices.csv')",
    "prices.groupby('shop').mean()",
    "fit(prices, λ=0.3)",
    "plot(prices, title='Zürich')",
]


def notebook(*cells):
    """Return a notebook of code cells: pairs of id (or None) and source."""
    made = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": []} | ({"id": id_} if id_ else {})
        for id_, source in cells
    ]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def kept(memory, path):
    """Return id, tags and pin of each memory of a file, by location."""
    hits = memory.browsed(limit=100, filters={"path": str(path)}).hits
    return {hit.memory.location: (hit.memory.id, hit.memory.tags, hit.memory.pinned) for hit in hits}
