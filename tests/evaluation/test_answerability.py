"""Strength measured: questions asked of a store that answers them, and of one that cannot."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import InputError
from jupyter_memory.cli import main
from jupyter_memory.evaluation.answerability import HALVES, answerability, half_of
from jupyter_memory.evaluation.datasets import read_judged
from jupyter_memory.evaluation.metrics import auroc, calibration_error
from jupyter_memory.search import verdict

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


UNANSWERABLE = [
    {"_id": f"u{number}", "text": text, "answerable": False}
    for number, text in enumerate(
        ["kafka topic", "xgboost of λ", "terraform in Zürich", "spark cluster", "airflow dag"]
    )
]
ANSWERABLE = [
    ({"_id": "scaled", "text": "electricity prices scaled"}, "scale"),
    ({"_id": "unit", "text": "zero mean and unit variance"}, "scale"),
    ({"_id": "join", "text": "left join on the meter id"}, "join"),
    ({"_id": "rows", "text": "doubled the rows of Zürich"}, "join"),
    ({"_id": "lambda", "text": "λ = 0.3"}, "join"),
    ({"_id": "wrong", "text": "electricity variance"}, "join"),
]


@pytest.fixture
def own(judged_folder):
    """``own(name)`` writes a set that comes with questions that nothing in it answers."""

    def write(name="own"):
        queries = [query for query, _ in ANSWERABLE] + UNANSWERABLE
        return judged_folder(name, WEEK, queries, [(query["_id"], answer, 1) for query, answer in ANSWERABLE])

    return write


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_a_calibration_error_is_the_gap_between_said_and_seen(pairs):
    """It lies between 0 and 1, is 0 for certainty that is right, and at least the gap between the two means."""
    said, seen = [one for one, _ in pairs], [one for _, one in pairs]
    error = calibration_error(said, seen)

    assert -1e-9 <= error <= 1
    assert error >= abs(sum(said) - sum(seen)) / len(pairs) - 1e-9
    assert calibration_error([float(one) for one in seen], seen) == 0
    assert calibration_error([float(not one) for one in seen], seen) == 1


def test_unanswerable_questions_of_its_own(own):
    """A set that has them is asked them in its own store, needs no second set, and is told by halves."""
    folder = own()
    judged = read_judged(folder)
    rows = answerability([folder], "static")

    assert [(row.set, row.half) for row in rows] == [("own", half) for half in HALVES]
    for row in rows:
        assert len(row.right) == sum(half_of(one) == row.half for one in judged.questions) > 0
        assert len(row.other) == sum(half_of(one) == row.half for one in judged.unanswerable) > 0
        assert (row.auroc, row.false_strong, row.false_none) == (1.0, 0.0, 0.0)
        assert 0 < row.calibration_error < 0.5
    assert judged.unjudged == 0


def test_what_is_not_found_is_no_answer(own):
    """A right document counts among the first three hits; a question that finds others is no false refusal."""
    rows = answerability([own()], "static")
    found = [one for row in rows for one in row.found]

    assert (sum(found), len(found)) == (5, 6)
    for row in rows:
        strengths = [strength for strength, one in zip(row.right, row.found, strict=True) if one]
        assert row.trusted == sum(verdict(one) == "strong" for one in strengths) / len(strengths)


def test_sets_with_halves_are_told_together(own):
    """Two such sets give rows of their own, and a row of both for each half."""
    first, second = own("first"), own("second")
    rows = answerability([first, second], "static")
    together = rows[-2:]

    assert [row.set for row in rows] == ["first", "first", "second", "second", "all", "all"]
    for row, half in zip(together, HALVES, strict=True):
        parts = [one for one in rows[:4] if one.half == half]
        assert row.half == half
        assert list(row.right) == [strength for part in parts for strength in part.right]
        assert len(row.other) == sum(len(part.other) for part in parts)


def test_the_half_of_a_question_is_no_choice(own):
    """A question is in the same half wherever it stands, and its words alone decide."""
    halves = {one.text: half_of(one) for one in read_judged(own()).questions}

    assert halves == {one.text: half_of(one) for one in read_judged(own("again")).questions}
    assert set(halves.values()) == set(HALVES)


def test_a_question_cannot_be_both(own):
    """What is called unanswerable and has a judgement is a mistake."""
    folder = own()
    with (folder / "qrels.tsv").open("a", encoding="utf-8") as file:
        file.write("u1\tscale\t1\n")

    with pytest.raises(InputError, match=r"calls 'u1' not answerable, but qrels\.tsv judges it"):
        answerability([folder], "static")


def test_notebooks_for_all_or_for_each(own):
    """The folders of notebooks are one for all sets that judge cells, or one for each of them."""
    cells = [own("first"), own("second")]
    for folder in cells:
        (folder / "corpus.jsonl").unlink()
        (folder / "qrels.tsv").write_text("query-id\tnotebook\tcell\tgrade\nrows\ta.ipynb\t0\t1\n", encoding="utf-8")

    with pytest.raises(InputError, match="2 sets judge notebook cells, and --notebooks names 3 folders"):
        answerability(cells, "static", notebooks=[cells[0]] * 3)
    with pytest.raises(InputError, match=r"does not hold a\.ipynb"):
        answerability(cells, "static", notebooks=[cells[0]])


def test_one_folder_of_notebooks_without_strength(own, capsys):
    """A ranking is measured with one folder of notebooks."""
    folder = str(own())

    assert main(["eval", folder, "--notebooks", folder, "--notebooks", folder]) == 2
    assert "--notebooks names one folder" in capsys.readouterr().err


def test_the_command_prints_and_writes(two, tmp_path, capsys):
    """`eval --strength` prints a row a set, and writes the same numbers as JSON."""
    assert main(["eval", str(two), "--strength", "--json", str(tmp_path / "out.json")]) == 0

    assert "1.000" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "out.json").read_text())
    assert (row["set"], row["queries"], row["auroc"], row["answerable_none"]) == ("two", 4, 1.0, 0.0)
