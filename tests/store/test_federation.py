"""Several stores searched as one: priorities, copies, order, and the sums behind the scores."""

import pytest

from jupyter_memory import InputError, QueryError
from jupyter_memory.search import auto, vault
from jupyter_memory.store import Vaults

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
    assert frame["vault"].tolist() == ["project", "team", "agent"]
    assert frame.filter(like="contrib_").sum(axis=1).tolist() == pytest.approx(frame["score"].tolist())
    with pytest.raises(AttributeError):
        frame.memory  # noqa: B018


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


def test_only_vault(three, now):
    """No other profile multiplies scores of different stores; the name of this one may be said. Words are needed."""
    with pytest.raises(QueryError, match="vault alone"):
        Vaults(**three).hits("prices", profile=auto)
    assert Vaults(**three).hits("prices", profile="vault", now=now).answer.profile == vault.name
    for query in ("", "  ", "tag:prices"):
        with pytest.raises(QueryError):
            Vaults(**three).hits(query)


def test_limits(three, now):
    """The limit cuts the whole; a small corpus that it would cut in half is all shown, and it is said."""
    vaults = Vaults(**three)
    assert len(vaults.hits("prices", limit=2, now=now).hits) == 2
    whole = vaults.hits("prices", limit=1, now=now)
    assert len(whole.hits) == len(whole.vaults) == 3
    assert "Only 3 memories contain any of these words, so all of them are shown." in whole.answer.notices
    with pytest.raises(QueryError, match="limit"):
        vaults.hits("prices", limit=0)
