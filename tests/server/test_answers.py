"""What the routes answer: the store's own values in the shapes that the panel knows."""

from __future__ import annotations

import json

QUESTION = "how many orders an hour, λ"


async def test_search_answers_what_the_store_finds(ask, fits, week_in):
    """The hits of a search are those of the store, each with its place."""
    answered = await ask("search", {"query": QUESTION, "limit": 3})
    assert answered.code == 200
    answer = fits("answer", answered.json)

    expected = week_in.hits(QUESTION, limit=3)
    assert [hit["memory_id"] for hit in answer["hits"]] == [hit.memory.id for hit in expected.hits]
    assert answer["hits"][0]["title"] == "Poisson λ"
    assert len(answer["places"]) == len(answer["hits"])


async def test_a_word_that_nothing_holds_is_told(ask, fits, week_in):
    """The panel shows which word is nowhere, and an answer that is not strong."""
    answer = fits("answer", (await ask("search", {"query": "orders with xgboost"})).json)
    assert "No memory contains “xgboost”." in answer["notices"]
    assert answer["verdict"] != "strong"


async def test_scores_are_the_sums_of_what_is_shown(ask, week_in):
    """The contributions of a hit add up to its score, so that the debugger's bars tell the truth."""
    answer = (await ask("search", {"query": QUESTION})).json
    for hit in answer["hits"]:
        assert abs(sum(one["contribution"] for one in hit["signals"].values()) - hit["score"]) < 1e-9


async def test_a_filter_leaves_out_the_rest(ask, week_in):
    """Filters, times and a profile travel as they are written."""
    asked = {"query": "prices", "filters": {"tag": ["prices"]}, "since": "2026-03-03", "profile": "trovella"}
    answer = (await ask("search", asked)).json
    assert answer["profile"] == "trovella"
    assert {hit["title"] for hit in answer["hits"]} == {"Zürich and Genève", "東京の売上"}


async def test_the_last_word_may_be_unfinished(ask, week_in):
    """With prefix, "electr" finds electricity by its words."""
    found = (await ask("search", {"query": "electr", "prefix": True})).json["hits"][0]
    assert (found["title"], found["badges"][:2]) == ("Scaling the prices", "KW")


async def test_explain_says_why_a_memory_is_there_and_why_not(ask, fits, week_in):
    """An explanation has reasons for a hit, and for a memory that a filter left out."""
    asked = {"query": QUESTION, "memory_id": week_in.hits(QUESTION).hits[0].memory.id}
    here = fits("explanation", (await ask("explain", asked)).json)
    assert here["rank"] == 1
    assert here["reasons"]

    away = fits("explanation", (await ask("explain", {**asked, "filters": {"tag": ["todo"]}})).json)
    assert (away["rank"], away["hit"]) == (None, None)
    assert away["reasons"]


async def test_browse_lists_without_scores(ask, fits, week_in):
    """Without a question there are memories and no scores."""
    answer = fits("answer", (await ask("browse", {"limit": 4})).json)
    assert len(answer["hits"]) == 4
    assert {hit["score"] for hit in answer["hits"]} == {None}


async def test_a_day_and_a_filter_narrow_a_list_too(ask, week_in):
    """What is browsed, and what is like a memory, is of the chosen days and tags, as an answer is."""
    within = {"filters": {"tag": ["prices"]}, "since": "2026-03-03"}
    expected = {"Zürich and Genève", "東京の売上"}
    assert {hit["title"] for hit in (await ask("browse", within)).json["hits"]} == expected
    poisson = week_in.hits(QUESTION).hits[0].memory.id
    answer = (await ask("related", {"memory_id": poisson, "profile": "trovella", **within})).json
    assert answer["profile"] == "trovella"
    assert {hit["title"] for hit in answer["hits"]} <= expected
    refused = await ask("browse", {"since": "no day at all"})
    assert (refused.code, refused.json["message"][:5]) == (400, "since")


async def test_status_counts_what_is_there(ask, fits, week_in, store_file, jp_root_dir):
    """Status tells the store, its model, the version handshake and Lab's root."""
    status = fits("status", (await ask("status")).json)
    assert status["store"]["path"] == str(store_file)
    assert status["store"]["memories"] == 10
    assert (status["api"], status["model"], status["root"]) == (1, "static", str(jp_root_dir))


async def test_profiles_models_and_doctor(ask, fits, week_in):
    """One profile is the default, one model is in use, and a new store is well."""
    profiles = fits("profiles", (await ask("profiles")).json)["profiles"]
    assert [one["name"] for one in profiles if one["default"]] == ["auto"]
    models = fits("models", (await ask("models")).json)["models"]
    assert [one["name"] for one in models if one["active"]] == ["static"]
    assert (await ask("doctor")).json == {"problems": []}


