"""Minutes of mixed work in one process: its threads, open files and memory level off."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from file_changes import KINDS, Changes

from campaign import Dose, Figures, Loss
from jupyter_memory import MemoryStore
from jupyter_memory.embedders import BertEmbedder, StaticEmbedder

_PROCESS = Path("/proc/self")
_SMALL = Path(__file__).parents[1] / "embedders" / "nomic_small"
_WHAT = ("threads", "descriptors", "megabytes")
# After this share of the work everything is loaded and every cache has met its first entries.
_WARM = 0.3
# A thread that has just ended may still be listed, and a library may keep a few.
_MORE = (5, 5, 150)


def run(dose: Dose) -> Figures:
    """Add, search, index, embed, open and close; compare the process early on with the process at the end."""
    if not _PROCESS.is_dir():
        return {"steps": 0}
    work = _Work(dose)
    steps = dose.times(3_000, least=60)
    before = (0, 0, 0)
    for step in range(steps):
        if step == round(steps * _WARM):
            before = work.size()
        work.step()
    after = work.size()
    work.close()
    grown = [now - then for now, then in zip(after, before, strict=True)]
    for more, bound, what in zip(grown, _MORE, _WHAT, strict=True):
        if more > bound:
            raise Loss(f"seed {dose.seed}: {more} more {what} after {steps} steps; from {before} to {after}")
    levels = {what: f"{then} to {now}" for what, then, now in zip(_WHAT, before, after, strict=True)}
    return {"steps": steps, **levels}


class _Work:
    """What a notebook and a server do in a day, in any order."""

    def __init__(self, dose: Dose) -> None:
        self._random: Random = dose.random()
        self._folder = dose.folder
        self._changes = Changes([dose.folder / "files"])
        self._store = MemoryStore(dose.folder / "store.sqlite")
        self._embedders = (StaticEmbedder(64), BertEmbedder("nomic", _SMALL, 64))
        self._kinds = (self._add, self._search, self._search, self._search, self._index, self._embed, self._reopen)

    def step(self) -> None:
        """Do one thing in a thread that ends with it, as a server's and a notebook's threads do."""
        with ThreadPoolExecutor(1) as thread:
            thread.submit(self._random.choice(self._kinds)).result()

    def size(self) -> tuple[int, int, int]:
        """Return threads, descriptors and megabytes, just after the store was opened anew."""
        self._reopen()
        status = dict(line.split(":", 1) for line in (_PROCESS / "status").read_text().splitlines())
        return (
            len(list((_PROCESS / "task").iterdir())),
            len(list((_PROCESS / "fd").iterdir())),
            int(status["VmRSS"].split()[0]) // 1_024,
        )

    def close(self) -> None:
        self._store.close()

    def _number(self) -> int:
        return self._random.randrange(1_000)

    def _add(self) -> None:
        # The same notes come again, so that the store itself does not grow without end.
        self._store.add(f"In week {self._number() % 200} the λ of shop {self._number() % 5} was set anew")

    def _search(self) -> None:
        self._store.hits(f"λ of the shops in week {self._number()}")

    def _index(self) -> None:
        kind = self._random.choices(tuple(KINDS), tuple(KINDS.values()))[0]
        self._changes.apply((kind, self._number(), self._number(), self._number()))
        self._store.index(self._folder / "files", progress=False)

    def _embed(self) -> None:
        self._random.choice(self._embedders).embed_documents([f"prices of week {self._number()}"] * 8)

    def _reopen(self) -> None:
        self._store.close()
        self._store = MemoryStore(self._folder / "store.sqlite")
