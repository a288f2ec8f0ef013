"""The small BERT of the tests, what transformers computes with it, and a wheel that carries it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from jupyter_memory.embedders.minilm.folder import forget_folders

SMALL = Path(__file__).parents[1] / "minilm_small"


@pytest.fixture(autouse=True)
def nothing_kept():
    """Let every test read its folder anew."""
    yield
    forget_folders()


@pytest.fixture
def small_bert(tmp_path):
    """A copy of the stored model of two layers and 48 values."""
    return Path(shutil.copytree(SMALL, tmp_path / "small-bert"))


@pytest.fixture(scope="session")
def computed():
    """What transformers computes with the stored model: texts, ids, token vectors."""
    return json.loads((SMALL / "expected.json").read_text())
