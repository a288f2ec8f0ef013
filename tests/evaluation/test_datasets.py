"""Judged sets read from their folders, mistakes named by file and line."""

from __future__ import annotations

import pytest

from jupyter_memory import InputError
from jupyter_memory.evaluation.datasets import read_judged, read_judged_cells


def test_a_set_is_read(judged_folder):
    """Documents, questions with their grades above 0, and how many questions nothing answers."""
    judged = read_judged(judged_folder())

    assert judged.name == "week"
    assert [one.id for one in judged.documents] == ["scale", "lags", "join", "lambda", "again"]
    assert {one.id: one.grades for one in judged.questions} == {
        "q1": {"scale": 2.0},
        "q2": {"join": 1.0, "again": 1.0},
        "q3": {"lambda": 1.0},
    }
    assert [one.type for one in judged.questions] == ["task", "exact", "exact"]
    assert judged.unjudged == 1
    assert judged.groups == ("",)


def test_groups_are_apart(judged_folder):
    """A question of a group ranks the documents of that group only; the dates come along."""
    folder = judged_folder(
        documents=[
            {"_id": "a", "text": "prices", "group": "Zürich", "date": "2026-03-02T09:00:00", "session": "session_1"},
            {"_id": "b", "text": "prices", "group": "Bern"},
        ],
        queries=[{"_id": "q", "text": "prices", "group": "Zürich", "date": "2026-03-06"}],
        qrels=[("q", "a", 1)],
    )
    judged = read_judged(folder)

    assert judged.groups == ("Zürich",)
    assert [(one.id, one.date, one.session) for one in judged.of_group("Zürich")] == [
        ("a", "2026-03-02T09:00:00", "session_1")
    ]
    assert judged.questions[0].date == "2026-03-06"


def test_cells(judged_folder):
    """Judged cells are named by notebook and index, and need no corpus."""
    folder = judged_folder()
    (folder / "corpus.jsonl").unlink()
    (folder / "qrels.tsv").write_text("query-id\tnotebook\tcell\tgrade\nq1\tλ.ipynb\t7\t2\n", encoding="utf-8")

    assert read_judged_cells(folder).questions[0].grades == {"λ.ipynb#7": 2.0}


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("corpus.jsonl", '{"_id": "a", "text": "ü"}\n{oops\n', r"corpus\.jsonl, line 2, is not JSON"),
        ("corpus.jsonl", '["a"]\n', r'corpus\.jsonl, line 1, is not an object with "_id" and "text"'),
        ("queries.jsonl", '{"_id": "q1"}\n', r"queries\.jsonl, line 1, is not an object"),
        ("qrels.tsv", "q1\tscale\thigh\n", r"qrels\.tsv, line 1, is not: query-id, corpus-id, grade"),
        ("qrels.tsv", "q1 scale 1\n", r"qrels\.tsv, line 1, is not"),
        ("qrels.tsv", "q1\tnobody\t1\n", r"judges 'nobody', which is not in corpus\.jsonl"),
        ("qrels.tsv", "q9\tscale\t1\n", r"No question of .* has a judgement"),
    ],
)
def test_a_mistake_is_named(judged_folder, file, content, message):
    """What cannot be read is an error that names the file, the line and what belongs there."""
    folder = judged_folder()
    (folder / file).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_judged(folder)


def test_a_folder_without_a_set(tmp_path):
    """A missing file is an error that says what a judged set is."""
    with pytest.raises(InputError, match=r"corpus\.jsonl is not there\. A judged set is a folder with"):
        read_judged(tmp_path)
