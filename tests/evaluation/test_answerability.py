"""Strength measured: questions asked of a store that answers them, and of one that cannot."""

import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import InputError, evaluation
from jupyter_memory.cli import main
from jupyter_memory.evaluation import read_set
from jupyter_memory.search import verdict

HALVES = ("tuning", "held out")
KITCHEN = [
    {"_id": "bread", "title": "Bread", "text": "The dough rests overnight; bake it at 230 °C with steam."},
    {"_id": "soup", "title": "Soup", "text": "Roast the pumpkin before it goes into the soup with ginger."},
]
WEEK = [
    {"_id": "scale", "title": "Prices", "text": "We scaled the electricity prices to zero mean and unit variance."},
    {"_id": "join", "title": "Tables", "text": "The left join on the meter id doubled the rows of Zürich, λ = 0.3."},
]
UNANSWERABLE = ("kafka topic", "xgboost of λ", "terraform in Zürich", "spark cluster", "airflow dag")
ANSWERABLE = {
    "electricity prices scaled": "scale", "zero mean and unit variance": "scale",
    "left join on the meter id": "join", "doubled the rows of Zürich": "join", "λ = 0.3": "join",
    "electricity variance": "join",  # wrongly
}  # fmt: skip


@pytest.fixture
def two(judged_folder):
    documents = [{**one, "group": "week"} for one in WEEK] + [{**one, "group": "kitchen"} for one in KITCHEN]
    queries = [
        {"_id": "q1", "text": "how were the electricity prices scaled", "group": "week"},
        {"_id": "q2", "text": "left join doubled the rows", "group": "week"},
        {"_id": "q3", "text": "bake the dough with steam", "group": "kitchen"},
        {"_id": "q4", "text": "pumpkin soup with ginger", "group": "kitchen"},
    ]
    qrels = [("q1", "scale", 1), ("q2", "join", 1), ("q3", "bread", 1), ("q4", "soup", 1)]
    return judged_folder("two", documents, queries, qrels)


@pytest.fixture
def own(judged_folder):
    """``own(name)`` writes a set that comes with questions that nothing in it answers."""

    def write(name="own"):
        queries = [{"_id": text, "text": text} for text in ANSWERABLE]
        queries += [{"_id": text, "text": text, "answerable": False} for text in UNANSWERABLE]
        return judged_folder(name, WEEK, queries, [(text, answer, 1) for text, answer in ANSWERABLE.items()])

    return write


def test_each_group_is_asked_the_questions_of_another(two, tmp_path, capsys):
    """Groups are told apart, AUROC counts pairs with ties a half; the command prints a row a set and writes JSON."""
    (told,) = evaluation.answerability([two], "static")
    assert told.figures["auroc"] == 1.0 and told.figures["answerable_none"] == 0.0 and min(told.right) > max(told.other)
    sides = [[0.0], [1.0], [0.25, 0.5], [0.5, 0.5, 0.75], [0.0, 0.25, 0.25, 1.0]]
    for right, other in product(sides, sides):
        pairs = [(a > b) + (a == b) / 2 for a in right for b in other]
        answers, others = ([[(one, False)] for one in side] for side in (right, other))
        assert replace(told, answers=answers, others=others).figures["auroc"] == pytest.approx(sum(pairs) / len(pairs))
    assert main(["eval", str(two), "--strength", "--json", str(tmp_path / "out.json")]) == 0
    assert "1.000" in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "out.json").read_text())
    assert (row["set"], row["queries"], row["auroc"], row["answerable_none"]) == ("two", 4, 1.0, 0.0)


def test_a_calibration_error_is_the_gap_between_said_and_seen():
    """It lies between 0 and 1, is 0 for certainty that is right, and at least the gap between the two means."""

    @given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
    def hold(pairs):
        said, seen = [one for one, _ in pairs], [one for _, one in pairs]
        error, sure, wrong = (
            evaluation.calibration_error(strengths, seen)
            for strengths in (said, list(map(float, seen)), [float(not one) for one in seen])
        )
        assert -1e-9 <= error <= 1 and error >= abs(sum(said) - sum(seen)) / len(pairs) - 1e-9
        assert (sure, wrong) == (0, 1)

    hold()


