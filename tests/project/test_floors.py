"""The floors of the package: an import only goes down, and loading the package loads next to nothing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import jupyter_memory

ROOT = Path(jupyter_memory.__file__).parent
# From the ground up. Rooms on one floor do not know each other.
FLOORS = (
    "errors lazy",
    "text",
    "types",
    "config protocols runtime",
    "storage embedders",
    "ingest search dataframe",
    "store",
    "history",
    "interface evaluation widgets",
    "magics cli server mcp",
    "__main__",
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms.split()}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
DRIVERS = {"apsw", "sqlite3", "duckdb", "psycopg"}


def name_of(path: Path) -> str:
    """Return a module by its full name."""
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def room_of(module: str) -> str:
    """Return the package or module right below ``jupyter_memory`` that a module belongs to."""
    return module.split(".")[1]


NAMES = {name_of(path) for path in MODULES}


def tree_of(path: Path) -> ast.Module:
    """Return a module, parsed."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """Yield what a module imports: at its top, late in a function, or for the type checker alone."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path} has a relative import"
            parts = (f"{node.module}.{alias.name}" for alias in node.names)
            # "from jupyter_memory.storage import rows" imports a module, "from jupyter_memory.types import Hit" a name.
            yield from (part if part in NAMES else node.module for part in parts)


def neighbours(path: Path) -> set[str]:
    """Return the modules of the package that a module imports."""
    return {name for name in imported(path) if name in NAMES}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_an_import_goes_down(path):
    """No module imports one above it, or of another room on its floor."""
    room = room_of(name_of(path))
    assert room in FLOOR_OF, f"{room} has no floor yet: give it one here and in ARCHITECTURE.md"
    for other in {room_of(name) for name in neighbours(path)} - {room}:
        assert other in FLOOR_OF, f"{room} imports {other}"
        assert FLOOR_OF[other] < FLOOR_OF[room], f"{room} imports {other}"


def test_no_imports_in_a_circle():
    """No modules import each other, not even late."""
    try:
        TopologicalSorter({name_of(path): neighbours(path) for path in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


def test_only_storage_knows_a_database():
    """No module outside storage imports a database driver."""
    others = [path for path in MODULES if room_of(name_of(path)) != "storage"]
    assert [name_of(path) for path in others if DRIVERS & {name.split(".")[0] for name in imported(path)}] == []


def test_only_the_package_of_postgresql_knows_its_driver():
    """psycopg is an extra: no module outside storage/postgres imports it, so that all else runs without it."""
    others = [path for path in MODULES if not path.is_relative_to(ROOT / "storage" / "postgres")]
    assert [name_of(path) for path in others if "psycopg" in {name.split(".")[0] for name in imported(path)}] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_cast(path):
    """Types are true: no module calls ``typing.cast``."""
    calls = [node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    assert "cast" not in {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        # Most commands need neither IPython nor Jupyter's server.
        ("from jupyter_memory.cli import main; main(['--help'])", "IPython ipykernel jupyter_server mlx pandas"),
        (
            "import jupyter_memory",
            "mlx pandas numpy apsw tokenizers jupyter_server IPython nbformat dateparser",
        ),
    ],
)
def test_beginning_is_light(program, heavy):
    """`import jupyter_memory` and the terminal wake neither MLX nor pandas, IPython or a server."""
    command = [sys.executable, "-c", f"import sys\n{program}\nprint(*sys.modules)"]
    found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=100)
    loaded = set(found.stdout.splitlines()[-1].split())
    assert "jupyter_memory" in loaded and loaded.isdisjoint(heavy.split())


def test_the_architecture_names_what_exists():
    """Every module that ARCHITECTURE.md and docs/internals.md name exists, and every room is in ARCHITECTURE.md."""
    page = (ROOT.parent / "ARCHITECTURE.md").read_text(encoding="utf-8")
    details = (ROOT.parent / "docs/internals.md").read_text(encoding="utf-8")
    named = set(re.findall(rf"(?<![\w./])((?:{'|'.join(FLOOR_OF)})/[a-z_/]*)", page + details))
    assert [path for path in named if not (ROOT / path).is_dir() and not (ROOT / f"{path}.py").is_file()] == []
    assert [room for room in FLOOR_OF if (ROOT / room).exists() and room not in page] == []
