"""Kills of processes at random moments of their work: what they said is done is there, the rest is whole or not."""

import http.client
import json
import random
import shutil
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inside import faults, words_left

from campaign import Dose, Figures, Loss
from campaign._servers import asked, heard, serving, started
from campaign._victim import KINDS, made_up
from jupyter_memory import MemoryStore

_SERVER = "server"
_MEMORIES, _FILES = 150, 30


@dataclass
class Told:
    """What a killed process had said: the texts that the store holds, what may have changed, what is gone."""

    kept: dict[str, str]
    going: set[str] = field(default_factory=set)
    gone: list[str] = field(default_factory=list)
    copied: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    done: int = 0

    def hear(self, what: str, *values: Any) -> None:
        if what == "going":
            self.going = set(values[0])
            self.done += 1
        elif what == "kept":
            self.kept.update(values[0])
            self.going -= set(values[0])
        elif what == "copied":
            self.copied.append(values[0])
        elif what == "gone":
            self.gone += values[0]
            for id_ in self.going:
                self.kept.pop(id_, None)
            self.going = set()


def run(dose: Dose) -> Figures:
    rng = dose.random()
    base = dose.folder / "base"
    texts = prepare(base, rng)
    kinds = [*KINDS, _SERVER]
    # The short dose leaves out the last kind: a server takes seconds to start.
    kills, inside = dose.times(300, least=len(KINDS)), Counter[str]()
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in range(kills):
        kind = kinds[number % len(kinds)]
        folder = dose.folder / f"{number}"
        shutil.copytree(base, folder)
        told = Told(dict(texts))
        if kind == "index":
            with MemoryStore(folder / "memory.sqlite") as store:
                store.index(folder / "notes", progress=False)
            told.kept |= {str(file): file.read_text() for file in (folder / "notes").iterdir()}
        work = serve if kind == _SERVER else child
        with work(kind, folder, rng.getrandbits(32), told) as kill:
            usual = statistics.median(seconds[kind]) if seconds[kind] else 0.1
            moment = rng.uniform(0, 3 * usual)
            time.sleep(moment)
            kill()
        if told.done > 1:
            seconds[kind].append(moment / told.done)
        inside[kind] += bool(told.done)
        try:
            look(kind, folder, told)
        except Loss as loss:
            raise Loss(f"seed {dose.seed}, kill {number}, {kind} after {moment:.3f} s: {loss}") from None
        shutil.rmtree(folder)
    return {"kills": kills, "inside the work": inside.total(), "lost": 0, "left in bytes": 0, "left as files": 0}


def prepare(base: Path, rng: random.Random) -> dict[str, str]:
    (base / "notes").mkdir(parents=True)
    for number in range(_FILES):
        (base / "notes" / f"{number}.md").write_text(made_up(rng, 20))
    with MemoryStore(base / "memory.sqlite") as store:
        notes = [{"text": made_up(rng, 30), "tags": [made_up(rng, 1)]} for _ in range(_MEMORIES)]
        texts = {memory.id: memory.text for memory in store.add_many(notes, progress=False)}
        store.backup(base / "backup.sqlite")
        only_here = store.add(made_up(rng, 30)).text
    (base / "texts.json").write_text(json.dumps(texts))
    (base / "only here.txt").write_text(only_here)
    return texts


@contextmanager
def child(kind: str, folder: Path, seed: int, told: Told) -> Iterator[Callable[[], None]]:
    """Start a process, wait until it is at work, and yield what kills it and hears what it said."""
    with started("_victim", folder, kind, folder, seed) as process:

        def kill() -> None:
            process.kill()
            for line in heard(process):
                told.hear(*line)

        yield kill


@contextmanager
def serve(kind: str, folder: Path, seed: int, told: Told) -> Iterator[Callable[[], None]]:
    """Start a Jupyter server, let a thread add and forget through its REST interface, and yield what kills it."""
    with serving(folder, folder) as (url, process):
        asking = threading.Thread(target=ask, args=(url, random.Random(seed), told), daemon=True)
        ask_once(url, told, "add", {"text": "the first write loads the model"})
        asking.start()

        def kill() -> None:
            process.kill()
            process.wait()
            asking.join(120)

        yield kill


def ask(url: str, rng: random.Random, told: Told) -> None:
    with suppress(OSError, http.client.HTTPException):
        while not told.refused:
            if rng.random() < 0.6:
                told.hear("going", [])
                if item := ask_once(url, told, "add", {"text": made_up(rng, 30)}):
                    told.hear("kept", {item["memory_id"]: item["text"]})
            else:
                id_ = rng.choice(sorted(told.kept))
                text = told.kept[id_]
                told.hear("going", [id_])
                if ask_once(url, told, "forget", {"memory_ids": [id_]}):
                    told.hear("gone", [text])


def ask_once(url: str, told: Told, route: str, body: dict[str, Any]) -> Any:
    code, text = asked(url, route, body)
    if code == 200:
        return json.loads(text)
    told.refused.append(f"{route} was answered with {code}: {text[:300]!r}")
    return None


def look(kind: str, folder: Path, told: Told) -> None:
    """Open what a killed process left, and check all that it was told."""
    if told.refused:
        raise Loss(f"the server refused: {told.refused}")
    store_path = folder / "memory.sqlite"
    with MemoryStore(store_path) as store:
        if found := faults(store):
            raise Loss(f"the store is not sound: {found}")
        texts = {hit.memory.id: hit.memory for hit in store.browsed(limit=100_000).hits}
        held = {id_: memory.text for id_, memory in texts.items()}
        held |= {memory.source: memory.text for memory in texts.values() if memory.source}
        for name, text in told.kept.items():
            if name not in told.going and held.get(name, "").strip() != text.strip():
                raise Loss(f"{name} was reported as stored, and is not there as it was")
        # What was under way may have come as far as the commit: then its words must be gone as well.
        begun = [told.kept[name] for name in told.going & told.kept.keys()]
        there = [text.strip() for text in held.values()]
        texts_gone = [*told.gone, *(text for text in begun if text.strip() not in there)]
        gone = [word for text in texts_gone for word in text.split()]
        if left := words_left(store_path, gone):
            raise Loss(f"{len(left)} words of what was forgotten are in the bytes of the open store")
    if left := words_left(store_path, gone):
        raise Loss(f"{len(left)} words of what was forgotten are in the bytes of the store")
    look_at_files(folder, told)


def look_at_files(folder: Path, told: Told) -> None:
    for name in told.copied:
        if not (folder / name).exists():
            raise Loss(f"the backup {name} was reported, and is not there")
    copies = sorted(folder.glob("copy-*.sqlite"))
    for copy in copies:
        with MemoryStore(copy) as store:
            if (found := faults(store)) or store.count() != _MEMORIES + 1:
                raise Loss(f"{copy.name} is not a whole backup: {found}")
    known = {"memory.sqlite", "backup.sqlite", "texts.json", "only here.txt", "notes", "jupyter"}
    if more := sorted({file.name for file in folder.iterdir()} - known - {copy.name for copy in copies}):
        raise Loss(f"files were left: {more}")
