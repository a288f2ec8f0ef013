"""The judged sets of questions, which lie beside the project or where JUPYTER_MEMORY_TEST_DATA says."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

_DATA = os.environ.get("JUPYTER_MEMORY_TEST_DATA", Path(__file__).parents[3] / "shared" / "data")
JUDGED = Path(_DATA) / "judged"


def lines(name: str) -> list[dict[str, Any]]:
    path = JUDGED / name
    if not path.exists():
        pytest.skip(f"{path} is not there: set JUPYTER_MEMORY_TEST_DATA to the folder of the judged sets")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
