"""Where a store is: a file or a database on a server, and never a URL that could show a password."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import InputError
from jupyter_memory.text import DatabaseAddress, store_at

SECRET = "pä5s/w?rd"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("postgresql://host/team", "postgresql://host/team"),
        ("postgres://ada@host:5433/team", "postgresql://ada@host:5433/team"),
        ("POSTGRESQL://host/team", "postgresql://host/team"),
        ("postgresql://a,b:5432,[::1]:5433/team?sslmode=verify-full", None),
        ("postgresql:///team?host=%2Frun%2Fpg&user=ada%40lab", None),
        ("postgresql://?service=lab", None),
        ("postgresql://ada:@/team?host=/run/pg", "postgresql://ada@/team?host=/run/pg"),
        (" postgresql://host/team\n", "postgresql://host/team"),
    ],
)
def test_urls_of_postgresql_are_taken_as_libpq_does(written, read):
    """Both schemes, several hosts, sockets and service files; the same database has one spelling of its scheme."""
    assert store_at(written) == DatabaseAddress(read or written)
    assert store_at(store_at(written)) == store_at(written)


@pytest.mark.parametrize("written", ["mysql://host/team", "sqlite:///a.sqlite", "http://host", "file:///a", "S3://b/c"])
def test_other_urls_are_refused_and_no_folder_is_made(written, tmp_path, monkeypatch):
    """The error names the scheme and what to write instead."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"(?s)neither.*path.*postgresql://USER@HOST/DATABASE"):
        store_at(written)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "written",
    [
        f"postgresql://ada:{SECRET}@host/team",
        f"postgres://:{SECRET}@host/team",
        f"postgresql://host/team?password={SECRET}",
        f"postgresql://host/team?sslmode=require&PassWord={SECRET}",
        f"postgresql://host/team?%70assword={SECRET}",
        f"postgresql://host/team?sslpassword={SECRET}",
        f"postgresql://ada:{SECRET}@a,b/team",
        f"postgresql://ada:{SECRET}",
        f"mysql://ada:{SECRET}@host/team",
        f" postgresql://ada:{SECRET}@host/team",
        f"\n\tpostgresql://ada:{SECRET}@host/team",
        f"host=db dbname=team password={SECRET}",
        f" PassWord = '{SECRET}' host=db",
        f"gssencmode=disable password={SECRET}",
    ],
)
def test_a_url_with_a_password_is_refused_and_not_repeated(written):
    """Wherever the password is, also where it hides in a URL that is spelt wrongly, the error does not show it."""
    with pytest.raises(InputError) as raised:
        store_at(written)
    assert SECRET not in str(raised.value)
    assert SECRET[:3] not in str(raised.value)


@given(st.text(st.sampled_from("abc:/@?&=%,.[]1"), max_size=20))
def test_whatever_is_accepted_has_no_user_with_a_password(rest):
    """No URL that is accepted has a colon before an at sign, where libpq reads a password."""
    try:
        url = store_at(f"postgresql://{rest}")
    except InputError:
        return
    user, at, _ = str(url).removeprefix("postgresql://").partition("@")
    assert not at or ":" not in user or "?" in user


def test_a_path_is_a_path(tmp_path, monkeypatch):
    """A path stays one, with a colon in it too; a URL that Path() has damaged is no file."""
    monkeypatch.chdir(tmp_path)
    assert store_at("a:b.sqlite") == tmp_path / "a:b.sqlite"
    assert store_at("./host=a/b.sqlite") == tmp_path / "host=a/b.sqlite"
    assert store_at("ghost=a.sqlite") == tmp_path / "ghost=a.sqlite"
    assert store_at(Path("notes/a.sqlite")) == tmp_path / "notes" / "a.sqlite"
    with pytest.raises(InputError, match="as a string"):
        store_at(Path("postgresql://host/team"))
