"""A Jupyter server of its own for a part of the campaign, and how it is asked."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from programs import running

from campaign import Loss

_TOKEN = "campaign"


def own_settings(folder: Path) -> dict[str, str]:
    """Return the environment of a process whose settings, and whose store, are those of a folder."""
    places = {f"JUPYTER_{name}_DIR": str(folder / "jupyter" / name.lower()) for name in ("DATA", "CONFIG", "RUNTIME")}
    path = os.pathsep.join(entry for entry in sys.path if entry)
    return {**os.environ, **places, "JUPYTER_MEMORY_PATH": str(folder / "memory.sqlite"), "PYTHONPATH": path}


@contextmanager
def serving(
    root: Path, folder: Path, *options: str, log: IO[bytes] | int = subprocess.DEVNULL, **variables: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run a server that shows ``root``, with the settings of a folder; yield its address once it answers, and it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    command = [
        sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", f"--port={url.rpartition(':')[2]}",
        "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}", f"--IdentityProvider.token={_TOKEN}",
        "--ServerApp.jpserver_extensions={'jupyter_memory': True}", *options,
    ]  # fmt: skip
    with running(command, env=own_settings(folder) | variables, cwd=root, stdout=log, stderr=log) as process:
        until = time.monotonic() + 120
        while True:
            try:
                asked(url, "jobs")
                break
            except (URLError, OSError):
                if process.poll() is not None or time.monotonic() > until:
                    raise Loss("the server did not start") from None
                time.sleep(0.05)
        yield url, process
        process.terminate()


def asked(url: str, route: str, body: Mapping[str, Any] | None = None) -> tuple[int, str]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"token {_TOKEN}", "Content-Type": "application/json"}
    try:
        with urlopen(Request(f"{url}/jupyter-memory/{route}", data, headers), timeout=300) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


@contextmanager
def started(module: str, folder: Path, *arguments: object, quiet: bool = False) -> Iterator[subprocess.Popen[str]]:
    """Start a module of the campaign that works until it is killed, with the settings of a folder, once it is ready."""
    command = [sys.executable, "-m", f"campaign.{module}", *map(str, arguments)]
    errors = subprocess.DEVNULL if quiet else None
    environment = own_settings(folder)
    with running(command, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder, env=environment) as process:
        if json.loads(process.stdout.readline() or "[]") != ["ready"]:
            raise Loss(f"{module} did not start")
        yield process
        process.kill()


def heard(process: subprocess.Popen[str]) -> list[list[Any]]:
    said, _ = process.communicate()
    return [json.loads(line) for line in said.splitlines(keepends=True) if line.endswith("\n")]
