"""Rooms are entered by their doors: tests and scripts import no deeper, and a room exports what somebody uses."""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_memory.search import PROFILES

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jupyter_memory"
ROOMS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
FOLDERS = ("tests", "benchmarks", "scripts", "training")
OUTSIDE = sorted(file for name in FOLDERS for file in ROOT.joinpath(name).rglob("*.py"))
PAGES = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *ROOT.glob("notebooks/**/*.ipynb")]
# Cells that the browser tests run.
SPECS = sorted(ROOT.glob("ui-tests/tests/*.ts"))
# Names that a room exports for tests alone, as room.NAME: each is there for a promise that shows nowhere else.
FOR_TESTS_ALONE = (
    "embedders.Tokens", "embedders.WordPiece", "embedders.batches",
    "ingest.Isolation", "ingest.read_file", "ingest.suspicious", "ingest.walk", "mcp.server_of", "mcp.tools_of",
    "search.coverage_of", "search.snippet", "storage.Database", "storage.keyword",
)  # fmt: skip
# A module of the package below a room, or one beside the rooms, as it is written in code or in a string.
DEEP = re.compile(rf"\bjupyter_memory\.(?:(?:{'|'.join(ROOMS)})\.[a-z_]+|(?!(?:{'|'.join(ROOMS)})\b)[a-z_]+)\b")
TEXT_FILES = re.compile(r"\.(?:json|toml|ya?ml|md|sqlite)\b")


@functools.cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


