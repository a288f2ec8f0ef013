"""How long a person waits for the panel: from a key to painted results, and for Lab to start with it and without.

    python benchmarks/panel.py [--chunks 10000] [--questions 40] [--work FOLDER]

A store of so many functions and classes (see corpus.py) is searched in a real JupyterLab in the system's Chromium, as
in ui-tests/: each question is typed, and the clock runs from its last letter until the browser has painted the hits.
The panel waits 250 ms for another letter before it asks; that is taken off. Lab is loaded in turns with the extension
and with the same page without it, until its layout is restored. A panel older than its sources is built anew first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from corpus import WORK, read_corpus

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder

ROOT = Path(__file__).resolve().parent.parent
UI_TESTS = ROOT / "ui-tests"
PLAYWRIGHT = UI_TESTS / "node_modules/.bin/playwright"
DEBOUNCE_MS = 250
TARGET_MS = 150
_WARM_UP = 5


def store_of(chunks: int, work: Path) -> Path:
    """Return the file of a store with so many chunks, made if it is not there."""
    path = work / f"panel-{chunks}.sqlite"
    if not path.exists():
        with MemoryStore(path, embedder=StaticEmbedder()) as store:
            store.add_many(read_corpus(chunks, 0, work=work).records)
    return path


def measure(store: Path, questions: list[str]) -> list[dict[str, float]]:
    """Return what the browser measured, a row an observation."""
    with tempfile.TemporaryDirectory() as scratch:
        output, asked = Path(scratch, "rows.jsonl"), Path(scratch, "questions.json")
        asked.write_text(json.dumps(questions), encoding="utf-8")
        environment = {
            **os.environ,
            "BENCH_STORE": str(store),
            "BENCH_OUTPUT": str(output),
            "BENCH_QUESTIONS": str(asked),
        }
        command = [PLAYWRIGHT, "test", "--config", "bench.config.js"]
        subprocess.run(command, cwd=UI_TESTS, env=environment, check=True)
        return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def spread(name: str, values: list[float]) -> str:
    """Return one line with median and 90th percentile."""
    return f"{name:<46} p50 {np.median(values):6.0f} ms   p90 {np.percentile(values, 90):6.0f} ms   n {len(values)}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--work", type=Path, default=WORK)
    options = parser.parse_args()
    if not PLAYWRIGHT.exists():
        sys.exit("The browser tests are not set up, and this needs what they use. Set them up with: make ui")
    subprocess.run([sys.executable, ROOT / "scripts/build_panel.py"], check=True)
    questions = read_corpus(options.chunks, options.questions + _WARM_UP, work=options.work).questions
    rows = measure(store_of(options.chunks, options.work), questions)
    searches = [row for row in rows if row["what"] == "search"][_WARM_UP:]
    print(f"\n{options.chunks:,} chunks, {os.cpu_count()} CPUs; target {TARGET_MS} ms after the debounce")
    print(spread("from the key to painted hits, after the debounce", [row["total"] - DEBOUNCE_MS for row in searches]))
    print(spread("  of it, in the store", [row["server"] for row in searches if row.get("server")]))
    for what in ("with", "without"):
        print(spread(f"Lab restored, {what} the extension", [row["total"] for row in rows if row["what"] == what]))


if __name__ == "__main__":
    main()
