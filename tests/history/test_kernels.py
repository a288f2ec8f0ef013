"""Real kernels: what they ran is found again by the next one, also after they were killed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

from jupyter_memory import MemoryStore
from jupyter_memory.storage import abandoned

_LONGEST = 60


@contextmanager
def kernel(folder: Path, **more: str) -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    """Start a kernel that has the extension, its store and settings in a folder of the test."""
    places = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("DATA", "CONFIG", "RUNTIME")}
    environment = {
        **os.environ, **places, "IPYTHONDIR": str(folder / "ipython"), "HOME": str(folder),
        "JUPYTER_MEMORY_PATH": str(folder / "week" / "memory.sqlite"), **more,
    }  # fmt: skip
    manager, client = start_new_kernel(kernel_name="python3", env=environment, cwd=str(folder))
    try:
        run(client, "%load_ext jupyter_memory")
        yield manager, client
    finally:
        client.stop_channels()
        if manager.is_alive():
            manager.shutdown_kernel()


def run(client: BlockingKernelClient, code: str, metadata: dict[str, object] | None = None) -> str:
    """Run a cell as JupyterLab does, and return what it wrote to standard output and error."""
    message = client.session.msg(
        "execute_request",
        {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False},
        metadata=metadata or {},
    )
    client.shell_channel.send(message)
    written = []
    while True:
        said = client.get_iopub_msg(timeout=_LONGEST)
        if said["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        if said["msg_type"] == "stream":
            written.append(said["content"]["text"])
        if said["msg_type"] == "status" and said["content"]["execution_state"] == "idle":
            return "".join(written)


def die(manager: KernelManager, client: BlockingKernelClient, code: str) -> None:
    """Run a cell that kills the kernel, and wait until it is dead."""
    client.execute(code)
    manager.provisioner.process.wait(_LONGEST)


def found(folder: Path) -> list[tuple[str, str]]:
    """Return the sources and outcomes of the runs that the store has, as the next kernel finds them."""
    with MemoryStore(folder / "week" / "memory.sqlite") as store:
        return [(run.source, run.outcome) for run in store.history.runs(oldest_first=True)]


def test_the_cell_that_kills_the_kernel_is_found_by_the_next(tmp_path: Path):
    """After kill -9 in a cell, this cell has the outcome "unknown", and those before it have their own."""
    deadly = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)  # λ"
    with kernel(tmp_path) as (manager, client):
        assert "on: this kernel remembers" in run(client, "%memory history on")
        run(client, "prices = [1, 2]")
        run(client, "prices[7]")
        die(manager, client, deadly)

    with kernel(tmp_path) as (_, client):
        said = run(
            client,
            "from jupyter_memory import open_store\n"
            "for run in open_store().history.runs():\n    print(run.outcome, repr(run.source))",
        )
    assert f"unknown {deadly!r}" in said and "error 'prices[7]'" in said and "ok 'prices = [1, 2]'" in said
    assert not list(abandoned(tmp_path / "week" / "memory.sqlite"))


def test_off_means_nothing(tmp_path: Path):
    """A kernel that was not told to record leaves nothing, even when it is killed."""
    with kernel(tmp_path) as (manager, client):
        run(client, "prices = [1, 2]")
        die(manager, client, "import os; os.kill(os.getpid(), 9)")
    assert not (tmp_path / "week").exists()


def test_clear_leaves_no_byte(tmp_path: Path):
    """After clear, no file beside the store has a word of what ran; what runs next is remembered."""
    with kernel(tmp_path) as (_, client):
        run(client, "%memory history on")
        run(client, "quetzalcoatlus = 1\nraise ValueError('archaeopteryx')")
        assert "forgot 1 run, 1 memory" in run(client, "%memory history clear --yes")
        contents = [file.read_bytes() for file in (tmp_path / "week").iterdir()]
        assert contents and not [one for one in contents if b"quetzalcoatlus" in one or b"archaeopteryx" in one]
        run(client, "later = 1")
    assert found(tmp_path) == [("later = 1", "ok")]


def test_tags_and_ids_come_with_the_request(tmp_path: Path):
    """A tag that JupyterLab sends keeps a cell out, and the id it sends is that of the run; no journal is left."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "jupyter_memory_config.json").write_text('{"JupyterMemory": {"history": true}}')
    with kernel(tmp_path) as (_, client):
        run(client, "hidden = 1", {"cellId": "a", "tags": ["memory-off"]})
        run(client, "shown = 2", {"cellId": "b-c", "tags": ["decision"]})
    with MemoryStore(tmp_path / "week" / "memory.sqlite") as store:
        assert [(run.source, run.cell_id) for run in store.history.runs()] == [("shown = 2", "b-c")]
    assert not [file for file in (tmp_path / "week").iterdir() if ".runs-" in file.name]
