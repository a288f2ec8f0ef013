"""The set of errors and their fixes: that it is whole, that it runs for real, and that the runner measures it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2] / "benchmarks" / "errors"
ANSI = re.compile(r"\x1b\[[0-9;]*m")
FEW = ("merge-key-renamed", "matrix-singular", "table-not-made-yet", "json-lines", "list-as-key", "bracket-not-closed")


def modules():
    """Import the scripts as they import each other."""
    sys.path.insert(0, str(HERE))
    try:
        import cells
        import judged
        import run
    finally:
        sys.path.remove(str(HERE))
    return cells, judged, run


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Six cases and two unseen errors, run in real shells, without other cells."""
    if missing := [name for name in ("IPython", "pandas", "numpy") if not find_spec(name)]:
        pytest.skip(f"the cases need {missing[0]}: pip install -r benchmarks/errors/requirements.txt")
    if sys.platform == "win32":
        pytest.skip("the cases run in forked processes")
    out = tmp_path_factory.mktemp("errors")
    command = [sys.executable, str(HERE / "build.py"), "--out", str(out), "--others", "0", "--cases", *FEW]
    subprocess.run(
        [*command, "explode-uneven", "pop-from-empty"],
        check=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
    )
    return out


def test_two_hundred_errors_with_a_fix_and_fifty_without():
    """No case is written twice; each was met, mended and met again, and each unseen one is met only now."""
    cells, _, _ = modules()
    cases, unseen = (list(cells.read_folder(HERE / folder)) for folder in ("cases", "unseen"))

    assert (len(cases), len(unseen)) == (200, 50)
    assert len({case.name for case in (*cases, *unseen)}) == 250
    assert len({case.cause for case in (*cases, *unseen)}) == 250
    for case in cases:
        roles = [cell.role for cell in case.earlier.cells]
        assert "fix" in roles[roles.index("fails") :], case.name
        assert [cell.role for cell in case.asked.cells][-2:] == ["fails", "mended"], case.name
    assert {name for case in cases for name in case.also} <= {case.name for case in cases}
    assert all(case.earlier is None and case.asked.cells[-1].role == "fails" for case in unseen)


def test_no_earlier_cell_is_asked_again_word_for_word():
    """What is asked is another cell than what failed before, except where nothing in it could have another name."""
    cells, _, _ = modules()
    same = [
        case.name
        for case in cells.read_folder(HERE / "cases")
        if {cell.source for cell in case.earlier.cells if cell.role == "fails"}
        & {cell.source for cell in case.asked.cells if cell.role == "fails"}
    ]

    assert same == []


def test_cell_before_a_notebook_is_named(tmp_path):
    """A case whose first cell belongs to no notebook is refused, with what to write."""
    cells, _, _ = modules()
    (tmp_path / "pandas.txt").write_text("=== lost\nA cell without a notebook.\n%%\n1 / 0\n")

    with pytest.raises(cells.BadCase, match="pandas: lost: a cell stands before the first '%% notebook NAME'"):
        cells.read_cases(tmp_path / "pandas.txt")


def test_cells_run_for_real(built):
    """History holds what the kernel sent: outcome, type, message, and the strings of the traceback, colours and all."""
    history = [json.loads(line) for line in (built / "history.jsonl").read_text().splitlines()]
    (singular,) = [entry for entry in history if entry["ename"] == "LinAlgError"]

    assert singular["evalue"] == "Singular matrix"
    assert singular["outcome"] == "error"
    assert "\x1b[" in singular["traceback"][0]
    assert "np.linalg.inv(x.T @ x)" in ANSI.sub("", "\n".join(singular["traceback"]))
    assert history == sorted(history, key=lambda entry: entry["started"])


def test_question_comes_with_the_cells_before_it(built):
    """A question has no cell that ran after it, and its fixes are cells of the history that ran without failing."""
    _, judged, _ = modules()
    errors = judged.read_errors(built)
    by_id = {entry.id: entry for entry in errors.history}

    assert (len(errors.seen), len(errors.unseen)) == (6, 2)
    for question in errors.seen:
        assert question.error.outcome == "error"
        assert all(entry.cell < question.error.cell for entry in question.before)
        assert all(by_id[fix].outcome == "ok" for fix in question.fixes)
    assert all(not question.fixes for question in errors.unseen)


def test_baseline_finds_and_the_table_counts(built, capsys, monkeypatch):
    """The words of the message find some fixes, not those after a cell that only looks; they suggest for the unseen."""
    _, _, run = modules()
    monkeypatch.setattr(sys, "argv", ["run.py", str(built)])

    run.main()

    keywords = capsys.readouterr().out.split("\n\n")[0]
    errors, first, three, unseen, suggested = re.search(r"^all +(.*)$", keywords, re.MULTILINE)[1].split()
    assert (errors, unseen, suggested) == ("6", "2", "1.000")
    assert 0 < float(first) <= float(three) < 1


def test_library_left_out_is_not_tuned_on(built):
    """With leave_out a method is made anew for each library and never sees its questions; silence counts as none."""
    _, judged, run = modules()
    errors = judged.read_errors(built)
    tuned = []

    def silent(history, tuning):
        tuned.append({question.library for question in tuning})
        return lambda error, before: []

    results = list(run.measure(errors, silent, leave_out=True))

    assert len(results) == 8
    assert all(set(errors.libraries) - seen == {left} for seen, left in zip(tuned, errors.libraries, strict=True))
    assert "0.000" in run.table(results).splitlines()[-1]


def test_only_changed_notebooks_run_again(built):
    """A notebook that has run is kept, under another name as well; one with another cell is not."""
    cells, _, _ = modules()
    sys.path.insert(0, str(HERE))
    try:
        from kept import Kept
    finally:
        sys.path.remove(str(HERE))
    kept = Kept(built / "outcomes.jsonl")
    (case,) = [one for one in cells.read_folder(HERE / "cases") if one.name == "matrix-singular"]

    assert kept[case.earlier][2].ename == "LinAlgError"
    assert cells.Notebook("elsewhere", case.earlier.cells) in kept
    assert cells.Notebook(case.earlier.name, case.earlier.cells[:-1]) not in kept


def method(name):
    """Import one of the ways in which `%memfix` is measured."""
    sys.path.insert(0, str(HERE))
    try:
        import fixes
    finally:
        sys.path.remove(str(HERE))
    return getattr(fixes, name)


@pytest.mark.parametrize("name", ["fixes", "tuned"])
def test_memfix_mends_what_was_mended_and_is_silent_on_the_rest(built, name):
    """Also among few errors, the method of %memfix finds most fixes, and says nothing of what never happened."""
    _, judged, run = modules()

    results = list(run.measure(judged.read_errors(built), method(name), leave_out=True))

    assert sum(one.within(1) for one in results) >= 5
    assert [one.question.case for one in results if not one.question.fixes and one.suggested] == []
