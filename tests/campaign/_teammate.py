"""A process that adds, forgets and searches in a store on a server until it is killed, and notes what it was told.

    python -m campaign._teammate URL LOG SEED

A line of LOG is a JSON list: ``kept`` with an id, ``going`` with one that may vanish from here on, ``gone`` with one
that has, ``lost server`` with the name of an error that a restart explains, ``error`` with any other one.
"""

from __future__ import annotations

import json
import random
import sys
import time
import traceback
from pathlib import Path

from campaign._victim import made_up
from jupyter_memory import JupyterMemory, MemoryStore, StoreClosed, StoreError, StoreLocked
from jupyter_memory.embedders import StaticEmbedder

# What a store may say while its server is away; that others are in the way is not among it.
_AWAY = (StoreClosed, StoreError)


def main() -> None:
    """Work until somebody kills this process; open the store again where its server went away."""
    url, log, rng = sys.argv[1], Path(sys.argv[2]), random.Random(int(sys.argv[3]))
    embedder, mine = StaticEmbedder(), []
    with log.open("a") as lines:

        def note(what: str, value: str) -> None:
            lines.write(json.dumps([what, value]) + "\n")
            lines.flush()

        while True:
            try:
                with MemoryStore(url, embedder, settings=JupyterMemory(busy_seconds=20.0)) as store:
                    while True:
                        _work(store, rng, mine, note)
            except StoreLocked:
                note("error", traceback.format_exc())
            except _AWAY as error:
                note("lost server", type(error).__name__)
                time.sleep(0.2)
            except Exception:  # noqa: BLE001  the parent shows it
                note("error", traceback.format_exc())


def _work(store, rng, mine, note) -> None:
    drawn = rng.random()
    if drawn < 0.5 or not mine:
        texts = [{"text": made_up(rng), "tags": ["λ"], "title": "Prices"} for _ in range(rng.choice((1, 1, 1, 20)))]
        for memory in store.add_many(texts, progress=False):
            note("kept", memory.id)
            mine.append(memory.id)
    elif drawn < 0.7:
        chosen = mine.pop(rng.randrange(len(mine)))
        note("going", chosen)
        store.forget(chosen)
        note("gone", chosen)
    elif drawn < 0.8:
        store.pin(rng.choice(mine))
    else:
        store.hits("prices λ", limit=5)


if __name__ == "__main__":
    main()
