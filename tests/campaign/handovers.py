"""Kills of processes that move memories between two stores: each is in one of them at least, and whole.

    python -m campaign.handovers FOLDER OTHER SEED

is such a process, with the store of a folder and another one, a file or a database. It tells line by line what it
begins and what is done. A line is a JSON list: ``ready``; or ``going`` and ``done`` with the place of the store that
gets memories, 0 or 1, and their ids. The same move again ends what was killed.
"""

import random
import shutil
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from inside import faults, words_left
from postgres_server import running

from campaign import Dose, Figures, Loss
from campaign._servers import heard, started
from campaign._victim import made_up, tell
from jupyter_memory import MemoryStore

_MEMORIES, _LONGEST = 300, 3.0  # seconds until the kill


def run(dose: Dose) -> Figures:
    rng, halves = dose.random(), 0
    kills = dose.times(100, least=4)
    with ExitStack() as stack:
        try:
            server = stack.enter_context(running())
        except pytest.skip.Exception:
            server = None
        for number in range(kills):
            (folder := dose.folder / f"{number}").mkdir()
            # To a server and back, every other time.
            address = None if server is None or number % 2 else server.new_database()
            other = str(folder / "other.sqlite" if address is None else address)
            with MemoryStore(folder / "memory.sqlite") as store:
                notes = [{"text": made_up(rng, 30), "tags": [made_up(rng, 1)]} for _ in range(_MEMORIES)]
                texts = {memory.id: memory.text for memory in store.add_many(notes, progress=False)}
            MemoryStore(other).close()
            moment = rng.uniform(0, _LONGEST)
            with started("handovers", folder, folder, other, rng.getrandbits(32)) as process:
                time.sleep(moment)
                process.kill()
                lines = heard(process)
            try:
                halves += look(folder / "memory.sqlite", other, texts, lines)
            except Loss as loss:
                raise Loss(f"seed {dose.seed}, kill {number} after {moment:.3f} s: {loss}") from None
            if server is not None and address is not None:
                server.drop(address)
            shutil.rmtree(folder)
    return {"kills": kills, "between copying and removing": halves, "lost": 0, "twice": 0, "left in bytes": 0}


def look(path: Path, other: str, texts: dict[str, str], lines: list[list[Any]]) -> bool:
    """Check what a killed process left, and end its move; return whether something was in both stores."""
    with MemoryStore(path) as first, MemoryStore(other) as second:
        stores = [first, second]
        held = [{hit.memory.id: hit.memory.text for hit in one.browsed(limit=10_000).hits} for one in stores]
        both = held[0].keys() & held[1].keys()
        if any({**held[1], **held[0]}.get(id_) != text for id_, text in texts.items()):
            raise Loss("a memory is in neither store")
        what, place, ids = lines[-1] if lines else ("done", 1, [])
        if not both <= set(ids if what == "going" else ()):
            raise Loss("a memory is in both stores, though nobody was moving it")
        if left := [id_ for id_ in ids if id_ in held[1 - place]]:
            stores[1 - place].give(left, stores[place], move=True, progress=False)
        held = [{hit.memory.id for hit in one.browsed(limit=10_000).hits} for one in stores]
        if held[0] & held[1] or not held[place].issuperset(ids) or held[0] | held[1] != texts.keys():
            raise Loss("the same move again did not end it")
        if found := [*faults(first), *(faults(second) if isinstance(second.path, Path) else second.doctor())]:
            raise Loss(f"a store is not sound: {found}")
    for one, ids in zip((path, second.path), held, strict=True):
        gone = [word for id_, text in texts.items() if id_ not in ids for word in text.split()]
        if isinstance(one, Path) and words_left(one, gone):
            raise Loss(f"words of what was moved away are in the bytes of {one.name}")
    return bool(both)


def move(folder: Path, other: str, rng: random.Random) -> None:
    with MemoryStore(folder / "memory.sqlite") as first, MemoryStore(other) as second:
        stores = [first, second]
        tell("ready")
        while True:
            for place in (1, 0):
                source = stores[1 - place]
                ids = source.selection(everything=True).ids
                chosen = rng.sample(ids, rng.randint(1, len(ids))) if ids else []
                tell("going", place, chosen)
                if chosen:
                    source.give(chosen, stores[place], move=True, progress=False)
                tell("done", place, chosen)


if __name__ == "__main__":
    move(Path(sys.argv[1]), sys.argv[2], random.Random(sys.argv[3]))
