"""`jupyter-memory bench`: thirty out of thirty, and fewer as soon as a part is missing."""

import json
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_memory import evaluation
from jupyter_memory.cli import main
from jupyter_memory.evaluation import scores
from jupyter_memory.search import PROFILES

CATEGORIES = [
    "file by name", "broad topic", "personal recall", "canonical file", "temporal", "filtered by tags and source",
    "exact title", "code reference", "decision recall", "space-scoped",
]  # fmt: skip


CORPUS = Path(evaluation.__file__).parent / "bench_corpus"
NEEDED = [
    ("covalence", "keyword", "code reference"), ("covalence", "vector", "personal recall"),
    ("covalence", "title", "exact title"), ("auto", "title_match", "exact title"),
    ("auto", "max_sim", "canonical file"),
]  # fmt: skip
UPSIDE_DOWN = [replace(term, weight=-term.weight) for term in PROFILES["auto"].terms]
CHANGED = {
    "upside-down": PROFILES["auto"].replace(name="upside-down", terms=tuple(UPSIDE_DOWN), keyword_only=()),
    **{f"{name}-{term}": PROFILES[name].without(term) for name, term, _ in NEEDED},
}


@pytest.fixture(scope="module")
def outcomes():
    return evaluation.bench({**PROFILES, **CHANGED})


@pytest.fixture
def asked(outcomes):
    return [one.check for one in outcomes if one.profile == "auto"]


def held(outcomes, name):
    return Counter(one.check.category for one in outcomes if one.profile == name and not one.failed)


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
def test_a_claim_holds_or_says_why_not(asked, claims, failed):
    """Each claim is judged by itself, and all must hold; an empty answer holds no claim but absence."""
    nothing = replace(asked[0], first="", among=(), above=(), absent=(), space="")
    assert replace(nothing, **claims).judge(["Müller", "λ", "v1.4-ROADMAP.md"], {"home"}) == failed
    assert replace(nothing, first="λ").judge([]) == "λ is not first but not found"
    assert replace(nothing, absent=("λ",)).judge([]) == ""


def test_ten_categories_of_three_checks(asked):
    """Three checks for each category, no question twice without another filter, and all they speak of is there."""
    assert list(dict.fromkeys(check.category for check in asked)) == CATEGORIES
    assert set(Counter(check.category for check in asked).values()) == {3}
    assert len({(check.query, str(check.filters)) for check in asked}) == 30
    assert all(check.why for check in asked)
    # A claim about a name that is misspelt would hold, or fail, for ever.
    files = {path.relative_to(CORPUS / "files").as_posix() for path in CORPUS.joinpath("files").rglob("*.*")}
    titles = {note["title"] for note in tomllib.loads(CORPUS.joinpath("notes.toml").read_text("utf-8"))["note"]}
    for check in asked:
        assert {name for name in (check.first, *check.among, *check.above, *check.absent) if name} <= files | titles
    # Files are as old as the corpus says, not as their copy on this disk.
    of_a_day = {"query": "roadmap 1.3", "filters": {"since": "2026-01-12", "until": "2026-01-12"}}
    old = replace(asked[0], **of_a_day, first="docs/v1.3-ROADMAP.md", among=(), above=(), absent=(), space="")
    assert evaluation.bench({"auto": PROFILES["auto"]}, asked=[old])[0].failed == ""


@pytest.mark.parametrize("name", ["covalence", "auto"])
def test_thirty_out_of_thirty(outcomes, name):
    of_name = [one for one in outcomes if one.profile == name]
    assert [(one.check.query, one.failed) for one in of_name if one.failed] == []
    assert scores(of_name) == {name: (30, 30)}
    found = scores(outcomes)
    assert list(found) == [*PROFILES, *CHANGED] and all(asked == 30 for _, asked in found.values())


@pytest.mark.parametrize(("profile", "term", "category"), NEEDED)
def test_these_signals_are_needed(outcomes, profile, term, category):
    """Without one of these signals checks are lost, those of the category that the signal is for among them."""
    assert held(outcomes, f"{profile}-{term}")[category] < 3


def test_checks_can_fail(outcomes, asked):
    """Ranking backwards auto loses nearly all checks; asked without their filters, those of spaces fail."""
    assert sum(held(outcomes, "upside-down").values()) < 15
    everywhere = [replace(check, filters={}) for check in asked if "space" in check.filters]
    assert everywhere and all(
        one.failed for one in evaluation.bench({"covalence": PROFILES["covalence"]}, asked=everywhere)
    )


def test_the_command_ends_with_a_line_a_profile(tmp_path, capsys):
    """All profiles are shown, the last lines are `profile n/30`, and --json holds each outcome."""
    assert main(["bench", "-p", "keyword", "-p", "auto", "--json", str(tmp_path / "out.json")]) == 0
    *_, keyword, auto = capsys.readouterr().out.splitlines()
    assert auto == "auto 30/30"
    assert keyword.startswith("keyword ") and keyword.endswith("/30") and keyword != "keyword 30/30"
    assert len(json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))) == 60
    assert main(["bench", "-p", "autp"]) == 2
