"""`jupyter-memory eval`: the whole way from a folder to its numbers."""

from __future__ import annotations

import json

import nbformat
import pytest

from jupyter_memory import InputError
from jupyter_memory.cli import main
from jupyter_memory.evaluation import arms, evaluate
from jupyter_memory.search import PROFILES


@pytest.fixture
def week(judged_folder):
    """The judged set of the week."""
    return judged_folder()


def test_everything_is_compared(week):
    """Without names there is a row for every profile, each retriever and auto without each of its terms."""
    rows, notices = evaluate(week, arms(), "static", baseline="covalence")

    terms = [f"auto-{term.name}" for term in PROFILES["auto"].terms]
    assert [row.profile for row in rows] == [*PROFILES, "keyword", "vector", *terms]
    assert all(row.queries == 3 and 0 <= row.metrics["ndcg@10"] <= 1 for row in rows)
    assert notices == ["week: 1 questions without an answer are left out."]


def test_the_numbers_can_be_wrong(judged_folder, week):
    """Questions that are answered give 1; the same questions with another's judgements do not."""
    good, _ = evaluate(week, arms(["auto"]), "static")
    wrong = judged_folder("wrong", qrels=[("q1", "lambda", 1), ("q2", "scale", 1), ("q3", "join", 1)])
    bad, _ = evaluate(wrong, arms(["auto"]), "static")

    assert good[0].metrics["success@1"] == 1.0
    assert good[0].metrics["recall@5"] == 1.0
    assert bad[0].metrics["success@1"] == 0.0


def test_copies_stay_apart(week):
    """Two documents with the same words are two memories: both can be found."""
    rows, _ = evaluate(week, arms(["keyword"]), "static", by_type=True)
    exact = next(row for row in rows if row.type == "exact")

    assert exact.queries == 2
    assert exact.metrics["recall@5"] == 1.0


def test_a_single_retriever_gives_only_what_it_found(judged_folder):
    """A question without any word of a document finds nothing by keywords alone."""
    folder = judged_folder("meaning", queries=[{"_id": "q1", "text": "normalisation"}], qrels=[("q1", "scale", 1)])
    keyword, vector = evaluate(folder, arms(["keyword", "vector"]), "static")[0]

    assert keyword.metrics["recall@10"] == 0.0
    assert vector.metrics["recall@10"] == 1.0


def test_groups_and_dates(judged_folder):
    """Each group is a store of its own, and a question is asked at its own date."""
    documents = [
        {
            "_id": f"{group}{place}",
            "text": "prices of the day",
            "group": group,
            "date": f"2026-03-0{place}T08:00:00",
        }
        for group in ("Zürich", "Bern")
        for place in (2, 5)
    ]
    queries = [{"_id": "q", "text": "prices", "group": "Bern", "date": "2026-03-06"}]
    folder = judged_folder("two", documents, queries, [("q", "Bern5", 1)])
    [row], _ = evaluate(folder, arms(["covalence"]), "static", folds="group")

    assert row.metrics["recall@5"] == 1.0
    assert row.metrics["success@1"] == 1.0  # the newer of two that fit alike


def test_cells_are_judged_by_their_place(tmp_path, judged_folder):
    """With --notebooks the cells of a folder are the documents, whether they have ids or not."""
    books = tmp_path / "books"
    books.mkdir()
    for name, version in (("new", 5), ("old", 4)):
        cells = [nbformat.v4.new_markdown_cell("# λ"), nbformat.v4.new_code_cell(f"scale(prices_{name})")]
        book = nbformat.v4.new_notebook(cells=cells)
        if version == 4:
            book.nbformat_minor = 4
            for cell in book.cells:
                del cell["id"]
        (books / f"{name}.ipynb").write_text(json.dumps(book), encoding="utf-8")
    queries = [{"_id": name, "text": f"prices_{name}"} for name in ("new", "old")]
    folder = judged_folder("cells", [], queries, [])
    (folder / "corpus.jsonl").unlink()
    (folder / "qrels.tsv").write_text("new\tnew.ipynb\t1\t2\nold\told.ipynb\t1\t2\n", encoding="utf-8")
    [row], _ = evaluate(folder, arms(["covalence"]), "static", notebooks=books)

    assert row.metrics["success@1"] == 1.0
    with pytest.raises(InputError, match="needs --notebooks FOLDER"):
        evaluate(folder, arms(["covalence"]), "static")


def test_stores_are_kept_where_it_is_said(week, tmp_path):
    """With a work folder the stores are built once; the numbers are the same the next time."""
    once, _ = evaluate(week, arms(["vault"]), "static", work=tmp_path / "work")
    built = sorted((tmp_path / "work").glob("week-*.sqlite"))
    again, _ = evaluate(week, arms(["vault"]), "static", work=tmp_path / "work")

    assert len(built) == 1
    assert sorted((tmp_path / "work").glob("week-*.sqlite")) == built
    assert once[0].metrics == again[0].metrics


def test_the_command(week, tmp_path, capsys):
    """The command prints a table and writes the rows in the documented shape."""
    out = tmp_path / "numbers.json"
    assert main(["eval", str(week), "-p", "auto", "-p", "keyword", "--by", "type", "--json", str(out)]) == 0

    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:4] == ["set", "profile", "type", "queries"]
    assert [line.split()[1:3] for line in printed[1:7]] == [
        [profile, kind] for profile in ("auto", "keyword") for kind in ("all", "exact", "task")
    ]
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert set(rows[0]) == {
        *("set", "profile", "embedder", "type", "queries", "ndcg@10", "recall@5", "recall@10", "recall_any@5"),
        *("mrr@10", "success@1", "p50_ms", "ci95"),
    }
    assert rows[0]["set"] == "week" and rows[0]["embedder"] == "static" and rows[0]["type"] == "all"
    low, high = rows[0]["ci95"]["ndcg@10"]
    assert low <= rows[0]["ndcg@10"] <= high


@pytest.mark.parametrize("named", [(), ("-p", "covalence"), ("--baseline", "vault")])
def test_what_differences_are_counted_from(week, tmp_path, named):
    """The first profile, covalence where it is measured, or the one named, which is measured too; JSON holds it."""
    out = tmp_path / "numbers.json"
    assert main(["eval", str(week), "-p", "auto", "-p", "keyword", *named, "--json", str(out)]) == 0

    rows = json.loads(out.read_text(encoding="utf-8"))
    base = rows[0] if not named else rows[2]
    assert "difference" not in base and "p" not in base
    for row in rows:
        if row is not base:
            assert row["against"] == base["profile"]
            assert row["difference"] == pytest.approx(row["ndcg@10"] - base["ndcg@10"])
            assert 0 < row["p"] <= 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["eval"], 2, "Missing argument"),
        (["eval", "nowhere", "--baseline", "vualt"], 1, "Did you mean 'vault'"),
        (["eval", "nowhere", "--json", "no/where.json"], 2, "there is no folder"),
        (["eval", "nowhere", "--notebooks", "elsewhere"], 2, "does not exist"),
        (["eval", "nowhere", "--strength", "-p", "vault"], 2, "leave out --profile"),
        (["bench", "--json", "no/where.json"], 2, "there is no folder"),
        (["eval", "nowhere"], 1, "corpus.jsonl is not there"),
        (["eval", "nowhere", "-p", "covalenc"], 1, "Did you mean 'covalence'"),
    ],
)
def test_mistakes(arguments, code, message, capsys):
    """What is wrong is said in one line."""
    assert main(arguments) == code
    assert message in capsys.readouterr().err
