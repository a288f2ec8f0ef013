"""What a terminal is shown of texts that would control it, or be read from the wrong end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Run

LIES = "λ \x1b[2J\x9b31m costs \u202e5\u2066 \x7f\u200f"
HIDDEN = set("\x1b\x9b\x7f\u202e\u2066\u200f")
COMMANDS = (
    ["search", "prices"], ["search", "prices", "--json"], ["search", "prices", "--scan"], ["search", f"tag:'{LIES}x'"],
    ["search", "prices", f"--{LIES}"], ["list"], ["list", "--session", LIES], ["index", "lies"],
    ["index", f"no {LIES}"], ["explain", "prices", "ID"], ["pin", "ID"], ["pin", LIES], ["forget", "--tag", f"{LIES}x"],
    ["forget", "--kind", "note", "--dry-run"], ["forget", "--everything"], [f"nosuch{LIES}"],
    ["profile", "show", LIES],
)  # fmt: skip


@pytest.fixture
def lying(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Give the commands, and a store whose every text lies."""
    monkeypatch.chdir(home)
    (home / "lies").mkdir()
    (home / "lies" / f"{LIES}.md").write_text(f"# {LIES}\n\nprices {LIES}\n", encoding="utf-8")
    assert run("index", "lies").code == 0
    for which in ("first", "second"):
        assert run("add", "--title", LIES, "--tag", LIES, "--session", LIES, f"{which} prices {LIES}").code == 0
    return run


def test_nothing_hidden_reaches_the_terminal(lying: Run) -> None:
    """Results, lists, JSON, questions and errors show marks in place of controls and changes of direction."""
    [first, *_] = json.loads(lying("search", "prices", "--json").out)["hits"]
    for command in COMMANDS:
        done = lying(*(first["memory_id"] if word == "ID" else word for word in command))
        assert done.out or done.err, command
        assert not set(done.out + done.err) & HIDDEN, command


def test_the_marks_say_what_is_there(lying: Run) -> None:
    """A reader sees each character by its picture or its number; JSON is read back as the text that was stored."""
    assert "λ ␛[2J[U+009B]31m costs [U+202E]5" in lying("list").out
    titles = {hit["title"] for hit in json.loads(lying("search", "prices", "--json").out)["hits"]}
    assert LIES in titles
