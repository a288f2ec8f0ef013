"""The one door to a store: what goes in is found, changed, explained and forgotten."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import nbformat
import numpy as np
import pandas as pd
import pytest

from jupyter_memory import MemoryStore, open_store
from jupyter_memory.config import JupyterMemory
from jupyter_memory.embedders.static import StaticEmbedder
from jupyter_memory.errors import (
    EmbedderError,
    EmbeddingMismatch,
    InputError,
    QueryError,
    StoreClosed,
    StoreOpen,
    UnknownEmbedder,
    UnknownMemory,
    UnknownProfile,
)
from jupyter_memory.ingest.chunks import with_chunks
from jupyter_memory.types import Draft, Filters


def titles(found):
    """Return the titles of a result or an answer, in order."""
    return [hit.memory.title for hit in found.hits] if hasattr(found, "hits") else found["title"].tolist()


def words_of_the_index(store):
    """Return how many rows the keyword index has, and how many vectors there are."""
    stats = store.stats()
    return stats["chunks"], sum(model["vectors"] for model in stats["models"])


# -- add ---------------------------------------------------------------------------------------------------------------


def test_add_gives_the_memory_back(store):
    """What add returns is what was stored, with its defaults."""
    before = datetime.now(UTC)
    memory = store().add("The λ of the Poisson model is 3.2.")

    assert (memory.text, memory.title, memory.tags) == ("The λ of the Poisson model is 3.2.", "", ())
    assert (memory.kind, memory.tier, memory.pinned, memory.space) == ("note", "note", False, "")
    assert (memory.severity, memory.domain, memory.session, memory.source) == (None, None, None, "")
    assert memory.metadata == {}
    assert before - timedelta(milliseconds=1) <= memory.event_at <= datetime.now(UTC)


def test_everything_that_was_given_is_kept(store):
    """Every keyword of add comes back from get."""
    memory = store()
    given = {
        "title": "Preise für Zürich",
        "tags": ("decision", "λ"),
        "tier": "mcp",
        "kind": "history",
        "source": "chat:42",
        "event_at": datetime(2026, 3, 2, 9, 15, 1, 123456, tzinfo=UTC),
        "severity": "critical",
        "domain": "sales",
        "valid_from": datetime(2026, 3, 1, tzinfo=UTC),
        "valid_until": datetime(2026, 4, 1, tzinfo=UTC),
        "session": "s1",
        "space": "shops",
        "metadata": {"rows": 3, "ü": [1.5, None, {"deep": True}]},
    }
    kept = memory.get(memory.add("Prices are net of tax.", **given).id)

    assert {name: getattr(kept, name) for name in given} == given


def test_pandas_values_are_taken(store):
    """The records of a DataFrame go in as they are: Timestamps are times; NaT and NaN are no value."""
    frame = pd.DataFrame(
        {
            "text": ["λ rose", "λ fell"],
            "title": ["Up", None],
            "tags": [np.array(["a", "ü"]), np.nan],
            "event_at": [pd.Timestamp("2026-03-02", tz="UTC"), pd.NaT],
        }
    )
    rose, fell = store().add_many(frame.to_dict("records"), progress=False)

    assert rose.event_at == datetime(2026, 3, 2, tzinfo=UTC)
    assert fell.event_at > datetime(2026, 3, 3, tzinfo=UTC)
    assert (rose.title, rose.tags, fell.title, fell.tags) == ("Up", ("a", "ü"), "", ())


def test_known_content_is_merged(store):
    """Said twice, a memory is stored once: tags and metadata are merged, the newer value wins, the time stays."""
    memory = store()
    first = memory.add("λ is 3.2", title="λ", tags=["a"], metadata={"x": 1, "y": 1}, event_at="2026-03-02")
    again = memory.add("λ is 3.2", title="λ", tags=["ü", "a"], metadata={"y": 2}, event_at="2026-03-05")

    assert again.id == first.id
    assert again.tags == ("a", "ü") and dict(again.metadata) == {"x": 1, "y": 2}
    assert again.event_at == first.event_at
    assert memory.stats()["memories"] == 1 and words_of_the_index(memory) == (1, 1)
    assert titles(memory.search("ü", profile="auto")) == ["λ"]  # the merged tag is searched


@pytest.mark.parametrize("change", [{"title": "other"}, {"text": "λ is 3.3"}, {"source": "x.md"}, {"space": "lab"}])
def test_other_content_is_another_memory(store, change):
    """Another title, text, source or space makes another memory."""
    memory = store()
    record = {"text": "λ is 3.2", "title": "λ"}
    memory.add_many([record, {**record, **change}], progress=False)

    assert memory.stats()["memories"] == 2


def test_core_is_a_pinned_note(store):
    """tier="core" stores a note and pins it; said again it pins what is there."""
    memory = store()
    first = memory.add("Never join on names", tier="core")
    second = memory.add("Check the zone")
    again = memory.add("Check the zone", tier="core")

    assert (first.tier, first.pinned) == (again.tier, again.pinned) == ("core", True)
    assert again.id == second.id
    assert memory.unpin(first.id).tier == "note"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": "  \n"}, "There is nothing to remember: the text is empty"),
        ({"text": None}, "There is nothing to remember"),
        ({"text": 7}, "text must be a string, not int"),
        ({"text": "x", "tier": "gold"}, "tier is 'gold'; it must be one of core, file, mcp, note"),
        ({"text": "x", "kind": "cells"}, "kind is 'cells'; it must be one of note, file, cell, history"),
        ({"text": "x", "severity": "bad"}, "severity is 'bad'; it must be one of critical, warning, suggestion"),
        ({"text": "x", "metadata": {"λ": {1}}}, "metadata must be a mapping of JSON values"),
        ({"text": "x", "metadata": {"λ": float("nan")}}, "metadata must be a mapping of JSON values"),
        ({"text": "x", "tags": 5}, r"tags must be a string or several, such as \['decision', 'prices'\]"),
        ({"text": "x", "tags": ["a", 5]}, "tags must be a string or several"),
        ({"text": "x", "title": 5}, "title must be a string, not int"),
        ({"text": "x", "colour": "red"}, "A memory has no colour. It has: text, title, "),
        ({"text": "x", "event_at": "blue moon"}, "'blue moon' is not a time"),
    ],
)
def test_what_cannot_be_stored(store, given, message):
    """A value that cannot be stored is refused with what could be, and nothing of its batch is stored."""
    memory = store()

    with pytest.raises((InputError, QueryError), match=message):
        memory.add_many([{"text": "λ is 3.2"}, given], progress=False)
    assert memory.stats()["memories"] == 0


@pytest.mark.parametrize("records", [["λ is 3.2"], pd.DataFrame({"text": ["λ"]})], ids=["strings", "frame"])
def test_records_are_dicts(store, records):
    """Strings, and the column names that a DataFrame iterates over, are refused with the way to do it."""
    with pytest.raises(InputError, match=r"A record is a dict such as .* df.to_dict\('records'\)"):
        store().add_many(records, progress=False)


def test_add_many(week_store, week):
    """Many at once come back in their order, repeats as what they repeat."""
    again = week_store.add_many([*reversed(week), week[0]], progress=False)

    assert [memory.title for memory in again] == [record["title"] for record in (*reversed(week), week[0])]
    assert again[-1].id == again[-2].id
    assert week_store.stats()["memories"] == len(week)


def test_a_copy_within_a_batch(store):
    """Two records of one batch that say the same are one memory with both tags."""
    one, two = store().add_many([{"text": "λ is 3.2", "tags": "a"}, {"text": "λ is 3.2", "tags": "b"}], progress=False)

    assert one.id == two.id and two.tags == ("a", "b")


# -- search: what is found ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how did we normalise the electricity prices", "Scaling the prices"),
        ("Zürich", "Zürich and Genève"),
        ("zurich", "Zürich and Genève"),
        ("Zu\u0308rich", "Zürich and Genève"),
        ("λ", "Poisson λ"),
        ("Łukasz's extract", "Warehouse extract"),
        ("FileSyncService", "Lost events"),
        ("sync service", "Lost events"),
        ("filesyncservice", "Lost events"),
        ("sync_queue", "Lost events"),
        ("flush", "Lost events"),
        ("1.0.21", "Lost events"),
        ("df.groupby", "Means by shop"),
        ("groupby", "Means by shop"),
        ('"early stopping"', "Holdout results"),
        ("価格", "東京の売上"),
        ('"価格"', "東京の売上"),
        ("売上のpandas", "東京の売上"),
        ("late 🚚 in Malmö?", "Late deliveries"),
        ("snow delays of the carrier", "Late deliveries"),
        ("text:snow OR NEAR(carrier", "Late deliveries"),
    ],
)
def test_the_right_memory_comes_first(week_store, now, query, first):
    """By meaning, word, identifier, phrase or pair of characters, the memory that was meant is the first hit."""
    assert titles(week_store.search(query, now=now))[0] == first


def test_a_query_of_syntax_alone(week_store):
    """What FTS5 would take for its syntax is looked up like any words, or finds nothing."""
    for query in ("*", "NEAR(", ":", "AND", "-", "^", "{", "'); drop table memories", '"*" ""', "\udc80"):
        week_store.search(query)
    assert week_store.stats()["memories"] == 10


def test_stop_words_alone(store):
    """A query of stop words alone is searched as it stands."""
    memory = store(embedder=None)
    memory.add("To be or not to be", title="Hamlet")
    memory.add("λ of the prices")

    assert titles(memory.search("to be or not to be")) == ["Hamlet"]


def test_found_by_both_legs(week_store, now):
    """A hit tells which legs brought it, with ranks and raw scores; the answer counts them before fusion."""
    answer = week_store.hits("join orders on the customer name", now=now)
    first = answer.hits[0]

    assert (first.memory.title, first.badges, first.kw_rank, first.sem_rank) == ("Joining orders", "KW+SEM", 1, 1)
    assert first.bm25 > 0 and 0 < first.cosine <= 1
    assert answer.counts["fused"] >= max(answer.counts["keyword"], answer.counts["vector"])
    assert answer.counts["fused"] == len(answer.hits)
    marked = [first.snippet[start:end] for start, end in first.highlights]
    assert {"join", "orders", "customer", "name"} <= {word.casefold() for word in marked}


def test_an_answer_tells_how_it_came_about(week_store):
    """An answer has its stages in milliseconds, its store and an id of its own."""
    answer, other = week_store.hits("λ"), week_store.hits("λ")

    assert set(answer.timings) == {"embed", "keyword", "vector", "pool", "rank", "snippets", "total"}
    assert answer.timings["total"] >= max(answer.timings["keyword"], answer.timings["vector"]) > 0
    assert (answer.store, answer.profile) == (str(week_store.path), "auto")
    assert answer.query_id != other.query_id
    assert (answer.verdict, answer.notices) == ("strong", ())
    json.dumps(answer.to_json(), allow_nan=False)


def test_no_finds_below_the_threshold(store, week, now):
    """What is less like the query than the threshold never reaches covalence; trovella has no threshold."""
    strict = store(settings=JupyterMemory(threshold=0.5))
    strict.add_many(week, progress=False)
    query = "joining orders"
    kept, all_of_them = (strict.hits(query, profile=name, now=now) for name in ("covalence", "trovella"))

    near = {hit.memory.id for hit in all_of_them.hits if hit.cosine >= 0.5}
    assert 0 < len(near) < len(week) == all_of_them.counts["vector"]
    assert {hit.memory.id for hit in kept.hits if hit.sem_rank is not None} == near
    assert all(hit.kw_rank is not None for hit in kept.hits if hit.memory.id not in near)
    assert min(hit.cosine for hit in all_of_them.hits) < 0.2


def test_words_alone_give_a_cosine_all_the_same(week_store):
    """A hit below the threshold that has the words shows how near it is, and gets nothing for it."""
    hit = next(
        hit for hit in week_store.hits("groupby", profile="covalence").hits if hit.memory.title == "Means by shop"
    )

    assert hit.badges == "KW" and hit.sem_rank is None
    assert hit.cosine == pytest.approx(0.1, abs=0.15)
    assert hit.signals["vector"].contribution == 0.0


def test_the_title_names_it(store):
    """ "roadmap 1.4" finds v1.4-ROADMAP.md, though the index splits 1.4 and another text says both words more often."""
    memory = store(embedder=None)
    memory.add(
        "The roadmap of 1.4 was in the roadmap of 1.3: roadmap 1.4, roadmap 1.4.",
        title="Minutes of March",
        kind="file",
        tier="file",
        source="/week/minutes.md",
    )
    memory.add(
        "Release plan for Zürich.",
        title="/week/v1.4-ROADMAP.md",
        kind="file",
        tier="file",
        source="/week/v1.4-ROADMAP.md",
    )
    found = memory.search("roadmap 1.4", profile="covalence")

    assert titles(found) == ["/week/v1.4-ROADMAP.md", "Minutes of March"]
    assert found["contrib_title"].tolist() == pytest.approx([0.009, 0.0])
    assert titles(memory.search("roadmap 1.4", profile="trovella"))[0] == "Minutes of March"


def test_a_title_counts_five_times_in_covalence(store):
    """A word in the title weighs more than the same word in a text."""
    memory = store(embedder=None)
    memory.add("Prices of the winter, and λ.", title="Notes")
    memory.add("Notes of the winter, and λ.", title="Prices")

    assert titles(memory.search("prices of Zürich", profile="covalence")) == ["Prices", "Notes"]


def long_text():
    """Return a text of many chunks, its one telling passage far down."""
    lines = [f"Line {i}: deliveries to Malmö went out on time, nothing else to note about them." for i in range(200)]
    lines[150] = "The Zürich office changed the tax on electricity prices from net to gross."
    return "\n".join(lines)


@pytest.mark.parametrize("embedder", ["auto", None])
def test_a_long_memory_is_found_by_its_best_chunk(store, embedder):
    """Of a text of several chunks the best one speaks: its snippet, its line; the memory is one hit."""
    memory, text = store(embedder=embedder), long_text()
    memory.add(text, title="Log")
    memory.add("Deliveries to Malmö are late.", title="Short")
    hit = memory.hits("tax on electricity prices in Zürich").hits[0]

    assert memory.stats()["chunks"] > 5
    assert hit.memory.title == "Log" and hit.memory.text == text
    assert "The Zürich office changed the tax on electricity prices" in hit.snippet
    lines = [chunk.line for chunk in with_chunks([Draft(text)])[0].chunks if "Zürich" in text[chunk.start : chunk.end]]
    assert int(hit.location) in lines and 1 < int(hit.location) <= 151
    assert titles(memory.hits("Malmö deliveries")).count("Log") == 1


def test_the_chunk_with_the_word_is_shown(store):
    """Where words and meaning lead to different chunks of a memory, the one with the words is shown."""
    memory = store()
    near = "The electricity prices rose in March. Prices of electricity rise and fall. " * 40
    far = "A log of deliveries, with nothing else to note. " * 60
    memory.add(far + "Zirkonium. " + far + near, title="Log")
    [hit] = memory.hits("zirkonium prices of electricity", filters={"kind": "note"}).hits

    assert hit.badges == "KW+SEM"
    assert "Zirkonium" in [hit.snippet[start:end] for start, end in hit.highlights]


def test_a_long_memory_does_not_crowd_out_others(store):
    """However many chunks of one memory match, the answer has as many memories as were asked for."""
    memory = store()
    memory.add("Prices of electricity in Zürich rose. " * 3000, title="Long")
    for number in range(4):
        memory.add(f"Prices of electricity in Zürich, note {number}.", title=f"Note {number}")

    assert set(titles(memory.search("prices of electricity in Zürich"))) == {"Long", *(f"Note {i}" for i in range(4))}


# -- search: what is asked ---------------------------------------------------------------------------------------------


def test_limit(week_store):
    """limit is the number of hits; the setting of that name counts where it is left out."""
    assert len(week_store.search("the prices λ orders", limit=2)) == 2
    assert len(week_store.search("the prices λ orders", limit=np.int64(1))) == 1


def test_the_setting_limit(store, week):
    """A limit of the settings is the default of searches and lists."""
    memory = store(settings=JupyterMemory(limit=2))
    memory.add_many(week, progress=False)

    assert len(memory.search("prices λ orders deliveries")) == len(memory.browse()) == 2
    assert len(memory.browse(limit=7)) == 7


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kind": "cell"}, {"Means by shop"}),
        ({"kind": ["cell", "file"]}, {"Means by shop", "Holdout results"}),
        ({"tag": ["decision", "rule"]}, {"Scaling the prices", "Poisson λ", "Joining orders"}),
        ({"tag": ["decision", "prices"], "space": "shops"}, {"Zürich and Genève", "東京の売上"}),
        ({"tag": "prices", "kind": "cell"}, set()),
        ({"tier": "core"}, {"Joining orders"}),
        ({"tier": "mcp"}, {"Warehouse extract"}),
        ({"session": ["wednesday", "friday"]}, {"Warehouse extract", "Late deliveries"}),
        ({"tag": "no such tag"}, set()),
        (Filters(kind=("cell",)), {"Means by shop"}),
    ],
)
def test_filters(week_store, filters, expected):
    """Any value within a facet, every facet together; what a filter leaves no memory of finds nothing."""
    query = "the prices, λ, orders, deliveries, results, extract, mean, 売上"

    assert set(titles(week_store.search(query, filters=filters))) <= expected
    assert set(titles(week_store.browse(filters=filters))) == expected
    if expected:
        assert titles(week_store.search(query, filters=filters, profile="trovella"))


def test_a_filter_by_path(week_store, week_memories):
    """A path is a file or a folder with all below it."""
    source = week_memories["Holdout results"].source
    folder = source.rpartition("/notes/")[0]

    assert titles(week_store.browse(filters={"path": source})) == ["Holdout results"]
    assert titles(week_store.browse(filters={"path": folder})) == ["Holdout results", "Means by shop"]
    assert titles(week_store.browse(filters={"path": folder + "/note"})) == []


def test_since_and_until(week_store):
    """since is included, and so is a day that is given as until."""
    third = {"Means by shop", "Poisson λ", "Zürich and Genève"}

    assert set(titles(week_store.browse(since="2026-03-03", until="2026-03-03"))) == third
    assert set(titles(week_store.browse(since=date(2026, 3, 3), until=date(2026, 3, 3)))) == third
    assert set(titles(week_store.browse(filters={"since": "2026-03-03", "until": "2026-03-03"}))) == third
    noon = datetime(2026, 3, 3, 12, tzinfo=UTC)
    assert set(titles(week_store.browse(since="2026-03-03", until=noon))) == {"Means by shop", "Poisson λ"}
    assert titles(week_store.search("prices", since=datetime(2026, 3, 3, 17, tzinfo=UTC), until=noon.replace(hour=18)))
    assert titles(week_store.search("joining orders", until="2026-03-04")) != titles(
        week_store.search("joining orders")
    )


def test_relative_times_count_from_now(week_store, now):
    """ "yesterday" is the day before the moment that was given as now."""
    assert titles(week_store.search("joining orders holdout", since="yesterday", until="yesterday", now=now)) == [
        "Joining orders",
        "Holdout results",
    ]
    assert len(week_store.search("joining orders holdout", since="yesterday", now="2027-01-01")) == 0


def test_now_is_what_ages_count_from(week_store, now):
    """A year later the same memory is worth half for its age."""
    fresh, old = (week_store.search("λ", now=moment).iloc[0] for moment in (now, now + timedelta(days=365)))

    assert fresh["memory_id"] == old["memory_id"]
    assert fresh["value_recency"] > 0.98 and old["value_recency"] == pytest.approx(0.5, abs=0.01)
    assert fresh["score"] - old["score"] == pytest.approx(fresh["contrib_recency"] - old["contrib_recency"])


def test_tags_and_domain_leave_nothing_out(week_store, now):
    """Tags and a domain beside the query are evidence for profiles that read it; no hit goes missing for them."""
    plain = week_store.search("prices", now=now)
    more = week_store.search("prices", tags="rule", domain="forecasting", now=now)

    assert titles(more) == titles(plain) and more["score"].equals(plain["score"])
    query = week_store.hits("prices", tags="rule", domain="forecasting").query
    assert (query.tags, query.domain) == (("rule",), "forecasting")


def test_profiles(week_store):
    """A search names its profile, the store its default; a wrong name is answered with the right ones."""
    assert week_store.search("λ", profile="trovella").attrs["memsearch"]["profile"] == "trovella"
    assert week_store.profile.name == "auto"
    with pytest.raises(UnknownProfile, match="Did you mean 'trovella'"):
        week_store.search("λ", profile="trovela")


def test_the_profile_of_a_store(store):
    """The profile that a store is opened with ranks its searches."""
    memory = store(profile="trovella")
    memory.add("λ")

    assert memory.hits("λ").profile == "trovella"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": ""}, "There is nothing to search for: type some words"),
        ({"query": None}, "A query is a string, not NoneType"),
        ({"limit": 0}, "limit is the number of hits wanted"),
        ({"mode": "short"}, "mode is 'full' or 'scan', not 'short'"),
        ({"filters": {"kinds": "cell"}}, "Did you mean 'kind'"),
        ({"since": "blue moon"}, "'blue moon' is not a time"),
        ({"since": "2026-03-05", "until": "2026-03-01"}, "since is not before until"),
    ],
)
def test_a_search_that_cannot_be_read(week_store, options, message):
    """What cannot be read is a QueryError that says what can."""
    with pytest.raises(QueryError, match=message):
        week_store.search(**{"query": "prices", **options})


# -- ties, pins and browsing -------------------------------------------------------------------------------------------


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
    """Where more are equal than a leg brings, it brings the newest, in whatever order they were stored."""
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


# -- spaces ------------------------------------------------------------------------------------------------------------


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


# -- explain -----------------------------------------------------------------------------------------------------------


def test_explain_a_hit(week_store, week_memories, now):
    """A hit's explanation has its place, its sum and a sentence for each signal."""
    id_ = week_memories["Joining orders"].id
    why = week_store.explain("joining orders", id_, now=now)
    hit = week_store.hits("joining orders", now=now).hits[0]

    assert (why.rank, why.profile, why.memory.id) == (1, "auto", id_)
    assert why.hit.score == hit.score and why.hit.signals == hit.signals
    assert why.reasons[0].startswith("Rank 1 of ") and f"score {hit.score:.6f} = keyword " in why.reasons[0]
    assert len(why.reasons) == 1 + len(hit.signals) + 1
    assert str(why) == "\n".join(why.reasons)


