"""The footprint of an installation: what came, the largest first, and a sum that is the sum of the lines."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "footprint.py"))


def test_what_was_there_before_does_not_count(script):
    """A package counts with what it grew; one that stays as it is does not count."""
    before = {"numpy": 50_000_000, "click": 1_000_000}
    after = {"numpy": 50_000_000, "click": 1_200_000, "apsw": 11_000_000, "tqdm": 100_000}

    found = script["added"](before, after)

    assert list(found.items()) == [("apsw", 11_000_000), ("click", 200_000), ("tqdm", 100_000)]
    assert script["table"](found).split("\n") == ["    11.0  apsw", "     0.3  2 smaller ones", "    11.3  all"]


def test_sizes_are_those_of_the_files(script):
    """Every package of an environment is measured by the files that it installed."""
    import numpy

    found = script["sizes"](Path(sys.executable))

    whole = sum(file.stat().st_size for file in Path(numpy.__file__).parent.rglob("*") if file.is_file())
    assert whole <= found["numpy"] <= 2 * whole
    assert "pip" not in found
