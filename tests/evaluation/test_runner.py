"""`jupyter-memory eval`: judged sets of documents, cells or whole files, from a folder to its numbers and metrics."""

import json

import ir_measures
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from jupyter_memory import InputError, evaluation
from jupyter_memory.cli import main
from jupyter_memory.evaluation import METRICS, arms, evaluate, interval, p_value, read_set
from jupyter_memory.search import PROFILES


@pytest.fixture
def week(judged_folder):
    return judged_folder()


def test_a_set_is_read(week):
    judged = read_set(week)
    assert (judged.name, judged.unjudged, judged.groups) == ("week", 1, ("",))
    assert [one.id for one in judged.documents] == ["scale", "lags", "join", "lambda", "again"]
    assert {one.id: (one.type, one.grades) for one in judged.questions} == {
        "q1": ("task", {"scale": 2.0}),
        "q2": ("exact", {"join": 1.0, "again": 1.0}),
        "q3": ("exact", {"lambda": 1.0}),
    }


def test_groups_are_apart(judged_folder):
    """A question of a group ranks the documents of that group only; the dates come along."""
    judged = read_set(
        judged_folder(
            documents=[
                {"_id": "a", "text": "prices", "group": "Zürich", "date": "2026-03-02T09:00:00", "session": "s_1"},
                {"_id": "b", "text": "prices", "group": "Bern"},
            ],
            queries=[{"_id": "q", "text": "prices", "group": "Zürich", "date": "2026-03-06"}],
            qrels=[("q", "a", 1)],
        )
    )
    ours = [(one.id, one.date, one.session) for one in judged.of_group("Zürich")]
    assert judged.groups == ("Zürich",) and judged.questions[0].date == "2026-03-06"
    assert ours == [("a", "2026-03-02T09:00:00", "s_1")]


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("corpus.jsonl", '{"_id": "a", "text": "ü"}\n{oops\n', r"corpus\.jsonl, line 2, is not JSON"),
        ("corpus.jsonl", '["a"]\n', r'corpus\.jsonl, line 1, is not an object with "_id" and "text"'),
        ("corpus.jsonl", None, r"corpus\.jsonl is not there\. A judged set is a folder with"),
        ("queries.jsonl", '{"_id": "q1"}\n', r"queries\.jsonl, line 1, is not an object"),
        ("qrels.tsv", "q1\tscale\thigh\n", r"qrels\.tsv, line 1, is not: query-id, corpus-id, grade"),
        ("qrels.tsv", "q1 scale 1\n", r"qrels\.tsv, line 1, is not"),
        ("qrels.tsv", "q1\tnobody\t1\n", r"judges 'nobody', which is not in corpus\.jsonl"),
        ("qrels.tsv", "q9\tscale\t1\n", r"No question of .* has a judgement"),
    ],
)
def test_a_mistake_is_named(week, file, content, message):
    (week / file).unlink() if content is None else (week / file).write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_set(week)


def test_everything_is_compared(week):
    """Without names there is a row for every profile, each retriever and auto without each of its terms."""
    rows, notices = evaluate(week, arms(), "static", baseline="covalence")
    terms = [f"auto-{term.name}" for term in PROFILES["auto"].terms]
    assert [row.profile for row in rows] == [*PROFILES, "keyword", "vector", *terms]
    assert all(row.queries == 3 and 0 <= row.metrics["ndcg@10"] <= 1 for row in rows)
    assert notices == ["week: 1 questions without an answer are left out."]


def test_the_numbers_can_be_wrong(judged_folder, week):
    """Answered questions give 1, judgements of others do not; a single retriever gives only what it found."""
    [good], _ = evaluate(week, arms(["auto"]), "static")
    wrong = judged_folder("wrong", qrels=[("q1", "lambda", 1), ("q2", "scale", 1), ("q3", "join", 1)])
    [bad], _ = evaluate(wrong, arms(["auto"]), "static")
    assert good.metrics["success@1"] == good.metrics["recall@5"] == 1.0 and bad.metrics["success@1"] == 0.0
    # Two documents with the same words are two memories: both can be found.
    rows, _ = evaluate(week, arms(["keyword"]), "static", by_type=True)
    assert [(row.queries, row.metrics["recall@5"]) for row in rows if row.type == "exact"] == [(2, 1.0)]
    folder = judged_folder("meaning", queries=[{"_id": "q1", "text": "normalisation"}], qrels=[("q1", "scale", 1)])
    rows, _ = evaluate(folder, arms(["keyword", "vector"]), "static")
    assert [row.metrics["recall@10"] for row in rows] == [0.0, 1.0]


