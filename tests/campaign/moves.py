"""Any moves, edits, copies and deletions, with indexing in between, lead to what a new store says of the same files."""

import shutil
from pathlib import Path
from random import Random

from file_changes import KINDS, Change, Changes, said

from campaign import Dose, Figures, Loss
from jupyter_memory import MemoryStore

_LONGEST = 15


def run(dose: Dose) -> Figures:
    random = dose.random()
    runs = dose.times(200, least=10)
    steps = indexed = moved = 0
    for number in range(runs):
        folder = dose.folder / str(number)
        done, times, found = _sequence(random, folder, f"{dose.seed}, run {number}")
        steps, indexed, moved = steps + done, indexed + times, moved + found
        shutil.rmtree(folder)
    return {"sequences": runs, "changes": steps, "runs of the indexer": indexed, "moves": moved, "differences": 0}


def _sequence(random: Random, folder: Path, seed: str) -> tuple[int, int, int]:
    roots = [folder / "here", folder / "there"]
    changes, made = Changes(roots), list[object]()
    times = moved = 0
    for _ in range(random.randint(4, 10)):
        made.append(change := _change(random, "write"))
        changes.apply(change)
    with MemoryStore(folder / "old.sqlite") as store:
        for _ in range(random.randint(5, _LONGEST)):
            for _ in range(random.randint(2, 6)):
                made.append(change := _change(random))
                changes.apply(change)
            for root in [root for root in roots if random.random() < 0.8]:
                made.append(f"index {root.name}")
                moved += store.index(root, progress=False).moved
                times += 1
        for root in roots:
            store.index(root, progress=False)
        problems = store.doctor()
    with MemoryStore(folder / "new.sqlite") as store:
        for root in roots:
            store.index(root, progress=False)
    old, new = said(folder / "old.sqlite"), said(folder / "new.sqlite")
    if old != new or problems:
        differing = [one for one in old if one not in new] + [one for one in new if one not in old]
        raise Loss(f"seed {seed}: {len(differing)} rows differ, such as {differing[:2]}; {problems}; after {made}")
    return sum(not isinstance(one, str) for one in made), times, moved


def _change(random: Random, kind: str = "") -> Change:
    kind = kind or random.choices(tuple(KINDS), tuple(KINDS.values()))[0]
    return kind, random.randrange(1_000), random.randrange(1_000), random.randrange(1_000)
