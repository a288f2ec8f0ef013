"""A result as a DataFrame: its columns, what goes through pandas, and what its accessor does with a row."""

import json
import pickle
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest
from pages import Page
from pdfs import pdf_of
from pictures import plotting, saved
from results import AUTO_TERMS, JOINING, dtypes

from jupyter_memory import InputError, MissingExtra, UnknownMemory, open_store
from jupyter_memory.search import auto
from jupyter_memory.text import estimated_tokens
from jupyter_memory.types import Explanation, Run, RunError

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
    "token_estimate": "int64", "memory_id": "str",
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


def test_explain(found, week_store):
    for rank, row in found.iterrows():
        why = found.memory.explain(rank)
        assert isinstance(why, Explanation) and why.hit.score == row["score"]
        assert (why.rank, why.memory.id, why.query) == (rank, row["memory_id"], JOINING)
        assert f"Rank {rank} of {len(found)} candidates with the profile auto: score {row['score']:.6f}, " in str(why)
        assert len(why.reasons) <= 5 < len(found.memory.explain(rank, all=True).reasons)
    assert str(found.memory.explain()) == str(found.memory.explain(1))
    assert "explain(rank, all=True)" in repr(found.memory) and "plot()" in repr(found.memory)
    before = str(found.memory.explain(1))
    week_store.add(f"{JOINING}: {JOINING}.", title=JOINING, tier="core")
    assert str(found.memory.explain(1)) == before
    assert week_store.search(JOINING).loc[1, "memory_id"] != found.loc[1, "memory_id"]


def test_a_search_bound_in_time_is_explained_as_it_was(week_store, now):
    """The explanation of a row knows the filters and the moment of its search."""
    frame = week_store.search("prices", filters={"tag": "prices"}, now=now + timedelta(days=365))
    why = frame.memory.explain(1)
    assert why.hit.signals["recency"].value == frame.loc[1, "value_recency"] < 0.51
    assert f"of {len(frame)} candidates" in str(why)


def test_a_memory_that_was_forgotten_since(week_store, found):
    text = found.memory.text(1)
    week_store.forget(found.loc[1, "memory_id"])
    for ask in (found.memory.text, found.memory.explain):
        with pytest.raises(UnknownMemory, match="No memory has the id"):
            ask(1)
    assert text not in found.memory.context()


def test_text(week_store, week_memories, found):
    """The whole text of a row; reading one and opening its place count as uses, an explanation and a table do not."""
    first, second = found["memory_id"].iloc[:2]
    assert found.memory.text() == week_memories[found.loc[1, "title"]].text
    found.memory.explain(1)
    found.memory.breakdown()
    found.assign(source="/week/λ.ipynb").memory.open(2)
    assert [week_store.get(one).accessed for one in (first, second)] == [1, 1]


@pytest.mark.parametrize("verb", ["explain", "text", "open"])
def test_a_rank_that_is_not_there(week_store, found, verb):
    with pytest.raises(InputError, match=r"There is no rank 9 in this result\. Ranks: 2, 1\."):
        getattr(found.loc[[2, 1]].memory, verb)(9)
    with pytest.raises(InputError, match=r"There is no rank 0 in this result\. Ranks: none: the result is empty\."):
        getattr(week_store.search("prices", filters={"tag": "λ"}).memory, verb)(0)


@pytest.mark.parametrize("rank", ["1", True, None, [1, 2], slice(1, 3)], ids=repr)
def test_a_rank_that_is_no_number(found, rank):
    with pytest.raises(InputError, match="A rank is a number, such as 1"):
        found.memory.explain(rank)
    assert found.memory.text(np.int64(1)) == found.memory.text(1.0) == found.memory.text(1)


def test_rows_go_by_their_rank(found):
    """Rows go by the rank that they show, and ask for a lost index; a note has no place to open."""
    turned = found.sort_values("score").tail(2)
    assert list(turned.index) == [2, 1]
    assert turned.memory.text(1) == turned.reset_index().memory.text(1) == found.memory.text(1)
    for frame in (found.sort_values("score", ignore_index=True), found.reset_index(drop=True)):
        for ask in (lambda frame=frame: frame.memory.text(1), frame.memory.breakdown):
            with pytest.raises(InputError, match="have lost their ranks"):
                ask()
    with pytest.raises(InputError, match=r"Rank 1 is a note without a source; df\.memory\.text\(1\) shows it"):
        found.memory.open(1)
    with pytest.raises(InputError, match="without a source"):
        found[["memory_id"]].memory.open(1)


LONG = [
    ("rank", "int64"), ("title", "str"), ("signal", "str"), ("value", "float64"), ("signal_rank", "Int64"),
    ("contribution", "float64"), ("memory_id", "str"),
]  # fmt: skip


def test_breakdown(week_store, found):
    long = found.memory.breakdown()
    assert dtypes(long) == LONG and list(long["signal"].unique()) == list(AUTO_TERMS)
    assert np.allclose(long.groupby("rank")["contribution"].sum(), found["score"], rtol=0, atol=1e-9)
    absent = long[long["signal_rank"].isna()]
    assert len(absent) and absent["value"].isna().all() and (absent["contribution"] == 0).all()
    empty = week_store.search("zzqx", filters={"tag": "λ"}).memory.breakdown()
    assert empty.empty and dtypes(empty) == LONG