async def test_sizes(ask, fits, week_in):
    """The bytes of the store come by what they are for, with what counts and the budget, None without one."""
    sizes = fits("sizes", (await ask("sizes")).json)
    assert sum(sizes["sizes"].values()) == sizes["bytes"] > sizes["held"] > sizes["sizes"]["texts"] > 0
    assert sizes["budget"] is None


async def test_a_cell_opens_at_its_id(ask, week_in, notebook):
    """A cell of a notebook below Lab's root has a contents path, its id, and the line that it begins with."""
    week_in.index(notebook, progress=False)
    place = (await ask("search", {"query": "price of electricity plot", "filters": {"kind": ["cell"]}})).json["places"][
        0
    ]
    assert (place["path"], place["cell"], place["index"]) == ("prices/orders.ipynb", "plot", None)
    assert place["begins"] == "prices.plot(title='price of electricity')"


async def test_a_relative_path_begins_at_the_root_of_lab(ask, service, notebook, jp_root_dir):
    """ "path:prices/" typed in the panel, or chosen among its filters, is the folder that its file browser shows."""
    service.provider.store(create=True).index(jp_root_dir, progress=False)
    asked = [
        {"query": "price path:prices/"},
        {"query": "price -path:prices/"},
        {"query": "price", "filters": {"path": ["prices/orders.ipynb"]}},
        {"query": "price path:elsewhere -path:prices"},
    ]
    found = [bool((await ask("search", body)).json["hits"]) for body in asked]
    assert found == [True, False, True, False]


async def test_a_hit_has_the_headings_that_lead_to_it(ask, fits, week_in, jp_root_dir):
    """A card says under which headings it stands; what its title says already is not said twice."""
    cells = [
        {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# Prices\n## Zürich\n### λ of the outliers"},
        {"cell_type": "markdown", "id": "b", "metadata": {}, "source": "The watermelon index of Müller is capped."},
    ]
    notebook = jp_root_dir / "caps.ipynb"
    notebook.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "utf-8")
    log = jp_root_dir / "log.md"
    log.write_text("# Log\n\n## 3 July\n\nThe pomegranate meters of Malmö were read twice, λ fell.\n", "utf-8")
    week_in.index(notebook, progress=False)
    week_in.index(log, progress=False)

    asked = [("search", {"query": "watermelon index"}), ("search", {"query": "pomegranate meters"}), ("browse", {})]
    found = [fits("answer", (await ask(route, body)).json) for route, body in asked]
    told = [
        {(hit["title"], place["context"]) for hit, place in zip(answer["hits"], answer["places"], strict=True)}
        for answer in found
    ]

    assert ("caps.ipynb – λ of the outliers", "Prices > Zürich") in told[0] & told[2]
    assert any(title == "log.md" and context.startswith("Log") for title, context in told[1])


async def test_a_use_is_counted(ask, fits, week_in):
    """What the panel opens, inserts or copies is counted by its id; what is only fetched is not."""
    memory_id = week_in.hits(QUESTION).hits[0].memory.id
    await ask("item", {"memory_id": memory_id})
    for _ in range(2):
        assert fits("recorded", (await ask("access", {"memory_id": memory_id})).json) == {"recorded": True}

    assert week_in.get(memory_id).accessed == 2
    assert (await ask("access", {"memory_id": "nobody"})).json == {"recorded": False}


async def test_the_lists_say_how_a_memory_begins(ask, week_in):
    """Cells under one heading have one title: the debugger tells them apart by how they begin."""
    answer = (await ask("search", {"query": QUESTION, "lists": True})).json
    for listed in answer["lists"]["fused"]:
        assert listed["begins"] == week_in.get(listed["memory_id"]).text.split("\n")[0][:80]


async def test_what_nobody_sees_is_escaped(ask, jp_fetch, week_in):
    """A terminal that prints an answer is not controlled by it, and a client reads the text as it is."""
    lies = "λ \x1b[2J\x9b31m costs \u202e5\u2066 \x7f\u200f"
    memory = week_in.add(f"{lies}.", title=lies, tags=["\u202edraft"])
    answered = await jp_fetch(
        "jupyter-memory", "item", method="POST", body=json.dumps({"memory_id": memory.id}), headers={}
    )
    written = answered.body.decode()
    assert not set(written) & set("\x1b\x9b\x7f\u202e\u2066\u200f")
    assert (json.loads(written)["title"], json.loads(written)["tags"]) == (memory.title, ["\u202edraft"])
