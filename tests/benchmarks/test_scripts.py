"""Every script of benchmarks/ and scripts/ runs, at a tiny size; the set of errors is whole and runs for real."""

import ast
import asyncio
import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_notebooks import write

from jupyter_memory.text import DatabaseAddress, estimated_tokens
from scripts import build_panel

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
SCRIPTS = sorted(path for folder in ("benchmarks", "scripts") for path in (ROOT / folder).rglob("*.py"))
# By script: its options, and how the lines with its figures begin.
FIGURES = {
    "embed": ("--model minilm --layers 1 --rounds 1 --texts 2 --rows 1x16 cells", "1x16 cells peak mlx"),
    "history": ("--cells 10", "off on callbacks failing"),
    "import_time": ("--runs 1", "import first woken"),
    "indexing": ("--texts 60 --rounds 1", "plain add_many index"),
    "related": ("notebooks/samples/forecasting --chunks 60 --questions 4", "fitted held these hits related_to POST"),
    "runnable": ("--most 3 --cells 2", "alone runnable effects"),
    "search": ("--sizes 60,1500 --questions 4", "covalence auto naive recall@20 first memory add forget"),
    "stores": ("benchmarks/verdicts/samples=notebooks/samples --questions 3", "samples all"),
    "stages": ("--texts 60 --questions 4 --profile vault", "covalence vault"),
}
# The others are run by tests of their own, or by scripts that import them.
TESTED_BELOW = {"agent", "build_panel", "demo", "postgres", "strength", "weights"}
TESTED_ELSEWHERE = {"agents_exchange", "build", "fetch", "judgements", "run"}
# `make docs` runs the first; a person, the second.
OF_DOCS = {"docstring_examples", "moving_picture"}
SHARED = {"cases", "corpus", "measure", "methods"}


def printed(script: Path, *options: object) -> str:
    command = [sys.executable, script, *options]
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=around, cwd=ROOT, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Options for some hundred functions and classes, and for a folder that scripts use one after the other."""
    return ["--code", str(Path(asyncio.__file__).parent), "--work", str(tmp_path_factory.mktemp("work"))]


def test_no_script_is_left_out() -> None:
    tested = {*FIGURES, *TESTED_BELOW, *TESTED_ELSEWHERE, *OF_DOCS, *SHARED}
    assert {path.stem for path in SCRIPTS} == tested


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_import_what_rooms_export(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    taken = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    assert re.findall(r"jupyter_memory\.\w+\.\w+", text) == []
    for node in taken:
        if node.module and node.module.startswith("jupyter_memory"):
            assert {alias.name for alias in node.names} <= set(import_module(node.module).__all__)


@pytest.mark.parametrize("script", FIGURES)
def test_script_prints_its_figures(script: str, texts: list[str]) -> None:
    options, lines = FIGURES[script]
    path = BENCHMARKS / f"{script}.py"
    reads = "add_options" in path.read_text(encoding="utf-8")
    found = printed(path, *options.split(), *(texts if reads else ()))
    for line in lines.split():
        assert re.search(rf"^{re.escape(line)}\b.*\w", found, re.MULTILINE), found


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can freeze a disk")
def test_cells_run_on_while_the_disk_is_frozen() -> None:
    try:
        found = printed(BENCHMARKS / "history.py", "--cells", 10, "--frozen")
    except AssertionError as error:
        pytest.skip(f"no disk can be frozen here: {str(error)[-200:]}")
    assert "lost: {}" in found and re.search(r"^frozen, then +9 ", found, re.MULTILINE)


def test_a_server_answers_like_a_file(postgres_address: DatabaseAddress, texts: list[str]) -> None:
    """A small store gives the same hits from a file and from PostgreSQL, where all vectors are compared."""
    pytest.importorskip("psycopg")
    options = ["--sizes", 60, "--questions", 4, "--url", postgres_address.url]
    found = printed(BENCHMARKS / "postgres.py", *options, *texts)
    assert re.search(r"^auto: same top 20 (\d+)/\1, scores within \d", found, re.MULTILINE)
    assert "recall@20 of vectors on the server 1.000" in found


FILLER = "Electricity prices are traded every hour, and the exchange publishes them in the evening. "
ANSWER = "The forecast subtracts the yearly mean and divides by the standard deviation."
LONG = FILLER * 60 + "How the electricity prices were normalised. " + ANSWER + FILLER * 60
DOCUMENTS = {"short": "We normalised the invoices: VAT was removed from every amount.", "long": LONG, "λ": FILLER * 30}
QUESTIONS = {
    "q1": ("how were the invoices normalised", "short", ""),
    "q2": ("how were the electricity prices normalised in the forecast", "long", ANSWER),
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judged") / "tiny"
    folder.mkdir()
    documents = [{"_id": name, "text": text} for name, text in DOCUMENTS.items()]
    questions = [{"_id": name, "text": text, "answer": answer} for name, (text, _, answer) in QUESTIONS.items()]
    grades = ["query-id\tcorpus-id\tscore", *(f"{name}\t{right}\t1" for name, (_, right, _) in QUESTIONS.items())]
    for name, lines in (("corpus", documents), ("queries", questions)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (folder / "qrels.tsv").write_text("\n".join(grades), encoding="utf-8")
    return folder


@pytest.fixture
def within(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return lambda name: runpy.run_path(str(BENCHMARKS / name))


def test_agents_reach_the_answer(judged: Path, tmp_path: Path) -> None:
    """Both agents find both answers; of the long text only the part with the answer is read through the tools."""
    pytest.importorskip("mcp")
    row = printed(BENCHMARKS / "agent.py", judged, "--work", tmp_path).splitlines()[-1].split()
    name, questions, mine, tokens, grep, by_grep, _ = row
    assert (name, questions, mine, grep) == ("tiny", "2", "1.000", "1.000")
    assert 0 < 2 * float(tokens) < estimated_tokens(LONG) < 2 * float(by_grep)


def test_a_part_is_an_answer_only_with_its_words(within) -> None:
    """A part of a long text counts if it has the answer's words; without a told answer, only the whole text does."""
    agent = within("agent.py")
    start = LONG.index(ANSWER)
    told = agent["Wanted"]({"long": LONG}, agent["words"](ANSWER))
    untold = agent["Wanted"]({"long": LONG}, frozenset())
    assert told.is_in({"long": [(start, start + len(ANSWER))]})
    assert not told.is_in({"long": [(0, 1000)]})
    assert not told.is_in({"other": [(0, 1000)]})
    assert not untold.is_in({"long": [(start, start + len(ANSWER))]})
    assert untold.is_in({"long": [(0, 3000), (3000, len(LONG))]})


