"""Several stores searched as one: priorities, copies, order, and the sums behind the scores."""

from contextlib import closing
from dataclasses import replace
from math import isnan
from threading import Event

import apsw
import pytest
from hashing import Hashing

from jupyter_memory import (
    InputError,
    JupyterMemory,
    NoStore,
    QueryError,
    StoreDamaged,
    StoreError,
    StoreLocked,
    StoreTooNew,
)
from jupyter_memory.search import PROFILES
from jupyter_memory.store import Stores, Vaults

ASKED = {"tags": ["prices"], "domain": "energy"}


@pytest.fixture
def three(store, now):
    agent, project, team = (store(f"{name}.sqlite", embedder=None) for name in ("agent", "project", "team"))
    rule = {"text": "Prices are net of tax, λ = 0.3.", "event_at": now, "tags": ["prices"], "domain": "energy"}
    agent.add("Prices of Zürich are in francs.", title="Zürich", event_at=now)
    for one in (project, team):
        one.add(**rule, title="Prices", severity="critical")
    team.add("Prices of Malmö arrive late.", title="Malmö", event_at=now, **ASKED, severity="critical")
    return {"agent": agent, "project": project, "team": team}


def test_scores_by_hand(three, now):
    """Every signal at its best is worth .60 and .40 of TF-IDF; a project counts .8 of that, a team .6; frames, too."""
    found, frame = Vaults(**three).hits("prices", now=now, **ASKED), Vaults(**three).search("prices", now=now, **ASKED)
    tiers = {hit.memory.title: one.tier for hit, one in zip(found.hits, found.vaults, strict=True)}
    scores = {hit.memory.title: hit.score for hit in found.hits}
    semantic = {hit.memory.title: hit.signals["semantic"].value for hit in found.hits}
    worth = {"Prices": (0.8, 0.60), "Malmö": (0.6, 0.60), "Zürich": (1.0, 0.15)}
    assert tiers == {"Prices": "project", "Malmö": "team", "Zürich": "agent"}
    by_hand = {title: factor * (0.40 * semantic[title] + rest) for title, (factor, rest) in worth.items()}
    assert scores == pytest.approx(by_hand)
    assert [hit.rank for hit in found.hits] == [1, 2, 3]
    assert [hit.score for hit in found.hits] == sorted(scores.values(), reverse=True) == frame["score"].tolist()
    for hit in found.hits:
        assert hit.score == pytest.approx(sum(seen.contribution for seen in hit.signals.values()), abs=1e-9)
    assert frame["vault"].tolist() == frame["store"].tolist() == ["project", "team", "agent"]
    assert frame.filter(like="contrib_").sum(axis=1).tolist() == pytest.approx(frame["score"].tolist())
    for rank, memory in enumerate((hit.memory for hit in found.hits), start=1):
        assert frame.memory.text(rank) == memory.text


def test_the_copy_of_the_highest_priority_stays(three, now):
    """What stands in several stores is shown once, from the highest, however it scores there or stores are named."""
    three["agent"].add("Prices are net of tax, λ = 0.3.", title="Prices", event_at="2001-01-01")
    found = Vaults(**three).hits("prices", now=now, **ASKED)
    where = [one.tier for hit, one in zip(found.hits, found.vaults, strict=True) if hit.memory.title == "Prices"]
    assert where == ["agent"] and found.answer.counts["fused"] == 3
    backwards = Vaults(**dict(reversed(three.items()))).hits("prices", now=now, **ASKED)
    assert [hit.memory.id for hit in found.hits] == [hit.memory.id for hit in backwards.hits]


def test_a_copy_below_the_limit_takes_its_place(three, now):
    """The copy counts although its own store would not show it among the first."""
    three["agent"].add("Prices are net of tax, λ = 0.3.", title="Prices", event_at="2001-01-01")
    for number in range(12):
        three["agent"].add(f"prices prices {number}", title="prices", event_at=now, **ASKED, severity="critical")
    alone = three["agent"].hits("prices", limit=8, profile="vault", now=now).hits
    assert 2001 not in {hit.memory.event_at.year for hit in alone}
    found = Vaults(**three).hits("prices", limit=8, now=now, **ASKED)
    tiers = [one.tier for hit, one in zip(found.hits, found.vaults, strict=True) if hit.memory.title == "Prices"]
    assert set(tiers) <= {"agent"}


