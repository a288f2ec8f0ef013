"""A result as a DataFrame: its columns, its types, and what goes through pandas."""

import json
import pickle
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from results import AUTO_TERMS, JOINING, dtypes

from jupyter_memory import InputError
from jupyter_memory.search import auto
from jupyter_memory.types import Run, RunError

DTYPES = {
    **dict.fromkeys(("title", "snippet", "badges"), "str"), **dict.fromkeys(("score", "strength"), "float64"),
    **dict.fromkeys(("kind", "tier", "source", "location"), "str"), "tags": "object",
    "event_at": "datetime64[us, UTC]",
    **dict.fromkeys(("lang", "session", "domain", "space", "store", "folder_description", "freshness"), "str"),
    **dict.fromkeys(("kw_rank", "sem_rank"), "Int64"), **dict.fromkeys(("bm25", "cosine"), "float64"),
}  # fmt: skip
BROWSED = {**DTYPES, "memory_id": "str"}
SCAN = {
    "title": "str", "score": "float64", "kind": "str", "domain": "str", "tags": "object", "snippet": "str",
    "token_estimate": "int64", "store": "str", "memory_id": "str",
}  # fmt: skip


def full(values, contributions):
    names = [f"value_{name}" for name in values] + [f"contrib_{name}" for name in contributions]
    return {**DTYPES, **dict.fromkeys(names, "float64"), "memory_id": "str"}


AUTO = full([name for name in AUTO_TERMS if name != "keyword"], AUTO_TERMS)
COVALENCE = full(("tier", "title", "recency"), ("vector", "keyword", "tier", "title", "recency"))


@pytest.mark.parametrize("query", [JOINING, "zzqx"], ids=["full", "empty"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, AUTO),
        ({"profile": "covalence"}, COVALENCE),
        ({"profile": "trovella"}, full((), ("keyword", "vector"))),
        ({"mode": "scan"}, SCAN),
    ],
    ids=["auto", "covalence", "trovella", "scan"],
)
def test_columns_are_always_the_same(week_store, query, options, expected):
    """A result has the columns of its profile, in order and with their dtypes, with hits or without."""
    filters = {"kind": ["cell", "note"]} if query == JOINING else {"tag": "λ"}
    frame = week_store.search(query, filters=filters, **options)
    assert bool(len(frame)) == (query == JOINING) and dtypes(frame) == list(expected.items())
    assert isinstance(frame.index, pd.RangeIndex)
    assert (frame.index.name, frame.index.start, frame.index.step) == ("rank", 1, 1)


def test_lists_and_empty_stores(store, week_store):
    """A list without a question has no evidence, and NaN for a score; nothing stored yet is a result like any other."""
    frame = week_store.browse(limit=3)
    assert dtypes(frame) == list(BROWSED.items()) and list(frame.index) == [1, 2, 3]
    assert frame["score"].isna().all() and set(frame["badges"]) == {""}
    assert frame["kw_rank"].isna().all() and frame["cosine"].isna().all()
    empty = store("empty.sqlite").search("prices")
    assert dtypes(empty) == list(AUTO.items()) and empty.empty and empty.index.name == "rank"


def test_a_signal_of_ones_own_has_its_columns(week_store):
    class Length:
        name = "length"

        def __call__(self, query, pool, /):
            return {one.key: float(len(one.memory.text)) if one.memory.kind == "note" else np.nan for one in pool}

    frame = week_store.search(JOINING, profile=auto.with_signal(Length(), weight=0.001))
    assert list(frame.columns)[-2:] == ["contrib_length", "memory_id"]
    assert frame["value_length"].notna().equals(frame["kind"] == "note")
    assert frame["contrib_length"].equals((frame["value_length"] * 0.001).fillna(0.0))
    assert "0.081000 for length (length, value 81)." in str(frame.memory.explain(1, all=True))


def test_a_row_says_what_its_memory_is(week_memories, found):
    for _, row in found.iterrows():
        memory = week_memories[row["title"]]
        assert (row["memory_id"], row["kind"], row["tier"]) == (memory.id, memory.kind, memory.tier)
        assert (row["tags"], row["source"]) == (memory.tags, memory.source)
        assert row["event_at"].to_pydatetime() == memory.event_at
    assert np.allclose(found.filter(like="contrib_").sum(axis=1), found["score"], rtol=0, atol=1e-9)
    assert found["score"].is_monotonic_decreasing and set(found["badges"]) >= {"KW+SEM"}
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
    titles = memory.search("rates mean", mode=mode)["title"]
    assert sorted(titles) == ["rates.mean()", f"{failed.source} – failed: KeyError"]
    assert "failed: KeyError" in repr(memory.search("rates mean"))


