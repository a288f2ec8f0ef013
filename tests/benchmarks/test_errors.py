"""The set of errors and their fixes: that it is whole, that it runs for real, and that methods are measured on it."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parents[2] / "benchmarks" / "errors"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
FEW = ("merge-key-renamed", "matrix-singular", "table-not-made-yet", "json-lines", "list-as-key", "bracket-not-closed")
UNSEEN = ("explode-uneven", "pop-from-empty")


@pytest.fixture(scope="module")
def notation() -> dict[str, Any]:
    """What reads the set, by name."""
    return runpy.run_path(str(HERE / "cases.py"))


def run(script: str, *options: object) -> str:
    """Run a script of the set, and return what it prints."""
    command = [sys.executable, HERE / script, *options]
    around = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=around, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six cases and two unseen errors, run in real shells, without other cells."""
    if missing := [name for name in ("IPython", "pandas", "numpy") if not find_spec(name)]:
        pytest.skip(f"the cases need {missing[0]}: pip install -r benchmarks/errors/requirements.txt")
    if sys.platform == "win32":
        pytest.skip("the cases run in forked processes")
    folder = tmp_path_factory.mktemp("errors")
    told = run("build.py", "--out", folder, "--others", 0, "--cases", *FEW, *UNSEEN)
    assert told.startswith("6 cases, 2 unseen, 27 cells of history")
    return folder


def test_two_hundred_errors_with_a_fix_and_fifty_without(notation) -> None:
    """No case is written twice; each was met, mended and met again, and each unseen one is met only now."""
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


def test_no_earlier_cell_is_asked_again_word_for_word(notation) -> None:
    """What is asked is another cell than what failed before."""

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


def test_cells_run_for_real(built: Path) -> None:
    """History holds what the kernel sent: outcome, type, message, and the strings of the traceback, colours and all."""
    history = [json.loads(line) for line in (built / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    (singular,) = [entry for entry in history if entry["ename"] == "LinAlgError"]
    assert (singular["evalue"], singular["outcome"]) == ("Singular matrix", "error")
    assert "\x1b[" in singular["traceback"][0]
    assert "np.linalg.inv(x.T @ x)" in ANSI.sub("", "\n".join(singular["traceback"]))
    assert history == sorted(history, key=lambda entry: entry["started"])


def test_question_comes_with_the_cells_before_it(notation, built: Path) -> None:
    """A question has no cell that ran after it, and its fixes are cells of the history that ran without failing."""
    history, questions = notation["read_built"](built)
    outcomes = {entry.id: entry.outcome for entry in history}
    assert [len(question.fixes) > 0 for question in questions] == [True] * len(FEW) + [False] * len(UNSEEN)
    for question in questions:
        assert question.error.outcome == "error"
        assert all(entry.cell < question.error.cell for entry in question.before)
        assert all(outcomes[fix] == "ok" for fix in question.fixes)


def test_memfix_mends_what_was_mended_and_is_silent_on_the_rest(built: Path) -> None:
    """Of few errors, %memfix finds most fixes and says nothing of what never happened; words alone do worse."""
    found = re.findall(r"^(words|%memfix|all)(.*)$", run("run.py", built, "--misses"), re.MULTILINE)
    (_, by_words), (_, by_memfix) = found[1::2]
    first, *_, suggested = map(float, by_words.split()[1:])
    best, in_three, unseen, never = map(float, by_memfix.split()[1:])
    assert (unseen, never, suggested) == (2, 0, 1)
    assert in_three >= best > 0.8 > first > 0