def test_when_the_answer_is_long_past(week_store, found):
    """Only the last answers are kept whole; an older frame is broken down, explained and quoted by its columns."""
    early, quoted = found.memory.breakdown(), found.memory.context()
    for _ in range(33):
        week_store.search("prices")
    late = found.memory.breakdown()
    assert late.drop(columns="signal_rank").equals(early.drop(columns="signal_rank"))
    retrievers = late["signal"].isin(["vector", "keyword"])
    assert late.loc[retrievers, "signal_rank"].equals(early.loc[retrievers, "signal_rank"])
    assert found.memory.explain(1).memory.id == found.loc[1, "memory_id"] and found.memory.text(1)
    assert found[["memory_id", "title", "contrib_tier"]].memory.breakdown()["value"].isna().all()
    assert found.memory.context() == quoted


def test_a_list_has_nothing_to_explain(week_store):
    """Of memories that were listed without a question there is no explanation, but their texts."""
    listed = week_store.browse(limit=2)
    with pytest.raises(InputError, match="listed without a question"):
        listed.memory.explain(1)
    assert "customer_id" in listed.memory.text(1) and listed.memory.breakdown().empty
    assert "Joining orders" in listed.memory.style().to_html()


def test_the_accessor_asks_the_store_of_the_result(store, monkeypatch, tmp_path):
    """A result knows its store, whatever the default one is, opens it again, and says so when it is gone."""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "default.sqlite"))
    lab, shop = store("lab.sqlite"), store("shop.sqlite")
    lab.add("λ in the lab")
    shop.add("λ in the shop")
    in_lab, in_shop = lab.search("λ"), shop.search("λ")
    assert (in_lab.memory.text(1), in_shop.memory.text(1)) == ("λ in the lab", "λ in the shop")

    lab.close()
    assert in_lab.memory.text(1) == "λ in the lab" and in_lab.memory.explain(1).rank == 1
    assert not (tmp_path / "default.sqlite").exists()

    open_store(lab.path).close()
    lab.path.unlink()
    with pytest.raises(InputError, match="is not there any more"):
        in_lab.memory.text(1)
    assert not lab.path.exists()


def link_of(frame, rank=1):
    place = frame.memory.open(rank)
    page = Page(place._repr_html_())
    [(_, attributes)] = page.tags
    return attributes["href"], page.text, repr(place)


@pytest.mark.parametrize("name", ["week one/Müller's λ.ipynb", 'say "hi" <b>.ipynb', "50%#1?.ipynb", "a:b.ipynb"])
@pytest.mark.parametrize("cell", ["3f2a9c1b", ""])
def test_open_leads_to_the_cell(store, tmp_path, monkeypatch, name, cell):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    source = saved(tmp_path / name, plotting("λ of the prices", id=cell))
    memory = store()
    memory.index(source, progress=False)
    href, shown, text = link_of(memory.search("λ prices"))
    path, _, fragment = href.partition("#")
    assert Path(unquote(path)) == Path("..") / name
    assert unquote(fragment) == (f"cell-id={cell}" if cell else "")
    assert text == shown == f"{source}, cell 1"


def test_open_other_places(store, tmp_path, week_store, week_memories):
    """A PDF is opened at its page, what came from the web there; a frame of which only ids are left has places too."""
    (tmp_path / "report.pdf").write_bytes(pdf_of(["Weather", "Nothing", "The prices of λ"]))
    memory = store("other.sqlite")
    memory.index(tmp_path / "report.pdf", progress=False)
    memory.add("orders", source="https://example.org/λ?a=1&b=2")
    href, _, text = link_of(memory.search("prices"))
    assert href.endswith("report.pdf#page=3") and text.endswith("report.pdf, page 3")
    assert link_of(memory.search("orders"))[0] == "https://example.org/λ?a=1&b=2"
    frame = week_store.search("mean of its shop")[["memory_id"]]
    rank = frame.index[frame["memory_id"] == week_memories["Means by shop"].id][0]
    assert repr(frame.memory.open(rank)) == week_memories["Means by shop"].source


def test_plot_needs_its_extra(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtra, match=r"pip install 'jupyter-memory\[plots\]'"):
        found.memory.plot()


def test_plot(found):
    pytest.importorskip("altair", reason="plotting needs the extra plots")
    chart, bundle = found.memory.plot().to_dict(), found.memory.plot()._repr_mimebundle_()
    [values] = chart["datasets"].values()
    drawn = {row["signal"] for row in values}
    assert chart["mark"]["type"] == "bar" and chart["encoding"]["x"]["aggregate"] == "sum"
    assert sum(row["contribution"] for row in values) == pytest.approx(found["score"].sum())
    # Each has something to show.
    assert drawn == {row["signal"] for row in values if row["contribution"]} < set(found.memory.breakdown()["signal"])
    # Whatever altair writes, there is no script in it.
    assert set(bundle) == {"application/vnd.vegalite.v5+json", "text/plain"}
    assert bundle["application/vnd.vegalite.v5+json"]["$schema"].endswith("/v5.json")


def test_a_text_has_the_rows_that_fit(week_store, found):
    text = found.memory.context(max_tokens=1000)
    assert f"for “{JOINING}”" in text and found.memory.text(1) in text and estimated_tokens(text) <= 1000
    scan, full = (week_store.search(JOINING, mode=mode).memory.context() for mode in ("scan", "full"))
    assert scan == full
    # What was left out stays out, and the order is that of the frame.
    first, second, third = (found.memory.text(rank) for rank in (1, 2, 3))
    text = found.loc[[3, 1]].memory.context()
    assert text.index(third) < text.index(first) and second not in text
    assert week_store.search(JOINING).iloc[:0].memory.context() == "No result is left to quote."
    far = week_store.search("volcano eruptions in kamchatka")
    assert far.attrs["memsearch"]["verdict"] == "none"
    said = "Nothing in the memory seems to answer “volcano eruptions in kamchatka”. Left out: "
    assert far.memory.context().startswith(said)
