"""What the panel is told of the history: whether kernels record, how much there is, and how each text ran."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from jupyter_memory.storage import CAN_RECORD, Journal
from jupyter_memory.types import Run, RunError

RUN = Run(
    source='rates["Genève"]',
    started=datetime(2026, 3, 6, 9, 0, tzinfo=UTC),
    session="monday",
    number=1,
    outcome="ok",
    cell_id="rate",
    environment="prices",
)


async def history(ask, fits):
    """Return what the status says of the history."""
    return fits("status", (await ask("status")).json)["history"]


async def the_run(ask, fits, **asked):
    """Return the one text of the history: its hit and its place."""
    answer = fits("answer", (await ask("browse", {"filters": {"kind": ["history"]}, **asked})).json)
    [hit], [place] = answer["hits"], answer["places"]
    return hit, place


@pytest.mark.skipif(not CAN_RECORD, reason="this system has no file locks")
async def test_kernels_that_record_are_counted(ask, fits, service, store_file):
    """A kernel counts from the moment that it records, also before there is a store, until it stops or dies."""
    assert await history(ask, fits) == {"kernels": 0, "runs": 0, "texts": 0, "since": None}

    one, other = Journal.on_disk(store_file), Journal.on_disk(store_file)
    assert (await history(ask, fits))["kernels"] == 2
    one.remove()
    other.close()
    assert (await history(ask, fits))["kernels"] == 0


async def test_a_run_tells_how_often_and_how_it_ended(ask, fits, week_in, notebook):
    """A text that ran twice is one hit, which opens at its cell and tells of the last run; other hits tell of none."""
    first = replace(RUN, notebook=str(notebook))
    failed = replace(
        first,
        number=2,
        started=RUN.started + timedelta(days=1),
        outcome="error",
        error=RunError("KeyError", "'Genève'"),
    )
    week_in.history.record([first, failed])

    hit, place = await the_run(ask, fits)
    assert (hit["kind"], hit["event_at"]) == ("history", "2026-03-07T09:00:00+00:00")
    assert (place["path"], place["cell"], place["changed"]) == ("prices/orders.ipynb", "rate", False)
    assert place["run"] == {
        "count": 2,
        "first": "2026-03-06T09:00:00+00:00",
        "last": "2026-03-07T09:00:00+00:00",
        "outcome": "error",
        "error": "KeyError",
        "environment": "prices",
    }
    assert (await history(ask, fits)) == {"kernels": 0, "runs": 2, "texts": 1, "since": "2026-03-06T09:00:00+00:00"}
    others = (await ask("browse", {"filters": {"kind": ["note"]}})).json["places"]
    assert others and not any("run" in other for other in others)


async def test_a_run_whose_kernel_died(ask, fits, week_in):
    """What has no outcome says so; without a notebook there is nothing to open, and the reason is told."""
    week_in.history.record([replace(RUN, outcome="unknown", environment="")])

    _, place = await the_run(ask, fits)
    assert (place["run"]["outcome"], place["run"]["error"], place["run"]["count"]) == ("unknown", "", 1)
    assert place["path"] is None and "did not know its notebook" in place["closed"]


async def test_an_entry_made_by_hand(ask, fits, week_in):
    """History that somebody added with metadata of any kind is shown as run once, with what can be read."""
    metadata = {"runs": "many", "outcome": ["ok"], "error": 7, "first_run": None, "environment": "x"}
    week_in.add("λ = 3.2", kind="history", event_at="2026-03-01T10:00:00+00:00", metadata=metadata)

    _, place = await the_run(ask, fits)
    assert place["run"] == {
        "count": 1,
        "first": None,
        "last": "2026-03-01T10:00:00+00:00",
        "outcome": "unknown",
        "error": "",
        "environment": "x",
    }


async def test_uses_of_a_run_stay_when_it_runs_again(ask, fits, week_in):
    """A text that runs again keeps its id, and how often it was used."""
    week_in.history.record([RUN])
    hit, _ = await the_run(ask, fits)
    await ask("access", {"memory_id": hit["memory_id"]})
    week_in.history.record([replace(RUN, number=2, started=RUN.started + timedelta(hours=1), session="tuesday")])

    again, place = await the_run(ask, fits)
    assert (again["memory_id"], place["run"]["count"]) == (hit["memory_id"], 2)
    memory = week_in.get(hit["memory_id"])
    assert (memory.accessed, memory.session) == (1, "tuesday")