def test_a_store_with_a_priority_of_its_own(three, now):
    """Any other store comes with its factor; without one, or with none that makes sense, it is refused in words."""
    found = Vaults(wiki=(three["team"], 2.0)).hits("Malmö prices", now=now, **ASKED)
    alone = three["team"].hits("Malmö prices", profile="vault", now=now, **ASKED)
    assert found.hits[0].score == pytest.approx(2 * alone.hits[0].score)
    with pytest.raises(InputError, match=r"Give one: wiki=\(store, 0.4\)"):
        Vaults(wiki=three["team"])
    for factor in (0.0, -1.0, float("nan")):
        with pytest.raises(InputError, match="a number above 0"):
            Vaults(wiki=(three["team"], factor))
    with pytest.raises(InputError, match="Name the stores"):
        Vaults()


@pytest.mark.parametrize("profile", [*PROFILES])
def test_every_profile(three, now, profile):
    """Whichever profile ranks, the contributions sum up to the score exactly, and the percent never rises."""
    found = Vaults(**three).hits("prices", profile=profile, now=now, **ASKED)
    assert found.answer.profile == profile and {one.tier for one in found.vaults} == set(three)
    scores = [hit.score for hit in found.hits]
    assert scores == [sum(seen.contribution for seen in hit.signals.values()) for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    sure = [hit.strength for hit in found.hits if not isnan(hit.strength)]
    assert sure == sorted(sure, reverse=True) and bool(sure) == (found.answer.verdict is not None)


def test_lists_without_words(three, now):
    """Nothing typed is no question; filters alone, and None, list all stores: pinned ones first, each text once."""
    for query in ("", "  "):
        with pytest.raises(QueryError):
            Vaults(**three).hits(query)
    three["team"].pin(three["team"].hits("Malmö").hits[0].memory.id)
    found = Vaults(**three).hits(None, limit=2)
    assert (found.hits[0].store, found.hits[0].title) == ("team", "Malmö") and [hit.rank for hit in found.hits] == [
        1,
        2,
    ]
    assert all(isnan(hit.score) for hit in found.hits) and found.answer.facets["tag"] == {"prices": 3}
    assert {hit.title for hit in Vaults(**three).hits("tag:prices").hits} == {"Prices", "Malmö"}
    assert [hit.title for hit in Vaults(**three).hits(None, filters={"tag": "prices"}, limit=1).hits] == ["Malmö"]


def test_limits(three, now):
    """The limit cuts the whole; a small corpus that it would cut in half is all shown, and it is said."""
    vaults = Vaults(**three)
    assert len(vaults.hits("prices", limit=2, now=now).hits) == 2
    whole = vaults.hits("prices", limit=1, now=now)
    assert len(whole.hits) == len(whole.vaults) == 3
    assert "Only 3 memories contain any of these words, so all of them are shown." in whole.answer.notices
    with pytest.raises(QueryError, match="limit"):
        vaults.hits("prices", limit=0)


def opening(path):
    """Return a function that opens a store of the list when it is searched."""
    listed = JupyterMemory(stores=[{"name": "one", "path": str(path)}], busy_seconds=0.1)
    return lambda: Stores(listed, lambda: None).named("one")


def alike(store, name, count, **options):
    """Return a store with notes that all answer a question about prices."""
    one = store(f"{name}.sqlite", **options)
    texts = [f"The prices of tariff {name}{number} are scaled to zero mean." for number in range(count)]
    one.add_many([{"text": text, "title": f"Scaled prices {name}{number}"} for number, text in enumerate(texts)])
    return one


def test_no_store_takes_all_of_the_first_places(store, now):
    """Half of the first ten at most, while another store has something strong; what is not strong displaces nothing."""
    mine, ours = alike(store, "a", 12), alike(store, "b", 12)
    question = "how were the prices of the tariff a scaled to zero mean"
    both = Vaults(mine=(mine, 1.0), ours=(ours, 0.5))
    tiers = [one.tier for one in both.hits(question, profile="auto", now=now).vaults]
    assert tiers == ["mine"] * 5 + ["ours"] * 5
    longer = [one.tier for one in both.hits(question, profile="auto", limit=14, now=now).vaults]
    assert longer == [*tiers, *["mine"] * 4]

    other = store("other.sqlite")
    other.add("Frau Müller bakes bread.", title="Bread")
    alone = Vaults(mine=(mine, 1.0), other=(other, 0.5)).hits(question, profile="auto", now=now)
    assert [one.tier for one in alone.vaults] == ["mine"] * 10


def test_the_same_text_comes_from_the_highest(store, now):
    text = "The prices of tariff a0 are scaled to zero mean."
    mine, ours = store("mine.sqlite"), store("ours.sqlite")
    for one in (mine, ours):
        one.add(text, title="Scaled prices")
    for stores, first in (((mine, ours), "mine"), ((ours, mine), "ours")):
        names = ["mine" if one is mine else "ours" for one in stores]
        found = Vaults(**{name: (one, 1.0) for name, one in zip(names, stores, strict=True)}).hits(text, profile="auto")
        assert [hit.store for hit in found.hits] == [first]


def test_models_side_by_side(store, now):
    """Each store is searched by its own model, or by words where it has none."""
    static, words = alike(store, "a", 3), alike(store, "b", 3, embedder=None)
    short = alike(store, "c", 3, embedder=Hashing())
    found = Vaults(static=(static, 1.0), words=(words, 1.0), short=(short, 1.0)).hits(
        "prices to zero mean", profile="auto"
    )
    assert {hit.store: not isnan(hit.cosine) for hit in found.hits} == {"static": True, "words": False, "short": True}
    assert found.answer.verdict == "strong" and not found.left_out


def test_a_store_that_does_not_answer_is_named(store, tmp_path, now):
    """One that is missing, newer, damaged, locked or slow keeps no other from answering; with no other, it says why."""
    mine = alike(store, "a", 3)
    files = {name: alike(store, name, 1) for name in ("newer", "locked")}
    for one in files.values():
        one.close()
    with apsw.Connection(str(files["newer"].path)) as connection:
        connection.execute("pragma user_version = 99000")
    damaged = tmp_path / "damaged.sqlite"
    damaged.write_text("This is no database, whatever its name says. " * 40)
    goes_on = Event()

    def slow():
        goes_on.wait(60)
        return mine

    with closing(apsw.Connection(str(files["locked"].path))) as holder:
        for statement in ("pragma journal_mode = delete", "begin exclusive"):
            holder.execute(statement).fetchall()
        away = {
            "missing": opening(tmp_path / "nowhere.sqlite"),
            "newer": opening(files["newer"].path),
            "damaged": opening(damaged),
            "locked": opening(files["locked"].path),
            "slow": slow,
        }
        stores = Vaults(**{name: (one, 1.0) for name, one in {"mine": mine, **away}.items()})
        found = stores.hits("scaled prices", profile="auto", deadline=3.0)
        goes_on.set()
    assert {hit.store for hit in found.hits} == {"mine"} and len(found.hits) == 3
    assert {name: type(error) for name, error in found.left_out.items()} == {
        "missing": NoStore,
        "newer": StoreTooNew,
        "damaged": StoreDamaged,
        "locked": StoreLocked,
        "slow": StoreError,
    }
    told = [one for one in found.answer.notices if "is left out: " in one]
    assert sorted(one.split()[2] for one in told) == sorted(away)
    assert not (tmp_path / "nowhere.sqlite").exists()
    with pytest.raises(StoreError, match=r"missing is left out.*\n.*newer is left out"):
        Vaults(**{name: (away[name], 1.0) for name in ("missing", "newer")}).hits("prices")


def test_a_single_store_is_asked_once(store, now):
    """Nothing is measured together with others where there are none: the answer is that of the store itself."""
    asked, own = [], store("team.sqlite")
    own.add_many(({"text": f"The price of shop {number} rose in Zürich."} for number in range(70)), progress=False)
    [vault] = Vaults(team=(own, 1.0)).vaults
    noted = replace(vault, part=lambda team: asked.append(team) or team.searching)
    found = Vaults(team=noted).hits("which shop is dearer", profile="auto", now=now)
    alone = own.hits("which shop is dearer", profile="auto", now=now)
    assert asked == [own] and found.answer.strength == alone.strength
    assert [(hit.memory.id, hit.score) for hit in found.hits] == [(hit.memory.id, hit.score) for hit in alone.hits]


def test_one_measure_for_all_stores_of_a_model(store, now):
    """What a store holds besides does not decide how far a hit stands out: the same text scores the same in each."""
    rare, usual = store("rare.sqlite"), store("usual.sqlite")
    for number in range(30):
        rare.add(f"Bread number {number} is baked with rye, salt and patience.")
        usual.add(f"The invoice number {number} lists prices, taxes and discounts of customers.")
    for one, word in ((rare, "one"), (usual, "two")):
        one.add(f"The invoice of the price, copy {word}.", event_at=now)
    together = Vaults(rare=(rare, 1.0), usual=(usual, 1.0)).hits(
        "what does the invoice say of the price", profile="auto"
    )
    apart = [one.hits("what does the invoice say of the price", limit=1).hits[0] for one in (rare, usual)]
    values = {hit.store: hit.signals["semantic_margin"].value for hit in together.hits if "copy" in hit.memory.text}
    alone = [hit.signals["semantic_margin"].value for hit in apart]
    assert abs(values["rare"] - values["usual"]) < abs(alone[0] - alone[1]) / 4
