"""What the history costs a cell: python benchmarks/history.py [--cells 2000] [--frozen]

Cells of the sample notebooks run in one real shell, blocks with the history on and off in turn, so that both see the
same machine. A cell's cost is the time of `run_cell` above that of the same cell without the history. The second table
is the time within our own two callbacks, before and after a cell. `--frozen` (root only) puts the store on a file
system of its own, and freezes it: every write to it hangs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ["JUPYTER_CONFIG_DIR"] = os.environ["IPYTHONDIR"] = tempfile.mkdtemp()
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "helpers"))

import shells
from IPython.core.interactiveshell import InteractiveShell

from jupyter_memory import JupyterMemory
from jupyter_memory.history import Recorder

SAMPLES = Path(__file__).parent.parent / "notebooks"
BLOCK = 50


def sources() -> list[str]:
    """Return the code of the sample notebooks as strings that are assigned: long and short cells that run at once."""
    found = []
    for file in sorted(SAMPLES.rglob("*.ipynb")):
        for cell in json.loads(file.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code" and (text := "".join(cell["source"])).strip():
                found.append("if False:\n    pass\n" + "\n".join(f"# {line}" for line in text.splitlines()))
    return found


def percentile(values: list[float], share: float) -> float:
    """Return the value that this share of them is at or below, in milliseconds."""
    return 1000 * sorted(values)[min(len(values) - 1, int(share * len(values)))]


def timed(call: Callable[[], object]) -> float:
    """Return the seconds of a call."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


class Measured(Recorder):
    """A recorder whose own time is measured."""

    def __init__(self, shell: InteractiveShell, settings: JupyterMemory) -> None:
        super().__init__(shell, settings, lambda text: print(f"notice: {text}"))
        self.spent: list[float] = []

    def _before(self, info: object) -> None:
        self.spent.append(timed(lambda: super(Measured, self)._before(info)))  # type: ignore[arg-type]

    def _after(self, result: object) -> None:
        spent = timed(lambda: super(Measured, self)._after(result))  # type: ignore[arg-type]
        if self.spent:
            self.spent[-1] += spent


def measure(folder: Path, cells: list[str], pause: float) -> dict[str, list[float]]:
    """Run cells in blocks, on and off in turn; return the seconds of each."""
    shell = shells.made()
    recorder = Measured(shell, JupyterMemory(path=str(folder / "memory.sqlite")))
    found: dict[str, list[float]] = {"off": [], "on": []}
    for begin in range(0, len(cells), BLOCK):
        for name in ("off", "on"):
            if name == "on":
                recorder.start()
            for cell in cells[begin : begin + BLOCK]:
                found[name].append(timed(lambda cell=cell: shell.run_cell(cell, store_history=True)))
                time.sleep(pause)
            if name == "on":
                recorder.stop()
    return {**found, "callbacks": recorder.spent}


def failing(folder: Path, number: int) -> dict[str, list[float]]:
    """Run cells that fail, alike."""
    cells = ["{'a': 1}['b']", "int('λ')", "import json; json.loads('{')", "x ="]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        return measure(folder, [cells[i % len(cells)] for i in range(number)], 0)


@contextlib.contextmanager
def frozen_disk() -> Iterator[tuple[Path, Callable[[bool], None]]]:
    """Mount a disk of its own; yield its folder, and what freezes it and lets it go."""
    with tempfile.TemporaryDirectory() as place:
        image, folder = Path(place) / "image", Path(place) / "disk"
        folder.mkdir()
        image.write_bytes(bytes(32 << 20))
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        subprocess.run(["mount", "-o", "loop", image, folder], check=True)
        try:
            yield folder, lambda freeze: subprocess.run(["fsfreeze", "-f" if freeze else "-u", folder], check=True)
        finally:
            subprocess.run(["umount", folder], check=True)


def frozen(cells: list[str]) -> None:
    """Run cells while the disk of the store hangs."""
    with frozen_disk() as (folder, freeze):
        shell = shells.made()
        recorder = Measured(shell, JupyterMemory(path=str(folder / "memory.sqlite")))
        recorder.start()
        for cell in cells[:20]:
            shell.run_cell(cell, store_history=True)
        freeze(True)
        spent = [timed(lambda cell=cell: shell.run_cell(cell, store_history=True)) for cell in cells]
        freeze(False)
        first, *later = spent
        print(f"frozen disk, {len(spent)} cells: first {1000 * first:.1f} ms; lost: {dict(recorder.troubles.lost)}")
        row("then", later)
        recorder.stop()


def row(name: str, values: list[float]) -> None:
    """Print a row of the table."""
    print(
        f"{name:22} {len(values):6} {percentile(values, 0.5):8.2f} {percentile(values, 0.95):8.2f} "
        f"{percentile(values, 0.99):8.2f} {1000 * statistics.mean(values):8.2f}"
    )


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=1_000)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between two cells")
    parser.add_argument("--frozen", action="store_true")
    options = parser.parse_args()
    known = sources()
    cells = [f"{known[i % len(known)]}\n# {i}" for i in range(options.cells)]
    print(f"{'milliseconds':22} {'cells':>6} {'p50':>8} {'p95':>8} {'p99':>8} {'mean':>8}")
    for name, found in (("", measure), ("failing, ", None)):
        with tempfile.TemporaryDirectory() as place:
            measured = found(Path(place), cells, options.pause) if found else failing(Path(place), options.cells // 5)
        for what in ("off", "on", "callbacks"):
            row(f"{name}{what}", measured[what])
        apart = [on - off for on, off in zip(measured["on"], measured["off"], strict=True)]
        row(f"{name}on - off, same cell", apart)
        for share in (0.5, 0.95):
            more = percentile(measured["on"], share) - percentile(measured["off"], share)
            print(f"  p{share * 100:.0f} on - p{share * 100:.0f} off: {more:.2f} ms")
    if options.frozen:
        frozen(cells)


if __name__ == "__main__":
    main()
