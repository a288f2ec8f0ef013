"""Times in the questions of the judged sets: found where they are, and in no others."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from jupyter_memory.search.query.temporal import temporal_expression

NOW = datetime(2026, 11, 21, 20, 0, tzinfo=ZoneInfo("Europe/Zurich"))
JUDGED = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", Path(__file__).parents[4] / "shared" / "data")) / "judged"


def lines(name: str) -> list[dict]:
    """Return the objects of a judged file; skip where it is missing."""
    path = JUDGED / name
    if not path.exists():
        pytest.skip(f"{path} is not there: set JUPYTER_MEMORY_TEST_DATA to the folder of the judged sets")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_ranges_of_dated_conversations():
    """Of 912 questions about a time or a session, the range holds the relevant memories and nearly no others."""
    groups, relevant = defaultdict(list), defaultdict(set)
    for document in lines("tmd/corpus.jsonl"):
        groups[document["group"]].append(document)
    for line in (JUDGED / "tmd" / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, document, _ = line.split("\t")
        relevant[query].add(document)
    recalls, precisions = defaultdict(list), defaultdict(list)
    for query in lines("tmd/queries.jsonl"):
        found = temporal_expression(
            query["text"], datetime.fromisoformat(query["date"]).replace(tzinfo=ZoneInfo("UTC"))
        )
        group = groups[query["group"]]
        newest = max(map(session_of, group))
        inside = {one["_id"] for one in group if lies_in(one, found, newest)}
        hit = inside & relevant[query["_id"]]
        recalls[query["type"]].append(len(hit) / len(relevant[query["_id"]]))
        precisions[query["type"]].append(len(hit) / len(inside) if inside else 0.0)

    # One conversation of six says "last Saturday" for the Saturday before; two sessions of a day cannot be told apart.
    least = {"last_named_day": 0.8, "dates": 0.95}
    for kind, values in recalls.items():
        assert sum(values) / len(values) >= least.get(kind, 0.98), kind
        if kind != "content_time_qs":
            assert sum(precisions[kind]) / len(values) >= least.get(kind, 0.98), kind


def session_of(document):
    """Return the number of a document's session."""
    return int(document["session"].rpartition("_")[2])


def lies_in(document, found, newest):
    """Return whether a document lies in what was read."""
    if found is None:
        return False
    if found.sessions:
        first, last = found.sessions.among(newest)
        return first <= session_of(document) <= last
    at = datetime.fromisoformat(document["date"]).replace(tzinfo=UTC)
    return (found.since is None or at >= found.since) and (found.until is None or at < found.until)


@pytest.mark.parametrize("name", ["scifact", "cosqa", "notebooks"])
def test_questions_without_a_time(name):
    """Claims of science, searches for code and for cells name no time, and none is read into them."""
    fired = [query["text"] for query in lines(f"{name}/queries.jsonl") if temporal_expression(query["text"], NOW)]
    assert fired == []
