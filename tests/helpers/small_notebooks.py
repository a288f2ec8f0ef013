"""Notebooks of a few cells."""

from pathlib import Path

import nbformat


def write(path: Path, *cells: str | tuple[str, str]) -> Path:
    """Write a notebook whose cells have the ids c0, c1 and so on, and return its path.

    A cell is its kind and source, or a source alone: what begins with a number sign or ends in a full stop is prose.
    """
    made = {"markdown": nbformat.v4.new_markdown_cell, "code": nbformat.v4.new_code_cell}
    prose = {True: "markdown", False: "code"}
    both = [one if isinstance(one, tuple) else (prose[one.startswith("#") or one.endswith(".")], one) for one in cells]
    notebook = nbformat.v4.new_notebook(
        cells=[made[kind](source, id=f"c{number}") for number, (kind, source) in enumerate(both)]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path
