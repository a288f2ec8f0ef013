"""What the history costs a cell: python benchmarks/history.py [--cells 1000] [--pause 0] [--frozen]

Cells of the sample notebooks run in one real shell, blocks with the history on and off in turn, so that both see the
same machine. A cell's cost is the time of `run_cell` above that of the same cell without the history. "callbacks" is
the time within our own two, before and after a cell. `--frozen` (root only) puts the store on a file system of its own,
and freezes it: every write to it hangs.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from measure import ROOT, parser_of, table, timed

os.environ["JUPYTER_CONFIG_DIR"] = os.environ["IPYTHONDIR"] = tempfile.mkdtemp()
sys.path.insert(0, str(ROOT / "tests" / "helpers"))

import shells
from IPython.core.interactiveshell import InteractiveShell

from jupyter_memory import JupyterMemory
from jupyter_memory.history import Recorder

BLOCK = 50
FAILING = ("{'a': 1}['b']", "int('λ')", "import json; json.loads('{')", "x =")


class Recorded:
    """A shell and its recorder, whose callbacks are timed."""

    def __init__(self, folder: Path) -> None:
        self.shell: InteractiveShell = shells.made()
        settings = JupyterMemory(path=str(folder / "memory.sqlite"))
        self.recorder = Recorder(self.shell, settings, lambda text: print(f"notice: {text}"))
        self.spent: list[float] = []

    @contextlib.contextmanager
    def on(self) -> Iterator[None]:
        """Record, and note the time of both callbacks for each cell."""
        events = self.shell.events.callbacks
        before = {name: list(events[name]) for name in ("pre_run_cell", "post_run_cell")}
        self.recorder.start()
        started = {name: list(events[name]) for name in before}

        def in_all(calls: list[Callable[[object], object]], is_first: bool) -> Callable[[object], None]:
            def called(argument: object) -> None:
                seconds = timed(lambda: [call(argument) for call in calls])
                self.spent.append(seconds) if is_first else self.spent.__setitem__(-1, self.spent[-1] + seconds)

            return called

        for name, known in before.items():
            ours = [call for call in started[name] if call not in known]
            events[name][:] = [*known, in_all(ours, name == "pre_run_cell")]
        try:
            yield
        finally:
            for name, calls in started.items():
                events[name][:] = calls
            self.recorder.stop()

    def run(self, cells: Sequence[str], pause: float = 0.0) -> list[float]:
        """Return the seconds of each cell."""
        found = []
        for cell in cells:
            found.append(timed(lambda cell=cell: self.shell.run_cell(cell, store_history=True)))
            time.sleep(pause)
        return found


def row(name: str, seconds: Sequence[float]) -> tuple[str, ...]:
    """Return the row of a table."""
    quantiles = np.quantile(seconds, (0.5, 0.95, 0.99)) * 1000
    return (name, str(len(seconds)), *(f"{value:.2f}" for value in (*quantiles, 1000 * np.mean(seconds))))


def measured(name: str, cells: Sequence[str], pause: float) -> list[tuple[str, ...]]:
    """Run cells in blocks, with the history on and off in turn, and return the rows."""
    found: dict[str, list[float]] = {"off": [], "on": []}
    with tempfile.TemporaryDirectory() as folder:
        here = Recorded(Path(folder))
        for begin in range(0, len(cells), BLOCK):
            found["off"] += here.run(cells[begin : begin + BLOCK], pause)
            with here.on():
                found["on"] += here.run(cells[begin : begin + BLOCK], pause)
    apart = [on - off for on, off in zip(found["on"], found["off"], strict=True)]
    quantiles = np.quantile(found["on"], (0.5, 0.95)) - np.quantile(found["off"], (0.5, 0.95))
    return [
        *(row(name + what, spent) for what, spent in {**found, "callbacks": here.spent}.items()),
        row(f"{name}on - off, same cell", apart),
        (f"{name}quantiles of on - of off", "", *(f"{1000 * value:.2f}" for value in quantiles), "", ""),
    ]


@contextlib.contextmanager
def frozen_disk() -> Iterator[tuple[Path, Callable[[str], object]]]:
    """Mount a disk of its own; yield its folder, and what freezes it (``-f``) and lets it go (``-u``)."""
    with tempfile.TemporaryDirectory() as place:
        image, folder = Path(place) / "image", Path(place) / "disk"
        folder.mkdir()
        image.write_bytes(bytes(32 << 20))
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, folder], check=True)
        try:
            yield folder, lambda flag: subprocess.run(["fsfreeze", flag, folder], check=True)
        finally:
            subprocess.run(["umount", folder], check=True)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--cells", type=int, default=1_000)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two cells")
    parser.add_argument("--frozen", action="store_true")
    options = parser.parse_args()
    # Long and short cells that run at once: their code as comments.
    known = [
        "if False:\n    pass\n" + "\n".join(f"# {line}" for line in "".join(cell["source"]).splitlines())
        for file in sorted((ROOT / "notebooks").rglob("*.ipynb"))
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code" and "".join(cell["source"]).strip()
    ]
    cells = [f"{known[i % len(known)]}\n# {i}" for i in range(options.cells)]
    failing = [FAILING[i % len(FAILING)] for i in range(options.cells // 5)]
    rows = [("milliseconds", "cells", "p50", "p95", "p99", "mean"), *measured("", cells, options.pause)]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        rows += measured("failing, ", failing, 0)
    if options.frozen:
        with frozen_disk() as (folder, freeze):
            here = Recorded(folder)
            with here.on():
                here.run(cells[:20])
                freeze("-f")
                first, *later = here.run(cells)
                freeze("-u")
                rows += [row("frozen, the first", [first]), row("frozen, then", later)]
                print(f"frozen disk; lost: {dict(here.recorder.problems.lost)}")
    table(rows)


if __name__ == "__main__":
    main()
