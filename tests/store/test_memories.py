"""Memories of a store: added, merged, refused, redacted; read, changed, pinned and listed in their order."""

import os
import sys
from datetime import UTC, datetime, timedelta, timezone
from functools import reduce

import nbformat
import numpy as np
import pandas as pd
import pytest
from IPython.lib.pretty import pretty
from pictures import saved
from results import titles, words_of_the_index

from jupyter_memory import InputError, JupyterMemory, QueryError


def test_add_gives_the_memory_back(store):
    before = datetime.now(UTC)
    memory = store().add("The λ of the Poisson model is 3.2.")
    assert (memory.text, memory.title, memory.tags) == ("The λ of the Poisson model is 3.2.", "", ())
    assert (memory.kind, memory.tier, memory.pinned, memory.space) == ("note", "note", False, "")
    assert (memory.severity, memory.domain, memory.session, memory.source) == (None, None, None, "")
    assert memory.metadata == {}
    assert before - timedelta(milliseconds=1) <= memory.event_at <= datetime.now(UTC)


def test_everything_that_was_given_is_kept(store):
    memory = store()
    given = {
        "title": "Preise für Zürich", "tags": ("decision", "λ"), "tier": "mcp", "kind": "history", "source": "chat:42",
    }  # fmt: skip
    given |= {"severity": "critical", "domain": "sales", "session": "s1", "space": "shops"}
    given |= {
        "event_at": datetime(2026, 3, 2, 9, 15, 1, 123456, tzinfo=UTC),
        "metadata": {"ü": [1.5, None, {"deep": True}]},
    }
    given |= {"valid_from": datetime(2026, 3, 1, tzinfo=UTC), "valid_until": datetime(2026, 4, 1, tzinfo=UTC)}
    kept = memory.get(memory.add("Prices are net of tax.", **given).id)
    assert {name: getattr(kept, name) for name in given} == given


def test_pandas_values_are_taken(store):
    """The records of a DataFrame go in as they are: Timestamps are times; NaT and NaN are no value."""
    frame = pd.DataFrame({"text": ["λ rose", "λ fell"], "title": ["Up", None], "tags": [np.array(["a", "ü"]), np.nan]})
    frame["event_at"] = [pd.Timestamp("2026-03-02", tz="UTC"), pd.NaT]
    rose, fell = store().add_many(frame.to_dict("records"), progress=False)
    assert rose.event_at == datetime(2026, 3, 2, tzinfo=UTC) and fell.event_at > datetime(2026, 3, 3, tzinfo=UTC)
    assert (rose.title, rose.tags, fell.title, fell.tags) == ("Up", ("a", "ü"), "", ())


def test_known_content_is_merged(store):
    """Said twice, a memory is stored once: tags and metadata are merged, the newer value wins; said otherwise, not."""
    memory = store()
    first = memory.add("λ is 3.2", title="λ", tags=["a"], metadata={"x": 1, "y": 1}, event_at="2026-03-02")
    again = memory.add("λ is 3.2", title="λ", tags=["ü", "a"], metadata={"y": 2}, event_at="2026-03-05")
    assert again.id == first.id
    assert again.tags == ("a", "ü") and dict(again.metadata) == {"x": 1, "y": 2}
    assert again.event_at == first.event_at
    assert memory.stats()["memories"] == 1 and words_of_the_index(memory) == (1, 1)
    assert titles(memory.search("ü", profile="auto")) == ["λ"]  # the merged tag is searched
    for change in ({"title": "other"}, {"text": "λ is 3.3"}, {"source": "x.md"}, {"space": "lab"}):
        assert memory.add(**{"text": "λ is 3.2", "title": "λ"} | change).id != first.id


def test_core_is_a_pinned_note(store):
    """tier="core" stores a note and pins it; said again it pins what is there."""
    memory = store()
    first = memory.add("Never join on names", tier="core")
    second = memory.add("Check the zone")
    again = memory.add("Check the zone", tier="core")
    assert (first.tier, first.pinned) == (again.tier, again.pinned) == ("core", True)
    assert again.id == second.id
    assert memory.unpin(first.id).tier == "note"


