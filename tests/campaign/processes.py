"""Many processes at one store: they add, search, index, forget, change the model and back up at the same time.

No write may be refused, every reported memory has to be there at the end, and the store has to be sound.
"""

from __future__ import annotations

import multiprocessing
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from inside import faults

from campaign import Dose, Figures, Loss
from jupyter_memory import JupyterMemory, MemoryStore, StoreLocked, UnknownMemory

_SPAWN = multiprocessing.get_context("spawn")
_SECONDS, _PROCESSES, _MEMORIES = 600, 8, 20_000
_MODELS = ("static-128", "static-64", "static")
_PATIENCE = 300  # how long the processes may take to end after their time is up


@dataclass
class _Told:
    name: str
    kept: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    shared: str = ""
    waited: list[float] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    error: str = ""


@dataclass(frozen=True)
class _Task:
    name: str
    path: Path
    folder: Path
    seed: int
    seconds: float
    work: str


def run(dose: Dose) -> Figures:
    path, rng = dose.folder / "memory.sqlite", dose.random()
    with MemoryStore(path, "static") as store:
        texts = (" ".join(rng.choices(_WORDS, k=40)) for _ in range(dose.times(_MEMORIES, 1_000)))
        store.add_many(({"text": f"Note {i}: {text}"} for i, text in enumerate(texts)), progress=False)
    count = dose.times(_PROCESSES, 3)
    seconds = max(4.0, _SECONDS * dose.scale)
    works = ["model", "files", *["notes"] * (count - 2)]
    tasks = []
    for i, work in enumerate(works):
        (folder := dose.folder / f"files{i}").mkdir()
        tasks.append(_Task(f"process{i}", path, folder, rng.randrange(2**32), seconds, work))
    told = _at_once(tasks)
    return _checked(path, told, dose.seed)


def _at_once(tasks: list[_Task]) -> list[_Told]:
    answers = _SPAWN.Queue()
    processes = [_SPAWN.Process(target=_process, args=(task, answers), daemon=True) for task in tasks]
    for process in processes:
        process.start()
    try:
        return [answers.get(timeout=task.seconds + _PATIENCE) for task in tasks]
    finally:
        for process in processes:
            process.join(30)
            process.kill()


def _process(task: _Task, answers: multiprocessing.Queue[_Told]) -> None:
    told = _Told(task.name)
    try:
        with MemoryStore(task.path, settings=JupyterMemory()) as store:
            rng, until = random.Random(task.seed), time.monotonic() + task.seconds
            work: Callable[[MemoryStore, _Task, random.Random, _Told], None] = _WORKS[task.work]
            while time.monotonic() < until:
                try:
                    work(store, task, rng, told)
                except StoreLocked:
                    told.refused[task.work] += 1
    except BaseException:  # noqa: BLE001  the parent shows it
        told.error = traceback.format_exc()
    answers.put(told)


def _change_model(store: MemoryStore, task: _Task, rng: random.Random, told: _Told) -> None:
    store.reembed(_MODELS[told.done["reembed"] % len(_MODELS)], progress=False, keep=rng.random() < 0.5)
    told.done["reembed"] += 1
    time.sleep(rng.random())


def _index(store: MemoryStore, task: _Task, rng: random.Random, told: _Told) -> None:
    for number in range(20):
        text = " ".join(rng.choice(_WORDS) for _ in range(300))
        file = task.folder / f"page{rng.randrange(60)}.md"
        file.write_text(f"# {task.name} {number}\n\n{text}")
        told.files[str(file)] = text
    report = store.index(task.folder, progress=False)
    if report.failed:
        raise Loss(f"{task.name}: files failed: {report.failed[:3]}")
    told.done["index"] += 1
    if rng.random() < 0.1:
        # A name of its own each time: a backup never overwrites.
        store.backup(task.folder.with_name(f"{task.folder.name}-{told.done['backup']}.backup"))
        told.done["backup"] += 1


