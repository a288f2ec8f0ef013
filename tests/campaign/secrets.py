"""Made-up secrets of many formats, and of a grammar of where people type them, stored for real: none may be left in
the bytes of the file.

The memories of the judged sets and notebooks, which have no secrets, must stay as they are. What is marked wrongly is
counted there.
"""

import json
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

from inside import bytes_beside
from pictures import saved
from secret_places import typed
from secret_texts import FORMATS, PLACEMENTS, Planted, planted

from campaign import Dose, Figures, Loss
from jupyter_memory import MemoryStore
from jupyter_memory.ingest import read_file, redact, suspicious

# Shares of placements that have to be caught, and the most false marks in 10,000 memories.
_LEAST = 0.97
_MOST = 1.0
DATA = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", Path(__file__).parents[2].parent / "shared" / "data"))


def run(dose: Dose) -> Figures:
    """Store every format in every placement, and all that the grammar makes; then mark the judged sets."""
    figures: dict[str, int | float | str] = {"formats": len(FORMATS)}
    for name, made in ((f"placements in {len(PLACEMENTS)} kinds", planted), ("placements by the grammar", typed)):
        missed: list[tuple[str, str]] = []
        tried = 0
        for _ in range(dose.times(20)):
            seed = dose.random().randrange(1 << 30) + tried
            texts = list(made(random.Random(seed)))
            missed += [(text.format, text.placement) for text in _left(texts, dose.folder / str(seed))]
            tried += len(texts)
        caught = 1 - len(missed) / tried
        everywhere = len({text.format for text in texts}) - len({format_ for format_, _ in missed})
        figures |= {name: tried, f"% of the {name} caught": round(100 * caught, 2), f"{name} never missed": everywhere}
        if caught < _LEAST:
            raise Loss(f"{caught:.1%} of {tried} {name} were caught with seed {dose.seed}; missed: {sorted({*missed})}")
    if DATA.is_dir():
        memories = list(_memories(dose.times(100_000, least=2_000)))
        marked = sum(
            redact(text, hints)[1] for text, hints in zip(memories, suspicious(memories), strict=True) if hints
        )
        figures |= {"real memories": len(memories), "false marks": marked}
        if marked > max(1, _MOST * len(memories) / 10_000):
            raise Loss(f"{marked} marks in {len(memories)} memories without secrets, with seed {dose.seed}")
    return figures


def _left(texts: list[Planted], folder: Path) -> Iterator[Planted]:
    """Store texts in a store of their own, as notes and as files, and yield those whose secrets are in its bytes."""
    cells = [
        _cell(text, number) for number, text in enumerate(texts) if text.placement in ("code", "output", "traceback")
    ]
    saved(folder / "work" / "cells.ipynb", *cells)
    with MemoryStore(folder / "memory.sqlite") as store:
        store.index(folder / "work")
        for text in texts:
            if text.placement in ("markdown", "yaml", "json"):
                store.add(text.text)
    stored = bytes_beside(folder / "memory.sqlite")
    for text in texts:
        if any(secret.encode() in stored for secret in text.secrets):
            yield text
    shutil.rmtree(folder)


def _cell(text: Planted, number: int) -> dict[str, object]:
    outputs: list[dict[str, object]] = []
    if text.placement == "output":
        outputs = [{"output_type": "stream", "name": "stdout", "text": text.text}]
    if text.placement == "traceback":
        lines = text.text.split("\n")
        outputs = [{"output_type": "error", "ename": "ValueError", "evalue": "refused", "traceback": lines}]
    source = text.text if text.placement == "code" else f"show({number})"
    cell = {"cell_type": "code", "id": f"cell-{number}", "metadata": {}, "execution_count": 1}
    return {**cell, "source": source, "outputs": outputs}


def _memories(most: int) -> Iterator[str]:
    count = 0
    for path in sorted(DATA.rglob("*")):
        if path.suffix in (".ipynb", ".md"):
            texts = [draft.text for draft in read_file(path, root=DATA, redacting=False)]
        elif path.name == "corpus.jsonl":
            records = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
            texts = ["\n".join(value for value in record.values() if isinstance(value, str)) for record in records]
        else:
            continue
        yield from texts[: most - count]
        count += len(texts)
        if count >= most:
            return
