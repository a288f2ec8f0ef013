"""A short dose of every part of the campaign; ``make campaign`` runs the full one."""

import importlib
from pathlib import Path

import pytest

from campaign import Dose
from campaign.__main__ import parts


@pytest.mark.parametrize("part", parts())
def test_a_short_dose_loses_nothing(part: str, tmp_path: Path) -> None:
    figures = importlib.import_module(f"campaign.{part}").run(Dose(seed=15, scale=0.01, folder=tmp_path))
    assert figures, "a part counts what it did"