def _keep_notes(store: MemoryStore, task: _Task, rng: random.Random, told: _Told) -> None:
    text = f"{task.name} note {told.done['add']}: " + " ".join(rng.choice(_WORDS) for _ in range(12))
    begun = time.monotonic()
    memory = store.add(text, tags=[task.name])
    told.waited.append(time.monotonic() - begun)
    told.kept[memory.id] = text
    told.done["add"] += 1
    if rng.random() < 0.3:
        found = store.hits(text, limit=20)
        told.done["search"] += 1
        if memory.id not in {hit.memory.id for hit in found.hits}:
            raise Loss(f"{task.name}: a memory that was just added is not found by its own words")
    if rng.random() < 0.1:
        told.kept[memory.id] = store.update(memory.id, text=f"{text}, twice").text
    if rng.random() < 0.1:  # what everybody knows is one memory, with everybody's tags
        told.shared = store.add("Prices are net of tax.", title="Shared", tags=[task.name]).id
    if rng.random() < 0.1 and len(told.kept) > 3:
        chosen = rng.choice(list(told.kept))
        store.forget(chosen)
        del told.kept[chosen]
        told.gone.append(chosen)
        told.done["forget"] += 1
    # A person does not type without a pause.
    time.sleep(rng.random() * 0.1)


_WORKS = {"model": _change_model, "files": _index, "notes": _keep_notes}
_WORDS = (
    *("price", "delivery", "Zürich", "λ", "frame", "groupby", "merge", "tax", "customer", "order", "invoice", "Malmö"),
    *("electricity", "week", "total", "column", "index", "market", "sales", "stock", "basket", "region", "margin"),
    *("discount", "average", "rolling", "seasonal", "forecast", "model", "train", "holdout"),
)


def _checked(path: Path, told: list[_Told], seed: int) -> Figures:
    if errors := [one.error for one in told if one.error]:
        raise Loss(f"seed {seed}: {len(errors)} processes failed; the first:\n{errors[0]}")
    refused = sum(sum(one.refused.values()) for one in told)
    done = sum((one.done for one in told), Counter[str]())
    waited = sorted(seconds for one in told for seconds in one.waited)
    with MemoryStore(path) as store:
        _look_for(store, told, seed)
        shared = {one.name: one.shared for one in told if one.shared}
        if len(known := set(shared.values())) > 1 or any(set(store.get(id_).tags) != {*shared} for id_ in known):
            raise Loss(f"seed {seed}: what {len(shared)} processes know is not one memory with their tags")
        if problems := faults(store):
            raise Loss(f"seed {seed}: the store is not sound: {problems}")
    figures = {
        **{name: done[name] for name in ("add", "search", "index", "forget", "reembed", "backup")},
        "refused": refused,
        "s p50 of an add": round(waited[len(waited) // 2], 3),
        "s p99": round(waited[int(len(waited) * 0.99)], 3),
        "s at most": round(waited[-1], 3),
    }
    if refused:
        raise Loss(f"seed {seed}: writes were refused as locked: {figures}")
    return figures


def _look_for(store: MemoryStore, told: list[_Told], seed: int) -> None:
    """Find everything that was reported as kept, and nothing that was reported as forgotten."""
    for one in told:
        for memory_id, text in one.kept.items():
            try:
                found = store.get(memory_id).text
            except UnknownMemory:
                raise Loss(f"seed {seed}: a memory of {one.name} is lost") from None
            if found != text:
                raise Loss(f"seed {seed}: a memory of {one.name} has another text")
        for memory_id in one.gone:
            try:
                store.get(memory_id)
            except UnknownMemory:
                continue
            raise Loss(f"seed {seed}: a memory that {one.name} forgot is back")
        for file, text in one.files.items():
            held = " ".join(hit.memory.text for hit in store.browsed(filters={"path": file}, limit=50).hits)
            if text[:200] not in held:
                raise Loss(f"seed {seed}: a file of {one.name} is not as it was indexed last")
