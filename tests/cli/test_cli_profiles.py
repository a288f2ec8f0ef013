"""`jupyter-memory profile`: the ways of ranking in a terminal."""

from __future__ import annotations

import json

import pytest

from jupyter_memory.cli import main
from jupyter_memory.search import PROFILES, profile_named
from jupyter_memory.search.profiles import covalence


@pytest.fixture
def out(capsys):
    """Run a command and return its output."""

    def run(*arguments, code=0):
        capsys.readouterr()
        assert main(list(arguments)) == code
        shown = capsys.readouterr()
        return shown.err if code else shown.out

    return run


def test_list(out):
    """Every profile has a line, and the one of the settings a star."""
    lines = out("profile", "list").splitlines()

    assert [line.removeprefix("*").split()[0] for line in lines] == list(PROFILES)
    assert lines[0].startswith("*  auto")


def test_show(out):
    """The formula and each constant, as text and as JSON."""
    assert "score = 0.9/(60 + vector_rank)" in out("profile", "show", "covalence")
    shown = json.loads(out("profile", "show", "covalence", "--json"))
    assert shown["formula"] == covalence.formula
    assert {"part": "column", "name": "title", "form": "", "constant": "weight", "value": 5.0} in shown["constants"]


@pytest.mark.parametrize("name", PROFILES)
def test_show_as_a_file_to_search_with(out, tmp_path, name):
    """`--toml` prints a file that a search takes, under a name of its own."""
    file = tmp_path / "mine.toml"
    file.write_text(out("profile", "show", name, "--toml"), encoding="utf-8")
    store = str(tmp_path / "memory.sqlite")
    out("--store", store, "add", "λ is 0.3 since Müller's review")

    assert profile_named(str(file)) == PROFILES[name].replace(name=f"my-{name}")
    found = json.loads(out("--store", store, "search", "Müller", "-p", str(file), "--json"))
    given = [one["contribution"] for one in found["hits"][0]["signals"].values()]
    assert sum(given) == pytest.approx(found["hits"][0]["score"])


def test_mistakes(out, tmp_path):
    """An unknown name is wrong usage; a mistake in a file is told by its key."""
    (tmp_path / "bad.toml").write_text('base = "auto"\n[fetch]\nfactr = 1\n', encoding="utf-8")

    assert "Did you mean 'covalence'?" in out("profile", "show", "covalenc", code=2)
    assert "bad.toml: fetch.factr is not known. Did you mean factor?" in out(
        "profile", "show", str(tmp_path / "bad.toml"), code=1
    )
