"""How long a Jupyter server takes to be ready, with the memory and without.

python benchmarks/lab_startup.py            # jupyter server
python benchmarks/lab_startup.py --lab      # jupyter lab
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

TARGET_MS = 50


class Start(NamedTuple):
    """One start: milliseconds until the server is ready, and of processor time until it had ended again."""

    wall: float
    cpu: float


def start(module: str, extension: bool, home: Path) -> Start:
    """Start a server, its settings all its own, wait until it is ready, and end it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = [
        f"--ServerApp.port={port}",
        "--ServerApp.open_browser=False",
        "--ServerApp.allow_root=True",
        f"--ServerApp.root_dir={home}",
        f"--ServerApp.jpserver_extensions={{'jupyter_memory': {extension}}}",
    ]
    environment = {**os.environ, "HOME": str(home), "JUPYTER_MEMORY_PATH": str(home / "memory.sqlite")}
    for variable in ("DATA", "CONFIG", "RUNTIME"):
        environment[f"JUPYTER_{variable}_DIR"] = str(home / variable.lower())
    begun = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", module, *settings], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until_ready(home / "runtime", server)
    wall = time.perf_counter() - begun
    server.terminate()
    _, _, used = os.wait4(server.pid, 0)
    return Start(wall * 1000, (used.ru_utime + used.ru_stime) * 1000)


def wait_until_ready(runtime: Path, server: subprocess.Popen[bytes]) -> None:
    """Return when a server has loaded its extensions and tells others where it is."""
    while server.poll() is None:
        if any(runtime.glob(f"jpserver-{server.pid}.json")):
            return
        time.sleep(0.001)
    raise SystemExit(f"The server ended with {server.returncode}.")


def main() -> None:
    """Start it again and again, in turns, and print both medians, their difference and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", action="store_true", help="start JupyterLab instead of the server alone")
    parser.add_argument("--runs", type=int, default=9, help="starts with and without, 9 if left out")
    chosen = parser.parse_args()
    module = "jupyterlab" if chosen.lab else "jupyter_server"
    starts: dict[bool, list[Start]] = {False: [], True: []}
    with tempfile.TemporaryDirectory() as folder:
        for extension in (False, True):
            start(module, extension, Path(folder))  # the files are read once
        for run in range(chosen.runs):
            for extension in (False, True) if run % 2 else (True, False):  # neither is always the first of a pair
                starts[extension].append(start(module, extension, Path(folder)))
    print(f"{module}, {chosen.runs} starts each, medians; target: under {TARGET_MS} ms more")
    for what in Start._fields:
        without, with_it = (statistics.median(getattr(one, what) for one in starts[on]) for on in (False, True))
        more = with_it - without
        print(
            f"{what:4} {without:6.0f} ms without, {with_it:6.0f} ms with: {more:+.0f} ms, ratio {with_it / without:.3f}"
        )


if __name__ == "__main__":
    main()
