"""The benchmark of indexing runs, and prints a rate and the stages for each way into a store."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks/indexing.py"


def test_indexing_prints_a_row_for_each_way_in(tmp_path):
    """With few texts, every way in has its rate, and what it takes is shared out among the stages."""
    options = ["--texts", "30", "--rounds", "1", "--work", tmp_path, "--sources", Path(json.__file__).parent]
    printed = subprocess.run(
        [sys.executable, SCRIPT, *options], capture_output=True, text=True, check=True, timeout=100
    ).stdout

    rows = [line.split() for line in printed.splitlines()[-4:]]
    assert [name for name, *_ in rows] == ["plain", "add_many", "index", "alone"], printed
    assert all(int(rate.replace(",", "")) > 0 and sum(map(int, stages)) > 0 for _, rate, _, *stages in rows)