def test_explain_beyond_the_limit(week_store, now):
    """A memory that did not fit into the answer is told where it is, and how to see it."""
    second = week_store.search("prices", now=now).loc[2, "memory_id"]
    why = week_store.explain("prices", second, limit=1, now=now)

    assert why.rank == 2
    assert why.reasons[1] == "The answer shows the first 1, so it is not in it; ask for more with limit=2."


def test_explain_what_was_filtered(week_store, week_memories):
    """A memory that the filters leave out is told by which of them."""
    id_ = week_memories["Joining orders"].id
    why = week_store.explain("joining orders", id_, filters={"kind": "cell", "tag": ["pandas", "λ"]})

    assert (why.rank, why.hit) == (None, None)
    assert why.reasons == ("The filters leave it out: kind cell, it has note; tag pandas, λ, it has rule.",)
    assert "until" in str(week_store.explain("joining orders", id_, until="2026-03-04"))


def test_explain_what_no_leg_brought(store, week):
    """A memory without the words and below the threshold is told both, with the numbers."""
    memory = store(settings=JupyterMemory(threshold=0.9))
    memory.add_many(week, progress=False)
    id_ = next(hit.memory.id for hit in memory.browsed(limit=20).hits if hit.memory.title == "Late deliveries")
    why = memory.explain("joining orders", id_)

    assert why.rank is None
    assert why.reasons[0] == "No leg brought it, so it was never ranked."
    assert why.reasons[1] == (
        "keyword: none of the query's words occur in the columns that auto searches "
        "(title, context, text, tags, ident)."
    )
    assert why.reasons[2].startswith("vector: its cosine ") and why.reasons[2].endswith("below the threshold 0.9.")


