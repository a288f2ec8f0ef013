"""Files damaged by chance, beside good ones: each is read or named in the report, and the good ones are found."""

import json
from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

from growing import SHAPES
from kinds import SAMPLES as SAMPLES_OF_KINDS
from pictures import plotting, saved

from campaign import Dose, Figures, Loss
from jupyter_memory import MemoryStore
from jupyter_memory.ingest import known_readers

SAMPLES = Path(__file__).parents[2] / "notebooks" / "samples"
# Every kind that some reader reads: a new one is in the campaign as soon as it is registered.
_KINDS = tuple(known_readers().by_suffix)
# Files of a folder: one that cannot be read must not keep the others out.
_TOGETHER = 50
_GOOD = 5
_DRAWING = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="432pt" height="288pt" viewBox="0 0 432 288">'
    b'<defs><g id="a"><path d="M 10 10 L 400 200 C 1 2 3 4 5 6 z" fill="#1f77b4"/></g></defs><use href="#a"/>'
    b'<text x="20" y="20" font-family="sans-serif">Orders</text></svg>'
)
_DEEP: Any = reduce(lambda inner, _: [inner], range(400), "deep")
_OTHER: tuple[Any, ...] = (None, True, 0, -1, 1e308, 10**400, "", "\0", "\ud800", [], {}, [[]], {"": {}}, [None, 7])


def run(dose: Dose) -> Figures:
    """Index damaged files of each kind into one store; raise where a good one is missing or the store is unsound."""
    random, seeds = dose.random(), _seeds()
    with MemoryStore(dose.folder / "memory.sqlite") as store:
        wanted, read, failed = indexed(
            dose,
            store,
            dose.times(1_000, least=20),
            lambda folder, number: damaged(folder, number, seeds, _KINDS, random),
        )
        drawings, drawn = dose.times(200, least=10), _drawn(dose, store, random)
    figures = {"damaged files": wanted, "read": read, "named in the report": len(failed)}
    return {**figures, "damaged drawings": drawings, "drawn": drawn}


def indexed(
    dose: Dose, store: MemoryStore, wanted: int, damaged: Callable[[Path, int], object]
) -> tuple[int, int, list[str]]:
    """Index folders of damaged files with some good ones; return how many there were and were read, and the reasons."""
    read, reasons = 0, list[str]()
    for batch in range(0, wanted, _TOGETHER):
        folder = dose.folder / f"batch {batch}"
        folder.mkdir()
        bad = [damaged(folder, number) for number in range(min(_TOGETHER, wanted - batch))]
        good = [_good(folder, batch + number) for number in range(_GOOD)]
        report = store.index(folder, progress=False)
        known = report.files + len(report.failed) + len(report.skipped)
        if known < len(bad) + len(good):
            raise Loss(f"{len(bad) + len(good)} files, but the report has {known} (seed {dose.seed})")
        for word in good:
            if not any(word in hit.memory.text for hit in store.hits(word, limit=3).hits):
                raise Loss(f"a good file beside damaged ones is not found (seed {dose.seed})")
        read, reasons = read + report.files - len(good), [*reasons, *map(str, report.failed)]
        if again := store.index(folder, progress=False).files:
            raise Loss(f"{again} unchanged files were read again (seed {dose.seed})")
    if problems := store.doctor():
        raise Loss(f"the store is unsound: {problems} (seed {dose.seed})")
    return wanted, read, reasons


def _drawn(dose: Dose, store: MemoryStore, random: Random) -> int:
    """Damage drawings in SVG; return how many are drawn, raise where one is neither drawn nor left out."""
    wanted, cells = dose.times(200, least=10), []
    for number in range(wanted):
        data = _DRAWING
        for _ in range(random.choice((1, 1, 2, 4))):
            data = random.choice(WAYS)(data, random)
        cell = plotting(f"draw({number})", b"")
        cell["outputs"][0]["data"] = {"image/svg+xml": data.decode("utf-8", "replace")}
        cells.append(cell)
    found = store.index(saved(dose.folder / "drawings.ipynb", *cells), progress=False).pictures
    if found.kept + sum(number for _, number in found.left_out) != wanted:
        raise Loss(f"of {wanted} pictures {found} (seed {dose.seed})")
    return found.kept


def _seeds() -> list[tuple[str, bytes]]:
    files = sorted(path for path in SAMPLES.rglob("*") if path.suffix in _KINDS and path.is_file())
    real = [(path.suffix, path.read_bytes()) for path in files if path.stat().st_size < 300_000]
    written = [(ending, text.encode()) for ending, text in SAMPLES_OF_KINDS.items()]
    # Of a kind without a sample there is a file of another kind under its name.
    others = [(ending, written[number % len(written)][1]) for number, ending in enumerate(_KINDS)]
    return [*real, *written, *others, *((ending, write(3_000).encode()) for ending, write in SHAPES.values())]


def _good(folder: Path, number: int) -> str:
    word = f"zanzibar{number}"
    (folder / f"good {number}.md").write_text(f"# Good\n\nThe ferry {word} is on time.\n", "utf-8")
    return word


def damaged(folder: Path, number: int, seeds: list[tuple[str, bytes]], kinds: Sequence[str], random: Random) -> Path:
    ending, data = random.choice(seeds)
    for _ in range(random.choice((1, 1, 2, 4))):
        ways = WAYS if ending != ".ipynb" else (*WAYS, *[_swapped] * 6)
        data = random.choice(ways)(data, random)
    path = folder / f"{number}{random.choice(kinds) if random.random() < 0.1 else ending}"
    path.write_bytes(data)
    return path


def _flipped(data: bytes, random: Random) -> bytes:
    changed = bytearray(data)
    for _ in range(random.choice((1, 5, 100)) if changed else 0):
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _truncated(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


def _inserted(data: bytes, random: Random) -> bytes:
    place = random.randrange(len(data) + 1)
    short = (b"\xff\xfe", b"\0", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\r", b"\x1b]")
    return data[:place] + random.choice((*short, b"[" * 5_000, b'{"a":' * 5_000, b"9" * 5_000)) + data[place:]


def _repeated(data: bytes, random: Random) -> bytes:
    start = random.randrange(len(data) + 1)
    return data[:start] + data[start : start + random.randrange(1, 400)] * random.randrange(2, 200) + data[start:]


def _marked(data: bytes, random: Random) -> bytes:
    return random.choice((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xff\xfe\0\0")) + data


def _swapped(data: bytes, random: Random) -> bytes:
    """Put a value of another type somewhere into JSON, or name a key twice."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return _flipped(data, random)
    holder = tree
    while isinstance(holder, (dict, list)) and holder:
        key = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not isinstance(holder[key], (dict, list)) or not holder[key] or random.random() < 0.3:
            holder[key] = random.choice((*_OTHER, holder, [holder[key]])) if random.random() < 0.9 else _DEEP
            break
        holder = holder[key]
    try:
        written = json.dumps(tree)
    except ValueError:  # it holds itself
        return _flipped(data, random)
    if random.random() < 0.1:
        written = written.replace('"source":', '"source": 7, "source":', 1)
    return written.encode()


WAYS: tuple[Callable[[bytes, Random], bytes], ...] = (_flipped, _truncated, _inserted, _repeated, _marked)
