"""A Jupyter server of its own for every test, with the memory loaded and a data scientist's week in its root."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

pytest.importorskip("pytest_jupyter.jupyter_server", reason="pip install 'jupyter-memory[test]'")

import apsw
from jsonschema import Draft7Validator
from pictures import saved

# Only here: as a plugin of all tests it would make a server for each of them.
from pytest_jupyter.jupyter_server import *  # noqa: F403

import jupyter_memory

SCHEMAS = Path(jupyter_memory.__file__).parent / "server" / "schemas"

server_fetch = jp_fetch  # noqa: F405


@dataclass(frozen=True)
class Answered:
    code: int
    json: Any


@pytest.fixture
def until() -> Callable[[Callable[[], object]], Awaitable[None]]:
    """Wait until something holds that the server or one of its threads brings about: ``await until(lambda: …)``."""

    async def until(holds: Callable[[], object]) -> None:
        end = monotonic() + 100
        while not holds():
            assert monotonic() < end, "it did not come about"
            await asyncio.sleep(0.01)

    return until


@pytest.fixture
def store_file(tmp_path: Path) -> Path:
    return tmp_path / "store" / "memory.sqlite"


@pytest.fixture
def jp_server_config(store_file: Path, request: pytest.FixtureRequest) -> dict[str, Any]:
    """The memory loaded, nobody let in without a token, models as bundled, writers waited for as long as it takes.

    ``indirect`` parameters are settings by class, beside these or in their place.
    """
    usual = {
        "ServerApp": {"jpserver_extensions": {"jupyter_memory": True}, "allow_unauthenticated_access": False},
        "JupyterMemory": {"path": str(store_file), "embedder": "static", "busy_seconds": 120},
    }
    more = getattr(request, "param", {})
    return {name: usual.get(name, {}) | more.get(name, {}) for name in (*usual, *more)}


@pytest.fixture
def service(jp_serverapp) -> Iterator[Any]:
    service = jp_serverapp.web_app.settings["jupyter_memory_service"]
    yield service
    service.close()


@pytest.fixture
def jp_fetch(server_fetch) -> Callable[..., Awaitable[Any]]:
    """Fetch from the server, with more patience than by default: a machine may be busy with something else."""
    return partial(server_fetch, request_timeout=100, connect_timeout=100)


@pytest.fixture
def queued(service) -> Iterator[threading.Event]:
    """Keep the thread that indexes busy until the event is set: what is asked for meanwhile waits for its turn."""
    go_on = threading.Event()
    service.index_pool.put(go_on.wait)
    yield go_on
    go_on.set()


@pytest.fixture
def writers_busy(service) -> Iterator[threading.Event]:
    """Keep the two threads that make changes busy until the event is set."""
    go_on = threading.Event()
    for _ in range(2):
        service.write_pool.put(go_on.wait)
    yield go_on
    go_on.set()


@pytest.fixture
def heard(jp_serverapp) -> Callable[[str], list[dict[str, Any]]]:
    """Give a function that subscribes to one kind of events, and returns the list that what is told comes into."""

    def heard(kind: str, and_then: Callable[[], Awaitable[Any]] | None = None) -> list[Any]:
        told: list[Any] = []

        async def listener(logger: Any, schema_id: str, data: dict[str, Any]) -> None:
            told.append(data if and_then is None else (data, await and_then()))

        address = f"https://jupyter-memory.readthedocs.io/events/{kind}/v1"
        jp_serverapp.event_logger.add_listener(schema_id=address, listener=listener)
        return told

    return heard


@pytest.fixture
def slow_disk(store_file: Path) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Let what a search reads take minutes while the first event is set; the second tells that it began."""
    slow, began = threading.Event(), threading.Event()

    def hook(connection: apsw.Connection) -> None:
        # Called by SQLite between two of its instructions.
        def wait() -> bool:
            ours = threading.current_thread().name.startswith("jupyter-memory-search")
            if slow.is_set() and ours and connection.exec_trace is not None:
                began.set()
                sleep(0.01)
            return False

        if connection.filename == str(store_file):
            connection.set_progress_handler(wait, 1, id="slow disk")

    apsw.connection_hooks.append(hook)
    yield slow, began
    apsw.connection_hooks.remove(hook)


@pytest.fixture
def ask(jp_fetch, service) -> Callable[..., Awaitable[Answered]]:
    """Ask a route: ``await ask("search", {"query": "λ"})``; without a body by GET, errors answered like the rest."""

    async def ask(route: str, body: Any = None, *, method: str | None = None, **options: Any) -> Answered:
        if body is not None:
            options["body"] = body if isinstance(body, str | bytes) else json.dumps(body)
        method = method or ("GET" if body is None else "POST")
        response = await jp_fetch(
            "jupyter-memory", route, method=method, raise_error=False, allow_nonstandard_methods=True, **options
        )
        return Answered(response.code, json.loads(response.body or b"null"))

    return ask


@pytest.fixture
def over(ask) -> Callable[[], Awaitable[list[dict[str, Any]]]]:
    """Wait until no job waits or runs, and return the jobs."""

    async def over() -> list[dict[str, Any]]:
        end = monotonic() + 100
        while True:
            jobs = (await ask("jobs")).json["jobs"]
            if all(job["state"] not in ("waiting", "running") for job in jobs):
                return jobs
            assert monotonic() < end, "a job did not end"
            await asyncio.sleep(0.01)

    return over


@pytest.fixture
def fits() -> Callable[[str, Any], Any]:

    def fits(name: str, value: Any) -> Any:
        file = "requests.json" if name.endswith("-request") else "answers.json"
        definitions = json.loads((SCHEMAS / file).read_text("utf-8"))["definitions"]
        errors = Draft7Validator({"$ref": f"#/definitions/{name}", "definitions": definitions}).iter_errors(value)
        problems = [f"{'.'.join(map(str, one.absolute_path))}: {one.message}" for one in errors]
        assert problems == []
        return value

    return fits


@pytest.fixture
def week_in(store_file: Path, week, service) -> Any:
    store = service.provider.store(create=True)
    store.add_many(week, progress=False)
    return store


@pytest.fixture
def notebook(jp_root_dir: Path) -> Path:
    """A notebook in a folder of Lab's root: a heading, a cell about the λ of orders in Zürich, one that plots them."""
    code = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": 1}
    return saved(
        jp_root_dir / "prices" / "orders.ipynb",
        {"cell_type": "markdown", "id": "head", "metadata": {}, "source": "# Orders in Zürich"},
        {**code, "id": "rate", "source": "λ = orders.groupby('hour').size().mean()\nλ"},
        {**code, "id": "plot", "source": "prices.plot(title='price of electricity')"},
    )


@pytest.fixture
def many_files(jp_root_dir: Path) -> Path:
    folder = jp_root_dir / "many"
    folder.mkdir()
    for number in range(12):
        (folder / f"note {number}.md").write_text(f"# Note {number}\n\nThe λ of day {number} in Zürich.", "utf-8")
    return folder


@pytest.fixture
def halfway(service, monkeypatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """Let indexing stop after five files, which the first event tells, until the second is set."""
    store = service.provider.store(create=True)
    reached, go_on, indexing = threading.Event(), threading.Event(), store.index

    def slowly(path: Any, *, progress: Any) -> Any:
        def wait(done: int, total: int) -> None:
            if done == 5:
                reached.set()
                go_on.wait(60)
            progress(done, total)

        return indexing(path, progress=wait)

    monkeypatch.setattr(store, "index", slowly)
    yield reached, go_on
    go_on.set()