def test_explain_what_others_beat(store):
    """A memory that matches, while enough others match better, is told so for each leg."""
    memory = store()
    memory.add_many(
        [{"text": f"λ prices, prices and prices again, number {i}", "title": "Prices"} for i in range(25)],
        progress=False,
    )
    last = memory.add("In a long note about deliveries to Malmö in the snow there is one word on prices.").id
    why = str(memory.explain("prices", last, limit=1, profile="trovella"))

    assert "keyword: it matches with BM25" in why and "but 20 memories match better" in why
    assert "vector: its cosine is" in why and "but 20 memories are nearer" in why


def test_explain_without_a_model(store, week):
    """Where meaning was not searched, the explanation does not pretend that it was."""
    memory = store(embedder=None)
    memory.add_many(week, progress=False)
    ids = {hit.memory.title: hit.memory.id for hit in memory.browsed(limit=20).hits}

    assert "meaning was not searched" in str(memory.explain("joining orders", ids["Late deliveries"]))
    assert "vector: did not bring it." in str(
        memory.explain("joining orders", ids["Joining orders"], profile="covalence")
    )


def test_explain_an_unknown_memory(week_store):
    """No explanation for an id that is not there."""
    with pytest.raises(UnknownMemory, match="No memory has the id 'λ'"):
        week_store.explain("prices", "λ")
    with pytest.raises(QueryError, match="nothing to search for"):
        week_store.explain(" ", "λ")


