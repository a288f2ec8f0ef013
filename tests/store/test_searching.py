"""Searching a store: what is found, by which chunk, within which filters, times and operators, and what is refused."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest
from results import titles
from week import NOW

from jupyter_memory import InputError, JupyterMemory, MemoryStore, QueryError
from jupyter_memory.types import Filters

FIRST = {
    "Scaling the prices": ("how did we normalise the electricity prices",),
    "Zürich and Genève": ("Zürich", "zurich", "Zu\u0308rich"),
    "Poisson λ": ("λ",),
    "Warehouse extract": ("Łukasz's extract",),
    "Lost events": ("FileSyncService", "sync service", "filesyncservice", "sync_queue", "flush", "1.0.21"),
    "Means by shop": ("df.groupby", "groupby"),
    "Holdout results": ('"early stopping"',),
    "東京の売上": ("価格", '"価格"', "売上のpandas"),
    "Late deliveries": ("late 🚚 in Malmö?", "snow delays of the carrier", "text:snow OR NEAR(carrier"),
}


@pytest.mark.parametrize(("query", "first"), [(query, first) for first, queries in FIRST.items() for query in queries])
def test_the_right_memory_comes_first(week_store, now, query, first):
    """By meaning, word, identifier, phrase or pair of characters, the memory that was meant is the first hit."""
    assert titles(week_store.search(query, now=now))[0] == first


def test_a_query_of_stop_words_alone(store):
    memory = store("words.sqlite", embedder=None)
    memory.add_many([{"text": "To be or not to be", "title": "Hamlet"}, {"text": "λ of the prices"}], progress=False)
    assert titles(memory.search("to be or not to be")) == ["Hamlet"]


def test_found_by_both_legs(week_store, now):
    """A hit tells which retrievers found it, with ranks and raw scores; the answer counts them before fusion."""
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
    assert set(answer.timings) == {"embed", "keyword", "vector", "pool", "rank", "strength", "snippets", "total"}
    assert answer.timings["total"] >= max(answer.timings["keyword"], answer.timings["vector"]) > 0
    assert (answer.store, answer.profile) == (str(week_store.path), "auto")
    assert answer.query_id != other.query_id
    assert (answer.verdict, answer.notices) == ("strong", ())
    json.dumps(answer.to_json(), allow_nan=False)


def test_no_finds_below_the_threshold(store, week, now):
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
    hit = next(hit for hit in week_store.hits("row", profile="covalence").hits if hit.memory.title == "Means by shop")
    assert hit.badges == "KW" and hit.sem_rank is None
    assert hit.cosine == pytest.approx(0.1, abs=0.15)
    assert hit.signals["vector"].contribution == 0.0


def test_the_title_names_it(store):
    """ "roadmap 1.4" finds v1.4-ROADMAP.md, though the index splits 1.4 and another text says both words more often."""
    memory, minutes, name = store(embedder=None), "Minutes of March", "/week/v1.4-ROADMAP.md"
    text = "The roadmap of 1.4 was in the roadmap of 1.3: roadmap 1.4, roadmap 1.4."
    memory.add(text, title=minutes, kind="file", tier="file", source="/week/minutes.md")
    memory.add("Release plan for Zürich.", title=name, kind="file", tier="file", source=name)
    found = memory.search("roadmap 1.4", profile="covalence")
    assert titles(found) == [name, minutes]
    assert found["contrib_title"].tolist() == pytest.approx([0.009, 0.0])
    assert titles(memory.search("roadmap 1.4", profile="trovella"))[0] == minutes


@pytest.mark.parametrize("embedder", ["auto", None])
def test_a_long_memory_is_found_by_its_best_chunk(store, embedder):
    lines = [f"Line {i}: deliveries to Malmö went out on time, nothing else to note about them." for i in range(200)]
    lines[150] = "The Zürich office changed the tax on electricity prices from net to gross."
    memory, text = store(embedder=embedder), "\n".join(lines)
    memory.add(text, title="Log")
    memory.add("Deliveries to Malmö are late.", title="Short")
    hit = memory.hits("tax on electricity prices in Zürich").hits[0]
    chunks = memory.stats()["chunks"]
    assert chunks > 5 and (hit.memory.title, hit.memory.text) == ("Log", text)
    assert "The Zürich office changed the tax on electricity prices" in hit.snippet
    # The line where its chunk begins, which has the passage within a chunk's length.
    assert 151 - 2 * 200 / chunks < int(hit.location) <= 151
    assert titles(memory.hits("Malmö deliveries")).count("Log") == 1


def test_the_chunk_with_the_word_is_shown(store):
    """Where words and meaning lead to different chunks of a memory, the one with the words is shown."""
    memory = store()
    near = "The electricity prices rose in March. Prices of electricity rise and fall. " * 80
    far = "A log of deliveries, with nothing else to note. " * 60
    memory.add(far + "Zirkonium. " + far + near, title="Log")
    [hit] = memory.hits("zirkonium prices of electricity", filters={"kind": "note"}).hits
    assert hit.badges == "KW+SEM"
    assert "Zirkonium" in [hit.snippet[start:end] for start, end in hit.highlights]


def test_a_phrase_that_stands_nowhere_is_told(store):
    """An answer says which quoted phrase no memory contains; of those that one contains, and of one word, nothing."""
    opened = store()
    opened.add("We merge the frames with a left outer join on the shop", title="Joins")
    opened.add("Die Preise in Zürich sind netto", title="Preise")
    [notice] = opened.hits('"left join" of the frames').notices
    assert "phrase “left join”" in notice
    for question in ('"outer join" of frames', "left join of frames", '"preise in zürich"', '"shop"'):
        assert not any("the phrase" in notice for notice in opened.hits(question).notices)


@pytest.fixture(scope="module")
def shops(tmp_path_factory):
    with MemoryStore(tmp_path_factory.mktemp("asking") / "memory.sqlite", embedder="static", space="shops") as opened:
        opened.add("electricity prices in Zürich", tags=["prices"], event_at="2026-03-02T09:00Z")
        opened.add("electricity tariffs, λ = 0.1", tags=["draft"], event_at="2026-03-05T09:00Z")
        opened.add("rows dropped by the join", event_at="2026-03-06T09:00Z", session="s1")
        opened.add("electricity of another space", space="home", event_at="2026-03-06T10:00Z")
        yield opened


PRICES, TARIFFS, ROWS = "electricity prices in Zürich", "electricity tariffs, λ = 0.1", "rows dropped by the join"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("electricity tag:prices", [PRICES]),
        # What has no tag and no session at all is not what is left out.
        ("electricity rows -tag:draft -session:s1", [PRICES]),
        ("electricity rows -tag:draft", [PRICES, ROWS]),
        ("electricity", [PRICES, TARIFFS]),
        ("electricity space:home", ["electricity of another space"]),
    ],
)
def test_typed_filters_bound_the_answer(shops, query, found):
    """A filter typed in the query filters, another space too; the answer still shows what was typed."""
    answer = shops.hits(query, now=NOW)
    assert sorted(hit.memory.text for hit in answer.hits) == found
    assert answer.to_json()["query"] == query == shops.search(query, now=NOW).attrs["memsearch"]["query"]


def test_filters_alone_list(shops):
    answer = shops.hits("after:2026-03-02", now=NOW)
    assert answer.profile == "browse" and answer.time_range is not None
    assert [hit.memory.text for hit in answer.hits] == [ROWS, TARIFFS]


def test_while_typing(shops):
    """The last word finds what begins with it by its letters, not only by meaning, if it may be unfinished."""
    assert {hit.memory.text for hit in shops.hits("electri", prefix=True).hits if hit.kw_rank} == {PRICES, TARIFFS}
    assert not [hit for hit in shops.hits("electri", profile="covalence").hits if hit.kw_rank]


def test_limit(week_store, store):
    """limit is the number of hits; the setting of that name counts in searches and lists where it is left out."""
    assert len(week_store.search("the prices λ orders", limit=2)) == 2
    assert len(week_store.search("the prices λ orders", limit=np.int64(1))) == 1
    memory = store(settings=JupyterMemory(limit=2))
    assert len(memory.search("prices λ orders deliveries")) == len(memory.browse()) == 2
    assert len(memory.browse(limit=7)) == 7


def test_since_and_until(week_store, now):
    """since is included, and so is a day that is given as until; "yesterday" is the day before what is given as now."""
    found = week_store.search("joining orders holdout", since="yesterday", until="yesterday", now=now)
    assert titles(found) == ["Joining orders", "Holdout results"]
    assert len(week_store.search("joining orders holdout", since="yesterday", now="2027-01-01")) == 0
    third, noon = {"Means by shop", "Poisson λ", "Zürich and Genève"}, datetime(2026, 3, 3, 12, tzinfo=UTC)
    day = {"since": "2026-03-03", "until": "2026-03-03"}
    for asked in (day, dict.fromkeys(day, date(2026, 3, 3)), {"filters": day}):
        assert set(titles(week_store.browse(**asked))) == third
    assert set(titles(week_store.browse(since="2026-03-03", until=noon))) == {"Means by shop", "Poisson λ"}
    assert titles(week_store.search("prices", since=noon.replace(hour=17), until=noon.replace(hour=18)))
    earlier = week_store.search("joining orders", until="2026-03-04")
    assert titles(earlier) != titles(week_store.search("joining orders"))


FAILED = {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "by zero", "traceback": ["1/0"]}


def cell(source, *outputs):
    shown = [
        {"output_type": "stream", "name": "stdout", "text": one} if isinstance(one, str) else one for one in outputs
    ]
    kind = "code" if outputs else "markdown"
    return {"cell_type": kind, "source": source, "metadata": {}, **({"outputs": shown} if outputs else {})}


NOTEBOOKS = {
    "2025/11_train.ipynb": [
        cell("# Training\nThe accuracy of the model counts."),
        cell("fit(model)\nprint(accuracy)", "accuracy 0.93\n12 rows"),
        cell("share(model)", FAILED),
    ],
    "12_eval.ipynb": [cell("evaluate(model)", "accuracy 0.5\n7 rows")],
}


@pytest.fixture(params=["sqlite", "postgres"])
def runs(request, tmp_path):
    """A store of two notebooks and a text."""
    place = tmp_path / "s.sqlite" if request.param == "sqlite" else request.getfixturevalue("emptied_postgres")
    for name, cells in NOTEBOOKS.items():
        (path := tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    (tmp_path / "work" / "notes.md").write_text("# Notes\n\nThe model's accuracy.\n\nSee 12 rows.\n")
    with MemoryStore(place) as store:
        store.index(tmp_path / "work", progress=False)
        yield store


def places(answer):
    return sorted(f"{Path(hit.memory.source).name} {hit.memory.location}".strip() for hit in answer.hits)


TRAIN, EVAL = [f"11_train.ipynb #{number}" for number in range(3)], "12_eval.ipynb #0"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("model path:11_", TRAIN), ("model path:1", [*TRAIN, EVAL]), ("path:*/2025/*", TRAIN), ("path:2025/*", TRAIN),
        ("path:EVAL", [EVAL]), ("path:1?_*.ipynb", [*TRAIN, EVAL]), ("path:2025 path:*.md", [*TRAIN, "notes.md"]),
        ("-path:*.ipynb", ["notes.md"]), ("path:[x]*", []),
        ("in:output accuracy", [TRAIN[1], EVAL]), ("in:code accuracy", [TRAIN[1]]), ("in:output", [*TRAIN[1:], EVAL]),
        ("in:text accuracy", [TRAIN[0], "notes.md"]), ("-in:code", [TRAIN[0], "notes.md"]),
        ("outcome:error", [TRAIN[2]]),
        ("-outcome:error in:code", [TRAIN[1], EVAL]), ("outcome:ok model", [TRAIN[1], EVAL]),
        (r"/\d+ rows/", [TRAIN[1], EVAL, "notes.md"]), (r"in:output /\b7 ROWS$/", [EVAL]),
        (r"accuracy /0\.\d\d/", [TRAIN[1]]),
        (r"in:code /accuracy/", [TRAIN[1]]), ("/^See/ path:notes", ["notes.md"]),
        ("/(?-i)see/", []), ("/a/ /b/ /nowhere/", []),
    ],
)  # fmt: skip
def test_operators_choose(runs, query, expected):
    assert places(runs.hits(query)) == sorted(expected)


def test_what_matches_is_shown_and_only_searches_take_operators(runs):
    """The snippet of a hit is where its expression matches; what deletes names whole paths, and no operators."""
    [hit] = runs.hits("/se+ 1/").hits
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["See 1"] and hit.location == "5"
    assert "have in their path 'E'" in runs.hits("model path:E").notices[0]
    for refused in ({"outcome": "error"}, {"regex": "."}, {"path": "11_"}, {"path": "*.ipynb"}):
        with pytest.raises(ValueError, match=r"searches only|whole path"):
            runs.forget(filters=refused)
    reused = runs.hits("/rows/").query.filters
    assert len(runs.hits("model", filters=reused).hits) == 3 and reused != Filters()


@pytest.mark.parametrize(
    ("query", "told"),
    [("/(a/", "missing )"), (r"/(a)\1/", "cannot be referred to"), ("/(?=a)b/", "before or after"),
     ("in:outptu x", "'output'"), ("/a{1000}{1000}/", "cannot be read")],
)  # fmt: skip
def test_what_is_wrong_is_named(week_store, query, told):
    with pytest.raises(QueryError, match=r"^(The expression|There is no part)") as raised:
        week_store.hits(query)
    assert told in str(raised.value)


def test_what_is_like_no_text(week_store):
    for wrong in (None, 3, ["λ"]):
        with pytest.raises(InputError, match="takes a text, not"):
            week_store.related_to(wrong)


def test_many_files_by_a_part_of_their_path(week_store):
    """More files than a condition names one by one, with another path beside them; an expression is linear."""
    week_store.add_many(
        [{"text": f"{'a' * 2_000}! {n}", "source": f"/many/part_{n}.md"} for n in range(300)], progress=False
    )
    assert len(week_store.hits("path:part_", limit=999).hits) == 300
    assert len(week_store.hits("path:part_ path:*/part_1.md", limit=999).hits) == 300
    assert not week_store.hits("path:/many -path:part_").hits
    assert len(week_store.hits("/(a+)+(a|a)*!/", limit=999).hits) == 300
