"""The accessor of a result: why a row stands where it stands, its text, and all numbers in long form."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from results import AUTO_TERMS, JOINING, dtypes

from jupyter_memory import InputError, UnknownMemory
from jupyter_memory.types import Explanation


def test_explain(found):
    """The explanation of a row has its rank and the very numbers of the frame."""
    for rank, row in found.iterrows():
        why = found.memory.explain(rank)

        assert isinstance(why, Explanation)
        assert (why.rank, why.memory.id, why.query) == (rank, row["memory_id"], JOINING)
        assert why.hit.score == row["score"]
        assert f"Rank {rank} of {len(found)} candidates with the profile auto: score {row['score']:.6f}, " in str(why)
        assert len(why.reasons) <= 5 < len(found.memory.explain(rank, all=True).reasons)


def test_the_explanation_is_of_the_answer_that_was_given(week_store, found):
    """What was stored since does not change why a row stood where it stood."""
    before = str(found.memory.explain(1))
    week_store.add(f"{JOINING}: {JOINING}.", title=JOINING, tier="core")

    assert str(found.memory.explain(1)) == before
    assert week_store.search(JOINING).loc[1, "memory_id"] != found.loc[1, "memory_id"]


def test_a_memory_that_was_forgotten_since(week_store, found):
    """What was forgotten is gone for the accessor too."""
    week_store.forget(found.loc[1, "memory_id"])

    with pytest.raises(UnknownMemory, match="No memory has the id"):
        found.memory.text(1)
    with pytest.raises(UnknownMemory):
        found.memory.explain(1)


def test_text(week_memories, found):
    """The whole text of a row."""
    assert found.memory.text(2) == week_memories[found.loc[2, "title"]].text


def test_reading_and_opening_count_as_uses(week_store, found):
    """A text that is read in full and a place that is opened count; an explanation and a table do not."""
    first, second = found["memory_id"].iloc[:2]
    found.memory.text(1)
    found.memory.explain(1)
    found.memory.breakdown()
    found.assign(source="/week/λ.ipynb").memory.open(2)

    assert [week_store.get(one).accessed for one in (first, second)] == [1, 1]


def test_without_a_rank_it_is_the_first(found):
    """The first result is meant where no rank is named, and the accessor itself names what it can tell."""
    assert str(found.memory.explain()) == str(found.memory.explain(1))
    assert found.memory.text() == found.memory.text(1)
    assert "explain(rank, all=True)" in repr(found.memory) and "plot()" in repr(found.memory)


@pytest.mark.parametrize("verb", ["explain", "text", "open"])
def test_a_rank_that_is_not_there(week_store, found, verb):
    """A wrong rank is answered with the right ones."""
    with pytest.raises(InputError, match=r"There is no rank 9 in this result\. Ranks: 2, 1\."):
        getattr(found.loc[[2, 1]].memory, verb)(9)
    with pytest.raises(InputError, match=r"There is no rank 0 in this result\. Ranks: none: the result is empty\."):
        getattr(week_store.search("prices", filters={"tag": "λ"}).memory, verb)(0)


@pytest.mark.parametrize("rank", ["1", True, None, [1, 2], slice(1, 3)], ids=repr)
def test_a_rank_that_is_no_number(found, rank):
    """What is no number is told to be none, and not that rank 1 is missing among 1, 2 and 3."""
    with pytest.raises(InputError, match="A rank is a number, such as 1"):
        found.memory.explain(rank)
    assert found.memory.text(np.int64(1)) == found.memory.text(1.0) == found.memory.text(1)


def test_rows_go_by_their_rank(found):
    """Sorted and filtered, a row is asked by the rank that it shows."""
    turned = found.sort_values("score").tail(2)

    assert list(turned.index) == [2, 1]
    assert turned.memory.text(1) == found.memory.text(1)
    assert turned.reset_index().memory.text(1) == found.memory.text(1)


def test_rows_that_have_lost_their_ranks(found):
    """Numbered anew, rows are not mistaken for others: the accessor asks for the index back."""
    for frame in (found.sort_values("score", ignore_index=True), found.reset_index(drop=True)):
        with pytest.raises(InputError, match="have lost their ranks"):
            frame.memory.text(1)
        with pytest.raises(InputError, match="have lost their ranks"):
            frame.memory.breakdown()


def test_breakdown(found):
    """The long form has a row for each hit and signal, and each hit's contributions add up to its score."""
    long = found.memory.breakdown()

    assert dtypes(long) == [
        ("rank", "int64"),
        ("title", "str"),
        ("signal", "str"),
        ("value", "float64"),
        ("signal_rank", "Int64"),
        ("contribution", "float64"),
        ("memory_id", "str"),
    ]
    assert list(long["signal"].unique()) == list(AUTO_TERMS)
    assert np.allclose(long.groupby("rank")["contribution"].sum(), found["score"], rtol=0, atol=1e-9)
    absent = long[long["signal_rank"].isna()]
    assert len(absent) and absent["value"].isna().all() and (absent["contribution"] == 0).all()


