"""Several stores through the server: those that a request names, each hit with its own, and changes that go there."""

import json
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_config_path

from jupyter_memory import Interrupted, MemoryStore, StoreLocked, trust
from jupyter_memory import evaluation as golden


@pytest.fixture
def papers(tmp_path):
    with MemoryStore(tmp_path / "papers.sqlite") as store:
        store.add("Prices are net of tax.", title="Prices")
        store.add("The tax of λ was 0.3 in March.", title="Tax")
    return store.path


@pytest.fixture
def listed(service, papers):
    """List stores as a notebook does while the server runs: the papers, or these rows."""
    own = service.provider.store(create=True)
    own.add("We scaled the prices to zero mean.", title="Rates")

    def listed(*rows):
        file = Path(jupyter_config_path()[0], "jupyter_memory_config.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"JupyterMemory": {"stores": rows}}))

    listed({"name": "papers", "path": str(papers)})
    return listed


def found(answer):
    assert answer.code == 200, answer.json
    return {hit["title"]: (hit.get("store"), hit["memory_id"].rpartition(":")[0]) for hit in answer.json["hits"]}


async def test_a_question_to_several_stores(ask, listed, fits):
    """The status names them; those that are asked answer, each hit with its store and an id that leads there."""
    assert (await ask("status")).json["stores"] == ["own", "papers"]
    assert list(found(await ask("search", {"query": "prices"}))) == ["Rates"]
    both = await ask("search", {"query": "prices", "stores": ["papers", "own"], "prefix": True, "log": True})
    assert found(fits("answer", both.json) and both) == {"Rates": ("own", ""), "Prices": ("papers", "papers")} | (
        {"Tax": ("papers", "papers")} if len(both.json["hits"]) == 3 else {}
    )
    assert both.json["facets"]["kind"] == {"note": both.json["counts"]["fused"]}
    assert found(await ask("browse", {"stores": ["papers"]})) == {
        one: ("papers", "papers") for one in ("Prices", "Tax")
    }
    recent = (await ask("recent", {})).json["searches"]
    assert [(one["query"], one["origin"]) for one in recent] == [("prices", "panel")]


async def test_the_doctor_looks_at_the_stores_of_the_list(ask, listed, papers, tmp_path):
    """As in a terminal: each that cannot be opened is named, with the command that takes it off the list."""
    listed({"name": "papers", "path": str(papers)}, {"name": "gone", "path": str(tmp_path / "gone.sqlite")})
    await ask("status")
    [problem] = (await ask("doctor")).json["problems"]
    told = "The store gone cannot be opened; `jupyter-memory store remove gone` takes it off the list. There is no"
    assert problem.startswith(told)


@pytest.mark.parametrize("error", [StoreLocked("Another program writes."), Interrupted()], ids=["busy", "dropped"])
async def test_a_doctor_who_is_stopped(ask, listed, papers, service, monkeypatch, error):
    """A store that cannot be checked is named; where the request is dropped, no other store is looked at."""
    listed({"name": "papers", "path": str(papers)}, {"name": "more", "path": str(papers)})
    await ask("status")

    def doctor():
        looked.append(error)
        raise error

    looked = []
    for name in ("papers", "more"):
        monkeypatch.setattr(service.stores.named(name), "doctor", doctor)
    answer = await ask("doctor")
    if isinstance(error, Interrupted):
        assert (answer.code, len(looked)) == (503, 1)
    else:
        assert answer.json["problems"] == [f"The store {name}: {error}" for name in ("papers", "more")]


async def test_what_is_done_to_a_hit_goes_to_its_store(ask, listed, papers):
    await ask("status")
    [id_] = [
        hit["memory_id"]
        for hit in (await ask("browse", {"stores": ["own", "papers"]})).json["hits"]
        if hit["title"] == "Prices"
    ]
    asked = {"query": "prices", "stores": ["own", "papers"]}
    assert (await ask("item", {"memory_id": id_})).json["text"] == "Prices are net of tax."
    assert (await ask("pin", {"memory_id": id_, "pinned": True})).json["memory_id"] == id_
    assert (await ask("update", {"memory_id": id_, "tags": ["tax"]})).json["tags"] == ["tax"]
    for route in ("access", "feedback"):
        assert (await ask(route, {"memory_id": id_} | ({"accepted": True} if route == "feedback" else {}))).code == 200
    assert found(await ask("related", {"memory_id": id_})) == {"Tax": ("papers", "papers")}
    answer, why = await ask("search", asked), await ask("explain", asked | {"memory_id": id_})
    [shown] = [hit for hit in answer.json["hits"] if hit["memory_id"] == id_]
    assert why.json["memory_id"] == id_ and why.json["hit"]["score"] == pytest.approx(shown["score"])
    with MemoryStore(papers) as store:
        memory = store.get(id_.rpartition(":")[2])
        assert (memory.pinned, memory.tags, memory.accessed, len(store.feedbacks())) == (True, ("tax",), 1, 1)
    assert (await ask("forget", {"memory_ids": [id_]})).json == {"forgotten": 1}
    assert "Prices" not in found(await ask("search", asked))


async def test_a_rating_of_an_answer_of_several_stores(ask, service, listed, papers):
    """The golden set takes ratings in your own store; a rating in another one is feedback alone."""
    await ask("status")
    path = golden.golden_file(service.settings)
    answer = (await ask("search", {"query": "prices", "stores": ["own", "papers"]})).json
    ids = {hit["store"]: hit["memory_id"] for hit in answer["hits"]}
    for id_ in ids.values():
        rated = {"memory_id": id_, "accepted": True, "query_id": answer["query_id"], "query": "prices"}
        assert (await ask("feedback", rated)).json == {"recorded": True}
    assert [list(one.right) for one in golden.load(path)] == [[ids["own"]]]
    await ask("feedback", rated | {"memory_id": ids["own"], "accepted": None})
    assert golden.load(path) == []
    with MemoryStore(papers) as store:
        assert len(store.feedbacks()) == 1


async def test_no_query_to_several_stores_outlives_a_forgetting(ask, listed, service):
    await ask("status")
    asked = {"query": "prices", "stores": ["own", "papers"]}
    [own] = [hit["memory_id"] for hit in (await ask("search", asked)).json["hits"] if hit["store"] == "own"]
    for route, body, method in (("recent", None, "DELETE"), ("forget", {"memory_ids": [own]}, "POST")):
        await ask("search", asked)
        assert service.asked_together
        assert (await ask(route, body, method=method)).code == 200 and not service.asked_together


async def test_what_a_store_refuses(ask, listed, papers):
    """A store that is read-only says so, and what is asked of the others is done all the same."""
    listed({"name": "papers", "path": str(papers), "read_only": True})
    await ask("status")
    hits = (await ask("browse", {"stores": ["own", "papers"]})).json["hits"]
    there = next(hit["memory_id"] for hit in hits if hit["store"] == "papers")
    for route, more in (("pin", {"pinned": True}), ("update", {"tags": ["tax"]})):
        refused = await ask(route, {"memory_id": there} | more)
        assert (refused.code, refused.json["reason"]) == (409, "StoreReadOnly") and "read" in refused.json["message"]
    refused = await ask("forget", {"memory_ids": [there, *(hit["memory_id"] for hit in hits if hit["store"] == "own")]})
    assert refused.json["reason"] == "StoreReadOnly" and found(await ask("browse", {})) == {}


async def test_a_store_that_is_missing_is_named(ask, listed, papers):
    await ask("status")
    Path(papers).unlink()
    answer = await ask("search", {"query": "prices", "stores": ["own", "papers"]})
    assert list(found(answer)) == ["Rates"]
    assert any(one.startswith("The store papers is left out: There is no store at") for one in answer.json["notices"])
    assert not Path(papers).exists()


@pytest.mark.parametrize("route", ["search", "browse", "item"])
async def test_names_that_are_not_on_the_list(ask, listed, route):
    body = {
        "search": {"query": "prices", "stores": ["secret"]},
        "browse": {"stores": ["own", "secret"]},
        "item": {"memory_id": "secret:0123456789abcdef"},
    }[route]
    refused = await ask(route, body)
    assert (refused.code, refused.json["reason"]) == (404, "UnknownStore") and "secret" not in refused.json["message"]


async def test_a_project_that_is_listed_and_trusted(ask, listed, papers, jp_root_dir):
    """The server opens the store of the project in Lab's folder once it is on the list, and a person trusted it."""
    project = jp_root_dir / ".jupyter-memory" / "memory.sqlite"
    project.parent.mkdir()
    papers.rename(project)
    listed()
    assert (await ask("status")).json["stores"] == ["own"]
    assert (await ask("search", {"query": "prices", "stores": ["project"]})).json["reason"] == "UnknownStore"
    listed({"name": "project"})
    assert (await ask("status")).json["stores"] == ["own", "project"]
    refused = await ask("search", {"query": "prices", "stores": ["project"]})
    assert refused.code == 409 and "store trust" in refused.json["message"]
    trust(project)
    assert "Prices" in found(await ask("search", {"query": "prices", "stores": ["project"]}))
    assert {"Rates", "Prices"} <= set(found(await ask("search", {"query": "prices", "stores": ["all"]})))


async def test_relative_paths_in_other_stores(ask, listed, papers, jp_root_dir):
    """A relative path means one below Lab's folder in each store."""
    note, other = jp_root_dir / "reports" / "tax.md", jp_root_dir / "sub" / "reports" / "tax.md"
    for file in (note, other):
        file.parent.mkdir(parents=True)
        file.write_text(f"The tax of {file.parent.parent.name}.")
    with MemoryStore(papers) as store:
        store.index(jp_root_dir, progress=False)
    await ask("status")
    asked = {"query": "tax", "stores": ["own", "papers"], "filters": {"path": ["./reports"]}}
    answer = await ask("search", asked)
    assert [hit["source"] for hit in answer.json["hits"]] == [str(note)]
