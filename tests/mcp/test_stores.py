"""Several stores of an agent: those that were named and no others, each within the bounds, and ids that lead there."""

from pathlib import Path

import pytest

from jupyter_memory import InputError, JupyterMemory, MemoryStore
from jupyter_memory.mcp import tools_of


@pytest.fixture
def stores(tmp_path, home):
    """Three stores with a note each, two of which an agent is given."""
    paths = {name: tmp_path / f"{name}.sqlite" for name in ("mine", "team", "secret")}
    for name, path in paths.items():
        with MemoryStore(path) as store:
            store.add(f"The {name} prices are scaled to zero mean.", title=f"Prices of {name}", tags=[name])
            store.add(f"The {name} prices of papers.", title=f"Papers of {name}", space="papers")
    return paths


@pytest.fixture
def opened(stores):
    made = []

    def over(*names, **options):
        listed = [{"name": name, "path": str(stores[name])} for name in ("team", "secret")]
        settings = JupyterMemory(path=str(stores["mine"]), stores=listed, busy_seconds=0.2)
        made.append(tools_of(settings, stores=names, **options))
        return made[-1]

    yield over
    for one in made:
        one.close()


def titles(found):
    return sorted(hit["title"] for hit in found["hits"])


def test_only_the_stores_that_were_named(opened, ask, refused):
    """Without a name it is the person's own; an id of another store is none, however it is spelt."""
    secret = next(
        hit["id"] for hit in ask(opened("secret"), "search", query="prices scaled")["hits"] if "Prices" in hit["title"]
    )
    assert secret.startswith("secret:")
    assert titles(ask(opened(), "search", query="prices")) == ["Papers of mine", "Prices of mine"]
    both = opened("own", "team")
    found = ask(both, "search", query="prices")
    assert titles(found) == ["Papers of mine", "Papers of team", "Prices of mine", "Prices of team"]
    for id_ in (secret, secret.rpartition(":")[2], f"team:{secret.rpartition(':')[2]}"):
        for tool, arguments in (("get", {"ids": [id_]}), ("related", {"id": id_}), ("forget", {"ids": [id_]})):
            assert "No memory that this client may see" in refused(both, tool, **arguments)
    assert "secret" not in str(ask(both, "status"))
    assert ask(both, "status")["bounds"][:2] == ["store own", "store team"] and ask(both, "status")["memories"] == 4


def test_some_of_them(opened, ask, refused):
    """A question may go to some of the stores that were named; one sentence refuses any other name."""
    tools = opened("own", "team")
    assert titles(ask(tools, "search", query="prices", stores=["team"])) == ["Papers of team", "Prices of team"]
    assert titles(ask(tools, "search", query="prices", stores="own")) == ["Papers of mine", "Prices of mine"]
    said = {
        refused(tools, "search", query="prices", stores=names) for names in (["secret"], ["own", "nowhere"], ["all"])
    }
    assert said == {"stores: you may not search one of them. memory_status lists those that you may search."}


def test_ids_lead_to_their_stores(opened, ask, stores):
    tools = opened("own", "team")
    hits = {hit["title"]: hit["id"] for hit in ask(tools, "search", query="prices")["hits"]}
    assert hits["Prices of team"].startswith("team:") and ":" not in hits["Prices of mine"]
    read = ask(tools, "get", ids=list(hits.values()))["memories"]
    assert {one["id"]: one["title"] for one in read} == {id_: title for title, id_ in hits.items()}
    alike = ask(tools, "related", id=hits["Prices of team"])["hits"]
    assert [hit["id"].partition(":")[0] for hit in alike] == ["team"] * len(alike)
    paged = ask(tools, "search", query="prices", limit=2)
    rest = ask(tools, "search", cursor=paged["next"])
    assert {hit["id"] for hit in (*paged["hits"], *rest["hits"])} == set(hits.values())


def test_notes_go_to_the_first_of_the_list(opened, ask, stores):
    tools = opened("secret", "team")
    noted = ask(tools, "remember", text="Prices are net of tax.", title="Tax")["id"]
    assert noted.startswith("team:") and ask(tools, "get", ids=[noted])["memories"][0]["title"] == "Tax"
    with MemoryStore(stores["mine"]) as own:
        assert [call.query for call in own.recent()] == ["Tax", "Tax"]
        assert ask(tools, "forget", ids=[noted])["forgotten"] == 1
        assert [call.query for call in own.recent()] == [""]
    with MemoryStore(stores["team"]) as store:
        assert store.count() == 2


def test_bounds_hold_in_each(opened, ask):
    found = ask(opened("own", "team", space="papers"), "search", query="prices")
    assert titles(found) == ["Papers of mine", "Papers of team"]
    assert ask(opened("own", "team", path=["/nowhere"]), "search", query="prices")["hits"] == []


def test_a_store_that_is_away_is_named_without_its_path(opened, ask, refused, stores):
    stores["team"].unlink()
    found = ask(opened("own", "team"), "search", query="the prices are scaled to zero mean")
    assert "The store team is left out: There is no memory yet." in found["note"]
    assert str(Path(stores["team"]).parent) not in str(found) and "Prices of mine" in titles(found)
    status = ask(opened("own", "team"), "status")
    assert status["memories"] == 2 and status["bounds"][:2] == ["store own", "without what was run"]
    assert "There is no memory yet" in refused(opened("team"), "status")
    assert "There is no memory yet" in refused(opened("own", "team"), "search", query="prices", stores=["team"])


def test_names_that_are_no_stores(opened, ask):
    for name in ("project", "nowhere"):
        with pytest.raises(InputError, match="No store on the list"):
            opened(name)
    assert ask(opened("all"), "status")["bounds"][:3] == ["store own", "store team", "store secret"]