NESTED = reduce(lambda inner, _: [inner], range(sys.getrecursionlimit() * 2), [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": "  \n"}, "There is nothing to remember: the text is empty"),
        ({"text": "\0\u2003"}, "There is nothing to remember"),
        ({"text": None}, "There is nothing to remember"),
        ({"text": 7}, "text must be a string, not int"),
        ({"text": "x", "tier": "gold"}, "tier is 'gold'; it must be one of core, file, mcp, note"),
        ({"text": "x", "kind": "cells"}, "kind is 'cells'; it must be one of note, file, cell, history"),
        ({"text": "x", "severity": "bad"}, "severity is 'bad'; it must be one of critical, warning, suggestion"),
        *(({"text": "x", "metadata": of}, "metadata must be a mapping of JSON values")
          for of in ({"λ": {1}}, {"λ": float("nan")}, {"λ": b"bytes"}, [1, 2], {"λ": NESTED}, {"λ": object()})),
        ({"text": "x", "tags": 5}, r"tags must be a string or several, such as \['decision', 'prices'\]"),
        *(({"text": "x", "tags": of}, "tags must be a string or several") for of in (["a", 5], [None])),
        ({"text": "x", "title": 5}, "title must be a string, not int"),
        ({"text": "x", "source": 5}, "source must be a string, not int"),
        ({"text": "x", "colour": "red"}, "A memory has no colour. It has: text, title, |keyword argument 'colour'"),
        ({"text": "x", "event_at": "blue moon"}, "'blue moon' is not a time"),
        ({"text": "x", "valid_until": "31.31.2026"}, "'31.31.2026' is not a time"),
        ({"text": "x", "event_at": 5}, "A time is a string, a date or a datetime, not int"),
        *(({"text": "x", "event_at": datetime(*end, tzinfo=timezone(timedelta(hours=hours)))}, None)
          for end, hours in (((1, 1, 1), 14), ((9999, 12, 31, 23), -12))),
    ],
)  # fmt: skip
def test_what_cannot_be_stored(store, given, message):
    """Alone or in the middle of many, it is refused with what could be, and nothing of its batch is stored."""
    memory = store()
    for call in (
        lambda: memory.add(**given),
        lambda: memory.add_many([{"text": "λ is 3.2"}, given, {"text": "more"}], progress=False),
    ):
        with pytest.raises((InputError, QueryError, TypeError), match=message) as caught:
            call()
        assert not isinstance(caught.value, TypeError) or "colour" in given
    assert memory.stats()["memories"] == 0


def test_add_many(week_store, week):
    """Many at once come back in their order, repeats as what they repeat, of one batch too, with the tags of both."""
    again = week_store.add_many([*reversed(week), week[0]], progress=False)
    assert [memory.title for memory in again] == [record["title"] for record in (*reversed(week), week[0])]
    assert again[-1].id == again[-2].id and week_store.stats()["memories"] == len(week)
    one, two = week_store.add_many([{"text": "λ is 3.2", "tags": tag} for tag in "ab"], progress=False)
    assert one.id == two.id and two.tags == ("a", "b")
    # Strings, and the column names that a DataFrame iterates over, are refused with the way to do it.
    for records in (["λ is 3.2"], pd.DataFrame({"text": ["λ"]})):
        with pytest.raises(InputError, match=r"A record is a dict such as .* df.to_dict\('records'\)"):
            week_store.add_many(records, progress=False)


def test_redaction_can_be_left_out(store):
    """Secrets are replaced, when added and when changed, unless the settings say otherwise; a memory's path stays."""
    token, text = "ghp_9f8c1e2ab7d04c55e1f02a3b4d", "postgres://anna:hunter2secret@db.example.org/prices"
    names = {"session": "run with password=hunter2abcXYZ", "domain": f"repo {token}"}
    told = {"tags": ("prices", token), "metadata": {"db": {"password": "k4ffee77"}}, **names}
    opened = store("a.sqlite")
    hidden = opened.add(text, source=f"/data/{token}/prices.csv", **told)
    assert "hunter2secret" not in hidden.text and hidden.source == f"/data/{token}/prices.csv"
    assert hidden.tags == ("[redacted: GitHub token]", "prices")
    assert hidden.metadata == {"db": {"password": "[redacted: password]"}}
    [many] = opened.add_many([{"text": "μ is 4", **names}], progress=False)
    changed = opened.update(opened.add("ν is 5", session="monday", domain="prices").id, **names)
    for memory in (hidden, many, changed):
        assert "[redacted: " in memory.session and "repo [redacted: " in memory.domain
    assert len(opened.browse(filters={"session": hidden.session})) == 3
    opened.close()
    assert not any(b"hunter2" in file.read_bytes() for file in opened.path.parent.iterdir())
    kept = store("b.sqlite", settings=JupyterMemory(redact=False)).add(text, **told)
    assert kept.text == text and {*kept.tags} == {*told["tags"]}
    assert (kept.metadata, kept.session) == (told["metadata"], told["session"])


