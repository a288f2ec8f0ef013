"""The floors of the package: an import only goes down, and loading the package loads next to nothing."""

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import jupyter_memory

ROOT = Path(jupyter_memory.__file__).parent
# From the ground up. Rooms on one floor do not know each other.
FLOORS = (
    "errors lazy", "text", "types", "stores", "config runtime", "storage embedders", "ingest search", "dataframe",
    "store", "history", "evaluation", "interface", "magics cli server mcp", "__main__",
)  # fmt: skip
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms.split()}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
DRIVERS = {"apsw", "sqlite3", "duckdb", "psycopg"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


NAMES = {name_of(path) for path in MODULES}


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imported(path: Path) -> frozenset[str]:
    """Return what a module imports: at its top, late in a function, or for the type checker alone."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path} has a relative import"
            parts = (f"{node.module}.{alias.name}" for alias in node.names)
            # What is imported from a package may be a module of it, or a name.
            found |= {part if part in NAMES else node.module for part in parts}
    return frozenset(found)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_an_import_goes_down(path):
    room = name_of(path).split(".")[1]
    assert room in FLOOR_OF, f"{room} has no floor yet: give it one here and in ARCHITECTURE.md"
    for other in {name.split(".")[1] for name in imported(path) & NAMES} - {room}:
        assert other in FLOOR_OF, f"{room} imports {other}"
        assert FLOOR_OF[other] < FLOOR_OF[room], f"{room} imports {other}"


def test_no_imports_in_a_circle():
    try:
        TopologicalSorter({name_of(path): imported(path) & NAMES for path in MODULES}).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


@pytest.mark.parametrize(("place", "drivers"), [("storage", DRIVERS), ("storage/postgres", {"psycopg"})])
def test_only_storage_knows_a_database(place, drivers):
    """No module outside imports a driver; psycopg is an extra, so that all but its package runs without it."""
    others = [path for path in MODULES if not path.is_relative_to(ROOT / place)]
    assert [name_of(path) for path in others if drivers & {name.split(".")[0] for name in imported(path)}] == []


def test_no_name_is_bound_twice():
    """No module binds a name twice at its top: where two topics meet in a file, one would change the other."""
    twice = []
    for path in MODULES:
        bound = [
            name.id
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.Assign)
            for target in node.targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        ]
        twice += [(name_of(path), name) for name in set(bound) if bound.count(name) > 1]
    assert twice == []


def test_no_cast():
    """Types are true: no module calls ``typing.cast``."""
    calls = [node.func for path in MODULES for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    assert "cast" not in {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}


@pytest.mark.parametrize(
    ("program", "heavy"),
    [
        # Most commands need neither IPython nor Jupyter's server.
        ("from jupyter_memory.cli import main; main(['--help'])", "IPython ipykernel jupyter_server mlx pandas"),
        ("from jupyter_memory.cli import main; main(['search', 'λ'])", "pandas"),
        # A kernel that never searches does not wait.
        (
            "from IPython.core.interactiveshell import InteractiveShell as Shell\n"
            "Shell().run_line_magic('load_ext', 'jupyter_memory')",
            "pandas mlx.core dateparser nbformat numpy apsw tomllib webbrowser jupyter_memory.store",
        ),
        ("import jupyter_memory", "mlx pandas numpy apsw tokenizers jupyter_server IPython nbformat dateparser"),
    ],
)
def test_beginning_is_light(program, heavy):
    """`import jupyter_memory`, the terminal and the extension wake nothing that they do not need."""
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