def test_explain_in_an_answer(week_store, week_memories):
    """Of an answer given before, a memory that is not in it is explained too; a list explains nothing."""
    answer = week_store.hits("joining orders", limit=1)

    assert week_store.explain_in(answer, answer.hits[0].memory.id).rank == 1
    assert week_store.explain_in(answer, week_memories["Warehouse extract"].id).rank is None
    with pytest.raises(QueryError, match="listed without a question"):
        week_store.explain_in(week_store.browsed(), answer.hits[0].memory.id)


# -- get and update ----------------------------------------------------------------------------------------------------


def test_an_unknown_id(week_store):
    """Every verb that takes an id says so when no memory has it."""
    for verb in (week_store.get, week_store.pin, week_store.unpin, week_store.forget, week_store.update):
        with pytest.raises(UnknownMemory, match="No memory has the id '3f2a'"):
            verb("3f2a")


def test_update_is_seen_by_both_legs(store):
    """A new text is found by its words and its meaning, and the old one no more."""
    memory = store()
    id_ = memory.add("Deliveries to Malmö are late because of the snow.", title="Deliveries", tags=["todo"]).id
    changed = memory.update(id_, text="Walruses sleep on the ice of Spitsbergen.", title="Wildlife λ", tags=["zoo"])

    assert (changed.id, changed.text, changed.title, changed.tags) == (
        id_,
        "Walruses sleep on the ice of Spitsbergen.",
        "Wildlife λ",
        ("zoo",),
    )
    assert memory.get(id_) == changed
    for query in ("walruses sleep", "wildlife"):
        assert memory.hits(query).hits[0].badges == "KW+SEM"
    assert memory.hits("zoo").hits[0].kw_rank == 1
    assert not any(
        "KW" in hit.badges for query in ("deliveries", "todo", "Malmö snow") for hit in memory.hits(query).hits
    )
    near, far = (
        memory.hits(query, profile="trovella").hits[0].cosine for query in ("arctic animals", "late deliveries")
    )
    assert near > far
    assert words_of_the_index(memory) == (1, 1) and memory.doctor() == []


