"""Addresses of databases: read as libpq reads them, without a password."""

from __future__ import annotations

import pytest

from jupyter_memory.errors import InputError
from jupyter_memory.text.addresses import database_address, is_address


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("postgres://db/team", "postgresql://db/team"),
        ("postgresql://ana@db:5432/team?sslmode=verify-full", "postgresql://ana@db:5432/team?sslmode=verify-full"),
        ("postgresql://ana:@/team?host=/run/pg", "postgresql://ana@/team?host=%2Frun%2Fpg"),
        ("postgresql:///team?service=lab", "postgresql:///team?service=lab"),
        ("postgresql://[::1]:5433/team", "postgresql://[::1]:5433/team"),
    ],
)
def test_an_address_is_kept_in_one_form(typed, kept):
    """However it was typed."""
    assert is_address(typed) and str(database_address(typed)) == kept


@pytest.mark.parametrize(
    "typed",
    ["postgresql://ana:s3cret@db/team", "postgresql://db/team?password=s3cret", "postgres://db/t?sslpassword=s3cret"],
)
def test_a_password_is_refused_and_not_repeated(typed):
    """The error says where it belongs."""
    with pytest.raises(InputError, match=r"\.pgpass") as raised:
        database_address(typed)
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    "typed", ["mysql://db/team", "http://db/team", "postgresql://db:port/team", "postgresql://[::1/t"]
)
def test_other_addresses_are_refused(typed):
    """The error shows an example of one that works."""
    assert is_address(typed)
    with pytest.raises(InputError, match=r"postgresql://db\.example"):
        database_address(typed)


@pytest.mark.parametrize("typed", ["memory.sqlite", "/tmp/a:b", "~/notes", "C:\\memory.sqlite", "C:/memory.sqlite"])
def test_files_are_no_addresses(typed):
    """A drive's letter is no scheme."""
    assert not is_address(typed)