def test_groups_and_dates(judged_folder):
    documents = [
        {"_id": f"{group}{day}", "text": "prices of the day", "group": group, "date": f"2026-03-0{day}T08:00:00"}
        for group in ("Zürich", "Bern")
        for day in (2, 5)
    ]
    queries = [{"_id": "q", "text": "prices", "group": "Bern", "date": "2026-03-06"}]
    folder = judged_folder("two", documents, queries, [("q", "Bern5", 1)])
    [row], _ = evaluate(folder, arms(["covalence"]), "static", folds="group")
    # The newer of two that fit alike comes first.
    assert row.metrics["recall@5"] == row.metrics["success@1"] == 1.0


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
    folder = judged_folder("cells", [], [{"_id": name, "text": f"prices_{name}"} for name in ("new", "old")], [])
    (folder / "corpus.jsonl").unlink()
    (folder / "qrels.tsv").write_text("new\tnew.ipynb\t1\t2\nold\told.ipynb\t1\t2\n", encoding="utf-8")
    [row], _ = evaluate(folder, arms(["covalence"]), "static", notebooks=books)

    assert read_set(folder, books).questions[0].grades == {"new.ipynb#1": 2.0}
    assert row.metrics["success@1"] == 1.0
    with pytest.raises(InputError, match="needs --notebooks FOLDER"):
        evaluate(folder, arms(["covalence"]), "static")


def test_the_command(week, tmp_path, capsys):
    out = tmp_path / "numbers.json"
    assert main(["eval", str(week), "-p", "auto", "-p", "keyword", "--by", "type", "--json", str(out)]) == 0

    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split()[:4] == ["set", "profile", "type", "queries"]
    assert [line.split()[1:3] for line in printed[1:7]] == [
        [profile, kind] for profile in ("auto", "keyword") for kind in ("all", "exact", "task")
    ]
    first, *_ = json.loads(out.read_text(encoding="utf-8"))
    assert set(first) == {
        *("set", "profile", "embedder", "type", "queries", "ndcg@10", "recall@5", "recall@10", "recall_any@5"),
        *("mrr@10", "success@1", "p50_ms", "ci95"),
    }
    assert (first["set"], first["embedder"], first["type"]) == ("week", "static", "all")
    low, high = first["ci95"]["ndcg@10"]
    assert low <= first["ndcg@10"] <= high


@pytest.mark.parametrize("named", [(), ("-p", "covalence"), ("--baseline", "vault")])
def test_what_differences_are_counted_from(week, tmp_path, named):
    """The first profile, covalence where it is measured, or the one named, which is measured too; JSON holds it."""
    out = tmp_path / "numbers.json"
    assert main(["eval", str(week), "-p", "auto", "-p", "keyword", *named, "--json", str(out)]) == 0
    rows = json.loads(out.read_text(encoding="utf-8"))
    base = rows[2 if named else 0]
    assert "difference" not in base and "p" not in base
    for row in rows:
        if row is not base:
            assert row["against"] == base["profile"] and 0 < row["p"] <= 1
            assert row["difference"] == pytest.approx(row["ndcg@10"] - base["ndcg@10"])


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
    assert main(arguments) == code
    assert message in capsys.readouterr().err


METERS = [
    {"query": "Meter", "relevant": ["src/meters/meter.py"], "secondary": [], "category": "symbol"},
    {"query": "how are prices scaled", "relevant": ["meters/prices.py"], "secondary": ["meters/book.ipynb"]},
    {"query": "which wine to bring", "relevant": []},
]
TARIFFS = [{"query": "tariff", "relevant": ["tariffs/tariff.md"], "category": "symbol"}]


@pytest.fixture
def sources(tmp_path):
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
    """``judged(meters=…, tariffs=…)`` writes the questions about each of them; None writes none."""
    folder = tmp_path / "judged"
    folder.mkdir()

    def write(**sets):
        for name, questions in ({"meters": METERS, "tariffs": TARIFFS} | sets).items():
            if questions is not None:
                text = questions if isinstance(questions, str) else json.dumps(questions)
                (folder / f"{name}.json").write_text(text, encoding="utf-8")
        return folder

    return write


def test_files_are_judged_by_the_end_of_their_path(judged, sources):
    """Each package is a store of its own; a repository's `src` is no part of a path; relevant and secondary count."""
    [of_all, symbols], notices = evaluate(judged(), arms(["auto"]), "static", files=sources, by_type=True)
    assert (of_all.queries, symbols.queries, symbols.type) == (3, 2, "symbol")
    assert symbols.metrics["success@1"] == of_all.metrics["recall@10"] == 1.0 and of_all.metrics["ndcg@10"] > 0.9
    assert notices == ["judged: 1 questions without an answer are left out."]


def test_files_count_once_and_can_be_wrong(judged, sources):
    """A notebook's best cell gives its rank, and no gain counts twice; another file's judgements score less."""
    about = judged(meters=[{"query": "prices", "relevant": ["book.ipynb"]}], tariffs=None)
    [row], _ = evaluate(about, arms(["keyword"]), "static", files=sources)
    assert row.metrics["ndcg@10"] <= 1.0 and row.metrics["recall@5"] == 1.0
    wrong = [{**METERS[0], "relevant": ["meters/use.py"]}, {**METERS[1], "relevant": ["meters/meter.py"]}]
    [row], _ = evaluate(judged(meters=wrong), arms(["auto"]), "static", files=sources)
    assert row.metrics["success@1"] < 0.5


