"""Which of the runs after a failed one mended it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from jupyter_memory.search.fixes import Trees, fixing_runs
from jupyter_memory.types import Run, RunError

NOON = datetime(2026, 3, 6, 12, tzinfo=UTC)
FAILED = "joined = orders.merge(customers, on='customer_id')\njoined.groupby('city').amount.sum()"
MENDED = FAILED.replace("on='customer_id'", "left_on='customer_id', right_on='id'")


def run(source, number, outcome="ok", **values):
    error = RunError("KeyError", "'a'") if outcome == "error" else None
    return Run(source, NOON + timedelta(minutes=number), "k1", number, outcome, error=error, **values)


def mended(*after, failed=FAILED, cell_id=""):
    """Return the sources of the runs that mended a failed one, the likeliest first."""
    runs = [one if isinstance(one, Run) else run(one, number) for number, one in enumerate(after, start=2)]
    return [one.source for one in fixing_runs(run(failed, 1, "error", cell_id=cell_id), runs, Trees())]


def test_cell_that_does_the_same_work_mended_it():
    """The cell with most of the failed source comes first, whatever ran in between."""
    assert mended("customers.head()", "orders.dtypes", MENDED)[0] == MENDED


def test_attempt_that_failed_too_mended_nothing():
    """A second failure is no fix, however like the first."""
    assert mended(run(MENDED + "  # again", 2, "error"), MENDED) == [MENDED]


def test_nothing_after_it_is_about_it():
    """Cells about something else mend nothing."""
    assert mended("import seaborn as sns", "sns.set_theme()", "fig, ax = plt.subplots()") == []


def test_no_run_after_it():
    assert mended() == []


def test_kernel_that_died_mended_nothing():
    """A run whose outcome nobody knows is no fix."""
    assert mended(run(MENDED, 2, "unknown")) == []


def test_change_before_the_same_cell_ran_again():
    """Where the failed cell ran again as it was, what changed its names in between is the fix."""
    changed = "customers = customers.rename(columns={'id': 'customer_id'})"

    assert mended("customers.head()", changed, FAILED)[0] == changed


def test_same_cell_that_ran_again_without_a_change_tells_nothing():
    """An error that went away by itself, as a network's does, has no fix."""
    assert mended("orders.head()", FAILED, failed=FAILED) == []


def test_same_cell_edited():
    """The same cell counts even where little of its source is left."""
    edited = run("total = report(joined)", 3, cell_id="c7")

    assert mended("customers.head()", edited, failed="joined.sum(by=customers)", cell_id="c7")[0] == edited.source


@pytest.mark.parametrize("source", ["def (", "x" * 100_000, "%%bash\nls", "\x00"])
def test_sources_that_are_no_python_stop_nothing(source):
    """Cells of other languages, of data, or with a mistake in them are looked at like others."""
    assert MENDED in mended(source, MENDED)
