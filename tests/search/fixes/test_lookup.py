"""Earlier errors like a new one: found by their cause, and nothing where nothing is alike."""

from __future__ import annotations

import traceback
from datetime import UTC, datetime, timedelta

import pytest
import shells

from jupyter_memory.search import KnownErrors
from jupyter_memory.types import Run, RunError

NOON = datetime(2026, 3, 6, 12, tzinfo=UTC)
# Sessions of one library's errors, run for real: what failed comes before what mended it.
SESSIONS = {
    "header": [
        "import io\nimport pandas as pd",
        "june = pd.read_csv(io.StringIO('meter , kwh\\n1,0.4\\n'))",
        "june['kwh'].describe()",
        "list(june.columns)",
        "june.columns = june.columns.str.strip()\njune['kwh'].describe()",
    ],
    "grouped": [
        "import pandas as pd",
        "sales = pd.DataFrame({'region': ['n', 's'], 'units': [4, 9]})\ntotals = sales.groupby('region').sum()",
        "totals[totals['region'] == 'n']",
        "totals = sales.groupby('region').sum().reset_index()\ntotals[totals['region'] == 'n']",
    ],
    "truth": [
        "import pandas as pd\nflats = pd.DataFrame({'rooms': [1, 3], 'rent': [6200, 9900]})",
        "flats[(flats['rooms'] >= 3) and (flats['rent'] < 9000)]",
        "flats[(flats['rooms'] >= 3) & (flats['rent'] < 9000)]",
    ],
    "module": ["import scikit_learn_", "import json"],
}
ASKED = {
    "header": [
        "from io import StringIO\nimport pandas as pd\nplate = pd.read_csv(StringIO('well, signal\\nA1,12\\n'))",
        "plate[plate['signal'] > 10]",
    ],
    "grouped": [
        "import pandas as pd\nstaff = pd.DataFrame({'team': ['a', 'b'], 'pay': [5, 4]})",
        "per_team = staff.groupby('team').mean()",
        "per_team.sort_values('pay')['team'].tolist()",
    ],
    "truth": [
        "import pandas as pd\npeople = pd.DataFrame({'age': [17, 44]})",
        "people[(people.age > 18) and (people.age < 65)]",
    ],
}


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

    found = known.fixes(failed, before)

    assert found[0].failed.session == name
    assert found[0].mended.source == SESSIONS[name][-1]


@pytest.mark.parametrize("cell", ["int('3.5')", "[].pop()", "{}['a'].b.c", "import torchvision_", "open('/nowhere/a')"])
def test_nothing_is_said_of_an_error_that_never_happened(known, cell):
    """Another type, another message, or a module of another name: nothing is alike."""
    [failed] = ran("new", [cell])

    assert known.fixes(failed, []) == []


def test_diff_shows_what_was_changed(known):
    """The difference of the two cells is a unified diff."""
    *before, failed = ran("new", ASKED["truth"])

    lines = known.fixes(failed, before)[0].diff.split("\n")

    assert lines[:2] == ["--- failed", "+++ mended"]
    assert lines[3:] == [f"-{SESSIONS['truth'][1]}", f"+{SESSIONS['truth'][2]}"]


def test_fix_of_several_errors_is_shown_once():
    """Who made the same mistake ten times is not shown the same fix ten times."""
    sessions = {str(place): ran(str(place), SESSIONS["truth"]) for place in range(3)}
    failed = [runs[1] for runs in sessions.values()]
    known = KnownErrors(failed, lambda run: (sessions[run.session][:1], sessions[run.session][2:]))
    *before, new = ran("new", ASKED["truth"])

    assert [fix.mended.source for fix in known.fixes(new, before)] == [SESSIONS["truth"][2]]


def test_errors_of_other_kernels_are_compared_by_name_and_message():
    """A traceback that cannot be read leaves name, message and source."""
    said = "Error in library(dplyr): there is no package called here at all\nTraceback:\n1. library(dplyr)"
    error = RunError("ERROR", "there is no package called ‘dplyr’ in the library of this computer", said)
    old = [
        Run("library(dplyr)\nmtcars", NOON, "r", 1, "error", error=error, language="r"),
        Run("install.packages('dplyr')\nlibrary(dplyr)\nmtcars", NOON, "r", 2, "ok", language="r"),
    ]
    known = KnownErrors(old[:1], lambda run: ((), old[1:]))

    assert [fix.mended for fix in known.fixes(Run("library(dplyr)", NOON, "r2", 1, "error", error=error), [])] == old[
        1:
    ]


def test_error_that_was_never_mended_takes_no_place():
    """Whoever gave up three times is still shown what helped the fourth time."""
    given_up = [[run] for place in range(3) for run in ran(str(place), SESSIONS["truth"][:2])[1:]]
    sessions = {str(place): runs for place, runs in enumerate([*given_up, ran("3", SESSIONS["truth"])[1:]])}
    known = KnownErrors([runs[0] for runs in sessions.values()], lambda run: ((), sessions[run.session][1:]))
    *before, new = ran("new", ASKED["truth"])

    assert [fix.mended.source for fix in known.fixes(new, before)] == [SESSIONS["truth"][2]]
