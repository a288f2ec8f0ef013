"""Kills of kernels that record what they run: no run is lost whose note had been made, and none is half-written.

    python -m campaign.history FOLDER SEED

is such a kernel: it records what it runs, until it is killed, and tells line by line which cells had begun. A line is a
JSON list: ``ready``; or ``began`` with the number of a cell, its source and the outcome that it will have. The cell
itself says so, when it runs: its note must be safe by then.
"""

import json
import random
import shutil
import sys
import time
from itertools import count
from pathlib import Path
from threading import Timer

import shells
from inside import faults

from campaign import Dose, Figures, Loss
from campaign._servers import heard, started
from campaign._victim import made_up
from jupyter_memory import MemoryStore
from jupyter_memory.storage import abandoned

_LONGEST = 6.0  # seconds from the first cell to the kill
_LONG = 9_000  # characters with its error: the note of such a cell's error may wait
_LONG_CELL = 30_000  # characters: such a cell is noted by the thread


def run(dose: Dose) -> Figures:
    rng = dose.random()
    kills, noted, by_cell, in_journal = dose.times(100, least=3), 0, 0, 0
    for number in range(kills):
        folder = dose.folder / f"{number}"
        folder.mkdir()
        moment = rng.uniform(0, _LONGEST)
        said, was_killed_by_us = child(folder, rng, moment)
        try:
            in_journal += bool(left(folder / "memory.sqlite"))
            look(folder, said)
        except Loss as loss:
            raise Loss(f"seed {dose.seed}, kill {number} after {moment:.3f} s: {loss}") from None
        noted += len(said)
        by_cell += not was_killed_by_us
        shutil.rmtree(folder)
    return {
        "kills": kills, "by a cell": by_cell, "with journals left": in_journal, "runs begun": noted, "lost": 0,
        "half-written": 0, "left as files": 0,
    }  # fmt: skip


def child(folder: Path, rng: random.Random, moment: float) -> tuple[list[tuple[int, str, str]], bool]:
    """Run a shell, kill it, and return the cells that began, and whether it lived so long."""
    with started("history", folder, folder, rng.getrandbits(32), quiet=True) as process:
        Timer(moment, process.kill).start()
        begun = time.monotonic()
        lines = heard(process)
        lived = time.monotonic() - begun >= moment
    return [(number, source, ending) for _, number, source, ending in lines], lived


def left(store: Path) -> int:
    journals = list(abandoned(store))
    for journal in journals:
        journal.close()
    return len(journals)


def look(folder: Path, said: list[tuple[int, str, str]]) -> None:
    """Open what a killed shell left, and check that every cell that began is there, as it was."""
    path = folder / "memory.sqlite"
    with MemoryStore(path) as store:
        found = {run.number: run for run in store.history.runs(limit=1_000_000)}
        for number, source, ending in said:
            if number not in found:
                raise Loss(f"run {number} of {len(said)} had begun, and is not there")
            if found[number].source != source:
                raise Loss(f"run {number} is half-written")
            # Of the last one it is not known how far it came; the error of a long one may wait while a few more run.
            waits = 5 if ending == "error" and len(source) > _LONG else 0
            if number < len(said) - waits and found[number].outcome != ending:
                raise Loss(f"run {number} of {len(said)} ended with {ending}, and it says {found[number].outcome}")
        if len(found) > len(said) + 1:
            raise Loss(f"{len(found)} runs are there, and {len(said)} began")
        if wrong := faults(store):
            raise Loss(f"the store is not sound: {wrong}")
        if journals := left(path):
            raise Loss(f"{journals} journals were left")
        store.history.clear()
        words = {word.encode() for _, source, _ in said for word in source.split("# ")[1].split()[:20]}
        for file in folder.rglob("*"):
            content = file.read_bytes() if file.is_file() else b""
            if found := sum(word in content for word in words):
                raise Loss(f"{found} words of what was cleared are in {file.name}")


def _tell(*values: object) -> None:
    sys.__stdout__.write(json.dumps(values) + "\n")
    sys.__stdout__.flush()


def record(folder: Path, seed: str) -> None:
    """Run cells without end: in bursts, with pauses in which the journal is taken in."""
    rng = random.Random(seed)
    shell = shells.made(JupyterMemory={"path": str(folder / "memory.sqlite"), "history": True})
    shell.showtraceback = lambda *_, **__: None  # what is shown is not tested here, and takes the most time
    shell.user_ns["tell"] = _tell
    shell.extension_manager.load_extension("jupyter_memory")
    last = {"ok": "x = 1", "error": "{}['b']", "unknown": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"}
    _tell("ready")
    for number in count(1):
        ending = rng.choice(["ok", "ok", "error", "unknown"] if number > 5 else ["ok", "error"])
        words = made_up(rng, _LONG_CELL // 15 if rng.random() < 0.1 else 20)
        if ending == "unknown" and rng.random() < 0.93:
            ending = "ok"
        source = f"tell('began', {number}, In[-1], {ending!r})\n# {words}\n{last[ending]}"
        shell.run_cell(source, store_history=True)
        time.sleep(rng.choice([0, 0, 0, 0.01, 0.3, 2]) if number % 10 == 0 else 0)


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2])