def test_update_of_some_things_leaves_the_others(store):
    """What is not named stays; tags and metadata that are named are replaced."""
    memory = store()
    first = memory.add(
        "λ is 3.2", title="λ", tags=["a", "b"], metadata={"x": 1}, domain="sales", event_at="2026-03-02", session="s"
    )
    changed = memory.update(first.id, metadata={"y": 2}, severity="warning")

    assert dict(changed.metadata) == {"y": 2} and changed.severity == "warning"
    for name in ("text", "title", "tags", "domain", "event_at", "session", "content_hash", "tier"):
        assert getattr(changed, name) == getattr(first, name)
    assert memory.update(first.id, tags="ü").tags == ("ü",)
    assert memory.update(first.id, domain=None, tags=()).domain is None
    assert memory.get(first.id).tags == ()


def test_update_of_the_time(store):
    """A new time counts for filters, and its weekday among the words that are searched."""
    memory = store()
    id_ = memory.add("λ is 3.2", event_at=datetime(2026, 3, 2, 12, tzinfo=UTC)).id
    memory.update(id_, event_at=datetime(2026, 3, 12, 12, tzinfo=UTC))

    assert len(memory.browse(since="2026-03-12", until="2026-03-12")) == 1
    assert memory.search("Thursday")["badges"].tolist() != []
    assert not any(memory.search("Monday")["kw_rank"].notna())


@pytest.fixture
def notebook(store, tmp_path):
    """A store with one notebook of two cells below a heading, and its code cell."""
    cells = [
        nbformat.v4.new_markdown_cell("# Zürich\n\n## Kühlung\n\nWhy the cooling failed.", id="intro"),
        nbformat.v4.new_code_cell("load = read_load('2026-03')\nload.plot()", id="plot"),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "cooling.ipynb")
    memory = store()
    memory.index(tmp_path / "cooling.ipynb", progress=False)
    [cell] = [hit.memory for hit in memory.browsed().hits if hit.memory.location == "plot"]
    return memory, cell


