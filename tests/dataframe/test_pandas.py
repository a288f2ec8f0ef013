"""A result of a search among pandas' own verbs: copied, put together, written, and what it knows beside its columns."""

from __future__ import annotations

import json
import pickle

import pandas as pd
import pytest
from results import JOINING

from jupyter_memory import InputError


def test_attrs_are_one_small_json_value(week_store, now):
    """What a result knows beside its columns is JSON, with these keys."""
    frame = week_store.search(JOINING, since="2026-03-02", now=now)
    attrs = json.loads(json.dumps(frame.attrs, allow_nan=False))["memsearch"]

    assert attrs == frame.attrs["memsearch"]
    assert attrs.pop("elapsed_ms") > 0 and attrs.pop("query_id")
    assert attrs == {
        "query": JOINING,
        "profile": "auto",
        "verdict": "strong",
        "query_class": "semantic",
        "time_range": ["2026-03-02T00:00:00+00:00", None],
        "store": str(week_store.path),
    }


def test_the_result_goes_through_pandas(found):
    """Head, sort, filter, copy, pickle and a choice of columns keep what the accessor needs."""
    first = found.loc[1, "memory_id"]
    for frame in (
        found.head(2),
        found.sort_values("cosine"),
        found[found["badges"] == "KW+SEM"],
        found.copy(),
        pickle.loads(pickle.dumps(found)),
        found[["title", "memory_id"]],
        found.query("score > 0.01").reset_index(),
    ):
        assert frame.attrs == found.attrs
        assert frame.memory.explain(1).memory.id == first


@pytest.fixture
def other(week_store):
    """The result of another question, which shares memories with ``found``."""
    return week_store.search("prices")


def test_results_can_be_put_together(found, other):
    """pd.concat keeps .memory for the rows of either: by the memory's id, and by a rank that one alone has."""
    both = pd.concat([found.head(2), other.iloc[2:]])

    assert json.loads(json.dumps(both.attrs, allow_nan=False)) == both.attrs
    assert both.memory.explain(1).query == JOINING and both.memory.explain(3).query == "prices"
    for frame in (found, other):
        first = frame.loc[1, "memory_id"]
        whole = pd.concat([found, other]).memory
        assert whole.text(first) == frame.memory.text(1)
    assert pd.concat([found, found]).memory.text(1) == found.memory.text(1)


def test_rows_of_results_that_were_put_together_know_their_question(found, other):
    """A memory that both found is explained for the question of its row; keys= and new labels name a row as well."""
    both = pd.concat([found, other])
    shared = set(found["memory_id"]) & set(other["memory_id"])
    assert shared

    named = pd.concat([found, other], keys=["joins", "prices"]).memory
    assert named.explain(("prices", 1)).memory.id == other.loc[1, "memory_id"]
    assert named.explain(("prices", 1)).query == "prices" and named.explain(("joins", 1)).query == JOINING
    fresh = pd.concat([found, other], ignore_index=True).memory
    assert fresh.explain(len(found)).query == "prices"
    assert len(both.memory.breakdown()) == len(found.memory.breakdown()) + len(other.memory.breakdown())
    assert both.memory.context().count("\n[") == both["memory_id"].nunique()


def test_several_results_and_one_more(week_store, found, other):
    """What was put together can be put together again; pickled, it still knows its searches."""
    third = week_store.search("customers")
    more = pickle.loads(pickle.dumps(pd.concat([pd.concat([found, other]), third])))

    assert [one["query"] for one in more.attrs["memsearch"]["results"]] == [JOINING, "prices", "customers"]
    assert more.memory.text(third.loc[1, "memory_id"]) == third.memory.text(1)
    assert len(more) == len(found) + len(other) + len(third) and f"{len(more)} memories" in repr(more)


def test_a_name_that_no_row_has(found, other):
    """An id or a label that is not there is refused with those that are."""
    both = pd.concat([found, other], keys=["a", "b"]).memory

    for name in ("0" * 16, ("c", 1)):
        with pytest.raises(InputError, match="There is no"):
            both.text(name)
    with pytest.raises(InputError, match=f"name the memory by its id, such as '{found.loc[1, 'memory_id']}'"):
        both.text(1)


def test_ranks_that_two_answers_share(week_store, found):
    """Where one rank stands for two memories, none is chosen."""
    other = found.copy()
    other["memory_id"] = other["memory_id"].to_numpy()[::-1]

    with pytest.raises(InputError, match="Several rows of this DataFrame have the rank 1"):
        pd.concat([found, other]).memory.text(1)


def test_a_result_without_its_attrs(found):
    """A frame that is no result, or has lost what it was, gets a clear AttributeError."""
    bare = found.copy()
    bare.attrs = {}
    for frame in (bare, found.drop(columns="memory_id"), pd.DataFrame({"λ": [1]})):
        with pytest.raises(AttributeError, match="with its memory_id column and its attrs"):
            _ = frame.memory
        assert not hasattr(frame, "memory")


def test_parquet(found, tmp_path):
    """Written to Parquet and read back, a result is the same, attrs and all."""
    pytest.importorskip("pyarrow", reason="writing Parquet needs pyarrow")
    found.to_parquet(tmp_path / "found.parquet")
    back = pd.read_parquet(tmp_path / "found.parquet")

    assert back.attrs == found.attrs
    assert back.index.equals(found.index)
    assert back["score"].equals(found["score"])


def test_a_result_survives_a_copy(found):
    """Pickled, concatenated or copied, a result keeps its rows, its columns and its way of being shown."""
    again = pickle.loads(pickle.dumps(found))

    pd.testing.assert_frame_equal(again, found)
    assert repr(again) == repr(found.copy()) == repr(found)
    assert len(pd.concat([found, found])) == 2 * len(found)