def imports(file: Path, code: ast.AST | None = None) -> Iterator[tuple[str, str]]:
    """Yield module and name of what a file imports from the package, in functions and in programs in strings too."""
    for node in ast.walk(code or tree(file)):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == PACKAGE.name:
            yield from ((node.module or "", one.name) for one in node.names)
        elif isinstance(node, ast.Import):
            yield from ((one.name, "") for one in node.names if one.name.split(".")[0] == PACKAGE.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "import" in node.value:
            yield from re.findall(r"from (jupyter_memory(?:\.\w+)*) import (\w+)", node.value)


def is_deep(module: str, name: str) -> bool:
    """Return whether an import names a module that is no room: with it, or in the name that is taken from one."""
    path = ROOT.joinpath(*module.split("."))
    taken = path / name
    within = name and module != PACKAGE.name and (taken.is_dir() or taken.with_suffix(".py").exists())
    beside = module == PACKAGE.name and name and taken.with_suffix(".py").exists()
    room = module.removeprefix(f"{PACKAGE.name}.")
    if within and f"{room}.{name}" in exported():
        return False  # a function with the name of its module
    if name in ROOMS and module == PACKAGE.name:
        return False
    return bool(within or beside) or module not in {PACKAGE.name, *(f"{PACKAGE.name}.{room}" for room in ROOMS)}


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").exists()


def ways_in(file: Path) -> Iterator[str]:
    """Yield how a file reaches below a room: imports, and dotted names in strings, as for importlib."""
    yield from (f"{module}: {name}" for module, name in imports(file) if is_deep(module, name))
    docstrings = {
        node.body[0].value
        for node in ast.walk(tree(file))
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            found = DEEP.finditer(TEXT_FILES.sub("/", node.value))
            yield from (f"line {node.lineno}: {one[0]}" for one in found if is_module(one[0]))
        elif isinstance(node, ast.Attribute) and is_module(ast.unparse(node)):
            yield from (f"line {node.lineno}: {one[0]}" for one in DEEP.finditer(ast.unparse(node)))


@pytest.mark.parametrize("file", OUTSIDE, ids=lambda file: str(file.relative_to(ROOT)))
def test_nothing_outside_reaches_below_a_room(file: Path) -> None:
    """Tests, benchmarks, scripts and training import the package or a room: moves within a room leave them alone."""
    if file == Path(__file__):
        return
    assert list(ways_in(file)) == []


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_no_cell_of_a_browser_test_reaches_below_a_room(spec: Path) -> None:
    """No tool checks imports in their strings."""
    found = DEEP.finditer(TEXT_FILES.sub("/", spec.read_text("utf-8")))
    assert [one[0] for one in found if is_module(one[0])] == []
    assert not re.findall(r"from jupyter_memory\.\w+\.", spec.read_text("utf-8"))


@functools.cache
def exported() -> dict[str, str]:
    """Return the module that defines each name in the table of a room: ``{"search.parse": "query.parser"}``."""
    found = {}
    for init in (PACKAGE / "__init__.py", *(PACKAGE / room / "__init__.py" for room in ROOMS)):
        room = "" if init.parent == PACKAGE else f"{init.parent.name}."
        for node in ast.walk(tree(init)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "exports":
                table = ast.literal_eval(node.args[1])
                found |= {room + name: home for home, names in table.items() for name in names.split()}
    return found


def used_in(file: Path, homes: dict[str, str]) -> set[str]:
    """Return the exported names that a file uses: by the door of a room or, within the package, from its modules."""
    inside = file.is_relative_to(PACKAGE)
    own = file.relative_to(PACKAGE).parts[0] if inside else None
    used = set()
    for module, name in imports(file):
        _, _, below = module.partition(".")
        room, _, home = below.partition(".")
        key = f"{room}.{name}" if room in ROOMS else name
        if inside and room != own and is_module(f"{module}.{name}"):
            of_module = [one for one, where in homes.items() if where == (f"{home}.{name}" if home else name)]
            used |= {one for one in of_module if re.search(rf"\.{one.split('.')[-1]}\b", file.read_text("utf-8"))}
        # A name may also come by way of a package within the room.
        if room != own and key in homes and (not home or f"{homes[key]}.".startswith(f"{home}.")):
            used.add(key)
    return used


def written_in_pages() -> set[str]:
    """Return the names that a user is shown: ``from jupyter_memory.ROOM import NAME`` in a page or a notebook."""
    used = set()
    for page in (*PAGES, *SPECS):
        text = page.read_text("utf-8").replace("\\n", "\n")
        for room, block, line in re.findall(
            r"from jupyter_memory(?:\.(\w+))? import (?:\(([^)]*)\)|([^\n\"#`]*))", text
        ):
            names = re.findall(r"\w+", re.sub(r"\bas \w+", "", block or line))
            used |= {f"{room}.{name}" if room else name for name in names}
        used |= set(re.findall(r"\bjupyter_memory\.([A-Za-z_]\w*)", text))
    return used


def test_what_a_room_exports_is_used() -> None:
    """By another room, by a user, by a benchmark, a script or the training; or it is one of the few for tests alone."""
    homes = exported()
    tests = [file for file in OUTSIDE if file.is_relative_to(ROOT / "tests")]
    handed_on = {f"{home.partition('.')[0]}.{name}" for name, home in homes.items() if "." not in name}
    users = [*PACKAGE.rglob("*.py"), *(file for file in OUTSIDE if file not in tests)]
    used = handed_on.union(written_in_pages(), *(used_in(file, homes) for file in users))
    # What `import jupyter_memory` gives is a user's.
    # A profile in TOML names itself, its terms, signals and steps.
    parts = (part for one in PROFILES.values() for part in (one.fetch, *one.terms, *one.signals, *one.steps))
    used |= {f"search.{type(part).__name__}" for part in parts}
    used |= {f"search.{name.replace('-', '_')}" for name in PROFILES}
    alone = {name for name in homes if "." in name} - used
    assert alone == set(FOR_TESTS_ALONE)


def test_few_names_are_for_tests_alone() -> None:
    """Each is exported and used by a test."""
    homes = exported()
    used = set().union(*(used_in(file, homes) for file in OUTSIDE if file.is_relative_to(ROOT / "tests")))
    assert len(FOR_TESTS_ALONE) <= 15
    assert set(FOR_TESTS_ALONE) <= used & homes.keys()
