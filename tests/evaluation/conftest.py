"""A small judged set of our own: a data scientist's week."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DOCUMENTS = [
    {"_id": "scale", "title": "Prices", "text": "We scaled the electricity prices to zero mean and unit variance."},
    {"_id": "lags", "title": "Features", "text": "Lags of a day and a week help the demand forecast most."},
    {"_id": "join", "title": "Tables", "text": "The left join on the meter id doubled the rows of Zürich."},
    {"_id": "lambda", "title": "λ", "text": "Ridge regression with λ = 0.3 after cross-validation."},
    {"_id": "again", "title": "Tables", "text": "The left join on the meter id doubled the rows of Zürich."},
]
QUERIES = [
    {"_id": "q1", "text": "how were the electricity prices scaled", "type": "task"},
    {"_id": "q2", "text": "left join doubled rows", "type": "exact"},
    {"_id": "q3", "text": "λ cross-validation", "type": "exact"},
    {"_id": "q4", "text": "which wine to bring"},
]
QRELS = [("q1", "scale", 2), ("q2", "join", 1), ("q2", "again", 1), ("q3", "lambda", 1), ("q3", "lags", 0)]


@pytest.fixture
def judged_folder(tmp_path: Path) -> Callable[..., Path]:
    """``judged_folder(documents=…, queries=…, qrels=…)`` writes a judged set and returns its folder."""

    def write(
        name: str = "week", documents: list[Any] = DOCUMENTS, queries: list[Any] = QUERIES, qrels: list[Any] = QRELS
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        for file, lines in (("corpus.jsonl", documents), ("queries.jsonl", queries)):
            (folder / file).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        rows = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row)) for row in qrels)]
        (folder / "qrels.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
        return folder

    return write
