"""What the tests of ingestion share: notebooks written as raw JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

# A Saturday; noon, so that it is one in most of the world's time zones.
WHEN = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def when() -> datetime:
    return WHEN


@pytest.fixture
def notebook(tmp_path: Path) -> Callable[..., Path]:
    """Write a notebook from its cells, in format 4.5 unless told otherwise."""

    def write(*cells: Any, name: str = "02_prices.ipynb", minor: int = 5, **more: Any) -> Path:
        path = tmp_path / name
        content = {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": list(cells)} | more
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write