def test_a_cell_with_new_tags_keeps_its_place(notebook):
    """Tags given to an indexed cell are searched, and it is still found by its headings and with its vector."""
    memory, cell = notebook
    before = memory.hits("Kühlung cooling failed", filters={"kind": "cell"}, profile="trovella")
    changed = memory.update(cell.id, tags=["todo"])
    after = memory.hits("Kühlung cooling failed", filters={"kind": "cell"}, profile="trovella")

    assert (changed.location, changed.lang, changed.source, changed.tags) == (
        cell.location,
        cell.lang,
        cell.source,
        ("todo",),
    )
    assert [hit.memory.id for hit in after.hits] == [hit.memory.id for hit in before.hits]
    assert [hit.cosine for hit in after.hits] == [hit.cosine for hit in before.hits]
    assert [hit.kw_rank for hit in after.hits] == [hit.kw_rank for hit in before.hits]
    assert memory.hits("todo").hits[0].memory.id == cell.id and memory.doctor() == []


def test_a_cell_with_a_new_text_keeps_its_place(notebook):
    """A cell that is corrected in the store is still found by its notebook and headings."""
    memory, cell = notebook
    memory.update(cell.id, text="load = read_load('2026-04')")

    assert "KW" in next(hit.badges for hit in memory.hits("Kühlung").hits if hit.memory.id == cell.id)
    assert not any(hit.kw_rank for hit in memory.hits("plot", profile="covalence").hits)


def test_update_refuses_to_make_a_copy(store):
    """A change that would make two memories the same is refused with the other's id, and nothing changes."""
    memory = store()
    one, two = memory.add("λ is 3.2", title="λ"), memory.add("λ is 3.3", title="λ", tags=["a"])

    with pytest.raises(InputError, match=f"memory {one.id} says the same already"):
        memory.update(two.id, text="λ is 3.2", tags=["b"])
    assert memory.get(two.id) == two


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "cell"}, r"update\(\) cannot set kind\. It sets: domain, event_at, "),
        ({"colour": "red", "source": "x"}, "cannot set colour, source"),
        ({"text": ""}, "the text is empty"),
        ({"tier": "gold"}, "tier is 'gold'"),
    ],
)
def test_update_refuses_what_cannot_be(store, change, message):
    """What cannot be set is refused, and the memory stays as it was."""
    memory = store()
    before = memory.add("λ is 3.2")

    with pytest.raises(InputError, match=message):
        memory.update(before.id, **change)
    assert memory.get(before.id) == before


# -- forget ------------------------------------------------------------------------------------------------------------


def test_forget_by_id(week_store, week_memories):
    """One id or several; the same one twice counts once."""
    ids = [week_memories[title].id for title in ("Poisson λ", "Late deliveries", "Lost events")]

    assert week_store.forget(ids[0]) == 1
    assert week_store.forget([ids[1], ids[2], ids[1]]) == 2
    assert week_store.stats()["memories"] == 7
    assert words_of_the_index(week_store) == (7, 7)
    assert "Poisson λ" not in titles(week_store.search("Poisson λ", profile="trovella"))


def test_one_wrong_id_forgets_nothing(week_store, week_memories):
    """When one of the ids is not there, all the others stay."""
    with pytest.raises(UnknownMemory, match="'nobody'"):
        week_store.forget([week_memories["Poisson λ"].id, "nobody"])
    assert week_store.stats()["memories"] == 10


def test_forget_by_source(week_store, week_memories):
    """A file goes with its memories, a folder with all below it."""
    source = week_memories["Holdout results"].source

    assert week_store.forget(source=source) == 1
    assert week_store.forget(source=source.rpartition("/notes/")[0]) == 1
    assert week_store.forget(source=source) == 0
    assert week_store.stats()["memories"] == 8


@pytest.mark.parametrize(
    ("filters", "count"),
    [({"tag": "prices"}, 3), ({"tag": "prices", "space": "shops"}, 2), ({"until": "2026-03-02"}, 2)],
)
def test_forget_by_filters(week_store, filters, count):
    """What the filters select is forgotten, and nothing else."""
    left = set(titles(week_store.browse(limit=20))) - set(titles(week_store.browse(limit=20, filters=filters)))

    assert week_store.forget(filters=filters) == count
    assert set(titles(week_store.browse(limit=20))) == left


def test_forget_source_and_filters(week_store, week_memories):
    """Beside a source, filters choose among its memories; a second path is refused."""
    source = week_memories["Holdout results"].source

    assert week_store.forget(source=source, filters={"tag": "pandas"}) == 0
    with pytest.raises(InputError, match="takes one path"):
        week_store.forget(source=source, filters={"path": "/week"})
    assert week_store.forget(source=source, filters={"tag": "model"}) == 1


def test_forget_everything(week_store):
    """All goes when that is said."""
    assert week_store.forget(everything=True) == 10
    assert words_of_the_index(week_store) == (0, 0)
    assert week_store.search("prices").empty and week_store.doctor() == []


@pytest.mark.parametrize("given", [{}, {"filters": {}}, {"filters": Filters()}, {"everything": False}])
def test_forget_needs_to_know_what(week_store, given):
    """Without a choice nothing is forgotten, and the error says how to choose."""
    with pytest.raises(InputError, match=r"forget\(\) needs to know what: ids, source=, filters=, or everything=True"):
        week_store.forget(**given)
    assert week_store.stats()["memories"] == 10


def test_forget_by_ids_or_by_choice(week_store, week_memories):
    """Ids and a choice together could be read in two ways, so they are refused; no ids forget nothing."""
    with pytest.raises(InputError, match="not both"):
        week_store.forget(week_memories["Poisson λ"].id, everything=True)
    assert week_store.forget([]) == 0
    assert week_store.stats()["memories"] == 10


# -- the model ---------------------------------------------------------------------------------------------------------