@pytest.mark.parametrize("of_files", [False, True])
def test_stores_are_kept_where_it_is_said(week, judged, sources, tmp_path, of_files):
    """With a work folder the stores, of each package one, are built once; the numbers are the same the next time."""
    folder, files = (judged(), sources) if of_files else (week, None)
    work = tmp_path / "work"
    [once], _ = evaluate(folder, arms(["auto"]), "static", files=files, work=work)
    built = sorted(work.glob(f"{folder.name}-*.sqlite"))
    [again], _ = evaluate(folder, arms(["auto"]), "static", files=files, work=work)
    assert len(built) == 1 + of_files and sorted(work.glob(f"{folder.name}-*.sqlite")) == built
    assert once.metrics == again.metrics


def test_strength_and_the_command(judged, sources, capsys):
    """The other package is the store that cannot answer; the command prints a table."""
    [row] = evaluation.answerability([judged()], "static", files=sources)
    assert len(row.right) == len(row.other) == 3
    assert main(["eval", str(judged()), "--files", str(sources), "-p", "auto"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == ["judged", "auto", "3"]


@pytest.mark.parametrize(
    ("sets", "renamed", "message"),
    [
        ({"meters": "{"}, (), "meters.json is not JSON"),
        ({"meters": "{}"}, (), "meters.json is not a list of questions"),
        ({"meters": '[{"query": "Meter"}, {"query": 3}]'}, (), 'question 2, is not an object with "query"'),
        ({"meters": '[{"query": "Meter", "relevant": "meter.py"}]'}, (), "question 1, is not an object"),
        ({"meters": '[{"query": "Meter", "relevant": [3]}]'}, (), '"relevant", a list of files'),
        ({}, ("tariffs", "prices"), "has no folder tariffs"),
        ({}, ("tariffs/tariff.md", "tariffs/new.md"), "is it another version?"),
        # Who does not say where the files are is told to; a folder without any questions is no set.
        ({}, None, "say where they are with --files FOLDER"),
        ({"meters": None, "tariffs": None}, (), "corpus.jsonl is not there"),
    ],
)
def test_mistakes_about_files(judged, sources, sets, renamed, message, capsys):
    if renamed:
        (sources / renamed[0]).rename(sources / renamed[1])
    files = [] if renamed is None else ["--files", str(sources)]
    assert main(["eval", str(judged(**sets)), *files, "-p", "auto"]) == 1
    assert message in capsys.readouterr().err


THEIRS = {
    "ndcg@10": nDCG @ 10, "recall@5": R @ 5, "recall@10": R @ 10, "recall_any@5": Success @ 5,
    "mrr@10": RR @ 10, "success@1": Success @ 1,
}  # fmt: skip
CELLS = [f"λ.ipynb#{place}" for place in range(30)]


@given(
    ranked=st.lists(st.sampled_from(CELLS), unique=True, min_size=1, max_size=20),
    grades=st.dictionaries(st.sampled_from(CELLS), st.integers(1, 3), min_size=1, max_size=8),
)
def test_as_ir_measures_has_them(ranked, grades):
    run = [ir_measures.ScoredDoc("q", name, -place) for place, name in enumerate(ranked)]
    judged = [ir_measures.Qrel("q", name, grade) for name, grade in grades.items()]
    theirs = ir_measures.calc_aggregate(THEIRS.values(), judged, run)
    for name, measure in THEIRS.items():
        assert METRICS[name](ranked, grades) == pytest.approx(theirs[measure]), name


def test_metrics_by_hand():
    """A grade of 2 in second place and 1 missing: (2/log2 3) / (2/log2 2 + 1/log2 3); nothing found or wanted is 0."""
    assert METRICS["ndcg@10"](["b", "a"], {"a": 2, "c": 1}) == pytest.approx((2 / 1.5849625) / (2 + 1 / 1.5849625))
    assert all(metric([], {"a": 1.0}) == 0.0 for metric in METRICS.values())
    assert METRICS["ndcg@10"](["a"], {}) == METRICS["recall@10"](["a"], {}) == 0.0


def test_intervals_and_p_values():
    """Intervals narrow with questions and widen with conversations; better rankings are told from equal ones."""
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 200
    low, high = interval(few)
    assert low < 0.5 < high and interval(few) == (low, high)
    assert interval(many)[1] - interval(many)[0] < (high - low) / 2
    values, groups = [1.0] * 50 + [0.0] * 50, [str(place // 25) for place in range(100)]
    single, grouped = interval(values), interval(values, groups)
    assert grouped[1] - grouped[0] > 2 * (single[1] - single[0])
    assert interval(values, ["λ"] * 100) == single  # one conversation alone: nothing to draw from
    base = [0.5] * 30
    assert p_value(base, base) == 1.0 and p_value([0.6, 0.4] * 15, base) > 0.9
    assert p_value([0.6] * 30, base) == p_value([0.4] * 30, base) == pytest.approx(1 / 10_001)
    # Five conversations that all gain tell less than their hundred questions: p is about 2 of 32 then.
    base, better, groups = [0.5] * 100, [0.6] * 100, [str(place // 20) for place in range(100)]
    assert p_value(better, base, groups) == pytest.approx(2 / 32, rel=0.1)
    assert p_value(better, base, ["Zürich"] * 100) == p_value(better, base) == pytest.approx(1 / 10_001)
