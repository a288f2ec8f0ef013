"""Budgets hold for every answer, pages lose and repeat nothing, and what is cut first is what matters least."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.interface import StoreProvider
from jupyter_memory.mcp.bound import Bound
from jupyter_memory.mcp.results import serialized
from jupyter_memory.mcp.tools import Tools
from jupyter_memory.text import estimated_tokens

FIXED = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
SCRIPTS = '價格の東京 \x1b[2J\u202e "quotes" \\ back {json: 1} ---- 👩‍🔬 Zürich λ 0123456789\n\n\n\t\tend'


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The tools over sixty memories of all lengths about prices, and the ids of these."""
    path = tmp_path_factory.mktemp("many") / "memory.sqlite"
    with MemoryStore(path, embedder="static") as store:
        added = store.add_many(
            (
                {
                    "text": f"Price rule {number}: the price of shop {number} is net of tax. "
                    + SCRIPTS * (number % 9) ** 2,
                    "title": f"Price rule {number} " + "of shops " * (number % 13),
                    "source": f"/projects/{'deep/' * (number % 17)}rule {number}.md",
                    "tags": [f"tag{number % 5}"] * (number % 2),
                }
                for number in range(60)
            ),
            progress=False,
        )
    provider = StoreProvider(JupyterMemory(path=str(path)))
    yield Tools(provider, Bound(writing=False)), [memory.id for memory in added]
    provider.close()


def test_no_search_costs_more_than_it_may(many):
    """What an answer states is what it costs by the estimate, and never more than was asked for."""
    tools, _ = many

    @FIXED
    @given(st.integers(200, 5_000), st.integers(1, 50), st.sampled_from(["scan", "full"]))
    def hold(max_tokens, limit, mode):
        arguments = {"query": "price rule of shop", "max_tokens": max_tokens, "limit": limit, "mode": mode}
        outcome = tools.call("memory_search", arguments, "codex")
        if outcome.result is None:
            assert "the smallest answer needs" in outcome.error
            return
        cost = estimated_tokens(serialized(outcome.result))
        assert cost <= outcome.result.values()["tokens"] <= max_tokens

    hold()


def test_no_text_costs_more_than_it_may(many):
    """The same holds for memories that are read."""
    tools, ids = many

    @FIXED
    @given(st.integers(200, 4_000), st.lists(st.sampled_from(ids), min_size=1, max_size=6, unique=True), st.booleans())
    def hold(max_tokens, chosen, around):
        arguments = {"ids": chosen, "max_tokens": max_tokens} | ({"around": "net of tax"} if around else {})
        outcome = tools.call("memory_get", arguments, "codex")
        if outcome.result is None:
            assert "too little for any of the text" in outcome.error
            return
        found = outcome.result.values()
        assert estimated_tokens(serialized(outcome.result)) <= found["tokens"] <= max_tokens
        read = [one["id"] for one in found["memories"]]
        assert [*read, *found.get("left", [])] == chosen

    hold()


@pytest.mark.parametrize(("limit", "max_tokens"), [(50, 50_000), (10, 2_000), (3, 600), (50, 500), (7, 1_200)])
def test_pages_lose_and_repeat_nothing(many, ask, limit, max_tokens):
    """Whatever the pages hold, together they are the answer, in its order."""
    tools, _ = many
    whole = [hit["id"] for hit in ask(tools, "search", query="price rule of shop", limit=50, max_tokens=50_000)["hits"]]
    found, page = [], ask(tools, "search", query="price rule of shop", limit=limit, max_tokens=max_tokens)
    while True:
        assert len(page["hits"]) <= limit
        found += [hit["id"] for hit in page["hits"]]
        if "next" not in page:
            break
        page = ask(tools, "search", cursor=page["next"], limit=limit, max_tokens=max_tokens)

    assert found == whole and len(set(found)) == len(found) == 50


def test_pages_go_on_while_others_write(tools_over, ask, week_store):
    """What was forgotten between two pages is left out; what is new pushes nothing off its page."""
    for number in range(8):
        week_store.add(f"Price rule {number} of shop {number}", title=f"Rule {number}")
    tools = tools_over(week_store)
    whole = [hit["id"] for hit in ask(tools, "search", query="price rule shop", limit=50)["hits"]]
    first = ask(tools, "search", query="price rule shop", limit=3)
    week_store.forget(whole[4])
    week_store.add("price rule shop price rule shop", title="Price rule shop")

    rest = ask(tools, "search", cursor=first["next"], limit=50)
    found = [hit["id"] for hit in (*first["hits"], *rest["hits"])]
    assert len(set(found)) == len(found) and [id_ for id_ in found if id_ in whole] == [*whole[:4], *whole[5:]]


def test_a_long_text_is_read_in_parts(many, ask):
    """The parts of a text, by their offsets, are the text."""
    tools, ids = many
    text, offset = "", 0
    store = tools.provider.store()
    longest = max(ids, key=lambda one: len(store.get(one).text))
    while offset is not None:
        [part] = ask(tools, "get", ids=longest, offset=offset, max_tokens=600)["memories"]
        assert part["start"] == offset and part["end"] > offset
        text += store.get(longest).text[part["start"] : part["end"]]
        offset = part.get("next_offset")

    assert text == store.get(longest).text


def test_snippets_shrink_before_hits_fall_off(many, ask):
    """With fewer tokens the same hits come with less of each, the last ones first, until hits must go."""
    tools, _ = many

    def asked(max_tokens):
        return ask(tools, "search", query="price rule of shop", limit=8, max_tokens=max_tokens)["hits"]

    ample, tight = asked(5_000), asked(700)
    assert [hit["id"] for hit in tight] == [hit["id"] for hit in ample][: len(tight)]
    shown, all_of_it = (sum(len(hit.get("text", hit.get("snippet", ""))) for hit in hits) for hits in (tight, ample))
    assert all("snippet" in hit or "text" in hit for hit in ample) and shown < all_of_it
    assert [hit["id"] for hit in asked(400)] == [hit["id"] for hit in ample][: len(asked(400))]


def test_with_the_fewest_tokens_a_part_of_the_text_comes(many, ask):
    """In 200 tokens there is room for the beginning of any text: what names it gives way, and the cut is told."""
    tools, ids = many
    for id_ in ids[:18]:
        found = ask(tools, "get", ids=id_, max_tokens=200)
        [part], text = found["memories"], tools.provider.store().get(id_).text
        assert found["tokens"] <= 200 and text[:20] in part["text"]
        assert ("next_offset" in part) == (part.get("end", len(text)) < len(text))


def test_more_ids_than_have_room_are_too_many(many, refused):
    """Where not even the names of what is left have room, the error says what to change."""
    tools, ids = many

    assert "for fewer ids" in refused(tools, "get", ids=ids[:20], max_tokens=200)
