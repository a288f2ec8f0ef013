"""Forgetting in a terminal: what is said and asked before several memories go, and guesses that never lead there."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pytest
from commands import Run, memory_id

from jupyter_memory import MemoryStore


class Terminal(io.StringIO):
    """What somebody types."""

    def isatty(self) -> bool:
        """Return that somebody is there."""
        return True


def test_forget_everything_asks(week: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is forgotten after a yes at a terminal, or with --yes; a program is not asked but refused."""
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused = week("forget", "--everything")
    assert refused.code == 2
    assert "all 3 memories of" in refused.err
    assert "--yes" in refused.err
    for answer, code in (("n\n", 1), ("", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        done = week("forget", "--everything")
        assert done.code == code
        assert "Forget all 3 memories" in done.err
        assert json.loads(week("status", "--json").out)["memories"] == (3 if code else 0)
    week("add", "one more λ")
    assert week("forget", "--everything", "--yes").out == "forgot 1 memory\n"


CHOICES = (
    ["--kind", "note"], ["--tag", "decision,people"], ["--since", "2026-03-02"], ["--until", "2026-03-04"],
    ["--on", "March 2026"], ["--tier", "note"], ["--source", "a.md", "--source", "b.md"],
)  # fmt: skip


@pytest.fixture
def several(week: Run, home: Path) -> Run:
    """Give the commands, and a store in which each choice finds several memories."""
    with MemoryStore(home / "m.sqlite") as store:
        for source in ("a.md", "b.md"):
            store.add(f"λ of {source}", source=source, event_at="2026-03-03", tags=["people"])
    return week


@pytest.mark.parametrize("choice", CHOICES, ids=" ".join)
def test_several_memories_are_forgotten_after_a_question(
    several: Run, monkeypatch: pytest.MonkeyPatch, choice: list[str]
) -> None:
    """Whatever chooses them, it says how many and what they are, and asks; a program without --yes is refused."""
    number = forgettable(several, choice)
    held = memories(several)
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    refused = several("forget", *choice)
    assert (refused.code, refused.out) == (2, "")
    assert f"This would forget {number} memories (" in refused.err and "Add --yes" in refused.err
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    assert several("forget", *choice).code == 1
    assert memories(several) == held
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    done = several("forget", *choice)
    assert re.search(rf"Forget {number} memories \(\d note; 0 pinned, \d with tags\)\?", done.err)
    assert done.out == f"forgot {number} memories\n"
    assert memories(several) == held - number


def forgettable(run: Run, choice: list[str]) -> int:
    """Return how many memories a dry run of forgetting finds, which leaves all of them."""
    before = memories(run)
    done = run("forget", *choice, "--dry-run")
    assert (done.code, memories(run)) == (0, before)
    found = re.search(r"Nothing was forgotten. Without --dry-run these would go: (\d+) memories", done.err)
    assert found is not None and len(done.out.splitlines()) == int(found[1]) > 1
    return int(found[1])


def memories(run: Run) -> int:
    """Return how many memories the store has."""
    number: int = json.loads(run("status", "--json").out)["memories"]
    return number


def test_a_dry_run_of_all_kinds(week: Run) -> None:
    """Everything, ids and searches are counted or named too, and stay."""
    week("search", "Müller")
    one = memory_id(week, "Müller")
    assert week("forget", one, "--dry-run").out == f"would forget {one} “Müller”\n"
    everything = week("forget", "--everything", "--dry-run")
    assert "all 3 memories of" in everything.err and len(everything.out.splitlines()) == 3
    assert week("forget", "--searches", "--dry-run").out == "would forget 1 search\n"
    nothing = week("forget", "--tag", "decisoin", "--dry-run")
    assert "these would go: 0 memories" in nothing.err and "Did you mean 'decision'?" in nothing.err
    assert memories(week) == 3
    assert week("forget", "--searches").out == "forgot 1 search\n"


def test_what_is_added_during_the_question_stays(week: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The yes is to the memories that were counted: another program's new one is not among them."""

    class Slow(Terminal):
        def readline(self, *limit: int) -> str:  # type: ignore[override]
            with MemoryStore(home / "m.sqlite") as store:
                store.add("added while somebody thinks")
            return "y\n"

    monkeypatch.setattr("sys.stdin", Slow())
    done = week("forget", "--everything")
    assert "Forget all 3 memories of" in done.err and done.out == "forgot 3 memories\n"
    assert "added while somebody thinks" in week("list").out


@pytest.mark.parametrize("typed", [["forgt"], ["fogret"], ["restor"], ["model", "remov", "nomic"], ["model", "drp"]])
def test_no_guess_names_a_command_that_destroys(run: Run, typed: list[str]) -> None:
    """A misspelt command never leads to one that cannot be undone; its name stands in the list alone."""
    done = run(*typed)
    assert done.code == 2
    assert "There is no command" in done.err and "There are: " in done.err and "Did you mean" not in done.err


@pytest.mark.parametrize(
    "typed",
    [["forget", "--everythin"], ["forget", "--serches"], ["forget", "--yess"], ["restore", "a", "--overwrit"]],
)
def test_no_guess_names_an_option_that_destroys(run: Run, typed: list[str]) -> None:
    """A misspelt option never leads to one that destroys more, or that answers the question before that."""
    done = run(*typed)
    assert done.code == 2
    assert "No such option" in done.err and "Did you mean" not in done.err
    assert "Did you mean '--tag'?" in run("forget", "--tga", "draft").err


@pytest.mark.parametrize("more", [[], ["--tag", "draft"], ["--source", "a.md"], ["--dry-run"]])
@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_source_is_refused_in_the_words_of_the_command(week: Run, empty: str, more: list[str]) -> None:
    """A variable that was never set chooses nothing, also beside other options, and no Python is shown."""
    done = week("forget", "--source", empty, *more)
    assert (done.code, memories(week)) == (2, 3)
    assert "--source is empty. Name a file or a folder" in done.err
    assert "forget()" not in done.err and "source=" not in done.err


def test_a_folder_without_memories_leads_to_no_larger_one(
    week: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``forget --source .`` where nothing was indexed names the folder, and suggests none above it."""
    (home / "notes").mkdir()
    (home / "report.md").write_text("prices of Zürich", encoding="utf-8")
    assert week("index", str(home / "report.md")).code == 0
    monkeypatch.chdir(home / "notes")
    said = week("forget", "--source", ".", "--dry-run").err
    assert f"Nothing in this store comes from '{home / 'notes'}'." in said
    assert "Did you mean '/" not in said


@pytest.mark.parametrize(("indexed", "named"), [("plink", "real/a"), ("real/a", "plink"), ("plink", "plink/b/..")])
def test_a_linked_folder_goes_by_each_of_its_names(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, indexed: str, named: str
) -> None:
    """Indexed by one name, it is listed, searched and forgotten by the other: --path, path: and --source."""
    (home / "real" / "a" / "b").mkdir(parents=True)
    (home / "real" / "a" / "one.md").write_text("prices of Zürich", encoding="utf-8")
    (home / "plink").symlink_to(home / "real" / "a")
    monkeypatch.chdir(home)
    assert run("index", indexed).code == 0
    for command in (["list"], ["search", "prices"]):
        done = run(*command, "--path", str(home / named))
        assert "one.md" in done.out and "Nothing" not in done.err
    assert "one.md" in run("search", f"path:{named}/one.md").out
    assert run("forget", "--source", str(home / named), "--yes").out == "forgot 1 memory\n"
