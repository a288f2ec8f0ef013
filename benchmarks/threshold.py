"""The cosine below which the static model's finds are noise: it loses no more than 0.3 does for MiniLM.

    jupyter-memory model use minilm
    python benchmarks/threshold.py FOLDER...

Each folder is a judged set: `corpus.jsonl` {_id, title, text, group?}, `queries.jsonl` {_id, text, group?},
`qrels.tsv` (query-id, corpus-id, score). Documents are embedded as title and text. Printed first for MiniLM itself: by
cosine, the share of relevant pairs that is lost and of unrelated ones that is kept out, the mean of the sets and the
worst of them. Then by set: the share of relevant pairs lost by MiniLM at 0.3 and, for each size of the static model,
the highest cosine that loses no more, what it loses, and the share of unrelated pairs (a document by chance from the
query's group) that it keeps out. The last line is the answer: the cosines at which no set loses more.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jupyter_memory.embedders import open_embedder

MINILM_THRESHOLD = 0.3
STEPS = (0.1, 0.15, 0.18, 0.2, 0.22, 0.25, 0.28, 0.3, 0.32, 0.35, 0.4)
DIMENSIONS = (256, 128, 64)
SEED = 20


@dataclass(frozen=True)
class Pairs:
    """Texts of a set, and which query (row) is paired with which document (row), rightly or by chance."""

    name: str
    texts: list[str]
    relevant: np.ndarray
    unrelated: np.ndarray


@dataclass(frozen=True)
class Cosines:
    """Cosines of a set's pairs under one model."""

    relevant: np.ndarray
    unrelated: np.ndarray


def read_set(folder: Path, most: int) -> Pairs:
    """Return at most ``most`` relevant pairs of a judged set, and as many by chance, with a fixed seed."""
    documents = {line["_id"]: line for line in _lines(folder / "corpus.jsonl")}
    queries = {line["_id"]: line for line in _lines(folder / "queries.jsonl")}
    with (folder / "qrels.tsv").open(encoding="utf-8", newline="") as file:
        judged = [(q, d) for q, d, score in list(csv.reader(file, delimiter="\t"))[1:] if float(score) > 0]
    judged = [(q, d) for q, d in judged if q in queries and d in documents]
    random = np.random.default_rng(SEED)
    known = set(judged)
    drawn = [judged[i] for i in random.permutation(len(judged))[:most]]
    by_group: dict[str | None, list[str]] = {}
    for key, document in documents.items():
        by_group.setdefault(document.get("group"), []).append(key)
    chance = [(q, str(random.choice(by_group[queries[q].get("group")]))) for q, _ in drawn]
    rows: dict[str, int] = {}
    relevant = _rows(rows, drawn, queries, documents)
    unrelated = _rows(rows, [pair for pair in chance if pair not in known], queries, documents)
    return Pairs(folder.name, list(rows), relevant, unrelated)


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _rows(
    rows: dict[str, int],
    pairs: list[tuple[str, str]],
    queries: dict[str, dict[str, str]],
    documents: dict[str, dict[str, str]],
) -> np.ndarray:
    """Return the rows of each pair's texts, adding to ``rows`` the texts that are new."""
    texts = [
        (queries[q]["text"], f"{documents[d].get('title') or ''}\n{documents[d]['text']}".strip()) for q, d in pairs
    ]
    return np.array([[rows.setdefault(text, len(rows)) for text in pair] for pair in texts]).reshape(-1, 2)


def cosines(pairs: Pairs, vectors: np.ndarray) -> Cosines:
    """Return the cosines of the pairs, from the unit vectors of the texts."""
    related, chance = (np.sum(vectors[p[:, 0]] * vectors[p[:, 1]], axis=1) for p in (pairs.relevant, pairs.unrelated))
    return Cosines(related, chance)


def lost(values: np.ndarray, threshold: float) -> float:
    """Return the share of pairs below a threshold."""
    return float(np.mean(values < threshold))


def highest_threshold(sets: list[Cosines], allowed: float) -> float:
    """Return the highest threshold, to 0.01, that loses at most ``allowed`` relevant pairs (mean of sets)."""
    steps = [step / 100 for step in range(-100, 101)]
    return max(step for step in steps if _mean([lost(one.relevant, step) for one in sets]) <= allowed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--pairs", type=int, default=2000, help="relevant pairs drawn from each set")
    options = parser.parse_args()

    sets = []
    for folder in options.folders:
        if (folder / "corpus.jsonl").is_file():
            sets.append(read_set(folder, options.pairs))
        else:
            print(f"{folder.name}: left out, it has no corpus.jsonl", file=sys.stderr)
    model = open_embedder("minilm")
    minilm = [cosines(pairs, model.embed_documents(pairs.texts)) for pairs in sets]
    static = {
        size: [cosines(p, open_embedder("static", dimensions=size).embed_documents(p.texts)) for p in sets]
        for size in DIMENSIONS
    }
    curve(minilm)
    report([pairs.name for pairs in sets], minilm, static)


def curve(found: list[Cosines]) -> None:
    """Print what each of a row of thresholds does to one model's pairs."""
    print(f"{'MiniLM at':>9} {'lost':>6} {'worst':>6} {'out':>6} {'worst':>6}   lost and kept out by set")
    for step in STEPS:
        gone = [lost(one.relevant, step) for one in found]
        out = [lost(one.unrelated, step) for one in found]
        each = "  ".join(f"{a:.1%} {b:.0%}" for a, b in zip(gone, out, strict=True))
        print(f"{step:9.2f} {_mean(gone):6.1%} {max(gone):6.1%} {_mean(out):6.0%} {min(out):6.0%}   {each}")


def report(names: list[str], minilm: list[Cosines], static: dict[int, list[Cosines]]) -> None:
    """Print a row for each set, then one for all (each set counts the same)."""
    sizes = "".join(f" | static-{size:<3}: at   lost   out" for size in static)
    print(f"{'set':<10} {'pairs':>5} | MiniLM at {MINILM_THRESHOLD}: lost   out{sizes}")
    groups = [[row] for row in range(len(names))] + [list(range(len(names)))]
    found_at: dict[int, list[float]] = {size: [] for size in static}
    for rows, name in zip(groups, [*names, "all"], strict=True):
        budget = _mean([lost(minilm[row].relevant, MINILM_THRESHOLD) for row in rows])
        out = _mean([lost(minilm[row].unrelated, MINILM_THRESHOLD) for row in rows])
        line = f"{name:<10} {sum(len(minilm[row].relevant) for row in rows):>5} | {budget:>19.1%} {out:>5.0%}"
        for size, found in static.items():
            mine = [found[row] for row in rows]
            at = highest_threshold(mine, budget)
            found_at[size].append(at)
            now = _mean([lost(one.relevant, at) for one in mine])
            kept_out = _mean([lost(one.unrelated, at) for one in mine])
            line += f" |       {at:>8.2f} {now:>6.1%} {kept_out:>5.0%}"
        print(line)
    print("no set loses more: " + ", ".join(f"static-{size} at {min(found_at[size]):.2f}" for size in static))


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


if __name__ == "__main__":
    main()
