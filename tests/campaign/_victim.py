"""A process that works on a store until it is killed, and tells line by line what it was told is done.

    python -m campaign._victim KIND FOLDER-OR-URL SEED

A line is a JSON list: ``ready``; ``going`` with what may change from here on; ``kept`` with what the store holds by
now, a text by id or path; ``gone`` with texts that nothing holds any more.
"""

import json
import random
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_memory import JupyterMemory, MemoryStore, StoreError, StoreLocked
from jupyter_memory.embedders import StaticEmbedder


def made_up(rng: random.Random, count: int = 6) -> str:
    return " ".join("".join(rng.choices("bcdfghjklmnpqrstvwxz", k=14)) for _ in range(count))


def tell(what: str, *values: Any) -> None:
    sys.stdout.write(json.dumps([what, *values]) + "\n")
    sys.stdout.flush()


def add(folder: Path, rng: random.Random) -> None:
    with MemoryStore(folder / "memory.sqlite") as store:
        tell("ready")
        while True:
            count = rng.choice((1, 1, 40))
            tell("going", [])
            memories = store.add_many(
                ({"text": made_up(rng, 30), "tags": [made_up(rng, 1)]} for _ in range(count)), progress=False
            )
            tell("kept", {memory.id: memory.text for memory in memories})


def index(folder: Path, rng: random.Random) -> None:
    files = sorted((folder / "notes").iterdir())
    with MemoryStore(folder / "memory.sqlite") as store:
        tell("ready")
        while True:
            changed = rng.sample(files, 5)
            before = [file.read_text().strip() for file in changed]
            tell("going", [str(file) for file in changed])
            for file in changed:
                file.write_text(made_up(rng, 20))
            store.index(folder / "notes", progress=False)
            tell("kept", {str(file): file.read_text() for file in changed})
            tell("gone", before)


def forget(folder: Path, rng: random.Random) -> None:
    texts = json.loads((folder / "texts.json").read_text())
    with MemoryStore(folder / "memory.sqlite") as store:
        tell("ready")
        while len(texts) > 10:
            chosen = rng.sample(sorted(texts), rng.choice((1, 1, 3, 10)))
            tell("going", chosen)
            if rng.random() < 0.3:
                store.update(chosen[0], text=made_up(rng, 30))
                gone = [texts.pop(chosen[0])]
                tell("kept", {chosen[0]: store.get(chosen[0]).text})
            else:
                store.forget(chosen)
                gone = [texts.pop(id_) for id_ in chosen]
            tell("gone", gone)


def reembed(folder: Path, rng: random.Random) -> None:
    with MemoryStore(folder / "memory.sqlite") as store:
        tell("ready")
        while True:
            tell("going", [])
            store.reembed(StaticEmbedder(rng.choice((64, 128))), progress=False, keep=rng.random() < 0.5)
            tell("kept", {})


def backup(folder: Path, rng: random.Random) -> None:
    with MemoryStore(folder / "memory.sqlite") as store:
        tell("ready")
        number = 0
        while True:
            number += 1
            tell("going", [f"copy-{number}.sqlite"])
            store.backup(folder / f"copy-{number}.sqlite")
            tell("copied", f"copy-{number}.sqlite")


def restore(folder: Path, rng: random.Random) -> None:
    tell("ready")
    while True:
        tell("going", [])
        MemoryStore.restore(folder / "backup.sqlite", to=folder / "memory.sqlite", overwrite=True)
        tell("gone", [(folder / "only here.txt").read_text()])


def share(url: str, rng: random.Random) -> None:
    """Add, forget and search in a store on a server; open it again where the server went away.

    ``lost server`` comes with the name of an error that a restart explains, ``error`` with any other one.
    """
    embedder, mine = StaticEmbedder(), list[str]()
    while True:
        try:
            with MemoryStore(url, embedder, settings=JupyterMemory(busy_seconds=20.0)) as store:
                while True:
                    _work_together(store, rng, mine)
        except StoreLocked:  # others are in the way
            tell("error", traceback.format_exc())
        except StoreError as error:
            tell("lost server", type(error).__name__)
            time.sleep(0.2)
        except Exception:  # noqa: BLE001  the parent shows it
            tell("error", traceback.format_exc())


def _work_together(store: MemoryStore, rng: random.Random, mine: list[str]) -> None:
    drawn = rng.random()
    if drawn < 0.5 or not mine:
        texts = [{"text": made_up(rng), "tags": ["λ"], "title": "Prices"} for _ in range(rng.choice((1, 1, 1, 20)))]
        for memory in store.add_many(texts, progress=False):
            tell("kept", memory.id)
            mine.append(memory.id)
    elif drawn < 0.7:
        chosen = mine.pop(rng.randrange(len(mine)))
        tell("going", chosen)
        store.forget(chosen)
        tell("gone", chosen)
    elif drawn < 0.8:
        store.pin(rng.choice(mine))
    else:
        store.hits("prices λ", limit=5)


KINDS: dict[str, Callable[[Path, random.Random], None]] = {
    work.__name__: work for work in (add, index, forget, reembed, backup, restore)
}

if __name__ == "__main__":
    kind, where, seed = sys.argv[1:]
    share(where, random.Random(seed)) if kind == "share" else KINDS[kind](Path(where), random.Random(seed))