def test_breakdown_of_nothing(week_store):
    """Without hits the long form is empty, its columns as always."""
    empty = week_store.search("zzqx", filters={"tag": "λ"}).memory.breakdown()

    assert empty.empty
    assert [str(dtype) for dtype in empty.dtypes] == ["int64", "str", "str", "float64", "Int64", "float64", "str"]


def test_when_the_answer_is_long_past(week_store, found, now):
    """Only the last answers are kept whole; an older frame is broken down by its columns and explained anew."""
    early = found.memory.breakdown()
    for _ in range(33):
        week_store.search("prices")
    late = found.memory.breakdown()

    assert late.drop(columns="signal_rank").equals(early.drop(columns="signal_rank"))
    retrievers = late["signal"].isin(["vector", "keyword"])
    assert late.loc[retrievers, "signal_rank"].equals(early.loc[retrievers, "signal_rank"])
    assert found.memory.explain(1).memory.id == found.loc[1, "memory_id"]
    assert (
        found.memory.text(1) and found[["memory_id", "title", "contrib_tier"]].memory.breakdown()["value"].isna().all()
    )


def test_a_list_has_nothing_to_explain(week_store):
    """Of memories that were listed without a question there is no explanation, but their texts."""
    listed = week_store.browse(limit=2)

    with pytest.raises(InputError, match="listed without a question"):
        listed.memory.explain(1)
    assert "customer_id" in listed.memory.text(1)
    assert listed.memory.breakdown().empty
    assert "Joining orders" in listed.memory.style().to_html()


def test_the_accessor_asks_the_store_of_the_result(store, monkeypatch, tmp_path):
    """A result knows its store, whatever the default one is, and opens it again when it was closed."""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "default.sqlite"))
    lab, shop = store("lab.sqlite"), store("shop.sqlite")
    lab.add("λ in the lab")
    shop.add("λ in the shop")
    in_lab, in_shop = lab.search("λ"), shop.search("λ")
    assert (in_lab.memory.text(1), in_shop.memory.text(1)) == ("λ in the lab", "λ in the shop")

    lab.close()
    assert in_lab.memory.text(1) == "λ in the lab"
    assert in_lab.memory.explain(1).rank == 1
    assert not (tmp_path / "default.sqlite").exists()

    from jupyter_memory import open_store

    open_store(lab.path).close()


def test_a_store_that_is_gone(store):
    """A result outlives its store; asked then, it says so and makes no new one."""
    lab = store("lab.sqlite")
    lab.add("λ in the lab")
    frame = lab.search("λ")
    lab.close()
    lab.path.unlink()

    with pytest.raises(InputError, match="is not there any more"):
        frame.memory.text(1)
    assert not lab.path.exists()


def test_a_search_bound_in_time_is_explained_as_it_was(week_store, now):
    """The explanation of a row knows the filters and the moment of its search."""
    frame = week_store.search("prices", filters={"tag": "prices"}, now=now + timedelta(days=365))
    why = frame.memory.explain(1)

    assert why.hit.signals["recency"].value == frame.loc[1, "value_recency"] < 0.51
    assert f"of {len(frame)} candidates" in str(why)
