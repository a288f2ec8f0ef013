"""`jupyter-memory bench`: thirty out of thirty, and fewer as soon as a part is missing."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from jupyter_memory import evaluation
from jupyter_memory.cli import main
from jupyter_memory.evaluation import checks, corpus, scores
from jupyter_memory.search import PROFILES

CATEGORIES = [
    "file by name", "broad topic", "personal recall", "canonical file", "temporal", "filtered by tags and source",
    "exact title", "code reference", "decision recall", "space-scoped",
]  # fmt: skip


@pytest.fixture(scope="module")
def radhaus():
    """The corpus in a store."""
    with corpus() as filled:
        yield filled


def held(radhaus, profile):
    return Counter(check.category for check in checks() if not radhaus.ask(check, profile).failed)


@pytest.mark.parametrize(
    ("claims", "failed"),
    [
        ({"first": "Müller"}, ""), ({"first": "λ"}, "λ is not first but 2nd"),
        ({"first": "Zürich"}, "Zürich is not first but not found"),
        ({"within": 3, "among": ("λ", "v1.4-ROADMAP.md")}, ""),
        ({"within": 2, "among": ("λ", "v1.4-ROADMAP.md")}, "v1.4-ROADMAP.md is not among the first 2 but 3rd"),
        ({"above": ("Müller", "λ")}, ""), ({"above": ("Müller", "Zürich")}, ""),
        ({"above": ("λ", "Müller")}, "Müller is before λ"),
        ({"above": ("Zürich", "Müller")}, "Zürich is not found"), ({"absent": ("Zürich",)}, ""),
        ({"absent": ("Zürich", "λ")}, "λ is found"), ({"space": "home"}, ""),
        ({"space": "work"}, "hits of the space 'home' are found"),
        ({"first": "λ", "absent": ("Müller",)}, "λ is not first but 2nd; Müller is found"),
    ],
)  # fmt: skip
def test_a_claim_holds_or_says_why_not(claims, failed):
    """Each claim is judged by itself, and all must hold; an empty answer holds no claim but absence."""
    nothing = replace(checks()[0], first="", among=(), above=(), absent=(), space="")
    assert replace(nothing, **claims).judge(["Müller", "λ", "v1.4-ROADMAP.md"], {"home"}) == failed
    assert replace(nothing, first="λ").judge([]) == "λ is not first but not found"
    assert replace(nothing, absent=("λ",)).judge([]) == ""


def test_ten_categories_of_three_checks(radhaus):
    """Three checks for each category, no question twice without another filter, and all they speak of is there."""
    asked = checks()
    assert list(dict.fromkeys(check.category for check in asked)) == CATEGORIES
    assert set(Counter(check.category for check in asked).values()) == {3}
    assert len({(check.query, str(check.filters)) for check in asked}) == 30
    assert all(check.why for check in asked)

    # A claim about a name that is misspelt would hold, or fail, for ever.
    files = {path.relative_to(radhaus.folder).as_posix() for path in radhaus.folder.rglob("*.*")}
    titles = {hit.memory.title for hit in radhaus.store.browsed(limit=200, filters={"kind": "note"}).hits}
    for check in asked:
        assert {name for name in (check.first, *check.among, *check.above, *check.absent) if name} <= files | titles
    # Files are as old as the corpus says, not as their copy on this disk.
    found = radhaus.store.hits("roadmap 1.3", now="2026-06-05").hits[0].memory
    assert found.event_at.date().isoformat() == "2026-01-12"


@pytest.mark.parametrize("name", ["covalence", "auto"])
def test_thirty_out_of_thirty(radhaus, name):
    """With the bundled model every check holds for covalence and for auto."""
    outcomes = [radhaus.ask(check, PROFILES[name]) for check in checks()]
    assert [(one.check.query, one.failed) for one in outcomes if one.failed] == []
    assert scores(outcomes) == {name: (30, 30)}


@pytest.mark.parametrize(
    ("profile", "term", "category"),
    [
        ("covalence", "keyword", "code reference"), ("covalence", "vector", "personal recall"),
        ("covalence", "title", "exact title"), ("auto", "title_match", "exact title"),
        ("auto", "max_sim", "canonical file"),
    ],
)  # fmt: skip
def test_these_signals_are_needed(radhaus, profile, term, category):
    """Without one of these signals checks are lost, those of the category that the signal is for among them."""
    assert held(radhaus, PROFILES[profile].without(term))[category] < 3


def test_checks_can_fail(radhaus):
    """Ranking backwards auto loses nearly all checks; asked without their filters, those of spaces fail."""
    auto = PROFILES["auto"]
    upside_down = tuple(replace(term, weight=-term.weight) for term in auto.terms)
    assert sum(held(radhaus, auto.replace(name="upside-down", terms=upside_down, keyword_only=())).values()) < 15
    for check in checks():
        if "space" in check.filters:
            assert radhaus.ask(replace(check, filters={}), PROFILES["covalence"]).failed


def test_the_command_ends_with_a_line_a_profile(tmp_path, capsys):
    """All profiles are shown, the last lines are `profile n/30`, and --json holds each outcome."""
    assert main(["bench", "-p", "keyword", "-p", "auto", "--json", str(tmp_path / "out.json")]) == 0
    *_, keyword, auto = capsys.readouterr().out.splitlines()
    assert auto == "auto 30/30"
    assert keyword.startswith("keyword ") and keyword.endswith("/30") and keyword != "keyword 30/30"
    assert len(json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))) == 60
    assert main(["bench", "-p", "autp"]) == 2


def test_all_profiles_by_default():
    """Without a name every profile is measured."""
    found = scores(evaluation.bench(PROFILES))
    assert list(found) == list(PROFILES) and all(asked == 30 for _, asked in found.values())
