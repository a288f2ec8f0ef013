"""Full disks and read-only folders: an operation succeeds or fails with an error of ours, and the store is unharmed."""

import os
import random
import resource
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from inside import faults
from programs import become_nobody, fill_disk, in_fork

from campaign import Dose, Figures, Loss
from campaign._victim import made_up
from jupyter_memory import JupyterMemoryError, MemoryStore
from jupyter_memory.embedders import StaticEmbedder

_MEMORIES = 60
_DISK = 40_000_000
Work = Callable[[MemoryStore], object]


def operations(rng: random.Random) -> dict[str, Work]:

    def some(store: MemoryStore) -> str:
        return store.browsed(limit=1).hits[0].memory.id

    return {
        "add": lambda store: store.add_many([{"text": made_up(rng, 400)} for _ in range(300)], progress=False),
        "update": lambda store: store.update(some(store), text=made_up(rng)),
        "index": lambda store: store.index(store.path.parent / "notes", progress=False),
        "reembed": lambda store: store.reembed(StaticEmbedder(64), progress=False),
        "rebuild": lambda store: store.rebuild(),
        "backup": lambda store: store.backup(store.path.with_name("copy.sqlite")),
        "forget one": lambda store: store.forget(some(store)),
        "forget a folder": lambda store: store.remove_folder(store.path.parent / "notes"),
        "forget searches": lambda store: store.forget_recent(),
        "forget all": lambda store: store.forget(everything=True),
    }


def run(dose: Dose) -> Figures:
    """Try each operation on full disks, below a limit on file sizes, and in folders that cannot be written."""
    rng, counted = dose.random(), Counter[str]()
    base = dose.folder / "base"
    prepare(base, rng)
    todo = operations(rng)
    rounds = dose.times(40, least=1)
    with small_disk(dose.folder) as disk:
        for number in range(rounds * len(todo) if disk else 0):
            name = list(todo)[number % len(todo)]
            counted += on_full_disk(disk, base, name, todo[name], rng, f"seed {dose.seed}, round {number}")
    for number in range(rounds * len(todo)):
        name = list(todo)[number % len(todo)]
        folder = dose.folder / f"{number}"
        limit = read_only if number % 2 else size_limit(rng.randrange(500_000))
        counted += in_child(folder, base, name, todo[name], limit, f"seed {dose.seed}, limit {number}")
        shutil.rmtree(folder)
    return {**counted, "harmed": 0, **({} if disk else {"skipped: no disk can be mounted here": 1})}


def prepare(base: Path, rng: random.Random) -> None:
    (base / "notes").mkdir(parents=True)
    for number in range(40):
        (base / "notes" / f"{number}.md").write_text(made_up(rng, 200))
    with MemoryStore(base / "memory.sqlite") as store:
        store.add_many([{"text": made_up(rng, 30)} for _ in range(_MEMORIES)], progress=False)


@contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """Mount a small disk of its own, which only root can; yield None where that is not possible."""
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "none", str(disk)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def on_full_disk(disk: Path, base: Path, name: str, work: Work, rng: random.Random, where: str) -> Counter[str]:
    """Fill a disk around a store, open or closed, and try; searching and forgetting must work on one that is full."""
    folder, filler = disk / "store", disk / "filler"
    place = folder / "memory.sqlite"
    shutil.copytree(base, folder)
    try:
        with ExitStack() as opened:
            store = opened.enter_context(MemoryStore(place))
            store.add("the last thing before the disk was full")
            if rng.random() < 0.5:
                opened.close()
            fill_disk(filler)
            if not name.startswith("forget"):
                os.truncate(filler, max(0, filler.stat().st_size - rng.randrange(2_000_000)))
            for step, what in (("searching", _search), (name, work), ("searching", _search)):
                with closing(MemoryStore(place)) as anew:
                    outcome = tried(anew, what, where, step)
                if outcome == "failed" and step.startswith(("searching", "forget")):
                    raise Loss(f"{where}: {step} was not possible on the full disk")
                if step == name:
                    result = outcome
            filler.unlink()
        with MemoryStore(place) as store:
            if found := faults(store):
                raise Loss(f"{where}: after {name} the store is not sound: {found}")
            if name not in ("add", "index", "forget one", "forget all") and store.count() != _MEMORIES + 1:
                raise Loss(f"{where}: after {name} there are {store.count()} memories")
        unexpected(folder, where, name)
    finally:
        shutil.rmtree(folder)
        (disk / "filler").unlink(missing_ok=True)
    return Counter({f"{result} on full disks": 1})


def _search(store: MemoryStore) -> None:
    store.hits("the last thing before the disk was full")


def tried(store: MemoryStore, work: Work, where: str, name: str) -> str:
    try:
        report = work(store)
    except JupyterMemoryError:
        return "failed"
    except Exception as error:
        raise Loss(f"{where}: {name} ended with {type(error).__name__}") from error
    return "failed" if getattr(report, "failed", ()) else "succeeded"


def unexpected(folder: Path, where: str, name: str) -> None:
    known = {"memory.sqlite", "notes", "copy.sqlite", ".memory.sqlite.reserve"}
    if more := sorted({file.name for file in folder.iterdir()} - known):
        raise Loss(f"{where}: {name} left {more}")


def size_limit(more: int) -> Callable[[Path], None]:
    """Return what lets no file grow by more than so many bytes, as a quota does."""

    def limit(folder: Path) -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        size = (folder / "memory.sqlite").stat().st_size + more
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    return limit


def read_only(folder: Path) -> None:
    for entry in [*folder.rglob("*"), folder]:
        entry.chmod(0o555 if entry.is_dir() else 0o444)
    for above in [folder, *folder.parents]:
        if not above.stat().st_mode & 0o001 and os.geteuid() == 0:
            above.chmod(above.stat().st_mode | 0o055)
    become_nobody()


def in_child(
    folder: Path, base: Path, name: str, work: Work, limit: Callable[[Path], None], where: str
) -> Counter[str]:
    """Try an operation in a process of its own below a limit, then look at the store without the limit."""
    shutil.copytree(base, folder)

    def limited() -> object:
        try:
            os.environ["JUPYTER_CONFIG_DIR"] = str(folder)
            limit(folder)
            with MemoryStore(folder / "memory.sqlite") as store:
                return tried(store, work, where, name)
        except JupyterMemoryError:
            return "failed"
        except BaseException as error:  # noqa: BLE001  it is told to the parent
            return Loss(f"{where}: {name}: {error!r:.500}")

    answer = in_fork(limited)
    if isinstance(answer, Loss):
        raise answer
    for entry in [folder, *folder.rglob("*")]:
        entry.chmod(0o755 if entry.is_dir() else 0o644)
    (folder / "memory.sqlite").chmod(0o600)
    with MemoryStore(folder / "memory.sqlite") as store:
        if found := faults(store):
            raise Loss(f"{where}: after {name} the store is not sound: {found}")
    unexpected(folder, where, name)
    below = "in read-only folders" if limit is read_only else "below a limit of sizes"
    return Counter({f"{answer} {below}": 1})
