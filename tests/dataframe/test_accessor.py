"""What the accessor of a result does with a row: explains it, shows its text, opens its place, draws it."""

import sys
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from pages import Page
from pdfs import pdf_of
from pictures import plotting, saved
from results import AUTO_TERMS, JOINING, dtypes

from jupyter_memory import InputError, MissingExtra, UnknownMemory, open_store
from jupyter_memory.text import estimated_tokens
from jupyter_memory.types import Explanation


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