def test_weights_are_fitted(judged: Path, tmp_path: Path) -> None:
    """The shipped weights put the right note first, and each fit is printed with the weights that it found."""
    found = printed(BENCHMARKS / "weights.py", judged, "--work", tmp_path)
    assert re.search(r"^tiny +static +1\.000 ", found, re.MULTILINE)
    assert [line.split()[0] for line in found.splitlines()[-3:]] == ["shipped", "without", "all"]


def test_the_weight_that_helps_is_found(within, judged: Path) -> None:
    """Where one term alone knows the answer, the search gives it a weight, and never ends with less than it began."""
    weights = within("weights.py")
    pools = weights["read"](judged, "static", None, None)
    blind = np.zeros(pools.free.shape, np.float32)
    blind[:, :, weights["FREE"].index("question_penalty")] = pools.grades
    misled = np.where(np.isfinite(pools.fixed), -pools.grades * 0.15, -np.inf)
    only = weights["Pools"]("tiny", "static", blind, pools.words, misled, pools.grades, pools.ideal)
    begin = dict.fromkeys(weights["FREE"], 0.05)
    found = weights["fitted"]([only], begin)
    assert only.ndcg(begin) < only.ndcg(found) == pytest.approx(1.0)
    assert found["question_penalty"] > 0.15


def test_the_constants_of_strength_are_fitted(judged: Path, tmp_path: Path) -> None:
    """All cells and a few, and another judged set, give a row each, and eight constants."""
    asked = ["prices", "zones", "λ", "demand"]
    (tmp_path / "book").mkdir()
    write(tmp_path / "book" / "n.ipynb", *(f"The {one} of Zürich are scaled." for one in asked))
    lines = [{"_id": one, "text": f"scaled {one} of Zürich"} for one in asked]
    lines += [{"_id": f"no {one}", "text": f"{one} of kafka streams", "answerable": False} for one in asked]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    grades = [f"{one}\tn.ipynb\t{place}\t2" for place, one in enumerate(asked)]
    (tmp_path / "qrels.tsv").write_text("\n".join(["query-id\tnotebook\tcell\tgrade", *grades]), "utf-8")
    found = printed(BENCHMARKS / "strength.py", f"{tmp_path}={tmp_path / 'book'}", judged)
    for name in (tmp_path.name, f"{tmp_path.name} few", "tiny"):
        assert re.search(rf"^{re.escape(name)}  +\d.*%", found, re.MULTILINE), found
    assert found.splitlines()[-1].startswith("CONSTANTS = (") and found.splitlines()[-1].count(",") == 7


def test_the_demo_searches_the_samples() -> None:
    found = printed(ROOT / "scripts" / "demo.py")
    assert "=== jupyter-memory search 'how did we scale the prices'" in found and "It is uncertain" not in found
    assert ">>> %unload_ext jupyter_memory" in found and "Done in " in found


