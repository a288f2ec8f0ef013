"""`jupyter-memory bench`: thirty out of thirty, and fewer as soon as a part is missing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from jupyter_memory.cli import main
from jupyter_memory.evaluation.bench import CORPUS, bench, checks, corpus, scores, table
from jupyter_memory.search import PROFILES

CATEGORIES = [
    "file by name",
    "broad topic",
    "personal recall",
    "canonical file",
    "temporal",
    "filtered by tags and source",
    "exact title",
    "code reference",
    "decision recall",
    "space-scoped",
]


@pytest.fixture(scope="module")
def radhaus():
    """The corpus in a store."""
    with corpus() as filled:
        yield filled


def held(radhaus, profile):
    """Return the categories of the checks that a profile holds."""
    return Counter(check.category for check in checks() if not radhaus.ask(check, profile).failed)


def test_ten_categories_of_three_checks():
    """The checks are those of the ten categories, three each, and no question is asked twice without another filter."""
    asked = checks()

    assert list(dict.fromkeys(check.category for check in asked)) == CATEGORIES
    assert set(Counter(check.category for check in asked).values()) == {3}
    assert len({(check.query, str(check.filters)) for check in asked}) == 30
    assert all(check.why for check in asked)


def test_every_name_is_in_the_corpus(radhaus):
    """What the checks speak of is there: a claim about a name that is misspelt would hold, or fail, for ever."""
    files = {path.relative_to(CORPUS / "files").as_posix() for path in (CORPUS / "files").rglob("*.*")}
    titles = {hit.memory.title for hit in radhaus.store.browsed(limit=200, filters={"kind": "note"}).hits}

    for check in checks():
        assert {name for name in (check.first, *check.among, *check.above, *check.absent) if name} <= files | titles


@pytest.mark.parametrize("name", ["covalence", "auto"])
def test_thirty_out_of_thirty(radhaus, name):
    """With the bundled model every check holds for covalence and for auto."""
    outcomes = [radhaus.ask(check, PROFILES[name]) for check in checks()]

    assert scores(outcomes) == {name: (30, 30)}, table(outcomes)


@pytest.mark.parametrize(
    ("term", "category"),
    [
        ("keyword", "code reference"),
        ("vector", "personal recall"),
        ("title", "exact title"),
    ],
)
def test_these_signals_of_covalence_are_needed(radhaus, term, category):
    """Without one of these signals covalence loses checks, those of the category that the signal is for among them."""
    left = held(radhaus, PROFILES["covalence"].without(term))

    assert sum(left.values()) < 30
    assert left[category] < 3


def test_auto_can_fail_as_well(radhaus):
    """Without what a title says, or without MaxSim, auto loses checks; ranking backwards it loses nearly all."""
    auto = PROFILES["auto"]
    upside_down = auto.replace(
        name="upside-down", terms=tuple(replace(term, weight=-term.weight) for term in auto.terms), keyword_only=()
    )

    assert held(radhaus, auto.without("title_match"))["exact title"] < 3
    assert held(radhaus, auto.without("max_sim"))["canonical file"] < 3
    assert sum(held(radhaus, upside_down).values()) < 15


def test_filters_are_what_holds_the_scoped_checks(radhaus):
    """Asked without their filters, the checks of spaces fail."""
    for check in checks():
        if "space" in check.filters:
            assert radhaus.ask(replace(check, filters={}), PROFILES["covalence"]).failed


def test_the_calendar_does_not_matter(radhaus):
    """Files are as old as the corpus says, not as their copy on this disk."""
    found = radhaus.store.hits("roadmap 1.3", now="2026-06-05").hits[0].memory

    assert found.event_at.date().isoformat() == "2026-01-12"


def test_the_command_ends_with_a_line_a_profile(tmp_path, capsys):
    """All profiles are shown, the last lines are `profile n/30`, and --json holds each outcome."""
    assert main(["bench", "-p", "keyword", "-p", "auto", "--json", str(tmp_path / "out.json")]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[-1] == "auto 30/30"
    assert lines[-2].startswith("keyword ") and lines[-2].endswith("/30") and lines[-2] != "keyword 30/30"
    assert len(json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))) == 60
    assert main(["bench", "-p", "autp"]) == 2


def test_all_profiles_by_default():
    """Without a name every profile is measured."""
    found = scores(bench(PROFILES))

    assert list(found) == list(PROFILES)
    assert all(asked == 30 for _, asked in found.values())
