"""What the benchmarks share: options, clocks, sides that take turns, processes, and tables of figures."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
WARM_UP = 30
TOKEN = "a-token-for-this-run"

Item = TypeVar("Item")


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows the module's text as it is written."""
    return argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def turns(sides: Mapping[str, Callable[[Item], object]], items: Iterable[Item]) -> dict[str, list[float]]:
    """Return the seconds of each side for each item; the sides take turns, and none is always the first."""
    spent: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    for item in items:
        for name in order:
            spent[name].append(timed(lambda name=name, item=item: sides[name](item)))
        order.append(order.pop(0))
    return spent


def warm(values: Sequence[float]) -> np.ndarray:
    """Return the values without those of the first items, which warm up."""
    return np.array(values[min(WARM_UP, len(values) // 2) :])


def compare(spent: Mapping[str, Sequence[float]], base: str) -> None:
    """Print quantiles in milliseconds, and how many times as long as ``base`` each side takes."""
    kept = {name: warm(values) * 1000 for name, values in spent.items()}
    rows = [("", "p50 ms", "p95 ms", "p50", "p95", f"slower than {base} for")]
    for name, values in kept.items():
        p50, p95 = np.quantile(values, (0.5, 0.95))
        base50, base95 = np.quantile(kept[base], (0.5, 0.95))
        slower = "" if name == base else f"{np.mean(values > kept[base]):.0%}"
        rows.append((name, f"{p50:.1f}", f"{p95:.1f}", f"{p50 / base50:.2f}x", f"{p95 / base95:.2f}x", slower))
    table(rows)


def table(rows: Sequence[Sequence[object]]) -> None:
    """Print rows, the first column to the left and all others to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for first, *rest in cells:
        line = "  ".join([first.ljust(widths[0]), *(map(str.rjust, rest, widths[1:]))])
        print(line.rstrip(), flush=True)


def lacks(hint: str, *packages: str) -> bool:
    """Return whether one of these packages is missing, and say how to install it."""
    missing = [name for name in packages if not find_spec(name)]
    if missing:
        print(f"Nothing is measured without {missing[0]}: pip install {hint}")
    return bool(missing)


def output_of(command: Sequence[object], environment: Mapping[str, str] | None = None) -> str:
    """Return what a command prints; if it fails, exit with what it said."""
    # Python keeps its bytecode, as it does for everybody who has not told it otherwise.
    around = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    around |= environment or {}
    done = subprocess.run(list(map(str, command)), env=around, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command[:3]))} failed:\n{done.stderr or done.stdout}")
    return done.stdout.strip()


@contextmanager
def served(root: Path, store: Path, home: Path) -> Iterator[str]:
    """Yield the address of a Jupyter server with the extension, over a folder and a store."""
    environment = {**os.environ, "HOME": str(home), "JUPYTER_MEMORY_PATH": str(store)}
    environment |= {f"JUPYTER_{name.upper()}_DIR": str(home / name) for name in ("data", "config", "runtime")}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = [
        f"--ServerApp.port={port}",
        f"--IdentityProvider.token={TOKEN}",
        "--ServerApp.open_browser=False",
        "--ServerApp.allow_root=True",
        f"--ServerApp.root_dir={root}",
        "--ServerApp.jpserver_extensions={'jupyter_memory': True}",
    ]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([sys.executable, "-m", "jupyter_server", *settings], env=environment, **silent)
    try:
        while server.poll() is None:
            with socket.socket() as attempt:
                if attempt.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()
