"""The order of a store's memories: ties, pins, browsing, and the space that bounds them."""

from __future__ import annotations

import json
import os

import pytest
from results import titles


def copies(memory, backwards=False):
    """Store one text in three places at three times; return it as titles by age, the newest first."""
    records = [
        {"text": "λ of the prices", "title": "Prices", "source": f"/week/{name}.md", "event_at": f"2026-03-0{day}"}
        for name, day in (("a", 2), ("b", 3), ("c", 4))
    ]
    memory.add_many(reversed(records) if backwards else records, progress=False)


def sources(frame):
    """Return where the memories of a result come from."""
    return [source[-4] for source in frame["source"]]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("profile", ["auto", "covalence", "trovella"])
def test_equals_share_their_ranks(store, profile, backwards):
    """Of equally relevant memories the newest comes first, in whatever order they were stored."""
    memory = store()
    copies(memory, backwards)
    found = memory.search("λ of prices", profile=profile)

    assert sources(found) == ["c", "b", "a"]
    assert found["kw_rank"].tolist() == found["sem_rank"].tolist() == [1, 1, 1]


@pytest.mark.parametrize("backwards", [False, True])
def test_a_cut_through_equals_keeps_the_newest(store, backwards):
    """Where more are equal than a retriever finds, it finds the newest, in whatever order they were stored."""
    memory = store()
    days = range(1, 31)
    memory.add_many(
        [
            {"text": "λ of the prices", "source": f"/week/{day}.md", "event_at": f"2026-01-{day:02}"}
            for day in (reversed(days) if backwards else days)
        ],
        progress=False,
    )
    answer = memory.hits("λ of prices", limit=5, profile="covalence")

    assert answer.counts == {"keyword": 20, "vector": 20, "fused": 20}
    assert [hit.memory.source for hit in answer.hits] == [f"/week/{day}.md" for day in (30, 29, 28, 27, 26)]


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
    """A pin hides the stored tier and never changes it, however the memory came to be pinned."""
    memory = store()
    id_ = memory.add("λ", tier=tier).id

    assert memory.unpin(memory.pin(id_).id).tier == tier
    assert memory.update(id_, tier="core").tier == "core"
    assert memory.unpin(id_).tier == tier


def test_a_change_of_tier_leaves_the_pin(store):
    """A pinned memory stays pinned whatever its tier; unpinned, it has the tier that it was given."""
    memory = store()
    id_ = memory.add("λ", tier="core").id

    assert memory.update(id_, tier="mcp").pinned
    assert memory.unpin(id_).tier == "mcp"


def test_none_does_not_make_an_old_memory_new(store):
    """Text, tier and event time, which every memory has, stay as they are where a change says None or NaN."""
    memory = store()
    before = memory.add("λ for Frau Müller", event_at="2026-03-02", domain="ridge")
    after = memory.update(before.id, event_at=None, tier=None, text=None, domain=None)

    assert (after.event_at, after.tier, after.text, after.domain) == (before.event_at, "note", before.text, None)
    assert memory.update(before.id, event_at=float("nan")).event_at == before.event_at


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


def test_browsing_order(week_store):
    """Without a question: core, note, mcp, file; the newest first within each."""
    found = week_store.browse(limit=100)

    assert found["tier"].drop_duplicates().tolist() == ["core", "note", "mcp", "file"]
    for _, group in found.groupby("tier"):
        assert group["event_at"].is_monotonic_decreasing
    assert titles(week_store.browse(limit=2)) == ["Joining orders", "Late deliveries"]


def test_browsing_gives_hits_too(week_store):
    """browsed() is the same list as values, without scores."""
    answer = week_store.browsed(limit=3)

    assert titles(answer) == titles(week_store.browse(limit=3))
    assert answer.profile == "browse" and answer.query.text == ""
    json.dumps(answer.to_json(), allow_nan=False)


def test_a_store_without_a_space_sees_all(week_store):
    """The default space is empty, and a store without a space searches all of them."""
    assert {hit.memory.space for hit in week_store.browsed(limit=100).hits} == {"", "shops"}


def test_a_space_sees_only_itself(store, week):
    """A store opened with a space puts memories there and finds those of other spaces only when asked to."""
    store().add_many(week, progress=False)
    shops = store(space="shops")
    mine = shops.add("λ of the shops", title="Mine")

    assert mine.space == "shops"
    assert set(titles(shops.browse())) == {"Mine", "Zürich and Genève", "東京の売上"}
    assert set(titles(shops.search("λ prices orders", profile="trovella"))) <= set(titles(shops.browse()))
    assert titles(shops.search("joining orders", filters={"space": ""})) != []
    assert shops.add("elsewhere", space="lab").space == "lab"
    assert "elsewhere" not in shops.browse()["snippet"].tolist()


def test_everything_of_a_space(store, week):
    """Forgetting everything in a space leaves the other spaces alone."""
    all_of_it = store()
    all_of_it.add_many(week, progress=False)

    assert store(space="shops").forget(everything=True) == 2
    assert all_of_it.stats()["memories"] == len(week) - 2


def test_cells_of_one_time_are_listed_as_in_their_notebook(store, tmp_path):
    """Browsing goes through files by name and through the cells of each as they stand, also after an edit."""
    memory = store()

    def write(name, numbers):
        cells = [{"cell_type": "code", "source": f"λ = {n}", "id": f"cell-{n}", "metadata": {}} for n in numbers]
        path = tmp_path / "notebooks" / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        os.utime(path, (1_770_000_000, 1_770_000_000))

    write("b", range(9))
    write("a", range(3))
    memory.index(tmp_path / "notebooks", progress=False)
    write("a", (0, 3, 1, 2))
    memory.index(tmp_path / "notebooks", progress=False)

    listed = [(hit.memory.source[-7], hit.memory.location[5:]) for hit in memory.browsed(limit=20).hits]
    assert listed == [*(("a", n) for n in "0312"), *(("b", str(n)) for n in range(9))]
