"""Strength measured: questions asked of a store that answers them, and of one that cannot."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.cli import main
from jupyter_memory.errors import InputError
from jupyter_memory.evaluation.answerability import answerability
from jupyter_memory.evaluation.calibration import auroc

KITCHEN = [
    {"_id": "bread", "title": "Bread", "text": "The dough rests overnight; bake it at 230 °C with steam."},
    {"_id": "soup", "title": "Soup", "text": "Roast the pumpkin before it goes into the soup with ginger."},
]
WEEK = [
    {"_id": "scale", "title": "Prices", "text": "We scaled the electricity prices to zero mean and unit variance."},
    {"_id": "join", "title": "Tables", "text": "The left join on the meter id doubled the rows of Zürich, λ = 0.3."},
]
values = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=12)


@pytest.fixture
def two(judged_folder):
    """A set of two groups that have nothing to do with each other."""
    documents = [{**one, "group": "week"} for one in WEEK] + [{**one, "group": "kitchen"} for one in KITCHEN]
    queries = [
        {"_id": "q1", "text": "how were the electricity prices scaled", "group": "week"},
        {"_id": "q2", "text": "left join doubled the rows", "group": "week"},
        {"_id": "q3", "text": "bake the dough with steam", "group": "kitchen"},
        {"_id": "q4", "text": "pumpkin soup with ginger", "group": "kitchen"},
    ]
    qrels = [("q1", "scale", 1), ("q2", "join", 1), ("q3", "bread", 1), ("q4", "soup", 1)]
    return judged_folder("two", documents, queries, qrels)


@given(values, values)
def test_the_area_is_the_share_of_pairs_in_order(right, other):
    """AUROC counts pairs: those in order one each, ties a half."""
    pairs = [(a > b) + (a == b) / 2 for a in right for b in other]
    assert auroc(right, other) == pytest.approx(sum(pairs) / len(pairs))


def test_each_group_is_asked_the_questions_of_another(two):
    """Questions are told apart from those of another group of the same set."""
    (told,) = answerability([two], "static")

    assert told.auroc == 1.0
    assert told.lost == 0.0
    assert min(told.right) > max(told.other)


def test_a_set_of_one_collection_needs_a_second(judged_folder):
    """Alone, it is refused with what to name; with a second set, its questions are asked of that one."""
    week = judged_folder("week", WEEK, [{"_id": "q", "text": "electricity prices"}], [("q", "scale", 1)])
    with pytest.raises(InputError, match="week is one collection: name a second set"):
        answerability([week], "static")

    kitchen = judged_folder("kitchen", KITCHEN, [{"_id": "q", "text": "pumpkin soup"}], [("q", "soup", 1)])
    assert [one.auroc for one in answerability([week, kitchen], "static")] == [1.0, 1.0]


def test_the_command_prints_and_writes(two, tmp_path, capsys):
    """`eval --strength` prints a row a set, and writes the same numbers as JSON."""
    assert main(["eval", str(two), "--strength", "--json", str(tmp_path / "out.json")]) == 0

    assert "1.000" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "out.json").read_text())
    assert (row["set"], row["queries"], row["auroc"], row["answerable_none"]) == ("two", 4, 1.0, 0.0)