def test_a_set_of_one_collection_needs_a_second(judged_folder):
    """Alone, it is refused with what to name; with a second set, its questions are asked of that one."""
    week = judged_folder("week", WEEK, [{"_id": "q", "text": "electricity prices"}], [("q", "scale", 1)])
    with pytest.raises(InputError, match="week is one collection: name a second set"):
        evaluation.answerability([week], "static")
    kitchen = judged_folder("kitchen", KITCHEN, [{"_id": "q", "text": "pumpkin soup"}], [("q", "soup", 1)])
    assert [one.figures["auroc"] for one in evaluation.answerability([week, kitchen], "static")] == [1.0, 1.0]


def test_unanswerable_questions_of_its_own(own):
    """A set that has them is asked them in its own store, needs no second set, and is told by halves."""
    folder = own()
    judged, rows = read_set(folder), evaluation.answerability([folder], "static")

    assert [(row.set, row.half) for row in rows] == [("own", half) for half in HALVES] and judged.unjudged == 0
    for row in rows:
        told = row.figures
        assert len(row.right) == sum(one.half == row.half for one in judged.questions) > 0
        assert len(row.other) == sum(one.half == row.half for one in judged.unanswerable) > 0
        assert (told["auroc"], told["unanswerable_strong"], told["found_none"]) == (1.0, 0.0, 0.0)
        assert 0 < told["calibration_error"] < 0.5
        # A right document counts where it is the first hit.
        strengths = [strength for (strength, right), *_ in row.answers if right]
        assert told["found_strong"] == sum(verdict(one) == "strong" for one in strengths) / len(strengths)
        # Strengths never rise down the list, and each rank has its own error.
        for hits in row.answers:
            assert [one for one, _ in hits] == sorted((one for one, _ in hits), reverse=True)
        assert told["rank_errors"][0] == told["calibration_error"] and len(told["rank_errors"]) > 1
    right = [hits[0][1] for row in rows for hits in row.answers]
    assert (sum(right), len(right)) == (5, 6)
    # A question is in the same half wherever it stands, and its words alone decide.
    halves = {one.text: one.half for one in judged.questions}
    assert halves == {one.text: one.half for one in read_set(own("again")).questions}
    assert set(halves.values()) == set(HALVES)


def test_sets_with_halves_are_told_together(own):
    """Two sets give rows of their own and of both for each half; unanswerable with a judgement is a mistake."""
    rows = evaluation.answerability([own("first"), own("second")], "static")
    assert [row.set for row in rows] == ["first", "first", "second", "second", "all", "all"]
    for row, half in zip(rows[-2:], HALVES, strict=True):
        parts = [one for one in rows[:4] if one.half == half]
        assert row.half == half and len(row.other) == sum(len(part.other) for part in parts)
        assert list(row.right) == [strength for part in parts for strength in part.right]
    folder = own()
    with (folder / "qrels.tsv").open("a", encoding="utf-8") as file:
        file.write("kafka topic\tscale\t1\n")
    with pytest.raises(InputError, match=r"calls 'kafka topic' not answerable, but qrels\.tsv judges it"):
        evaluation.answerability([folder], "static")


def test_notebooks_for_all_or_for_each(own, capsys):
    """Folders of notebooks are one for all sets that judge cells, or one for each; a ranking is measured with one."""
    cells = [own("first"), own("second")]
    for folder in cells:
        (folder / "corpus.jsonl").unlink()
        rows = "query-id\tnotebook\tcell\tgrade\nλ = 0.3\ta.ipynb\t0\t1\n"
        (folder / "qrels.tsv").write_text(rows, encoding="utf-8")
    with pytest.raises(InputError, match="2 sets judge notebook cells, and --notebooks names 3 folders"):
        evaluation.answerability(cells, "static", notebooks=[cells[0]] * 3)
    with pytest.raises(InputError, match=r"does not hold a\.ipynb"):
        evaluation.answerability(cells, "static", notebooks=[cells[0]])
    assert main(["eval", str(cells[0]), "--notebooks", str(cells[0]), "--notebooks", str(cells[0])]) == 2
    assert "--notebooks names one folder" in capsys.readouterr().err