class Broken:
    """An embedder that stops in the middle of its work."""

    def __init__(self, dimensions, batches):
        self._inner, self._left = StaticEmbedder(dimensions), batches
        self.name, self.dimensions, self.threshold = "static", dimensions, self._inner.threshold
        self.fingerprint = self._inner.fingerprint

    def embed_documents(self, texts, /):
        if self._left == 0:
            raise EmbedderError("The model has run out of λ.")
        self._left -= 1
        return self._inner.embed_documents(texts)

    def embed_query(self, text, /):
        return self._inner.embed_query(text)


def test_without_a_model(store, week):
    """embedder=None searches by words alone and says so; nothing is embedded."""
    memory = store(embedder=None)
    memory.add_many(week, progress=False)
    answer = memory.hits("joining orders")

    assert {hit.badges for hit in answer.hits} == {"KW"}
    assert answer.hits[0].memory.title == "Joining orders"
    assert answer.notices == ("Meaning was not searched, only words.",)
    assert answer.counts["vector"] == 0 and memory.stats()["models"] == []
    with pytest.raises(InputError, match="opened with embedder=None"):
        memory.reembed(progress=False)


def test_a_model_that_comes_later(store, week):
    """What was stored without a model is found by words; doctor says how to embed it, and reembed does."""
    store(embedder=None).add_many(week, progress=False)
    memory = store()
    memory.add("λ of the walrus")

    assert memory.doctor() == [
        "10 chunks have no vector, so meaning does not find them. Write them with store.reembed()."
    ]
    assert memory.hits("joining orders").hits[0].badges == "KW"
    assert memory.reembed(progress=False) == 10
    assert memory.hits("joining orders").hits[0].badges == "KW+SEM"
    assert memory.doctor() == []


def test_another_model(store, week):
    """Opened with another model a store searches by words, says why, and takes nothing new until it is re-embedded."""
    store().add_many(week, progress=False)
    other = store(embedder="static-128")
    answer = other.hits("joining orders")

    assert {hit.badges for hit in answer.hits} == {"KW"}
    assert "written with static (256 dimensions), and the embedder is static (128)" in answer.notices[0]
    assert "store.reembed()" in answer.notices[0] and other.doctor() == [answer.notices[0]]
    with pytest.raises(EmbeddingMismatch, match=r"store\.reembed\(\)"):
        other.add("λ is 3.2")
    with pytest.raises(EmbeddingMismatch):
        other.update(answer.hits[0].memory.id, text="λ is 3.2")
    assert other.pin(answer.hits[0].memory.id).pinned  # what needs no vector works

    assert other.reembed(progress=False) == len(week)
    assert other.hits("joining orders").hits[0].badges == "KW+SEM" and other.hits("joining orders").notices == ()
    assert other.stats()["model"] == "static"
    assert [(model["dimensions"], model["active"]) for model in other.stats()["models"]] == [(256, False), (128, True)]
    assert other.reembed(progress=False) == 0


def test_auto_is_the_model_of_the_store(store, week):
    """ "auto" opens what the store was written with, whatever the default is."""
    store(embedder="static-64").add_many(week, progress=False)
    memory = store()

    assert memory.add("λ is 3.2").id
    assert memory.hits("joining orders").hits[0].badges == "KW+SEM"
    assert [model["dimensions"] for model in memory.stats()["models"]] == [64]


def test_reembedding_goes_on_where_it_stopped(store):
    """Interrupted, the old vectors keep serving, and the next call writes only what is left."""
    memory = store()
    memory.add_many(
        [{"text": f"λ {i}: orders of shop {i % 7} in Zürich", "title": f"Note {i}"} for i in range(600)], progress=False
    )
    before = memory.search("orders in Zürich")

    with pytest.raises(EmbedderError, match="run out of λ"):
        store(embedder=Broken(128, batches=1)).reembed(progress=False)
    known = {model["dimensions"]: (model["active"], model["vectors"]) for model in memory.stats()["models"]}
    assert known == {256: (True, 600), 128: (False, 256)}
    assert memory.search("orders in Zürich")["cosine"].equals(before["cosine"])
    memory.add("λ 600: orders of shop 5 in Zürich", title="Note 600")  # in the middle of it, life goes on

    resumed = store(embedder="static-128")
    assert resumed.reembed(progress=False) == 601 - 256
    assert [(model["dimensions"], model["vectors"]) for model in resumed.stats()["models"]] == [(256, 601), (128, 601)]
    assert resumed.hits("orders in Zürich", profile="trovella").counts["vector"] == 40


def test_a_model_that_does_not_exist(store):
    """An unknown model is an error with the names of those that exist."""
    with pytest.raises(UnknownEmbedder, match=r"No embedder has the name 'nomic-λ'\..* Known are: auto, static"):
        store(embedder="nomic-λ").add("λ is 3.2")


# -- the store itself --------------------------------------------------------------------------------------------------


def test_stats(week_store):
    """Stats count by kind, tier and space, and name the model."""
    stats = week_store.stats()

    assert (stats["memories"], stats["chunks"], stats["pinned"]) == (10, 10, 1)
    assert stats["kinds"] == {"note": 8, "cell": 1, "file": 1}
    assert stats["tiers"] == {"note": 6, "file": 2, "core": 1, "mcp": 1}
    assert stats["spaces"] == {"": 8, "shops": 2}
    assert (stats["model"], stats["store"]) == ("static", str(week_store.path))
    assert stats["bytes"] > 10_000 and not stats["read_only"]
    json.dumps(stats)


def test_tags(week_store):
    """Tags come with the most used first."""
    assert week_store.tags()[:3] == ["prices", "decision", "model"]
    assert set(week_store.tags()) == {"prices", "decision", "model", "bug", "pandas", "todo", "rule"}


def test_a_healthy_store(week_store):
    """The doctor has nothing to say about a store that is well."""
    assert week_store.doctor() == [] and week_store.notices == ()


