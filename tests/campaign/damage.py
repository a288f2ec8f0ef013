"""Damaged stores: every question to them ends in an answer or in an error of the package, and doctor names the damage.

The damage is done to the bytes of the files, to rows behind the package's back, and by other files copied over an open
store. What is whole stays readable; what was copied in is never mixed with what was there before.
"""

import random
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from campaign import Dose, Figures, Loss
from jupyter_memory import JupyterMemoryError, MemoryStore, StoreClosed, StoreDamaged

_STORES, _PAGE = 300, 4096
_EVEN = (["even"], [])
# What is done to rows, by name.
_OF_ROWS = tomllib.loads(Path(__file__).with_name("damages.toml").read_text(encoding="utf-8"))["rows"]
_TOPICS = ("prices", "groupby", "invoices", "λ in Zürich", "merge", "Malmö", "forecast", "basket")


@dataclass
class _Counts:
    done: Counter[str] = field(default_factory=Counter)
    raw: list[str] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def run(dose: Dose) -> Figures:
    rng, counts = dose.random(), _Counts()
    sound = dose.folder / "sound" / "memory.sqlite"
    _make(sound, 60)
    names = list(_OF_ROWS)
    rng.shuffle(names)
    for number in range(dose.times(_STORES, 6)):
        folder = dose.folder / f"try{number}"
        folder.mkdir()
        path = folder / "memory.sqlite"
        if number % 5 < 3:
            _rows(sound, path, names[(number // 5 * 3 + number % 5) % len(names)], rng, counts)
        elif number % 5 == 3:
            _bytes(sound, path, rng, counts)
        else:
            _copied_over(path, rng, counts)
        shutil.rmtree(folder)
    figures = {
        "stores": sum(counts.done[kind] for kind in ("rows", "bytes", "copied over")),
        **{name: counts.done[name] for name in ("answers", "errors of ours", "named by doctor")},
        "% of memories readable beside changed rows": round(
            100 * counts.done["readable"] / max(1, counts.done["readable"] + counts.done["unreadable"]), 1
        ),
        "raw errors": len(counts.raw),
        "logical damages doctor is blind to": len(counts.blind),
        "losses": len(counts.lost),
    }
    if counts.raw or counts.blind or counts.lost:
        said = "\n".join(("raw errors:", *counts.raw, "blind:", *counts.blind, "lost:", *counts.lost))
        raise Loss(f"seed {dose.seed}: {figures}\n{said}")
    return figures


def _make(path: Path, count: int, about: str = "note") -> None:
    """Make a sound store of short notes, whose chunks have the same numbers as they have."""
    with MemoryStore(path, "static") as store:
        texts = (f"the {_TOPICS[i % len(_TOPICS)]} were checked, see df.merge(orders{i})" for i in range(count))
        notes = (
            {"text": f"{about} {i}: {text}", "title": f"{about} {i}", "metadata": {"number": i}, "tags": _EVEN[i % 2]}
            for i, text in enumerate(texts)
        )
        store.add_many(notes, progress=False)
        store.hits("how were the prices checked")


def _rows(sound: Path, path: Path, name: str, rng: random.Random, counts: _Counts) -> None:
    shutil.copyfile(sound, path)
    row = rng.randrange(1, 20)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("pragma foreign_keys = off")
        for statement in _OF_ROWS[name].split("; "):
            connection.execute(statement, {"row": row} if ":row" in statement else None)
    counts.done["rows"] += 1
    _read_the_others(path, counts)
    named = _asked(path, f"{name} (row {row})", counts)
    if not named:
        counts.blind.append(name)


def _read_the_others(path: Path, counts: _Counts) -> None:
    with MemoryStore(path, "static") as store:
        for id_ in _ids(path):
            try:
                store.get(id_)
                counts.done["readable"] += 1
            except JupyterMemoryError:
                counts.done["unreadable"] += 1


def _flipped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(rng.randrange(1, 40)):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def _zeroed(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(rng.randrange(1, 4)):
        page = rng.randrange(len(content) // _PAGE)
        content[page * _PAGE : (page + 1) * _PAGE] = bytes(_PAGE)
    path.write_bytes(content)


def _cut(path: Path, rng: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(len(content))])


def _swapped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    one, other = (rng.randrange(1, len(content) // _PAGE) * _PAGE for _ in range(2))
    pages = [content[place : place + _PAGE] for place in (other, one)]
    content[one : one + _PAGE], content[other : other + _PAGE] = pages
    path.write_bytes(content)


def _log_flipped(path: Path, rng: random.Random) -> None:
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        (_flipped if rng.random() < 0.5 else _cut)(log, rng)


_OF_BYTES: tuple[Callable[[Path, random.Random], None], ...] = (_flipped, _zeroed, _cut, _swapped, _log_flipped)


def _bytes(sound: Path, path: Path, rng: random.Random, counts: _Counts) -> None:
    shutil.copyfile(sound, path)
    damage = rng.choice(_OF_BYTES)
    if damage is _log_flipped:
        _killed_while_adding(path)
    before = _texts(path)
    damage(path, rng)
    counts.done["bytes"] += 1
    after = before if damage is _log_flipped else _texts(path)
    named = _asked(path, damage.__name__, counts)
    # A log that ends early is what a power cut leaves; SQLite goes back to the last whole transaction.
    if not named and after not in (None, before):
        counts.blind.append(f"{damage.__name__}: texts differ")


def _texts(path: Path) -> dict[str, tuple[str, str]] | None:
    try:
        with closing(apsw.Connection(str(path))) as connection:
            rows = connection.execute("select id, title, text from memories join texts on memory = key").fetchall()
            return {id_: (title, text) for id_, title, text in rows}
    except (apsw.Error, UnicodeDecodeError):
        return None


_OPEN_AND_DIE = """
import os, sys
from jupyter_memory import MemoryStore
store = MemoryStore(sys.argv[1], "static")
for i in range(5):
    store.add(f"typed {i} before the kernel was killed")
os._exit(0)
"""


def _killed_while_adding(path: Path) -> None:
    subprocess.run([sys.executable, "-c", _OPEN_AND_DIE, str(path)], check=True, timeout=120)


def _copied_over(path: Path, rng: random.Random, counts: _Counts) -> None:
    """Copy another file over a store that is open, or whose process was killed; then write on, and open it again."""
    _make(path, 30)
    other = path.with_name("other.sqlite")
    kind = rng.choice(["a backup", "an earlier state", "another store", "a newer copy"])
    if kind == "another store":
        _make(other, 25, "elsewhere")
    elif kind == "an earlier state":
        shutil.copyfile(path, other)
        with MemoryStore(path, "static") as store:
            store.add("written after the copy")
    else:
        with MemoryStore(path, "static") as store:
            store.backup(other)
        if kind == "a newer copy":
            with MemoryStore(other, "static") as store:
                store.add_many(({"text": f"written elsewhere {i}"} for i in range(20)), progress=False)
    wanted = _texts(other)
    way = rng.choice(["cp", "cp", "mv", "killed"])
    counts.done["copied over"] += 1
    if way == "killed":
        _killed_while_adding(path)
        subprocess.run(["cp", other, path], check=True)
    else:
        _written_on(path, other, way, rng, f"{kind} by {way}", counts)
    try:
        with MemoryStore(path, "static") as store:
            problems = [one for one in store.doctor() if "chmod" not in one and "Its log was removed" not in one]
            store.add("and life goes on")
            if rng.random() < 0.5:
                store.hits("prices")
    except Exception as error:  # noqa: BLE001  that is what is counted
        counts.lost.append(f"{kind} by {way}: cannot be opened again: {type(error).__name__}: {error}")
        return
    found = {id_: held for id_, held in (_texts(path) or {}).items() if held[1] != "and life goes on"}
    if found != wanted or problems:
        counts.lost.append(f"{kind} by {way}: {len(found)} of {len(wanted or ())} memories, {problems}")


def _written_on(path: Path, other: Path, way: str, rng: random.Random, name: str, counts: _Counts) -> None:
    store = MemoryStore(path, "static")
    try:
        for i in range(rng.randrange(4)):
            store.add(f"typed {i} before the copy")
        subprocess.run([way, other, path], check=True)
        if way == "cp" and not store.replaced:
            counts.lost.append(f"{name}: not noticed")
        for ask in (lambda: store.hits("prices"), lambda: store.add("typed after the copy")):
            try:
                ask()
                counts.done["answers"] += 1
            except StoreClosed:
                counts.done["errors of ours"] += 1
            except Exception as error:  # noqa: BLE001  that is what is counted
                counts.raw.append(f"{name}: {type(error).__name__}: {error}")
    finally:
        store.close()


def _asked(path: Path, name: str, counts: _Counts) -> bool:
    """Ask a damaged store everything; return whether doctor, or the refusal to open it, names the damage."""
    named = False
    for what, ask in _questions(path):
        try:
            said = ask()
        except JupyterMemoryError as error:
            counts.done["errors of ours"] += 1
            if isinstance(error, StoreDamaged):
                named |= what in ("doctor", "open")
                if "doctor" not in str(error) and "restore" not in str(error):
                    counts.raw.append(f"{name}: {what}: no way out: {error}")
        except Exception as error:  # noqa: BLE001  that is what is counted
            counts.raw.append(f"{name}: {what}: {type(error).__name__}: {str(error)[:150]}")
        else:
            counts.done["answers"] += 1
            if what == "doctor":
                named |= any("chmod" not in problem for problem in said)
    counts.done["named by doctor"] += named
    return named


def _questions(path: Path) -> Iterable[tuple[str, Callable[[], list[str]]]]:
    opened: list[MemoryStore] = []

    def open_() -> list[str]:
        opened.append(MemoryStore(path, "static"))
        return []

    yield "open", open_
    if not opened:
        return
    with opened[0] as store:
        yield "doctor", store.doctor
        for query in ("how were the prices checked", "tag:even merge", "pirces", '"were checked"', "orders7"):
            yield f"search {query}", lambda query=query: store.hits(query) and []
        yield "search by words", lambda: store.hits("invoices", profile="vault") and []
        yield "browse", lambda: store.browsed(limit=100) and []
        yield "table", lambda: store.search("forecast") is not None and []
        yield "get", lambda: [store.get(id_).text for id_ in _ids(path)]
        yield "related", lambda: [store.related(id_) for id_ in _ids(path)[:2]] and []
        yield "stats", lambda: store.stats() and []
        yield "tags", store.tags
        yield "activity", lambda: store.recent() and []
        yield "add", lambda: [store.add("another price of electricity in Malmö").id]
        yield "search again", lambda: store.hits("electricity") and []
        yield "pin", lambda: [store.pin(id_).id for id_ in _ids(path)[:1]]
        yield "forget", lambda: [str(store.forget(id_)) for id_ in _ids(path)[-1:]]
        yield "backup", lambda: [str(store.backup(path.with_name("copy.sqlite")))]
        yield "reembed", lambda: [str(store.reembed("static-64", progress=False))]
        yield "rebuild", lambda: store.rebuild() or []
        yield "doctor again", store.doctor
    copy = path.with_name("copy.sqlite")
    if copy.exists():
        yield "restore", lambda: [str(MemoryStore.restore(copy, path.with_name("back.sqlite")))]


def _ids(path: Path) -> list[str]:
    try:
        return sorted(id_ for id_ in _texts(path) or () if isinstance(id_, str))[:40]
    except apsw.Error:
        return []
