"""Claims about the structural prefix."""

from __future__ import annotations

import locale
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from jupyter_memory.text import context, day, heading_of, headings_above, under, words_above


@pytest.fixture
def when() -> datetime:
    return datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    yield monkeypatch
    monkeypatch.undo()
    time.tzset()


def test_every_part_has_a_line(when: datetime) -> None:
    """Name, heading path, the Markdown above and the date come in this order."""
    made = context("02_prices.ipynb", ["Prices", "Zürich"], "We *drop* the λ outliers.", when)

    assert made.split("\n") == ["02_prices.ipynb", "Prices > Zürich", "We drop the λ outliers.", day(when)]


def test_empty_parts_are_left_out() -> None:
    """There is no line for what is not known."""
    assert context("notes.md", []) == "notes.md"


def test_sixty_words_of_the_markdown_above() -> None:
    """Of a long explanation only the first sixty words place a cell."""
    above = " ".join(f"w{number}" for number in range(100))

    assert context("a", [], above).split("\n")[1].split(" ") == [f"w{number}" for number in range(60)]


def test_the_date_is_english_and_local(zone: pytest.MonkeyPatch) -> None:
    """Late on a Saturday in UTC is Sunday in Tokyo, and the weekday is English whatever the locale."""
    late = datetime(2026, 11, 21, 22, 30, tzinfo=UTC)
    zone.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        locale.setlocale(locale.LC_TIME, "de_DE.UTF-8")
    except locale.Error:
        locale.setlocale(locale.LC_TIME, "")
    try:
        assert day(late) == "Sunday 22 November 2026"
    finally:
        locale.setlocale(locale.LC_TIME, "C")

    zone.setenv("TZ", "UTC")
    time.tzset()
    assert day(late) == "Saturday 21 November 2026"


def test_headings_go_behind_the_name() -> None:
    """A chunk's prefix is its document's with the heading path as the second line."""
    assert under("notes.md\nSaturday 21 November 2026", ["A", "B"]) == "notes.md\nA > B\nSaturday 21 November 2026"
    assert under("notes.md", ["A"]) == "notes.md\nA"
    assert under("notes.md\nSaturday", []) == "notes.md\nSaturday"


@pytest.mark.parametrize(
    ("headings", "above", "title", "kind", "found"),
    [
        (["Prices", "Zürich", "λ"], "We drop outliers.", "02_prices.ipynb – λ", "cell", "Prices > Zürich"),
        (["λ"], "We drop outliers.", "02_prices.ipynb – λ", "cell", ""),
        ([], "We drop the λ outliers.", "02_prices.ipynb", "cell", ""),
        (["Prices", "λ"], "", "The λ of Müller", "cell", ""),  # a person gave it a title
        (["Weekly log", "Zürich"], "", "notes.md", "file", "Weekly log > Zürich"),
        ([], "", "notes.md", "file", ""),
        ([], "", "The λ of Müller", "note", ""),
    ],
)
def test_headings_are_read_out_of_a_prefix(
    headings: list[str], above: str, title: str, kind: str, found: str, when: datetime
) -> None:
    """What a card shows below its title are the headings that the title does not have, and never other words."""
    name = "" if kind == "note" else "notes.md" if kind == "file" else "02_prices.ipynb"

    assert headings_above(context(name, headings, above, when), title, kind) == found


@pytest.mark.parametrize(
    ("headings", "above", "title", "kind", "found"),
    [
        (["Prices", "λ > 2"], "We drop outliers.", "02_prices.ipynb – λ > 2", "cell", ("λ > 2", "We drop outliers.")),
        (["λ"], "", "02_prices.ipynb – λ", "cell", ("λ", "")),
        ([], "We drop the λ outliers.", "02_prices.ipynb", "cell", ("", "We drop the λ outliers.")),
        ([], "", "02_prices.ipynb", "cell", ("", "")),
        (["Prices", "λ"], "We drop outliers.", "The λ of Müller", "cell", ("", "")),  # a person gave it a title
        (["Weekly log", "Zürich"], "", "notes.md", "file", ("Zürich", "")),
        ([], "", "notes.md", "file", ("", "")),
        ([], "", "The λ of Müller", "note", ("The λ of Müller", "")),
    ],
)
def test_heading_and_words_above_are_read_out_of_a_prefix(
    headings: list[str], above: str, title: str, kind: str, found: tuple[str, str], when: datetime
) -> None:
    """A chunk's own heading and the Markdown above it are told apart from name, other headings and day."""
    name = "" if kind == "note" else "notes.md" if kind == "file" else "02_prices.ipynb"
    prefix = context(name, headings, above, when)

    assert (heading_of(prefix, title, kind), words_above(prefix, title, kind)) == found