def test_a_store_closes_itself(store, tmp_path):
    """A store is a context manager; closed, it says how to open it again; closing twice is fine."""
    with MemoryStore(tmp_path / "λ.sqlite") as memory:
        memory.add("λ is 3.2")
        assert repr(memory) == f"MemoryStore({str(tmp_path / 'λ.sqlite')!r})"

    assert memory.closed and repr(memory).endswith(", closed)")
    for use in (lambda: memory.search("λ"), lambda: memory.add("x"), memory.stats, memory.browse):
        with pytest.raises(StoreClosed, match=r"open_store\(\) or MemoryStore\(path\)"):
            use()
    memory.close()
    assert titles(store("../λ.sqlite").browse()) == [""]


def test_what_is_kept_is_kept(store, week, now):
    """Closed and opened again, a store gives the same answer, to the last digit."""
    first = store()
    first.add_many(week, progress=False)
    before = first.search("joining orders", now=now)
    first.close()

    pd.testing.assert_frame_equal(store().search("joining orders", now=now), before)


def test_one_store_for_one_path(tmp_path, monkeypatch):
    """Within a process a path gives the same store until it is closed; the default one is where the settings say."""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "mine.sqlite"))
    default = open_store()
    other = open_store(tmp_path / "other.sqlite")

    assert default.path == tmp_path / "mine.sqlite"
    assert open_store() is default and open_store(str(tmp_path / "other.sqlite")) is other is not default
    default.close()
    again = open_store()
    assert again is not default and not again.closed
    again.close()
    other.close()


def test_the_default_store_lies_in_jupyters_data_folder(home):
    """Without any setting the store is memory/memory.sqlite in Jupyter's data folder."""
    with open_store() as memory:
        assert memory.path == home / "data" / "memory" / "memory.sqlite"
        assert memory.path.exists()


def test_settings_of_ones_own(tmp_path):
    """A store can be opened with other settings beside the one that is shared."""
    shared = open_store(tmp_path / "memory.sqlite")
    settings = JupyterMemory(limit=1, profile="trovella", space="lab")
    mine = open_store(tmp_path / "memory.sqlite", settings=settings)
    mine.add_many([{"text": "λ one"}, {"text": "λ two"}], progress=False)

    assert mine is not shared and open_store(tmp_path / "memory.sqlite") is shared
    assert len(mine.search("λ")) == 1 and mine.hits("λ").profile == "trovella"
    assert {hit.memory.space for hit in shared.browsed().hits} == {"lab"}
    mine.close()
    shared.close()


def test_redaction_can_be_left_out(store):
    """Secrets are replaced before they are stored, unless the settings say otherwise."""
    text = "postgres://anna:hunter2secret@db.example.org/prices"

    assert "hunter2secret" not in store("a.sqlite").add(text).text
    assert store("b.sqlite", settings=JupyterMemory(redact=False)).add(text).text == text


def test_redaction_of_tags_and_metadata(store):
    """A secret in a tag or in metadata is replaced like one in the text; the path that a memory came from stays."""
    token = "ghp_9f8c1e2ab7d04c55e1f02a3b4d"
    metadata = {"Zürich": {"password": "k4ffee77"}, "λ": 3}
    source = f"/data/{token}/prices.csv"
    written = store("a.sqlite").add("λ", tags=["prices", token], metadata=metadata, source=source)

    assert written.tags == ("[redacted: GitHub token]", "prices")
    assert written.metadata == {"Zürich": {"password": "[redacted: password]"}, "λ": 3}
    assert written.source == source
    assert token in store("b.sqlite", settings=JupyterMemory(redact=False)).add("λ", tags=[token]).tags


def test_backup_and_restore(week_store, tmp_path, now):
    """A backup taken while the store is open holds all of it, and becomes a store elsewhere."""
    copy = week_store.backup(tmp_path / "Sicherung λ.sqlite")
    week_store.forget(everything=True)
    where = MemoryStore.restore(copy, to=tmp_path / "new" / "memory.sqlite")

    with MemoryStore(where) as restored:
        assert restored.stats()["memories"] == 10
        assert titles(restored.search("joining orders", now=now))[0] == "Joining orders"
        assert restored.doctor() == []
    with pytest.raises(InputError, match=r"exists already\. Choose another name"):
        week_store.backup(copy)


def test_restore_in_place(week_store, tmp_path):
    """A store is put back only when asked to, and only while nobody has it open."""
    copy, path = week_store.backup(tmp_path / "copy.sqlite"), week_store.path
    week_store.forget(everything=True)

    with pytest.raises(InputError, match="overwrite=True"):
        MemoryStore.restore(copy, to=path)
    with pytest.raises(StoreOpen, match="Close it first"):
        MemoryStore.restore(copy, to=path, overwrite=True)
    assert week_store.stats()["memories"] == 0
    week_store.close()
    with pytest.raises(InputError, match="There is no backup at"):
        MemoryStore.restore(tmp_path / "nothing.sqlite", to=path, overwrite=True)

    assert MemoryStore.restore(copy, to=path, overwrite=True) == path
    with MemoryStore(path) as restored:
        assert restored.stats()["memories"] == 10


def test_restore_the_default_store(week_store, tmp_path, monkeypatch):
    """Without a target a backup becomes the default store."""
    monkeypatch.setenv("JUPYTER_MEMORY_PATH", str(tmp_path / "mine.sqlite"))

    assert MemoryStore.restore(week_store.backup(tmp_path / "copy.sqlite")) == tmp_path / "mine.sqlite"


def test_one_character_finds_every_place_it_stands(store):
    """A single Chinese, Japanese or Korean character is found at the start, in the middle and at the end of a run."""
    memories = store()
    for text in ("塔を見る", "東京塔へ", "東京塔", "価格"):
        memories.add(text)

    answer = memories.hits("塔", profile="covalence")

    assert {hit.memory.text for hit in answer.hits if hit.kw_rank} == {"塔を見る", "東京塔へ", "東京塔"}
    assert all(hit.snippet[slice(*hit.highlights[0])] == "塔" for hit in answer.hits if hit.kw_rank)
