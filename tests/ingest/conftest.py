"""What the tests of ingestion share: notebooks written as raw JSON, and somebody without rights."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

# A Saturday; noon, so that it is one in most of the world's time zones.
WHEN = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def code(source: Any, *outputs: Any, **more: Any) -> dict[str, Any]:
    """A code cell."""
    return {
        "cell_type": "code",
        "source": source,
        "outputs": list(outputs),
        "metadata": {},
        "execution_count": 1,
    } | more


def markdown(source: Any, **more: Any) -> dict[str, Any]:
    """A Markdown cell."""
    return {"cell_type": "markdown", "source": source, "metadata": {}} | more


def stream(text: Any, name: str = "stdout") -> dict[str, Any]:
    """What a cell printed."""
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data: Any) -> dict[str, Any]:
    """What a cell displayed; ``text_plain="x"`` stands for ``{"text/plain": "x"}``."""
    kinds = {kind.replace("_", "/", 1): value for kind, value in data.items()}
    return {"output_type": "display_data", "data": kinds, "metadata": {}}


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


@pytest.fixture
def common_folder() -> Iterator[Path]:
    """A folder that everybody may enter, unlike the one pytest makes."""
    folder = Path(tempfile.mkdtemp()).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def as_nobody() -> Callable[[Callable[[], Any]], Any]:
    """Call a function without the rights of root, and return its answer, which must be JSON."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork: there is no other way to drop rights for one call")
    if os.geteuid() != 0:
        return lambda function: function()
    return _in_a_child


def _in_a_child(function: Callable[[], Any]) -> Any:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            answer = json.dumps(function())
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent must hear of it
            answer = json.dumps({"raised": f"{type(error).__name__}: {error}"})
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer)