def test_scan_costs_little(store):
    """The first pass shows the first 120 characters and estimates the tokens of the whole text."""
    memory = store()
    memory.add("We scaled the prices in Zürich. " * 50, title="Prices", domain="forecasting")
    [row] = memory.search("prices", mode="scan").to_dict("records")
    assert (row["token_estimate"], len(row["snippet"])) == (50 * 32 // 4, 120)
    assert (row["domain"], row["title"]) == ("forecasting", "Prices")
    memory.add("We scaled the rates.", tags=["λ" * 90])
    assert " tokens · λλ" in repr(memory.search("rates", mode="scan"))


def test_attrs_are_one_small_json_value(week_store, now):
    frame = week_store.search(JOINING, since="2026-03-02", now=now)
    attrs = json.loads(json.dumps(frame.attrs, allow_nan=False))["memsearch"]
    assert attrs == frame.attrs["memsearch"] and attrs.pop("elapsed_ms") > 0 and attrs.pop("query_id")
    assert attrs == {
        "query": JOINING, "profile": "auto", "verdict": "weak", "query_class": "semantic",
        "time_range": ["2026-03-02T00:00:00+00:00", None], "store": str(week_store.path),
    }  # fmt: skip


def test_the_result_goes_through_pandas(found, tmp_path):
    """Head, sort, filter, copy, pickle, Parquet and a choice of columns keep what the accessor needs."""
    first = found.loc[1, "memory_id"]
    for frame in (
        found.head(2), found.sort_values("cosine"), found[found["badges"] == "KW+SEM"], found.copy(),
        pickle.loads(pickle.dumps(found)), found[["title", "memory_id"]], found.query("score > 0.01").reset_index(),
    ):  # fmt: skip
        assert frame.attrs == found.attrs and frame.memory.explain(1).memory.id == first
    again = pickle.loads(pickle.dumps(found))
    pd.testing.assert_frame_equal(again, found)
    assert repr(again) == repr(found.copy()) == repr(found) and len(pd.concat([found, found])) == 2 * len(found)

    pytest.importorskip("pyarrow", reason="writing Parquet needs pyarrow")
    found.to_parquet(tmp_path / "found.parquet")
    back = pd.read_parquet(tmp_path / "found.parquet")
    assert back.attrs == found.attrs and back.index.equals(found.index) and back["score"].equals(found["score"])


@pytest.fixture
def other(week_store):
    return week_store.search("prices")


def test_results_can_be_put_together(found, other, week_store):
    """pd.concat keeps .memory for each row: by id, a rank that one alone has, keys= and new labels; pickled, too."""
    both = pd.concat([found.head(2), other.iloc[2:]])
    assert json.loads(json.dumps(both.attrs, allow_nan=False)) == both.attrs
    assert both.memory.explain(1).query == JOINING and both.memory.explain(3).query == "prices"

    # A memory that both found is explained for the question of its row.
    both = pd.concat([found, other])
    assert set(found["memory_id"]) & set(other["memory_id"])
    for frame in (found, other):
        assert both.memory.text(frame.loc[1, "memory_id"]) == frame.memory.text(1)
    assert pd.concat([found, found]).memory.text(1) == found.memory.text(1)
    named = pd.concat([found, other], keys=["joins", "prices"]).memory
    assert named.explain(("prices", 1)).memory.id == other.loc[1, "memory_id"]
    assert named.explain(("prices", 1)).query == "prices" and named.explain(("joins", 1)).query == JOINING
    assert pd.concat([found, other], ignore_index=True).memory.explain(len(found)).query == "prices"
    assert len(both.memory.breakdown()) == len(found.memory.breakdown()) + len(other.memory.breakdown())
    assert both.memory.context().count("\n[") == both["memory_id"].nunique()
    third = week_store.search("customers")
    more = pickle.loads(pickle.dumps(pd.concat([pd.concat([found, other]), third])))
    assert [one["query"] for one in more.attrs["memsearch"]["results"]] == [JOINING, "prices", "customers"]
    assert more.memory.text(third.loc[1, "memory_id"]) == third.memory.text(1)
    assert len(more) == len(found) + len(other) + len(third) and f"{len(more)} memories" in repr(more)


def test_a_name_that_no_row_or_several_have(found, other):
    both = pd.concat([found, other], keys=["a", "b"]).memory
    for name in ("0" * 16, ("c", 1)):
        with pytest.raises(InputError, match="There is no"):
            both.text(name)
    with pytest.raises(InputError, match=f"name the memory by its id, such as '{found.loc[1, 'memory_id']}'"):
        both.text(1)
    turned = found.assign(memory_id=found["memory_id"].to_numpy()[::-1])
    with pytest.raises(InputError, match="Several rows have the rank 1"):
        pd.concat([found, turned]).memory.text(1)


def test_a_result_without_its_attrs(found):
    bare = found.copy()
    bare.attrs = {}
    for frame in (bare, found.drop(columns="memory_id"), pd.DataFrame({"λ": [1]})):
        with pytest.raises(AttributeError, match="with its memory_id column and its attrs"):
            _ = frame.memory
        assert not hasattr(frame, "memory")
