"""Forgetting several memories in a notebook: the question, the list of what would go, and where nobody is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

CHOICES = ("--kind note", "--tag decision,people", "--since 2026-03-02", "--until 2026-03-04", "--tier note")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Give a function that sets what the person answers, and returns the list of questions."""

    def answer(said: str) -> list[str]:
        asked: list[str] = []
        monkeypatch.setattr("builtins.input", lambda question: (asked.append(question), said)[1])
        return asked

    return answer


@pytest.mark.parametrize("choice", CHOICES)
def test_several_are_forgotten_after_a_question(week, capsys, answers, choice: str) -> None:
    """The question says how many and what they are; anything but yes leaves all of them."""
    found = len(week.run(f"%memory list {choice} -n 50"))
    asked = answers("")
    week.run(f"%memory forget {choice}")
    assert capsys.readouterr().out.endswith("Nothing was done.\n")
    assert len(week.run("%memsearch")) == 5
    answers("y")
    week.run(f"%memory forget {choice}")
    assert capsys.readouterr().out.endswith(f"forgot {found} memories\n")
    assert asked[0].startswith(f"Forget {found} memories ({found} note; 0 pinned, ")


def test_one_memory_or_its_ids_need_no_question(week, capsys, answers) -> None:
    """One memory goes at once, however it was chosen, and so does what was named by id."""
    asked = answers("")
    week.run("%memory forget --tag people")
    ids = week.run("%memsearch -n 2")["memory_id"].tolist()
    week.run(f"%memory forget {ids[0]} {ids[1]}")
    assert asked == [] and len(week.run("%memsearch")) == 2


def test_a_dry_run_shows_what_would_go(week, capsys, answers) -> None:
    """The result is a DataFrame of the memories, and all of them stay."""
    asked = answers("y")
    frame = week.run("%memory forget --since 2026-03-04 --dry-run")
    assert set(frame["title"]) == {"Merge", "Regex", "Status"}
    assert "these would go: 3 memories (3 note; 0 pinned, 1 with tags)" in capsys.readouterr().out
    one = frame["memory_id"].iloc[0]
    assert week.run(f"%memory forget {one} --dry-run") is None
    assert f"would forget {one}" in capsys.readouterr().out
    assert asked == [] and len(week.run("%memsearch")) == 5


def test_nobody_to_ask(week) -> None:
    """Where nobody can answer it is an error, with the line to type; that line does it."""
    said = week.mistake("%memory forget --tag decision,people")
    assert "would forget 2 memories (2 note; 0 pinned, 2 with tags), and there is nobody to ask" in said
    line = said.partition("To do it: ")[2]
    assert line == "%memory forget --tag decision,people --yes"
    assert len(week.run("%memsearch")) == 5
    week.run(line)
    assert len(week.run("%memsearch")) == 3


@pytest.mark.usefixtures("home")
def test_a_notebook_that_runs_by_itself_stops(tmp_path: Path) -> None:
    """A kernel whose front end takes no input refuses, so that nothing after it goes on as if it had happened."""
    cells = ("%load_ext jupyter_memory", "%memadd λ is 3.2", "%memadd μ is 4", "%memory forget --kind note")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("\n".join(cells))])
    client = NotebookClient(notebook, timeout=600, startup_timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(CellExecutionError, match=r"nobody to ask\. To do it: %memory forget --kind note --yes"):
        client.execute()
