"""Claims about the dates that documents state themselves."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.ingest.dates import in_front_matter, in_name, of_cell, of_notebook, stated

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)


def noon(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, 12).astimezone(UTC)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2024-03-01", noon(2024, 3, 1)),
        ("'2024-03-01'", noon(2024, 3, 1)),
        ("March 1, 2024", noon(2024, 3, 1)),
        ("1 Mar 2024", noon(2024, 3, 1)),
        ("2024-03-01T14:30:00Z", datetime(2024, 3, 1, 14, 30, tzinfo=UTC)),
        ("2024-03-01 14:30:00 +0200", datetime(2024, 3, 1, 12, 30, tzinfo=UTC)),
        ("2024-03-01T14:30:00.123456+02:00", datetime(2024, 3, 1, 12, 30, 0, 123456, tzinfo=UTC)),
    ],
)
def test_a_date_is_read_as_people_write_it(text: str, when: datetime) -> None:
    """A day is its noon, so that it is the same day in another time zone."""
    assert stated(text, NOW) == when


@pytest.mark.parametrize(
    "text",
    ["", "today", "last year", "3/4/2025", "2027-01-01", "1969-01-01", "{{ now }} 2024", "2024-13-45", "x" * 999],
)
def test_what_is_no_certain_date_is_none(text: str) -> None:
    """Words that change their meaning, either order of day and month, the future, nonsense."""
    assert stated(text, NOW) is None


def test_a_front_matter_is_dated_by_its_date_then_by_its_last_change() -> None:
    """``created`` comes last; a date that cannot be read gives way to the next."""
    lines = {"created": "2020-01-01", "updated": "2021-01-01", "Date": "2022-01-01"}
    block = "---\n" + "".join(f"{key}: {value}\n" for key, value in lines.items()) + "---\n"

    assert in_front_matter(block, NOW) == noon(2022, 1, 1)
    assert in_front_matter(block.replace("2022-01-01", "someday"), NOW) == noon(2021, 1, 1)
    assert in_front_matter("---\ncreated: 2020-01-01\n---\n", NOW) == noon(2020, 1, 1)
    assert in_front_matter("---\ntitle: 2020-01-01\n---\n", NOW) is None


@pytest.mark.parametrize(
    ("name", "when"),
    [
        ("2024-03-01.md", noon(2024, 3, 1)),
        ("2024_03_01 weekly.ipynb", noon(2024, 3, 1)),
        ("minutes-20240301.txt", noon(2024, 3, 1)),
        ("2024-03-01T09-15.md", noon(2024, 3, 1)),
        ("report 2024-03.md", noon(2024, 3, 1)),
        ("120240301.md", None),
        ("202403011.md", None),
        ("2024-02-31.md", None),
        ("2024-03_01.md", None),
        ("2031-01-01 plan.md", None),
        ("v2024.md", None),
    ],
)
def test_a_date_in_a_name_is_a_whole_date(name: str, when: datetime | None) -> None:
    """No part of a longer number, no mixture, no day that does not exist, none that lies ahead."""
    assert in_name(name, NOW) == when


def test_a_cell_is_dated_by_its_run() -> None:
    """As JupyterLab, the extension ExecuteTime and Colab note it."""
    when = datetime(2025, 5, 4, 10, 11, 12, tzinfo=UTC)

    assert of_cell({"execution": {"iopub.execute_input": "2025-05-04T10:11:12Z"}}, NOW) == when
    assert of_cell({"ExecuteTime": {"start_time": "2025-05-04T10:11:12+00:00"}}, NOW) == when
    assert of_cell({"executionInfo": {"timestamp": when.timestamp() * 1000}}, NOW) == when
    assert of_cell({"execution": {}, "ExecuteTime": 3, "executionInfo": {"timestamp": "x"}}, NOW) is None


def test_a_notebook_is_dated_by_its_metadata() -> None:
    """Its own date, else the run of papermill."""
    assert of_notebook({"date": "March 1, 2024"}, NOW) == noon(2024, 3, 1)
    assert of_notebook({"papermill": {"start_time": "2025-05-04T10:11:12"}}, NOW) is not None
    assert of_notebook({"date": {"a": 1}, "papermill": []}, NOW) is None


@given(text=st.text(max_size=80))
def test_no_text_makes_reading_a_date_fail(text: str) -> None:
    """It is None, or a time between 1970 and now."""
    for found in (stated(f"2024 {text}", NOW), in_name(f"{text}2024-03-01{text}.md", NOW)):
        assert found is None or (found.tzinfo is UTC and 1970 <= found.year <= 2026)
