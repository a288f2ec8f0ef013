"""The two stores whose answers are golden: the sample archive and the corpus of `jupyter-memory bench`."""

import os
import random
import re
import shutil
import tomllib
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from week import NOTES

import jupyter_memory
from jupyter_memory import JupyterMemory, Memory, MemoryStore

SAMPLES = Path(__file__).parents[2] / "notebooks" / "samples"
# Files have the time of their change for their memories' time; a checkout would change it.
_CHANGED = datetime(2026, 9, 25, 12, tzinfo=UTC)
_FILES = 370


class Bed:
    """A store, the folder that its files were read from, and the moment at which it is asked."""

    def __init__(self, store: MemoryStore, folder: Path, now: datetime) -> None:
        self.store, self.folder, self.now = store, folder, now
        # In the order in which they were stored: equal names are numbered.
        memories = [hit.memory for hit in store.browsed(limit=10_000).hits]
        self.names: dict[str, str] = {}
        seen: Counter[str] = Counter()
        for memory in memories:
            name = self._name(memory)
            seen[name] += 1
            self.names[memory.id] = name if seen[name] == 1 else f"{name} ({seen[name]})"
        self.ids = {name: id_ for id_, name in self.names.items()}

    def plain(self, text: str) -> str:
        for id_, name in self.names.items():
            text = text.replace(id_, f"<{name}>")
        return text.replace(str(self.folder), "FOLDER").replace(str(self.store.path), "STORE")

    def _name(self, memory: Memory) -> str:
        if not memory.source:
            return memory.title
        path = Path(memory.source).relative_to(self.folder).as_posix()
        return f"{path}#{memory.location.lstrip('#')}" if memory.location else path


def samples(work: Path) -> Bed:
    folder = work.resolve() / "samples"
    shutil.copytree(SAMPLES, folder, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    # A file that is copied is found once.
    (folder / "old").mkdir()
    shutil.copy(folder / "notes" / "glossary.md", folder / "old" / "glossary.md")
    for days, path in enumerate(sorted(folder.rglob("*"))):
        seconds = (_CHANGED - timedelta(days=days)).timestamp()
        os.utime(path, (seconds, seconds))
    store = MemoryStore(work / "memory.sqlite", "static", settings=JupyterMemory())
    store.index(folder, progress=False)
    added = store.add_many(NOTES, progress=False)
    store.pin(added[0].id)
    return Bed(store, folder, datetime(2026, 9, 30, 18, 0, tzinfo=UTC))


def corpus(work: Path, embedder: str | None = "static") -> Bed:
    """Fill a store with the corpus of the benchmark, as `jupyter-memory bench` does; without an embedder by words."""
    (source,) = Path(jupyter_memory.__file__).parent.rglob("bench_corpus")
    folder = work.resolve() / "radhaus"
    shutil.copytree(source / "files", folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, day in tomllib.loads((source / "dates.toml").read_text("utf-8")).items():
        os.utime(folder / name, (_noon(day).timestamp(), _noon(day).timestamp()))
    store = MemoryStore(work / "memory.sqlite", embedder, settings=JupyterMemory())
    store.index(folder, progress=False)
    notes = tomllib.loads((source / "notes.toml").read_text("utf-8"))["note"]
    store.add_many(
        ({**{name: of for name, of in one.items() if name != "date"}, "event_at": _noon(one["date"])} for one in notes),
        progress=False,
    )
    return Bed(store, folder, datetime(2026, 6, 5, 17, 0, tzinfo=UTC))


def _noon(day: date) -> datetime:
    return datetime.combine(day, time(12), UTC)


def many(work: Path, *, cores: int | None = None) -> Bed:
    """Index three megabytes of files, so many that processes of their own prepare them, and remember short notes.

    With ``cores`` only so many may be used meanwhile (on Linux): with one there is no room for such processes.
    """
    folder = work.resolve() / "archive"
    _write_archive(folder)
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    if cores is not None and allowed:
        os.sched_setaffinity(0, sorted(allowed)[:cores])
    try:
        store = MemoryStore(work / "memory.sqlite", "static", settings=JupyterMemory())
        store.index(folder, progress=False)
        store.add_many(_short_notes(), progress=False)
    finally:
        if cores is not None and allowed:
            os.sched_setaffinity(0, allowed)
    return Bed(store, folder, datetime(2026, 9, 30, 18, 0, tzinfo=UTC))


def _write_archive(folder: Path) -> None:
    """Write files whose sentences are drawn from the sample notes, each with words that are nowhere else."""
    drawn, sentences = random.Random(14), _sentences()
    for number in range(_FILES):
        path = folder / f"part-{number % 7}" / f"page_{number:03d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = []
        for section in range(8):
            told = " ".join(drawn.choices(sentences, k=15))
            parts.append(f"## Section {section} of page {number}\n\n{told} See item_{number}_{section}().")
        path.write_text(f"# Page {number}\n\n" + "\n\n".join(parts) + "\n", encoding="utf-8")
        seconds = (_CHANGED - timedelta(hours=number)).timestamp()
        os.utime(path, (seconds, seconds))


def _short_notes() -> list[dict[str, Any]]:
    drawn, sentences = random.Random(15), _sentences()
    return [
        {
            "text": f"{drawn.choice(sentences)} Noted as number {number}.",
            "title": f"Note {number}",
            "event_at": _CHANGED - timedelta(hours=5 * number),
            "tags": [f"tag{number % 5}"],
        }
        for number in range(1_000)
    ]


def _sentences() -> list[str]:
    text = " ".join(path.read_text("utf-8") for path in sorted((SAMPLES / "notes").rglob("*.md")))
    return [one.strip() for one in re.split(r"[\n.]+", text) if 30 < len(one.strip()) < 300 and "://" not in one]
