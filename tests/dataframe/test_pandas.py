"""A result of a search among pandas' own verbs: copied, put together, written, and what it knows beside its columns."""

from __future__ import annotations

import json
import pickle

import pandas as pd
import pytest
from results import JOINING

from jupyter_memory.errors import InputError


def test_attrs_are_one_small_json_value(week_store, now):
    """What a result knows beside its columns is JSON, with these keys."""
    frame = week_store.search(JOINING, since="2026-03-02", now=now)
    attrs = json.loads(json.dumps(frame.attrs, allow_nan=False))["memsearch"]

    assert attrs == frame.attrs["memsearch"]
    assert attrs.pop("elapsed_ms") > 0 and attrs.pop("query_id")
    assert attrs == {
        "query": JOINING,
        "profile": "auto",
        "verdict": "weak",
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


def test_results_can_be_put_together(week_store, found):
    """pd.concat of two results works; whose answer it is, nobody can tell, and the accessor says so."""
    both = pd.concat([found, week_store.search("prices")])

    assert len(both) > len(found)
    with pytest.raises(AttributeError, match="pandas drops the attrs where two different results become one"):
        _ = both.memory
    assert pd.concat([found, found]).memory.text(1) == found.memory.text(1)


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
