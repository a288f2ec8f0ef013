"""A shell that records what it runs, until it is killed, and tells line by line which cells had begun.

    python -m campaign._kernel FOLDER SEED

A line is a JSON list: ``ready``; or ``began`` with the number of a cell, its source and the outcome that it will have.
The cell itself says so, when it runs: its note must be safe by then.
"""

from __future__ import annotations

import json
import random
import sys
import time
from itertools import count
from pathlib import Path

import shells

from campaign._victim import made_up

_LONG = 30_000  # characters: such a cell is noted by the thread


def tell(*values: object) -> None:
    sys.__stdout__.write(json.dumps(values) + "\n")
    sys.__stdout__.flush()


def source(number: int, rng: random.Random) -> tuple[str, str]:
    ending = rng.choice(["ok", "ok", "error", "unknown"] if number > 5 else ["ok", "error"])
    words = made_up(rng, _LONG // 15 if rng.random() < 0.1 else 20)
    last = {"ok": "x = 1", "error": "{}['b']", "unknown": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"}
    if ending == "unknown" and rng.random() < 0.93:
        ending = "ok"
    return f"tell('began', {number}, In[-1], {ending!r})\n# {words}\n{last[ending]}", ending


def main(folder: Path, seed: str) -> None:
    """Run cells without end: in bursts, with pauses in which the journal is taken in."""
    rng = random.Random(seed)
    shell = shells.made(JupyterMemory={"path": str(folder / "memory.sqlite"), "history": True})
    shell.showtraceback = lambda *_, **__: None  # what is shown is not tested here, and takes the most time
    shell.user_ns["tell"] = tell
    shell.extension_manager.load_extension("jupyter_memory")
    tell("ready")
    for number in count(1):
        shell.run_cell(source(number, rng)[0], store_history=True)
        time.sleep(rng.choice([0, 0, 0, 0.01, 0.3, 2]) if number % 10 == 0 else 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
