"""`jupyter-memory eval --files`: questions that whole files answer."""

from __future__ import annotations

import json

import nbformat
import pytest

from jupyter_memory.cli import main
from jupyter_memory.evaluation import arms, evaluate
from jupyter_memory.evaluation.answerability import answerability

METERS = [
    {"query": "Meter", "relevant": ["src/meters/meter.py"], "secondary": [], "category": "symbol"},
    {"query": "how are prices scaled", "relevant": ["meters/prices.py"], "secondary": ["meters/book.ipynb"]},
    {"query": "which wine to bring", "relevant": []},
]
TARIFFS = [{"query": "tariff", "relevant": ["tariffs/tariff.md"], "category": "symbol"}]


@pytest.fixture
def sources(tmp_path):
    """Two packages as they are unpacked."""
    root = tmp_path / "sources"
    for name, text in {
        "meters/meters/meter.py": "class Meter: ...\n",
        "meters/meters/prices.py": "def scaled(prices): return prices / 3\n",
        "meters/meters/use.py": "print(Meter, Meter, 'λ')\n",
        "tariffs/tariff.md": "# Tariff\n\nNet of tax, in Zürich.\n",
        "tariffs/other.md": "# Other\n\nGross, in Genève.\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    cells = [nbformat.v4.new_code_cell(f"prices_{place} = scaled(prices)") for place in range(3)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), root / "meters/meters/book.ipynb")
    return root


@pytest.fixture
def judged(tmp_path):
    """The questions about each of them."""
    folder = tmp_path / "judged"
    folder.mkdir()
    for name, questions in (("meters", METERS), ("tariffs", TARIFFS)):
        (folder / f"{name}.json").write_text(json.dumps(questions), encoding="utf-8")
    return folder


def test_files_are_judged_by_the_end_of_their_path(judged, sources):
    """Each package is a store of its own; a repository's `src` is no part of a path; relevant and secondary count."""
    rows, notices = evaluate(judged, arms(["auto"]), "static", files=sources, by_type=True)
    of_all, symbols = rows

    assert (of_all.queries, symbols.queries, symbols.type) == (3, 2, "symbol")
    assert symbols.metrics["success@1"] == 1.0
    assert of_all.metrics["recall@10"] == 1.0 and of_all.metrics["ndcg@10"] > 0.9
    assert notices == ["judged: 1 questions without an answer are left out."]


def test_a_notebook_counts_once(judged, sources):
    """The cells of a notebook are one file: its best cell gives its rank, and no gain counts twice."""
    (judged / "meters.json").write_text(json.dumps([{"query": "prices", "relevant": ["book.ipynb"]}]), encoding="utf-8")
    (judged / "tariffs.json").unlink()
    [row], _ = evaluate(judged, arms(["keyword"]), "static", files=sources)

    assert row.metrics["ndcg@10"] <= 1.0 and row.metrics["recall@5"] == 1.0


def test_the_numbers_can_be_wrong(judged, sources):
    """The same questions with another file's judgements score less."""
    wrong = [{**METERS[0], "relevant": ["meters/use.py"]}, {**METERS[1], "relevant": ["meters/meter.py"]}]
    (judged / "meters.json").write_text(json.dumps(wrong), encoding="utf-8")
    [row], _ = evaluate(judged, arms(["auto"]), "static", files=sources)

    assert row.metrics["success@1"] < 0.5


def test_stores_are_kept_where_it_is_said(judged, sources, tmp_path):
    """With a work folder there is a store for each package, which is used again."""
    once, _ = evaluate(judged, arms(["auto"]), "static", files=sources, work=tmp_path / "work")
    built = sorted((tmp_path / "work").glob("judged-*.sqlite"))
    again, _ = evaluate(judged, arms(["auto"]), "static", files=sources, work=tmp_path / "work")

    assert len(built) == 2 and sorted((tmp_path / "work").glob("judged-*.sqlite")) == built
    assert once[0].metrics == again[0].metrics


def test_strength(judged, sources):
    """Strength is measured with such sets too: the other package is the store that cannot answer."""
    [row] = answerability([judged], "static", files=sources)

    assert len(row.right) == len(row.other) == 3


def test_the_command(judged, sources, capsys):
    """The command prints a table."""
    assert main(["eval", str(judged), "--files", str(sources), "-p", "auto"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["judged", "auto", "3"]


def _write(name, text):
    def change(judged, sources):
        (judged / name).write_text(text, encoding="utf-8")

    return change


def _rename(name, other):
    def change(judged, sources):
        (sources / name).rename(sources / other)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_write("meters.json", "{"), "meters.json is not JSON"),
        (_write("meters.json", "{}"), "meters.json is not a list of questions"),
        (_write("meters.json", '[{"query": "Meter"}, {"query": 3}]'), 'question 2, is not an object with "query"'),
        (_write("meters.json", '[{"query": "Meter", "relevant": "meter.py"}]'), "question 1, is not an object"),
        (_write("meters.json", '[{"query": "Meter", "relevant": [3]}]'), '"relevant", a list of files'),
        (_rename("tariffs", "prices"), "has no folder tariffs"),
        (_rename("tariffs/tariff.md", "tariffs/new.md"), "is it the version that was judged?"),
    ],
)
def test_mistakes(judged, sources, change, message, capsys):
    """What is wrong is said in one line."""
    change(judged, sources)

    assert main(["eval", str(judged), "--files", str(sources), "-p", "auto"]) == 1
    assert message in capsys.readouterr().err


def test_without_the_files(judged, tmp_path, capsys):
    """Who does not say where the files are is told to; a folder without any questions is no set."""
    assert main(["eval", str(judged), "-p", "auto"]) == 1
    assert "say where they are with --files FOLDER" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["eval", str(tmp_path / "empty"), "--files", str(judged), "-p", "auto"]) == 1
    assert "corpus.jsonl is not there" in capsys.readouterr().err
