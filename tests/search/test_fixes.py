"""Earlier errors like a new one: found by their cause, with the run that mended each."""

import tomllib
import traceback
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import shells

from jupyter_memory.search import KnownErrors
from jupyter_memory.types import Run, RunError

NOON = datetime(2026, 3, 6, 12, tzinfo=UTC)
SESSIONS, ASKED = tomllib.loads(Path(__file__).with_name("fixes.toml").read_text("utf-8")).values()


def ran(session, cells):
    """Run cells in a shell of their own, and return the runs with their errors."""
    ip, runs = shells.made(), []
    for number, source in enumerate(cells, start=1):
        raised = ip.run_cell(source).error_in_exec
        told = "".join(traceback.format_exception(raised)) if raised else ""
        error = RunError(type(raised).__name__, str(raised), told) if raised else None
        started = NOON + timedelta(minutes=number)
        runs.append(Run(source, started, session, number, "error" if error else "ok", error=error))
    ip.restore_sys_module_state()
    return runs


@pytest.fixture(scope="module")
def known():
    sessions = {name: ran(name, cells) for name, cells in SESSIONS.items()}

    def around(run):
        whole = sessions[run.session]
        return whole[: run.number - 1], whole[run.number :]

    return KnownErrors([run for runs in sessions.values() for run in runs if run.outcome == "error"], around)


@pytest.mark.parametrize("name", ASKED)
def test_same_cause_comes_first(known, name):
    """Of errors that share type and message, the one of the same cause comes first, with the cell that mended it."""
    *before, failed = ran("new", ASKED[name])
    found = known.fixes(failed, before)[0]
    assert (found.failed.session, found.mended.source) == (name, SESSIONS[name][-1])
    # The difference of the two cells is a unified diff.
    assert found.diff.split("\n")[:2] == ["--- failed", "+++ mended"]
    if name == "truth":
        assert found.diff.split("\n")[3:] == [f"-{SESSIONS['truth'][1]}", f"+{SESSIONS['truth'][2]}"]


@pytest.mark.parametrize(
    "cell",
    ["int('3.5')", "[].pop()", "{}['a'].b.c", "import torchvision_", "open('/nowhere/a')", "open('/nowhere/24/')"],
)
def test_nothing_is_said_of_an_error_that_never_happened(known, cell):
    """Another type, another message, or a module of another name: nothing is alike."""
    [failed] = ran("new", [cell])
    assert known.fixes(failed, []) == []


@pytest.mark.parametrize("mended", [3, 1])
def test_a_fix_is_shown_once(mended):
    """Who made one mistake often sees its fix once, and who gave up three times what helped the fourth time."""
    sessions = {str(place): ran(str(place), SESSIONS["truth"]) for place in range(mended)}
    sessions |= {f"given up {place}": ran(f"given up {place}", SESSIONS["truth"][:2]) for place in range(4 - mended)}
    failed = [runs[1] for runs in sessions.values()]
    known = KnownErrors(failed, lambda run: (sessions[run.session][:1], sessions[run.session][2:]))
    *before, new = ran("new", ASKED["truth"])
    assert [fix.mended.source for fix in known.fixes(new, before)] == [SESSIONS["truth"][2]]


def test_errors_of_other_kernels_are_compared_by_name_and_message():
    """A traceback that cannot be read leaves name, message and source."""
    said = "Error in library(dplyr): there is no package called here at all\nTraceback:\n1. library(dplyr)"
    error = RunError("ERROR", "there is no package called ‘dplyr’ in the library of this computer", said)
    failed = Run("library(dplyr)\nmtcars", NOON, "r", 1, "error", error=error, language="r")
    mended = Run("install.packages('dplyr')\nlibrary(dplyr)\nmtcars", NOON, "r", 2, "ok", language="r")
    known = KnownErrors([failed], lambda run: ((), [mended]))
    new = Run("library(dplyr)", NOON, "r2", 1, "error", error=error)
    assert [fix.mended for fix in known.fixes(new, [])] == [mended]


FAILED = "joined = orders.merge(customers, on='customer_id')\njoined.groupby('city').amount.sum()"
MENDED = FAILED.replace("on='customer_id'", "left_on='customer_id', right_on='id'")
CHANGED = "customers = customers.rename(columns={'id': 'customer_id'})"


def run(source, number, outcome="ok", **values):
    error = RunError("KeyError", "'a'") if outcome == "error" else None
    return Run(source, NOON + timedelta(minutes=number), "k1", number, outcome, error=error, **values)


@pytest.mark.parametrize(
    ("after", "mended"),
    [
        # The cell with most of the failed source comes first, whatever ran in between.
        (["customers.head()", "orders.dtypes", MENDED], MENDED),
        # Where the failed cell ran again as it was, what changed its names in between is the fix; else there is none.
        (["customers.head()", CHANGED, FAILED], CHANGED), (["orders.head()", FAILED], None),
        # The same cell counts even where little of its source is left.
        (["customers.head()", run("total = report(joined)", 3, cell_id="c7")], "total = report(joined)"),
        (["customers.head()", run("total = report(joined)", 3)], None),
        # A second failure is no fix, nor is a run whose outcome nobody knows, nor what is about something else.
        ([run(MENDED + "  # again", 2, "error"), MENDED], MENDED), ([run(MENDED, 2, "unknown")], None),
        (["import seaborn as sns", "sns.set_theme()", "fig, ax = plt.subplots()"], None), ([], None),
        # Cells of other languages, of data, or with a mistake in them stop nothing.
        *[([source, MENDED], MENDED) for source in ("def (", "x" * 100_000, "%%bash\nls", "\x00")],
    ],
)  # fmt: skip
def test_what_mended_a_run(after, mended):
    """A later run that did its work, or changed what it worked on, is the fix of a failed one."""
    failed = run(FAILED, 1, "error", cell_id="c7")
    runs = [one if isinstance(one, Run) else run(one, number) for number, one in enumerate(after, start=2)]
    fixes = KnownErrors([failed], lambda _: ((), runs)).fixes(run(FAILED, 9, "error"), [])
    assert [fix.mended.source for fix in fixes][:1] == [mended][: mended is not None]