def test_update_is_seen_by_both_legs(store):
    memory = store()
    id_ = memory.add("Deliveries to Malmö are late because of the snow.", title="Deliveries", tags=["todo"]).id
    text = "Walruses sleep on the ice of Spitsbergen."
    changed = memory.update(id_, text=text, title="Wildlife λ", tags=["zoo"])
    assert (changed.id, changed.text, changed.title, changed.tags) == (id_, text, "Wildlife λ", ("zoo",))
    assert memory.get(id_) == changed and memory.hits("zoo").hits[0].kw_rank == 1
    for query in ("walruses sleep", "wildlife on the ice"):
        assert memory.hits(query).hits[0].badges == "KW+SEM"
    for query in ("deliveries", "todo", "Malmö snow"):
        assert not any("KW" in hit.badges for hit in memory.hits(query).hits)
    near, far = (memory.hits(query, profile="trovella").hits[0] for query in ("arctic animals", "late deliveries"))
    assert near.cosine > far.cosine
    assert words_of_the_index(memory) == (1, 1) and memory.doctor() == []


def test_update_of_some_things_leaves_the_others(store):
    memory = store()
    given = {"tags": ["a", "b"], "metadata": {"x": 1}, "domain": "sales", "event_at": "2026-03-02", "session": "s"}
    first = memory.add("λ is 3.2", title="λ", **given)
    changed = memory.update(first.id, metadata={"y": 2}, severity="warning")
    assert dict(changed.metadata) == {"y": 2} and changed.severity == "warning"
    for name in ("text", "title", "tags", "domain", "event_at", "session", "content_hash", "tier"):
        assert getattr(changed, name) == getattr(first, name)
    assert memory.update(first.id, tags="ü").tags == ("ü",)
    assert memory.update(first.id, domain=None, tags=()).domain is None
    assert memory.get(first.id).tags == ()


def test_update_of_the_time(store):
    """A new time counts for filters, and its weekday among the words that are searched; None and NaN are no value."""
    memory = store()
    before = memory.add("λ is 3.2", event_at=datetime(2026, 3, 2, 12, tzinfo=UTC), domain="ridge")
    after = memory.update(before.id, event_at=None, tier=None, text=None, domain=None)
    assert (after.event_at, after.tier, after.text, after.domain) == (before.event_at, "note", before.text, None)
    assert memory.update(before.id, event_at=float("nan")).event_at == before.event_at
    memory.update(before.id, event_at=datetime(2026, 3, 12, 12, tzinfo=UTC))
    assert len(memory.browse(since="2026-03-12", until="2026-03-12")) == 1
    assert memory.search("Thursday")["badges"].tolist() != []
    assert not any(memory.search("Monday")["kw_rank"].notna())


def test_a_cell_that_is_changed_keeps_its_place(store, tmp_path):
    """Tags given to an indexed cell are searched; so is a new text, and it is still found by notebook and headings."""
    cells = [
        nbformat.v4.new_markdown_cell("# Zürich\n\n## Kühlung\n\nWhy the cooling failed.", id="intro"),
        nbformat.v4.new_code_cell("load = read_load('2026-03')\nload.plot()", id="plot"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "cooling.ipynb")
    memory = store()
    memory.index(tmp_path / "cooling.ipynb", progress=False)
    [cell] = [hit.memory for hit in memory.browsed().hits if hit.memory.location == "plot"]

    def found():
        answer = memory.hits("Kühlung cooling failed", filters={"kind": "cell"}, profile="trovella")
        return [(hit.memory.id, hit.cosine, hit.kw_rank) for hit in answer.hits]

    before = found()
    changed = memory.update(cell.id, tags=["todo"])
    assert (changed.location, changed.lang, changed.source) == (cell.location, cell.lang, cell.source)
    assert changed.tags == ("todo",) and found() == before
    assert memory.hits("todo").hits[0].memory.id == cell.id and memory.doctor() == []
    memory.update(cell.id, text="load = read_load('2026-04')")
    assert "KW" in next(hit.badges for hit in memory.hits("Kühlung").hits if hit.memory.id == cell.id)
    assert not any(hit.kw_rank for hit in memory.hits("plot", profile="covalence").hits)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "cell"}, r"update\(\) cannot set kind\. It sets: domain, event_at, "),
        ({"colour": "red", "source": "x"}, "cannot set colour, source"),
        ({"text": ""}, "the text is empty"),
        ({"tier": "gold"}, "tier is 'gold'"),
        ({"text": "λ is 3.3", "tags": ["b"]}, "memory [0-9a-f]+ says the same already"),
    ],
)
def test_update_refuses_what_cannot_be(store, change, message):
    memory = store()
    before, _ = memory.add("λ is 3.2", tags=["a"]), memory.add("λ is 3.3")
    with pytest.raises(InputError, match=message):
        memory.update(before.id, **change)
    assert memory.get(before.id) == before


