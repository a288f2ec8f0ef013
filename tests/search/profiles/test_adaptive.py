"""The weights of vault follow what was said of hits, by numbers worked out by hand."""

from __future__ import annotations

import pytest

from jupyter_memory.search import PROFILES, adapted, vault


def weights(terms):
    """Return weights by term, but that of the fixed score of history."""
    return {term.name: term.weight for term in terms if term.name != "history"}


@pytest.mark.parametrize(
    ("accepted", "judged", "hybrid", "words"),
    [
        # 0.30 * (40/50 - 0.5) = 0.09: .25 + .09, the others by .66/.75; .40 + .09, the others by .51/.60.
        (40, 50, (0.34, 0.132), (0.49, 0.1275)),
        (15, 30, (0.25, 0.15), (0.40, 0.15)),
        # All of them, none of them: 0.15 more, 0.15 less.
        (30, 30, (0.40, 0.12), (0.55, 0.1125)),
        (0, 30, (0.10, 0.18), (0.25, 0.1875)),
    ],
)
def test_by_hand(accepted, judged, hybrid, words):
    """The semantic weight moves by 0.30 * (accept rate - 0.5), the others share what is left of 1."""
    learnt = adapted(vault, accepted, judged)
    others = ("severity", "temporal", "tags", "domain")

    assert weights(learnt.terms) == pytest.approx(
        {"semantic": hybrid[0], "vector": hybrid[1], **dict.fromkeys(others, hybrid[1])}
    )
    assert weights(learnt.keyword_only) == pytest.approx(
        {"semantic": words[0], "vector": 0.0, **dict.fromkeys(others, words[1])}
    )
    for terms in (learnt.terms, learnt.keyword_only):
        assert sum(weights(terms).values()) == pytest.approx(1.0)
        assert terms[-1].weight == 0.5  # the fixed score of history


def test_thirty_are_needed():
    """29 verdicts change nothing, whatever they say."""
    assert adapted(vault, 29, 29) is vault
    assert adapted(vault, 30, 30) is not vault


def test_only_what_adapts():
    """The other profiles stay as they are; one that has adapted does so no further, nor one without the term."""
    for name, profile in PROFILES.items():
        assert (adapted(profile, 50, 50) is profile) == (name != "vault")
    assert adapted(learnt := adapted(vault, 50, 50), 0, 50) is learnt
    assert adapted(bare := vault.without("semantic"), 50, 50) is bare


def test_a_search_learns(week_store, now):
    """Once thirty hits were judged in a store, its searches by vault weigh so, and others do not."""
    question = "how did we scale the electricity prices"
    before = week_store.hits(question, profile="vault", now=now).hits[0]
    for number in range(30):
        week_store.feedback(before.memory.id, True, query=f"prices of Zürich, question {number}")
    after = week_store.hits(question, profile="vault", now=now).hits[0]

    assert after.memory.id == before.memory.id
    assert after.signals["semantic"].contribution == pytest.approx(
        before.signals["semantic"].contribution * 0.40 / 0.25
    )
    assert after.signals["temporal"].contribution == pytest.approx(
        before.signals["temporal"].contribution * 0.12 / 0.15
    )
    assert after.score == pytest.approx(sum(seen.contribution for seen in after.signals.values()))
    assert week_store.hits(question, now=now).profile == "auto"
