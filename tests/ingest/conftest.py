"""What the tests of ingestion share: notebooks written as raw JSON, files that are read, folders that are indexed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_memory.ingest import Document, known_readers, read_file
from jupyter_memory.types import Draft


@pytest.fixture
def notebook(tmp_path: Path) -> Callable[..., Path]:

    def write(*cells: Any, name: str = "02_prices.ipynb", minor: int = 5, **more: Any) -> Path:
        path = tmp_path / name
        content = {"nbformat": 4, "nbformat_minor": minor, "metadata": {}, "cells": list(cells)} | more
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., Document]:
    """Return what the reader of a file finds in it; with content, the file is written first."""

    def of(file: str | Path, content: str | bytes | None = None) -> Document:
        path = tmp_path / file
        if content is not None:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return known_readers().reader_of(path).read(path)

    return of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "wöche"
    folder.mkdir()
    return folder


@pytest.fixture
def index(store: Callable[..., Any]) -> Callable[[Path], Any]:
    """Index a folder into one store, which is its ``memory``, and return the report."""
    memory = store()

    def indexed(path: Path) -> Any:
        return memory.index(path, progress=False)

    indexed.memory = memory
    return indexed


@pytest.fixture
def drafted(tmp_path: Path) -> Callable[..., list[Draft]]:
    """Write a file, and return the drafts that it becomes."""

    def of(name: str, content: str | bytes, **options: Any) -> list[Draft]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_file(path, **{"root": tmp_path} | options)

    return of