def copies(memory, backwards=False):
    """Store one text in three places at three times; return it as titles by age, the newest first."""
    records = [
        {"text": "λ of the prices", "title": "Prices", "source": f"/week/{name}.md", "event_at": f"2026-03-0{day}"}
        for name, day in (("a", 2), ("b", 3), ("c", 4))
    ]
    memory.add_many(reversed(records) if backwards else records, progress=False)


def sources(frame):
    return [source[-4] for source in frame["source"]]


def test_a_pin_moves_a_memory_up(store):
    """While it is pinned a memory is core and comes before its equals; unpinned it is again what it was."""
    memory = store()
    copies(memory)
    oldest = memory.search("λ of prices").iloc[-1]["memory_id"]
    assert (memory.pin(oldest).tier, memory.get(oldest).pinned) == ("core", True)
    pinned = memory.search("λ of prices", profile="covalence")
    assert sources(pinned) == ["a", "c", "b"]
    assert sources(memory.search("λ of prices")) == ["a", "c", "b"]
    assert pinned.loc[1, "contrib_tier"] == pytest.approx(0.18 / 61)
    assert titles(memory.search("prices", filters={"tier": "core"})) == ["Prices"]
    assert memory.unpin(oldest).tier == "note"
    assert sources(memory.search("λ of prices")) == ["c", "b", "a"]


@pytest.mark.parametrize("tier", ["note", "mcp", "file"])
def test_unpinning_restores_the_tier(store, tier):
    """A pin hides the stored tier, however it came about; unpinned, a memory has the tier that it was given last."""
    memory = store()
    id_ = memory.add("λ", tier=tier).id
    assert memory.unpin(memory.pin(id_).id).tier == tier
    assert memory.update(id_, tier="core").tier == "core"
    assert memory.unpin(id_).tier == tier
    assert memory.pin(id_).pinned and memory.update(id_, tier="mcp").pinned and memory.unpin(id_).tier == "mcp"


def test_values_are_shown_short(store, tmp_path):
    """Memory, hit, answer, explanation and report take a line, however long what they hold is."""
    memory = store()
    added = memory.add("λ and ü " * 5000, title="Frau Müller")
    answer = memory.hits("λ " * 400)
    (tmp_path / "notes").mkdir()
    report = memory.index(tmp_path / "notes", progress=False)
    assert repr(added) == f"<Memory {added.id}: note “Frau Müller”>"
    assert repr(answer.hits[0]).startswith(f"<Hit 1: {added.id} “Frau Müller” KW+SEM ")
    assert repr(answer).endswith("λ…”: 1 hit by auto>")
    assert repr(memory.explain("λ", added.id)).endswith("for “λ”: rank 1 by auto>")
    assert repr(report).startswith("<IndexReport: 0 files indexed")
    for value in (added, answer.hits[0], answer, report):
        assert len(repr(value)) < 140 and "\n" not in repr(value)
    # The last line of a cell shows what a person reads.
    assert pretty(added) == repr(added) and pretty(memory.explain("λ", added.id)).startswith("Rank 1 of 1 candidates")
    assert pretty(report).startswith("0 files indexed")


def test_a_space_sees_only_itself(store, week):
    """A store opened with a space puts memories there, finds and forgets those, and others only when asked to."""
    whole = store()
    whole.add_many(week, progress=False)
    shops = store(space="shops")
    mine = shops.add("λ of the shops", title="Mine")
    assert mine.space == "shops"
    assert set(titles(shops.browse())) == {"Mine", "Zürich and Genève", "東京の売上"}
    assert set(titles(shops.search("λ prices orders", profile="trovella"))) <= set(titles(shops.browse()))
    assert titles(shops.search("joining orders", filters={"space": ""})) != []
    assert shops.add("elsewhere", space="lab").space == "lab"
    assert "elsewhere" not in shops.browse()["snippet"].tolist()
    assert shops.forget(everything=True) == 3 and whole.stats()["memories"] == len(week) - 1


def test_cells_of_one_time_are_listed_as_in_their_notebook(store, tmp_path):
    """Browsing goes through files by name and through the cells of each as they stand, also after an edit."""
    memory = store()

    def write(name, numbers):
        cells = [{"cell_type": "code", "source": f"λ = {n}", "id": f"cell-{n}", "metadata": {}} for n in numbers]
        os.utime(saved(tmp_path / "notebooks" / f"{name}.ipynb", *cells), (1_770_000_000, 1_770_000_000))

    write("b", range(9))
    write("a", range(3))
    memory.index(tmp_path / "notebooks", progress=False)
    write("a", (0, 3, 1, 2))
    memory.index(tmp_path / "notebooks", progress=False)
    listed = [(hit.memory.source[-7], hit.memory.location[5:]) for hit in memory.browsed(limit=20).hits]
    assert listed == [*(("a", n) for n in "0312"), *(("b", str(n)) for n in range(9))]
