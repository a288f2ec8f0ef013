"""The DataFrame that a search gives: its columns, and what a row holds."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from results import AUTO_TERMS, JOINING, dtypes

from jupyter_memory.search.profiles import auto
from jupyter_memory.types import Run, RunError

DTYPES = {
    "title": "str",
    "snippet": "str",
    "badges": "str",
    "score": "float64",
    "strength": "float64",
    "kind": "str",
    "tier": "str",
    "source": "str",
    "location": "str",
    "tags": "object",
    "event_at": "datetime64[us, UTC]",
    "lang": "str",
    "session": "str",
    "domain": "str",
    "space": "str",
    "freshness": "str",
    "kw_rank": "Int64",
    "sem_rank": "Int64",
    "bm25": "float64",
    "cosine": "float64",
}
SIGNALS = {f"value_{name}": "float64" for name in ("tier", "title", "recency")}
TERMS = {f"contrib_{name}": "float64" for name in ("vector", "keyword", "tier", "title", "recency")}
FULL = {**DTYPES, **SIGNALS, **TERMS, "memory_id": "str"}
AUTO = {
    **DTYPES,
    **{f"value_{name}": "float64" for name in AUTO_TERMS if name != "keyword"},
    **{f"contrib_{name}": "float64" for name in AUTO_TERMS},
    "memory_id": "str",
}
TROVELLA = {**DTYPES, "contrib_keyword": "float64", "contrib_vector": "float64", "memory_id": "str"}
SCAN = {
    "title": "str",
    "score": "float64",
    "kind": "str",
    "domain": "str",
    "tags": "object",
    "snippet": "str",
    "token_estimate": "int64",
    "memory_id": "str",
}


@pytest.mark.parametrize("query", [JOINING, "zzqx"], ids=["full", "empty"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, AUTO), ({"profile": "covalence"}, FULL), ({"profile": "trovella"}, TROVELLA), ({"mode": "scan"}, SCAN)],
    ids=["auto", "covalence", "trovella", "scan"],
)
def test_columns_are_always_the_same(week_store, query, options, expected):
    """A result has the columns of its profile, in order and with their dtypes, with hits or without."""
    frame = week_store.search(
        query, filters={"kind": ["cell", "note"]} if query == JOINING else {"tag": "λ"}, **options
    )

    assert bool(len(frame)) == (query == JOINING)
    assert dtypes(frame) == list(expected.items())
    assert isinstance(frame.index, pd.RangeIndex)
    assert (frame.index.name, frame.index.start, frame.index.step) == ("rank", 1, 1)


def test_an_empty_store_gives_the_same_columns(store):
    """Nothing stored yet is an empty result like any other."""
    frame = store().search("prices")

    assert dtypes(frame) == list(AUTO.items())
    assert frame.empty and frame.index.name == "rank"


def test_browsing_has_no_scores(week_store):
    """A list without a question has the same columns but for the evidence, and NaN for a score."""
    frame = week_store.browse(limit=3)

    assert dtypes(frame) == list({**DTYPES, "memory_id": "str"}.items())
    assert list(frame.index) == [1, 2, 3]
    assert frame["score"].isna().all() and set(frame["badges"]) == {""}
    assert frame["kw_rank"].isna().all() and frame["cosine"].isna().all()


def test_a_signal_of_ones_own_has_its_columns(week_store):
    """A signal that a user adds is seen like the others: its values and its contributions."""

    class Length:
        name = "length"

        def __call__(self, query, pool, /):
            return {one.key: float(len(one.memory.text)) if one.memory.kind == "note" else np.nan for one in pool}

    frame = week_store.search(JOINING, profile=auto.with_signal(Length(), weight=0.001))

    assert list(frame.columns)[-2:] == ["contrib_length", "memory_id"]
    assert frame["value_length"].notna().equals(frame["kind"] == "note")
    assert frame["contrib_length"].equals((frame["value_length"] * 0.001).fillna(0.0))
    assert "0.081000 for length (length, value 81)." in str(frame.memory.explain(1, all=True))


def test_the_score_is_the_sum_of_its_columns(found):
    """Every point of a score is in one of the contrib_ columns."""
    assert np.allclose(found.filter(like="contrib_").sum(axis=1), found["score"], rtol=0, atol=1e-9)
    assert found["score"].is_monotonic_decreasing


def test_a_row_says_what_its_memory_is(week_store, week_memories, found):
    """Each row holds its memory's own values."""
    for _, row in found.iterrows():
        memory = week_memories[row["title"]]
        assert row["memory_id"] == memory.id
        assert (row["kind"], row["tier"], row["tags"]) == (memory.kind, memory.tier, memory.tags)
        assert (row["source"], row["event_at"].to_pydatetime()) == (memory.source, memory.event_at)
    assert {type(tags) for tags in found["tags"]} == {tuple}
    assert set(found["badges"]) >= {"KW+SEM"}
    assert (found["badges"].str.contains("KW") == found["kw_rank"].notna()).all()
    assert (found["badges"].str.contains("SEM") == found["sem_rank"].notna()).all()


def test_a_memory_without_tags_has_an_empty_tuple(store):
    """Columns of objects stay columns, for one row of empty tuples as for several of equal length."""
    memory = store()
    memory.add("λ of the prices", tags=[])
    assert memory.search("λ prices")["tags"].tolist() == [()]

    memory.add("λ of the orders", tags=["a", "ü"])
    memory.add("λ of the deliveries", tags=["a", "b"])
    assert sorted(memory.search("λ", mode="scan")["tags"]) == [(), ("a", "b"), ("a", "ü")]


@pytest.mark.parametrize("mode", ["full", "scan"])
def test_a_failed_run_says_so_in_its_title(store, mode):
    """The columns stay as they are; the title of a text whose last run failed ends with the error, also where cut."""
    memory = store()
    now, error = datetime.now(UTC), RunError("KeyError", "'rate'")
    fine = Run("rates.mean()", now, "monday", 1, "ok")
    failed = Run("rates['rate'].rolling(7).mean().plot(title='λ by week')", now, "monday", 2, "error", error=error)
    memory.history.record([fine, failed])
    found = memory.search("rates mean", mode=mode)

    assert sorted(found["title"]) == ["rates.mean()", f"{failed.source} – failed: KeyError"]
    assert "failed: KeyError" in repr(memory.search("rates mean"))


def test_scan_costs_little(store):
    """The first pass shows the first 120 characters and estimates the tokens of the whole text."""
    memory = store()
    memory.add("We scaled the prices in Zürich. " * 50, title="Prices", domain="forecasting")
    [row] = memory.search("prices", mode="scan").to_dict("records")

    assert row["token_estimate"] == 50 * 32 // 4
    assert len(row["snippet"]) == 120
    assert (row["domain"], row["title"]) == ("forecasting", "Prices")
