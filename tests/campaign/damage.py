"""Damaged stores: every question to them ends in an answer or in an error of the package, and doctor names the damage.

The damage is done to the bytes of the files, to rows behind the package's back, and by other files copied over an open
store. What is whole stays readable; what was copied in is never mixed with what was there before.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from campaign import Dose, Figures, Loss
from jupyter_memory import MemoryStore
from jupyter_memory.errors import JupyterMemoryError, StoreClosed, StoreDamaged

_STORES = 300
_PAGE = 4096
_TOPICS = ("prices", "groupby", "invoices", "λ in Zürich", "merge", "Malmö", "forecast", "basket")

# What is done to rows, by name; ``:row`` is the key of a chunk or a memory, which are the same in the sound store.
_LOGICAL = {
    "a chunk gone": "delete from chunks where id = :row",
    "a text gone": "delete from texts where memory = :row",
    "a memory gone, its text left": "delete from memories where key = :row",
    "all chunks gone": "delete from chunks",
    "another text": "update texts set text = 'quite another thing' where memory = :row",
    "one letter of a text": "update texts set text = replace(text, 'e', 'E') where memory = :row",
    "another title": "update memories set title = 'quite another' where key = :row",
    "another hash": "update memories set content_hash = 'feed' where key = :row",
    "text that is no text": "update texts set text = x'c3c3c3' where memory = :row",
    "a vector gone": "delete from vectors_1 where chunk = :row",
    "a code gone": "delete from codes_1 where chunk = :row",
    "vector and code gone": "delete from vectors_1 where chunk = :row; delete from codes_1 where chunk = :row",
    "a vector too short": "update vectors_1 set embedding = substr(embedding, 1, 400) where chunk = :row",
    "a vector of odd bytes": "update vectors_1 set embedding = substr(embedding, 1, 401) where chunk = :row",
    "a vector too long": "update vectors_1 set embedding = embedding || zeroblob(8) where chunk = :row",
    "an empty vector": "update vectors_1 set embedding = x'' where chunk = :row",
    "a vector of zeros": "update vectors_1 set embedding = zeroblob(1024) where chunk = :row",
    "a vector that is no number": (
        "update vectors_1 set embedding = cast(replace(hex(zeroblob(256)), '00', char(1,1,192,127)) as blob) "
        "where chunk = :row"
    ),
    "the vector of another": (
        "update vectors_1 set embedding = (select embedding from vectors_1 where chunk = :row % 20 + 1) "
        "where chunk = :row"
    ),
    "a vector for nothing": "insert into vectors_1 select 99999, embedding from vectors_1 limit 1",
    "a code for nothing": "insert into codes_1 select 99999, code from codes_1 limit 1",
    "a code too short": "update codes_1 set code = substr(code, 1, 100) where chunk = :row",
    "another code": "update codes_1 set code = zeroblob(128) where chunk = :row",
    "no table of vectors": "drop table vectors_1",
    "no table of codes": "drop table codes_1",
    "a word not indexed": (
        "insert into keyword (keyword, rowid, title, context, text, tags, ident) select 'delete', id, title, "
        "context, text, tags, ident from chunk_texts where id = :row"
    ),
    "a row of the index's data gone": "delete from keyword_data where id > 10",
    "a row of the index's sizes gone": "delete from keyword_docsize where id = :row",
    "the index's structure gone": "delete from keyword_data where id = 10",
    "the index's averages gone": "delete from keyword_data where id = 1",
    "metadata that is no JSON": "update memories set metadata = '{\"a\": ' where key = :row",
    "metadata that is a list": "update memories set metadata = '[1, 2]' where key = :row",
    "an unknown kind": "update memories set kind = 'kund' where key = :row",
    "an unknown tier": "update memories set tier = 'tear' where key = :row",
    "an unknown severity": "update memories set severity = 'odd' where key = :row",
    "a time beyond the calendar": "update memories set event_at = 9e17 where key = :row",
    "a time that is a word": "update memories set event_at = 'soon' where key = :row",
    "a time of indexing that is a word": "update memories set indexed_at = 'soon' where key = :row",
    "a tag of nothing": "insert into tags values (99999, 'lost')",
    "another tag": "insert into tags values (:row, 'slipped in')",
    "tokens of nothing": "insert into chunk_tokens values (99999, x'0100')",
    "tokens of odd bytes": "update chunk_tokens set ids = substr(ids, 1, 5) where chunk = :row",
    "tokens beyond the vocabulary": "update chunk_tokens set ids = x'ffff' where chunk = :row",
    "another part": "update chunks set text = 'not a part of it' where id = :row",
    "a part beyond its text": "update chunks set start = 100000, stop = 100010 where id = :row",
    "a chunk of nothing": "insert into chunks (memory, start, stop) values (99999, 0, 5)",
    "a chunk of another memory": "update chunks set memory = :row % 20 + 1 where id = :row",
    "other words for identifiers": "update chunks set ident = 'other words' where id = :row",
    "other dimensions": "update models set dimensions = 300",
    "no active model": "update models set active = 0",
    "two active models": "insert into models (fingerprint, name, dimensions, active) values ('x', 'x', 3, 1)",
    "no model": "delete from models",
    "a list of hits that is no JSON": (
        "insert into searches (query_id, query, profile, origin, at, hits) values ('a', 'b', 'auto', 'x', 5, "
        "'[')"
    ),
    "a search at a word": (
        "insert into searches (query_id, query, profile, origin, at, hits) values ('a', 'b', 'auto', 'x', "
        "'soon', '[]')"
    ),
    "feedback that is no number": "insert into feedback values ('a', 'b', 'c', 'auto', 1, 'odd', 'soon')",
    "a file without a time": "insert into files values ('/x/y.md', '', 'soon', 'odd', 'h', 'soon')",
    "a folder at a word": "insert into folders values ('/x', '', 0, 'soon')",
    "no key of questions": "delete from query_key",
    "a question's vector too short": "insert into query_vectors (model, digest, embedding) values (1, x'00', x'00')",
    "no counters": "delete from counters",
    "no view": "drop view chunk_texts",
    "no index by identity": "drop index memories_identity",
    "trust of a word": "insert or replace into trust values (1, 5, 'much')",
}  # fmt: skip


@dataclass
class _Counts:
    """What became of the damaged stores."""

    done: Counter[str] = field(default_factory=Counter)
    raw: list[str] = field(default_factory=list)
    blind: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def run(dose: Dose) -> Figures:
    """Damage copies of a sound store in many ways, and ask each copy everything."""
    rng, counts = dose.random(), _Counts()
    sound = dose.folder / "sound" / "memory.sqlite"
    _make(sound, 60)
    names = list(_LOGICAL)
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
        store.add_many(
            (
                {
                    "text": f"{about} {i}: the {_TOPICS[i % len(_TOPICS)]} were checked, see df.merge(orders{i})",
                    "title": f"{about} {i}",
                    "tags": ["even"] if i % 2 == 0 else (),
                    "metadata": {"number": i},
                }
                for i in range(count)
            ),
            progress=False,
        )
        store.hits("how were the prices checked")


# -- rows --------------------------------------------------------------------------------------------------------------


def _rows(sound: Path, path: Path, name: str, rng: random.Random, counts: _Counts) -> None:
    """Change rows with plain SQL, as another program might."""
    shutil.copyfile(sound, path)
    row = rng.randrange(1, 20)
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("pragma foreign_keys = off")
        for statement in _LOGICAL[name].split("; "):
            connection.execute(statement, {"row": row} if ":row" in statement else None)
    counts.done["rows"] += 1
    _read_the_others(path, counts)
    named = _asked(path, f"{name} (row {row})", counts)
    if not named:
        counts.blind.append(name)


def _read_the_others(path: Path, counts: _Counts) -> None:
    """Count the memories that can be read by their ids, and those that cannot."""
    with MemoryStore(path, "static") as store:
        for id_ in _ids(path):
            try:
                store.get(id_)
                counts.done["readable"] += 1
            except JupyterMemoryError:
                counts.done["unreadable"] += 1


# -- bytes -------------------------------------------------------------------------------------------------------------


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
    content[one : one + _PAGE], content[other : other + _PAGE] = (
        content[other : other + _PAGE],
        content[one : one + _PAGE],
    )
    path.write_bytes(content)


def _log_flipped(path: Path, rng: random.Random) -> None:
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        (_flipped if rng.random() < 0.5 else _cut)(log, rng)


_BYTES: tuple[Callable[[Path, random.Random], None], ...] = (_flipped, _zeroed, _cut, _swapped, _log_flipped)


def _bytes(sound: Path, path: Path, rng: random.Random, counts: _Counts) -> None:
    """Change bytes of the file, or of the log of a process that was killed."""
    shutil.copyfile(sound, path)
    damage = rng.choice(_BYTES)
    if damage is _log_flipped:
        _killed_while_adding(path)
    before = _texts(path)
    damage(path, rng)
    counts.done["bytes"] += 1
    after = before if damage is _log_flipped else _texts(path)
    named = _asked(path, damage.__name__.strip("_"), counts)
    # A log that ends early is what a power cut leaves; SQLite goes back to the last whole transaction.
    if not named and after not in (None, before):
        counts.blind.append(f"{damage.__name__.strip('_')}: texts differ")


def _texts(path: Path) -> dict[str, tuple[str, str]] | None:
    """Return what can be read, by id, None where nothing can."""
    try:
        with closing(apsw.Connection(str(path))) as connection:
            rows = connection.execute("select id, title, text from memories join texts on memory = key").fetchall()
            return {id_: (title, text) for id_, title, text in rows}
    except (apsw.Error, UnicodeDecodeError):
        return None


# -- other files over an open store ------------------------------------------------------------------------------------

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


# -- what is asked of each ---------------------------------------------------------------------------------------------


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
    """Yield what is asked; the first opens the store, and what cannot be opened is not asked more."""
    opened: list[MemoryStore] = []

    def open_() -> list[str]:
        opened.append(MemoryStore(path, "static"))
        return []

    yield "open", open_
    if not opened:
        return
    with opened[0] as store:
        yield "doctor", store.doctor
        for query in (
            "how were the prices checked",
            "groupby",
            "tag:even merge",
            "pirces",
            '"were checked"',
            "orders7",
        ):
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
    """Return ids of memories, read as another program would."""
    try:
        return sorted(id_ for id_ in _texts(path) or () if isinstance(id_, str))[:40]
    except apsw.Error:
        return []
