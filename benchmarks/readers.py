"""How many files and megabytes a second each reader reads, and goes into a store, by kind of file.

    python benchmarks/readers.py [--kinds .py .qmd] [--files 50] [--kilobytes 40]

For each kind that a built-in reader reads, a folder is filled with files of that size, made of the samples of the
tests. "Read" is the reader alone, with the search for secrets; "indexed" is `MemoryStore.index` with the static model
into a store on disk. Plain text of the same size is the baseline, measured in turn with each kind.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from jupyter_memory import MemoryStore
from jupyter_memory.ingest.readers.registry import BUILT_IN
from jupyter_memory.ingest.reading import read_file

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "helpers"))
from kinds import SAMPLES

_BASELINE = ".txt"
_ROUNDS = 3


def main() -> None:
    """Print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=[], help="endings of names (default: all that have a sample)")
    parser.add_argument("--files", type=int, default=50)
    parser.add_argument("--kilobytes", type=int, default=40)
    options = parser.parse_args()
    known = [suffix for reader in BUILT_IN for suffix in reader.suffixes if suffix in SAMPLES]
    print("kind    read: files/s    MB/s    of text    indexed: files/s    MB/s    of text")
    for kind in options.kinds or known:
        with tempfile.TemporaryDirectory() as folder:
            ours = _fill(Path(folder) / "kind", kind, options.files, options.kilobytes)
            text = _fill(Path(folder) / "text", _BASELINE, options.files, options.kilobytes, SAMPLES[kind])
            _print(kind, ours, text)


def _fill(folder: Path, kind: str, files: int, kilobytes: int, sample: str = "") -> list[Path]:
    folder.mkdir()
    text = sample or SAMPLES[kind]
    for number in range(files):
        repeated = text.replace("net", f"net{number}") * (kilobytes * 1_000 // len(text))
        (folder / f"{number}{kind}").write_text(repeated, encoding="utf-8")
    return sorted(folder.iterdir())


def _print(kind: str, ours: list[Path], text: list[Path]) -> None:
    megabytes = sum(path.stat().st_size for path in ours) / 1e6
    cells = []
    for work in (_read, _indexed):
        seconds, baseline = _best(lambda work=work: work(ours)), _best(lambda work=work: work(text))
        cells.append(f"{len(ours) / seconds:>16,.0f} {megabytes / seconds:>7.2f} {seconds / baseline:>9.2f}x")
    print(f"{kind:<7}", *cells, flush=True)


def _best(work: Callable[[], None]) -> float:
    """Return the seconds of the fastest of a few rounds: others use the machine too."""
    found = []
    for _ in range(_ROUNDS):
        begun = time.perf_counter()
        work()
        found.append(time.perf_counter() - begun)
    return min(found)


def _read(paths: list[Path]) -> None:
    for path in paths:
        read_file(path, root=path.parent)


def _indexed(paths: list[Path]) -> None:
    with tempfile.TemporaryDirectory() as folder, MemoryStore(f"{folder}/memory.sqlite", "static") as store:
        store.index(paths[0].parent, progress=False)


if __name__ == "__main__":
    main()
