"""The DataFrame that a search gives: its columns, its attrs, and the accessor that explains it."""

from __future__ import annotations

import json
import pickle
import sys
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pytest

from jupyter_memory.errors import InputError, MissingExtra, UnknownMemory
from jupyter_memory.plain import width
from jupyter_memory.ranking.profiles import auto
from jupyter_memory.types import Explanation

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
    **{
        f"value_{name}": "float64"
        for name in ("meaning", "soft", "neighbour", "session", "asks", "size", "time", "title", "tier", "recency")
    },
    **{
        f"contrib_{name}": "float64"
        for name in (
            "keyword",
            "meaning",
            "soft",
            "neighbour",
            "session",
            "asks",
            "size",
            "time",
            "title",
            "tier",
            "recency",
        )
    },
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
QUERY = "join the orders on λ"


def dtypes(frame):
    """Return a frame's columns with their dtypes, in order."""
    return [(name, str(dtype)) for name, dtype in frame.dtypes.items()]


@pytest.fixture
def found(week_store, now):
    """The result of a search with several rows, of which not every one was found by both legs."""
    frame = week_store.search(QUERY, now=now)
    assert len(frame) > 2 and frame["kw_rank"].isna().any()
    return frame


class Page(HTMLParser):
    """A page as a browser reads it: its tags with their attributes, and its text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


# -- columns -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", [QUERY, "zzqx"], ids=["full", "empty"])
@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, AUTO), ({"profile": "covalence"}, FULL), ({"profile": "trovella"}, TROVELLA), ({"mode": "scan"}, SCAN)],
    ids=["auto", "covalence", "trovella", "scan"],
)
def test_columns_are_always_the_same(week_store, query, options, expected):
    """A result has the columns of its profile, in order and with their dtypes, with hits or without."""
    frame = week_store.search(query, filters={"kind": ["cell", "note"]} if query == QUERY else {"tag": "λ"}, **options)

    assert bool(len(frame)) == (query == QUERY)
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

    frame = week_store.search(QUERY, profile=auto.with_signal(Length(), weight=0.001))

    assert list(frame.columns)[-2:] == ["contrib_length", "memory_id"]
    assert frame["value_length"].notna().equals(frame["kind"] == "note")
    assert frame["contrib_length"].equals((frame["value_length"] * 0.001).fillna(0.0))
    assert "length: 1st by length (81) adds 0.081000" in str(frame.memory.explain(1))


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


def test_scan_costs_little(store):
    """The first pass shows the first 120 characters and estimates the tokens of the whole text."""
    memory = store()
    memory.add("We scaled the prices in Zürich. " * 50, title="Prices", domain="forecasting")
    [row] = memory.search("prices", mode="scan").to_dict("records")

    assert row["token_estimate"] == 50 * 32 // 4
    assert len(row["snippet"]) == 120
    assert (row["domain"], row["title"]) == ("forecasting", "Prices")


# -- attrs and what pandas does with a result --------------------------------------------------------------------------


def test_attrs_are_one_small_json_value(week_store, now):
    """What a result knows beside its columns is JSON, with these keys."""
    frame = week_store.search(QUERY, since="2026-03-02", now=now)
    attrs = json.loads(json.dumps(frame.attrs, allow_nan=False))["memsearch"]

    assert attrs == frame.attrs["memsearch"]
    assert attrs.pop("elapsed_ms") > 0 and attrs.pop("query_id")
    assert attrs == {
        "query": QUERY,
        "profile": "auto",
        "verdict": "strong",
        "query_class": "balanced",
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
    with pytest.raises(AttributeError, match="works on a result of %memsearch"):
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


# -- the accessor ------------------------------------------------------------------------------------------------------


def test_explain(found):
    """The explanation of a row has its rank and the very numbers of the frame."""
    for rank, row in found.iterrows():
        why = found.memory.explain(rank)

        assert isinstance(why, Explanation)
        assert (why.rank, why.memory.id, why.query) == (rank, row["memory_id"], QUERY)
        assert why.hit.score == row["score"]
        assert f"Rank {rank} of {len(found)} candidates by the profile auto: score {row['score']:.6f} = " in str(why)


def test_the_explanation_is_of_the_answer_that_was_given(week_store, found):
    """What was stored since does not change why a row stood where it stood."""
    before = str(found.memory.explain(1))
    week_store.add("Join the orders on λ, join the orders.", title="Join the orders on λ", tier="core")

    assert str(found.memory.explain(1)) == before
    assert week_store.search(QUERY).loc[1, "memory_id"] != found.loc[1, "memory_id"]


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


@pytest.mark.parametrize("verb", ["explain", "text", "open"])
def test_a_rank_that_is_not_there(week_store, found, verb):
    """A wrong rank is answered with the right ones."""
    with pytest.raises(InputError, match=r"There is no rank 9 in this result\. Ranks: 2, 1\."):
        getattr(found.loc[[2, 1]].memory, verb)(9)
    with pytest.raises(InputError, match=r"There is no rank 0 in this result\. Ranks: none: the result is empty\."):
        getattr(week_store.search("prices", filters={"tag": "λ"}).memory, verb)(0)


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
    assert list(long["signal"].unique()) == [
        *("keyword", "meaning", "soft", "neighbour", "session", "asks", "size", "time", "title", "tier", "recency")
    ]
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
    legs = late["signal"].isin(["vector", "keyword"])
    assert late.loc[legs, "signal_rank"].equals(early.loc[legs, "signal_rank"])
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


# -- HTML --------------------------------------------------------------------------------------------------------------

SCRIPT = "<script>alert('ü')</script>"


@pytest.fixture
def hostile(store):
    """A result whose every text would run if it were not escaped."""
    memory = store()
    memory.add(f"λ {SCRIPT} costs $5 & $6", title=f"λ {SCRIPT}", tags=[SCRIPT], source=f'javascript:alert("{SCRIPT}")')
    return memory.search("λ costs")


@pytest.mark.parametrize("render", [lambda frame: frame._repr_html_(), lambda frame: frame.memory.style().to_html()])
def test_what_was_stored_is_not_run(hostile, render):
    """Titles, snippets and tags come out as text, in the plain table and in the styled one."""
    page = Page(render(hostile))

    assert "script" not in {tag for tag, _ in page.tags}
    assert SCRIPT in page.text


def test_the_place_is_escaped(hostile):
    """A source that is a script is a link to a file of that name, and no script."""
    page = Page(hostile.memory.open(1)._repr_html_())
    [(tag, attributes)] = page.tags

    assert tag == "a" and attributes["href"].startswith("javascript%3Aalert")
    assert SCRIPT in page.text


def test_style(found):
    """The styled table shows what people read, on request every number, and takes no price for a formula."""
    html = found.memory.style().to_html()
    page = Page(html)

    assert "Joining orders" in page.text and f"{found.loc[1, 'score']:.4f}" in page.text
    assert "contrib_meaning" not in page.text and "value_recency" not in page.text
    whole = found.memory.style(evidence=True).to_html()
    assert whole.count("linear-gradient") > html.count("linear-gradient") > 0
    assert all(column in Page(whole).text for column in found.columns)
    assert "mathjax_ignore" in dict(page.tags)["table"]["class"]


def test_style_of_some_columns(week_store, found):
    """Columns that were left out are left out, and an empty result is an empty table."""
    assert "Joining orders" in found[["title", "memory_id"]].memory.style().to_html()
    assert "Joining orders" in week_store.search(QUERY, mode="scan").memory.style().to_html()
    assert "contrib_title" in week_store.search("λ", filters={"tag": "zz"}).memory.style(evidence=True).to_html()


@pytest.mark.parametrize("cells", ["60", "80", "120"])
def test_a_result_is_shown_in_lines_that_fit(store, monkeypatch, cells):
    """In a terminal a result has a line a memory, as wide as the terminal, also with characters of two cells."""
    monkeypatch.setenv("COLUMNS", cells)
    memory = store()
    memory.add("東京都の価格を λ で正規化した " * 30, title="東京都の価格 " * 20)
    memory.add("The ridge model of Müller has λ = 0.3.", title="Müller")
    lines = repr(memory.search("λ")).splitlines()

    assert len(lines) == 5
    assert max(map(width, lines[:3])) <= max(72, int(cells))
    assert "memory_id" in repr(memory.search("λ")) or int(cells) < 100
    assert lines[-1].startswith("2 memories")


def test_what_a_result_shows_and_what_it_holds(found, week_store):
    """The display has few columns, the frame all of them; parts of it and lists are shown as they are."""
    page = Page(found._repr_html_())

    assert "Joining orders" in page.text and "contrib_vector" not in page.text
    assert "style(evidence=True)" in page.text
    assert isinstance(found[found["score"] > 0], pd.DataFrame) and "contrib_meaning" in found[found["score"] > 0]
    assert repr(found[["title", "score"]]) == repr(pd.DataFrame(found)[["title", "score"]])
    assert "score" not in repr(week_store.browse(limit=2)) and "explain" not in repr(week_store.browse(limit=2))
    assert repr(week_store.search("λ", filters={"tag": "zz"})) == "No memories."


def test_of_long_titles_the_heading_is_shown(store):
    """A row of a terminal keeps the end of a title that begins with its notebook."""
    memory = store()
    memory.add("λ = 0.3", title="2026-03_ridge_models_for_frau_müller.ipynb – Choosing λ")

    assert "– Choosing λ " in repr(memory.search("λ"))


def test_a_result_survives_a_copy(found):
    """Pickled, concatenated or copied, a result keeps its rows, its columns and its way of being shown."""
    again = pickle.loads(pickle.dumps(found))

    pd.testing.assert_frame_equal(again, found)
    assert repr(again) == repr(found.copy()) == repr(found)
    assert len(pd.concat([found, found])) == 2 * len(found)


# -- open and plot -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["week one/Müller's λ.ipynb", 'say "hi" <b>.ipynb', "50%#1?.ipynb", "a:b.ipynb"])
@pytest.mark.parametrize("cell", ["3f2a9c1b", 'a "b" & c'])
def test_open_leads_to_the_cell(store, tmp_path, monkeypatch, name, cell):
    """The link of a cell is the path from here, quoted, with the cell's id; elsewhere it is the path itself."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    source = tmp_path / name
    frame = _located(store(), kind="cell", source=str(source), location=cell)
    place = frame.memory.open(1)
    page = Page(place._repr_html_())
    [(_, attributes)] = page.tags
    path, _, fragment = attributes["href"].partition("#")

    assert Path(unquote(path)) == Path("..") / name
    assert unquote(fragment) == f"cell-id={cell}"
    assert repr(place) == page.text == f"{source}:{cell}"


