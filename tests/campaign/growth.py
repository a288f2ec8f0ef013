"""Files that repeat one thing, four times as long each time: the store and the work grow with them, not faster."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from growing import SHAPES, cpu_exponent, exponent, steps, written

from campaign import Dose, Figures, Loss
from jupyter_memory import InputError, MemoryStore
from jupyter_memory.ingest import prepare, read_file

# Linear is 1, and quadratic is 2.
_MOST_STORED, _MOST_WORK = 1.35, 1.5
_SIZE = 50_000


def run(dose: Dose) -> Figures:
    """Index each shape at two sizes, and measure how it is read and prepared; raise where either grows too fast.

    The full dose measures processor time, the short one counts steps, since a test must not depend on the machine.
    """
    shapes = dose.random().sample(sorted(SHAPES), dose.times(len(SHAPES), least=4))
    largest = dose.times(8_000_000, least=200_000)
    powers = []
    for number, shape in enumerate(shapes):
        folder = dose.folder / str(number)
        folder.mkdir()
        stored = exponent(_bytes_stored(folder, shape), _SIZE)
        preparing = _preparing(folder, shape)
        if dose.scale < 1:
            work = exponent(lambda size, of=preparing: steps(of(size)), _SIZE)
        else:
            work = cpu_exponent(preparing, _SIZE, largest)
        if stored > _MOST_STORED or work > _MOST_WORK:
            raise Loss(f"{shape}: the store grows with the power {stored:.2f}, the work with {work:.2f}")
        powers.append((stored, work))
    return {
        "shapes": len(shapes),
        "highest power of the store": round(max(stored for stored, _ in powers), 2),
        "highest power of the work": round(max(work for _, work in powers), 2),
    }


def _bytes_stored(folder: Path, shape: str) -> Callable[[int], float]:
    def cost(size: int) -> float:
        below = folder / f"store {size}"
        below.mkdir()
        path = written(below, shape, size)
        with MemoryStore(below / "memory.sqlite") as store:
            store.index(path, progress=False)
        return (below / "memory.sqlite").stat().st_size

    return cost


def _preparing(folder: Path, shape: str) -> Callable[[int], Callable[[], object]]:
    def work(size: int) -> Callable[[], object]:
        path = written(folder, shape, size)

        def read() -> None:
            with suppress(InputError):  # deeper than JSON is read
                prepare(read_file(path, root=folder), None)

        return read

    return work
