"""The floors of the house: an import goes down, and loading the package loads next to nothing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import jupyter_memory

ROOT = Path(jupyter_memory.__file__).parent
# From the ground up. Rooms of one line may know each other where the line is marked, else not.
FLOORS: tuple[tuple[bool, str], ...] = (
    (False, "errors"),
    (False, "types words utf8 times progress plain paths usage vega"),
    (False, "protocols config selection looks idents traces"),
    (False, "options report listing frame embedders"),
    (False, "ranking storage ingest"),
    (
        True,
        "store remembering upkeep searching filing prepare records model reembed asking revising unmet questions "
        "retokenise ahead helper packing around trusting settling pooled tracing folders logbook legs shown",
    ),
    (False, "doctor autoload models evaluation widgets vaults"),
    (False, "magics cli server"),
    (False, "__main__"),
)
FLOOR_OF = {room: floor for floor, (_, rooms) in enumerate(FLOORS) for room in rooms.split()}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported(path: Path) -> Iterator[str]:
    """Yield the rooms that a module imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "jupyter_memory":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("jupyter_memory."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("jupyter_memory."))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_an_import_goes_down(path):
    """No module knows one above it, nor a neighbour on its floor, unless the floor is one flat."""
    room = room_of(path)
    assert room in FLOOR_OF, f"{room} has no floor yet: give it one here and in ARCHITECTURE.md"
    for other in set(imported(path)) - {room}:
        together = FLOOR_OF[other] == FLOOR_OF[room] and FLOORS[FLOOR_OF[room]][0]
        assert FLOOR_OF[other] < FLOOR_OF[room] or together, f"{room} imports {other}"


def test_importing_the_package_is_light():
    """`import jupyter_memory` wakes neither MLX nor pandas, NumPy, SQLite, IPython or a server."""
    heavy = "{'mlx', 'pandas', 'numpy', 'apsw', 'tokenizers', 'jupyter_server', 'IPython', 'nbformat', 'dateparser'}"
    found = subprocess.run(
        [sys.executable, "-c", f"import sys, jupyter_memory; print(sorted({heavy} & set(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"