def _located(memory, *, kind, source, location):
    """Store one memory at a place, as the indexer would, and search for it."""
    from jupyter_memory.prepare import clean, prepare
    from jupyter_memory.types import Draft

    draft = clean(Draft("λ of the prices", kind=kind, tier="file", source=source, location=location), redacting=True)
    memory._library.add(prepare([draft], None), None)
    return memory.search("λ prices")


def test_open_without_a_cell_id(store):
    """A cell without an id is named, but a link can only lead to its notebook."""
    place = _located(store(), kind="cell", source="/week/prices.ipynb", location="#7").memory.open(1)

    assert repr(place) == "/week/prices.ipynb:#7"
    assert "cell-id" not in place._repr_html_()


def test_open_a_page(store):
    """A memory that came from the web links there."""
    memory = store()
    memory.add("λ of the prices", source="https://example.org/λ?a=1&b=2")
    [(_, attributes)] = Page(memory.search("λ").memory.open(1)._repr_html_()).tags

    assert attributes["href"] == "https://example.org/λ?a=1&b=2"


def test_open_a_note(found):
    """What was typed in has no place; the error says how to read it."""
    with pytest.raises(InputError, match=r"Rank 1 is a note without a source; df\.memory\.text\(1\) shows it whole"):
        found.memory.open(1)
    with pytest.raises(InputError, match="without a source"):
        found[["memory_id"]].memory.open(1)


def test_open_needs_only_the_id(week_store, week_memories):
    """A frame of which only ids are left still finds the place."""
    frame = week_store.search("mean of its shop")[["memory_id"]]
    rank = frame.index[frame["memory_id"] == week_memories["Means by shop"].id][0]

    assert repr(frame.memory.open(rank)) == week_memories["Means by shop"].source


def test_plot_needs_its_extra(found, monkeypatch):
    """Without altair the error says what to install."""
    monkeypatch.setitem(sys.modules, "altair", None)

    with pytest.raises(MissingExtra, match=r"pip install 'jupyter-memory\[plots\]'"):
        found.memory.plot()


def test_plot(found):
    """The chart has a bar for each hit, made of its contributions."""
    pytest.importorskip("altair", reason="plotting needs the extra plots")
    chart = found.memory.plot().to_dict()

    assert chart["mark"]["type"] == "bar"
    assert chart["encoding"]["x"]["aggregate"] == "sum"
    [values] = chart["datasets"].values()
    assert sum(row["contribution"] for row in values) == pytest.approx(found["score"].sum())
