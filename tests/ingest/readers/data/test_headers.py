"""Claims about telling a header from a first row of data."""

from __future__ import annotations

import pytest

from jupyter_memory.ingest.readers.tables import header_of, without_preamble

PEOPLE = ["Anna,Meier,Zürich", "Bob,Rossi,Genf", "Carl,Weber,Basel"]


def rows(*lines: str) -> list[list[str]]:
    return [line.split(",") for line in lines]


@pytest.mark.parametrize(
    "lines",
    [
        ("customer_id,churn_date,price [EUR]", "1,2026-03-02,3.5", "2,2026-03-03,4.5"),
        ("name,surname,city", *PEOPLE),  # text above text, in the words of columns
        ("firstName,lastName,homeTown", *PEOPLE),  # or in their spelling
        ("Speed of the rotor,Wind", "3.5,1", "3.6,2", "4,3"),  # text above numbers, whatever its words
        ("id,V1,V2,x_100", "1,.1,.2,.3", "2,.1,.2,.3"),
        (",age,city", "0,31,Zürich", "1,44,Genf"),  # the index of a DataFrame has no name
        ("customer_id,churn_date",),  # nothing below it
    ],
)
def test_a_header_is_told_from_the_rows_below_it(lines: tuple[str, ...]) -> None:
    """By text above numbers or dates, or by the words and spellings of names of columns."""
    assert header_of(rows(*lines)) == lines[0].split(",")


@pytest.mark.parametrize(
    "lines",
    [
        tuple(PEOPLE),
        ("Anna,23", "Bob,42", "Carl,17"),
        ("Anna,n/a", "Bob,42", "Carl,17", "Dora,18"),  # a missing value above numbers
        ("Anna Meier,absent", "Bob Rossi,42", "Carl Weber,17", "Dora Wolf,18"),
        ("anna@example.org,name", "bob@example.org,x"),
        ("name,2026-03-02", "x,2026-03-03"),
        ("name,+41 44 123 45 67", "x,+41 44 123 45 68"),
        ("user,9f8c1e2ab7d04c55e1f02a3b", "x,1f8c1e2ab7d04c55e1f02a3c"),
        ("name,name", "x,1"),  # one name twice
        ("1,2", "3,4"),
        ("Zürich,Genf",),
        ("name,city", "name,city"),  # it recurs: it is a value
    ],
)
def test_what_may_be_data_is_no_header(lines: tuple[str, ...]) -> None:
    """When in doubt, the first row is a row."""
    assert header_of(rows(*lines)) is None


def test_a_title_above_a_table_is_passed_over() -> None:
    """Rows with hardly half as many cells as most; a table of one column has none."""
    table = ["name,day,price", "x,2026-03-02,3", "y,2026-03-03,4", "z,,"]

    assert without_preamble(rows("Prices of March,,", ",,", *table)) == rows(*table)
    assert without_preamble(rows("Prices", "name", "x", "y")) == rows("Prices", "name", "x", "y")
    assert without_preamble([]) == []
