"""What a program may see: one folder or one space, no history, and nothing of the rest by any way of asking."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_answers import with_shared

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.interface import StoreProvider
from jupyter_memory.mcp.bound import Bound, bounded_path, client_name
from jupyter_memory.mcp.tools import TOOLS, Tools
from jupyter_memory.types import Run

OPEN, CLOSED = "/work/open", "/work/closed"
# Words that only the closed folder has, in text, title, tag, path and language; one is a slip away from an open word.
HIDDEN = ("quartz", "walrus", "forecasts9", "Zugspitze", "brainfuck", "hushtag", "pricez")
DAY = datetime(2026, 3, 2, tzinfo=UTC)
RECORDS = [
    *(
        {
            "text": f"The open price forecast of day {number} is net of tax, see price_forecast({number}).",
            "title": f"Forecast {number}",
            "kind": "file",
            "tier": "file",
            "source": f"{OPEN}/day {number}.md",
            "tags": ["open", "prices"],
            "event_at": DAY + timedelta(days=number),
        }
        for number in range(6)
    ),
    *(
        {
            "text": f"The quartz walrus weighs the price forecast of Zugspitze {number}, by forecasts9 and pricez.",
            "title": f"Walrus {number}",
            "kind": "file",
            "tier": "file",
            "source": f"{CLOSED}/zugspitze/walrus {number}.md",
            "tags": ["hushtag", "prices"],
            "lang": "brainfuck",
            "event_at": DAY - timedelta(days=1_000 + number),
        }
        for number in range(6)
    ),
    {"text": "A quartz note of nobody's folder about Zugspitze.", "title": "Walrus note", "tags": ["hushtag"]},
    {
        "text": "In another space the walrus sleeps.",
        "title": "Walrus of the zoo",
        "space": "zoo",
    },
]


def fill(path) -> None:
    """Make a store with an open and a closed folder, notes of neither, and a history."""
    with MemoryStore(path, embedder="static") as store:
        store.add_many(RECORDS, progress=False)
        store.history.record([Run("walrus = load('quartz')  # Zugspitze", DAY, "s1", 1, notebook=f"{OPEN}/day.ipynb")])


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """The file of such a store."""
    path = tmp_path_factory.mktemp("mixed") / "memory.sqlite"
    fill(path)
    return path


@pytest.fixture(scope="module")
def bounded(mixed):
    """The tools of a program that is bounded to the open folder; it may write."""
    provider = StoreProvider(JupyterMemory(path=str(mixed)))
    yield Tools(provider, Bound(paths=(OPEN,)))
    provider.close()


def closed_ids(path) -> list[str]:
    """Return the ids of what the program may not see."""
    with MemoryStore(path) as store:
        hits = store.browsed(limit=100).hits
        return [hit.memory.id for hit in hits if not hit.memory.source.startswith((OPEN, "mcp://"))]


def told(outcome) -> str:
    """Return all that a program gets of an outcome."""
    return json.dumps(outcome.result.values(), ensure_ascii=False) if outcome.result else outcome.error


def test_a_folder_is_the_whole_world(bounded, mixed, ask, refused):
    """A program bounded to a folder finds, reads, lists and counts nothing of another, whatever it asks for."""
    assert ask(bounded, "search", query="walrus quartz Zugspitze")["hits"] == []
    for query in (f"path:{CLOSED} forecast", "space:zoo walrus", "kind:history walrus", "tag:hushtag price"):
        assert ask(bounded, "search", query=query)["hits"] == []
    for filters in ({"path": CLOSED}, {"path": "/"}, {"tag": "hushtag"}, {"lang": "brainfuck"}, {"kind": "history"}):
        found = ask(bounded, "search", query="price forecast", filters=filters)
        assert not any(word.lower() in json.dumps(found).lower() for word in HIDDEN if word not in str(filters))
        assert all(hit["path"].startswith(OPEN) for hit in found["hits"])
    for one in closed_ids(mixed):
        assert refused(bounded, "get", ids=one) == refused(bounded, "get", ids="0" * 16)
        assert refused(bounded, "related", id=one) == refused(bounded, "related", id="0" * 16)
        assert refused(bounded, "forget", ids=one) == refused(bounded, "forget", ids="0" * 16)
    status = ask(bounded, "status")
    assert status["memories"] == 6 and status["kinds"] == {"file": 6}


def test_a_name_that_is_a_path_opens_nothing(bounded, ask):
    """A program that calls itself like a folder does not see that folder."""
    for name in ("..", "../closed", f"/{CLOSED}", "~", "", "\0", "a" * 500):
        found = bounded.call("memory_search", {"query": "walrus quartz"}, client_name(name))
        assert found.result is not None and found.result.values()["hits"] == []
        assert "/" not in client_name(name) and not client_name(name).startswith(".")


def test_the_words_of_the_rest_are_not_told(bounded, ask):
    """A slip for a hidden word gets no spelling, a hidden tag or folder is not suggested, nor is its time."""
    for query, filters in (
        ("quarts", None),
        ("walruss", None),
        ('"quartz walrus"', None),
        ("price", {"tag": "hushtak"}),
        ("price", {"path": "/work/close"}),
        ("price", {"lang": "brainfunk"}),
        ("price", {"until": "2024-01-01"}),
    ):
        said = json.dumps(ask(bounded, "search", query=query, filters=filters))
        asked = query + json.dumps(filters)
        assert not [word for word in (*HIDDEN, "2023") if word.lower() in said.lower() and word not in asked], said


def test_the_same_is_told_whatever_the_rest_holds(mixed, tmp_path):
    """Two stores that differ only in what a program may not see answer it alike: verdict, strength, notes, counts."""
    alone = tmp_path / "alone.sqlite"
    with MemoryStore(alone, embedder="static") as store:
        store.add_many([one for one in RECORDS if one.get("source", "").startswith(OPEN)], progress=False)
    answers = []
    for path in (mixed, alone):
        provider = StoreProvider(JupyterMemory(path=str(path)))
        tools = Tools(provider, Bound(paths=(OPEN,), writing=False))
        found = []
        for query in (
            "open price forecast",
            "price walrus",
            "forecast of day 3 Zugspitze quartz",
            "walrus",
            "prixe tax",
        ):
            said = tools.call("memory_search", {"query": query}, "probe").result.values()
            hits = sorted((hit["title"], hit["strength"]) for hit in said["hits"])
            found.append((query, said["verdict"], hits, said.get("note")))
        status = tools.call("memory_status", {}, "probe").result.values()
        answers.append((found, {name: status[name] for name in ("memories", "kinds", "languages", "tags")}))
        provider.close()
    assert answers[0] == answers[1]


def test_a_space_is_the_whole_world(tools_over, week_store, week_memories, ask, refused):
    """A program bounded to a space sees no other, and its notes go into it."""
    tools = tools_over(week_store, space="shops")
    found = ask(tools, "search", query="space:other prices", filters={"tag": "prices"})
    assert found["hits"] == []
    assert {hit["title"] for hit in ask(tools, "search", query="Zürich prices")["hits"]} <= {
        "Zürich and Genève",
        "東京の売上",
    }
    assert "No memory" in refused(tools, "get", ids=week_memories["Late deliveries"].id)

    kept = ask(tools, "remember", text="Genève closes on Sunday.")
    assert week_store.get(kept["id"]).space == "shops" and ask(tools, "status")["memories"] == 3


def test_the_history_is_withheld_unless_it_is_allowed(mixed, ask, refused):
    """What was run is not found, read or counted without the option."""
    provider = StoreProvider(JupyterMemory(path=str(mixed)))
    closed, opened = Tools(provider, Bound(writing=False)), Tools(provider, Bound(history=True, writing=False))
    [run] = [hit for hit in ask(opened, "search", query="load quartz", filters={"kind": "history"})["hits"]]

    assert ask(closed, "search", query="load quartz", filters={"kind": "history"})["hits"] == []
    assert "No memory" in refused(closed, "get", ids=run["id"])
    assert "history" not in ask(closed, "status")["kinds"] and ask(opened, "status")["kinds"]["history"] == 1
    provider.close()


def test_own_notes_are_seen_in_a_folder(bounded, ask):
    """A program that is bounded to a folder sees the notes that it stored itself, and not those of another program."""
    kept = ask(bounded, "remember", text="The tax of the open forecast is 7.7 %.", client="codex")

    assert ask(bounded, "get", ids=kept["id"], client="codex")["memories"]
    assert bounded.call("memory_get", {"ids": kept["id"]}, "cursor").result is None


def test_paths_of_a_bound():
    """A path of a bound is one from the root, without dots; the address of something else stays as it is."""
    assert bounded_path("/work/open/../closed/") == "/work/closed"
    assert bounded_path("https://example.org/a") == "https://example.org/a"


WORDS = st.sampled_from(
    [*HIDDEN, "price", "forecast", "open", "tax", f"path:{CLOSED}", "kind:history", "-price", '"quartz']
)
ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "query": st.lists(WORDS, min_size=1, max_size=4).map(" ".join),
        "filters": st.fixed_dictionaries(
            {},
            optional={
                "path": st.sampled_from([CLOSED, OPEN, "/", "..", "~", f"{OPEN}/../closed", "mcp://codex"]),
                "tag": st.sampled_from(["hushtag", "open", "nothing"]),
                "kind": st.sampled_from(["file", "history", "note"]),
                "until": st.sampled_from(["2024-01-01", "2026-03-05"]),
            },
        ),
        "limit": st.integers(1, 50),
        "mode": st.sampled_from(["scan", "full"]),
        "around": WORDS,
        "max_tokens": st.integers(200, 4_000),
    },
)


@pytest.mark.parametrize("name", [name for name, tool in TOOLS.items() if not tool.writes])
def test_no_call_tells_of_the_rest(bounded, mixed, name):
    """Whatever a bounded program calls a tool with, no word of the rest is told but those that it sent itself."""
    ids = [*closed_ids(mixed), "0" * 16]
    known = TOOLS[name].arguments.model_fields

    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(ARGUMENTS, st.lists(st.sampled_from(ids), min_size=1, max_size=4))
    def hold(arguments, chosen):
        asked = {key: value for key, value in arguments.items() if key in known}
        asked |= {"ids": chosen} if "ids" in known else {"id": chosen[0]} if "id" in known else {}
        outcome = bounded.call(name, asked, "codex")
        said, sent = told(outcome).lower(), json.dumps(asked).lower()
        assert not [word for word in HIDDEN if word.lower() in said and word.lower() not in sent], said
        hits = with_shared(outcome.result.values()).get("hits", []) if outcome.result is not None else []
        assert all(hit["path"].startswith((OPEN, "mcp://codex")) for hit in hits)

    hold()