def test_the_panel_is_built_only_where_it_is_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A panel newer than its sources is left; an older one asks for Node, in one line that says what to install."""
    built = tmp_path / "package.json"
    built.write_text("{}")
    monkeypatch.setattr(build_panel, "BUILT", built)
    monkeypatch.setenv("PATH", str(tmp_path))
    os.utime(built, (2**32, 2**32))
    build_panel.build()
    assert (tmp_path / "install.json").read_bytes() == (ROOT / "install.json").read_bytes()
    os.utime(built, (0, 0))
    with pytest.raises(SystemExit, match=r"built with Node 20\.19 or newer, and there is none on the PATH: install it"):
        build_panel.build()


@pytest.mark.parametrize("script", sorted((ROOT / "scripts").glob("*.sh")), ids=lambda path: path.name)
def test_shell_scripts_can_be_read(script: Path) -> None:
    """Those install packages, so only their grammar is looked at here; .ci/run runs the one of the wheel."""
    subprocess.run(["bash", "-n", script], check=True, timeout=100)


HERE = BENCHMARKS / "errors"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
FEW = ("merge-key-renamed", "matrix-singular", "table-not-made-yet", "json-lines", "list-as-key", "bracket-not-closed")
UNSEEN = ("explode-uneven", "pop-from-empty")


@pytest.fixture(scope="module")
def notation() -> dict[str, Any]:
    return runpy.run_path(str(HERE / "cases.py"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six cases and two unseen errors, run in real shells, without other cells."""
    if missing := [name for name in ("IPython", "pandas", "numpy") if not find_spec(name)]:
        pytest.skip(f"the cases need {missing[0]}: pip install -r benchmarks/errors/requirements.txt")
    if sys.platform == "win32":
        pytest.skip("the cases run in forked processes")
    folder = tmp_path_factory.mktemp("errors")
    told = printed(HERE / "build.py", "--out", folder, "--others", 0, "--cases", *FEW, *UNSEEN)
    assert told.startswith("6 cases, 2 unseen, 27 cells of history")
    return folder


def test_two_hundred_errors_with_a_fix_and_fifty_without(notation) -> None:
    """No case is written twice or asked word for word; each was met, mended and met again, unseen ones only now."""
    cases, unseen = (notation["read_folder"](folder) for folder in ("cases", "unseen"))
    assert (len(cases), len(unseen)) == (200, 50)
    assert len({case.name for case in (*cases, *unseen)}) == 250
    assert len({case.cause for case in (*cases, *unseen)}) == 250
    for case in cases:
        roles = [cell.role for cell in case.earlier.cells]
        assert "fix" in roles[roles.index("fails") :], case.name
        assert [cell.role for cell in case.asked.cells][-2:] == ["fails", "mended"], case.name
    assert {name for case in cases for name in case.also} <= {case.name for case in cases}
    assert all(case.earlier is None and case.asked.cells[-1].role == "fails" for case in unseen)

    def failing(notebook) -> set[str]:
        return {cell.source for cell in notebook.cells if cell.role == "fails"}

    cases = notation["read_folder"]("cases")
    assert [case.name for case in cases if failing(case.earlier) & failing(case.asked)] == []


def test_two_thousand_other_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fourteen recipes are filled for twelve fields; of the samples and these, exactly so many cells are taken."""
    monkeypatch.syspath_prepend(str(HERE))
    build = runpy.run_path(str(HERE / "build.py"))
    filled = [
        build["Ran"](one.name, tuple(cell.source for cell in one.cells), (build["Outcome"](),) * len(one.cells))
        for one in build["other_notebooks"]()
    ]
    taken = list(build["beside"](filled, 2_000))
    assert len({one.notebook for one in filled}) == len(filled) == 14 * 12
    assert sum(len(one.sources) for one in taken) == sum(len(one.outcomes) for one in taken) == 2_000
    assert taken[0].notebook.startswith("samples/") and not taken[-1].notebook.startswith("samples/")


def test_cells_run_for_real(built: Path, notation) -> None:
    """History holds what the kernel sent, colours and all; a question has no later cell, and its fixes ran well."""
    history = [json.loads(line) for line in (built / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    (singular,) = [entry for entry in history if entry["ename"] == "LinAlgError"]
    assert (singular["evalue"], singular["outcome"]) == ("Singular matrix", "error")
    assert "\x1b[" in singular["traceback"][0]
    assert "np.linalg.inv(x.T @ x)" in ANSI.sub("", "\n".join(singular["traceback"]))
    assert history == sorted(history, key=lambda entry: entry["started"])
    history, questions = notation["read_built"](built)
    outcomes = {entry.id: entry.outcome for entry in history}
    assert [len(question.fixes) > 0 for question in questions] == [True] * len(FEW) + [False] * len(UNSEEN)
    for question in questions:
        assert question.error.outcome == "error"
        assert all(entry.cell < question.error.cell for entry in question.before)
        assert all(outcomes[fix] == "ok" for fix in question.fixes)


def test_memfix_mends_what_was_mended_and_is_silent_on_the_rest(built: Path) -> None:
    """Of few errors, %memfix finds most fixes and says nothing of what never happened; words alone do worse."""
    found = re.findall(r"^(words|%memfix|all)(.*)$", printed(HERE / "run.py", built, "--misses"), re.MULTILINE)
    (_, by_words), (_, by_memfix) = found[1::2]
    first, *_, suggested = map(float, by_words.split()[1:])
    best, in_three, unseen, never = map(float, by_memfix.split()[1:])
    assert (unseen, never, suggested) == (2, 0, 1)
    assert in_three >= best > 0.8 > first > 0
