"""What %memory does with the store, and what it asks before several memories are forgotten."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from programs import running

from jupyter_memory.text import estimated_tokens

NAMES = [
    "status", "index", "update", "list", "open", "text", "explain", "related", "context", "tag", "good", "bad", "pin",
    "unpin", "forget", "undo", "history", "profile", "model", "config", "autoload", "doctor", "backup", "watch",
    "export", "import", "copy",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with two notes."""
    folder = tmp_path / "my reports"
    folder.mkdir()
    (folder / "prices.md").write_text("# Prices\n\nWe scaled the prices to zero mean.\n", encoding="utf-8")
    (folder / "müller.md").write_text("# Müller\n\nThe ridge model has λ = 0.3.\n", encoding="utf-8")
    return folder


def test_alone_it_lists_the_subcommands(shell) -> None:
    """`%memory` alone names every subcommand with a sentence; no line is broken in a window of 80 characters."""
    shown = shell.printed("%memory")
    assert {*NAMES} == set(re.findall(r"^ *%memory (\w+)", shown, re.MULTILINE))
    assert max(map(len, (shown + shell.printed("%memeval")).splitlines())) < 80
    assert "%memsearch?" in shell.ip.find_line_magic("memory").__doc__


@pytest.mark.parametrize("name", NAMES)
def test_each_has_help(shell, name: str) -> None:
    """A question mark or --help shows the help of a subcommand with its sentence, and does nothing else."""
    listed = shell.printed("%memory").partition(f"%memory {name} ")[2].splitlines()[0]
    shown = [shell.printed(f"%memory {name}{form}") for form in ("?", " --help", " ?")]
    assert shown[0] == shown[1] == shown[2] and f"%memory {name}" in shown[0]
    assert " ".join(listed.split()[-3:]) in " ".join(shown[0].split())


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("statsu", "Did you mean %memory status?"),
        ("search prices", "Did you mean %memsearch"),
        ("serach prices", "Did you mean %memsearch"),
        ("add λ = 0.3", "Did you mean %memadd"),
        ("eval", "Did you mean %memeval run"),
        ("delete 3f2a", "That is %memory forget"),
        ("restore müller.sqlite", "That is `jupyter-memory restore FILE` in a terminal"),
        ("status now", "takes nothing but options"),
    ],
)
def test_other_names_get_a_suggestion(shell, typed: str, said: str) -> None:
    """A name that is something else here is answered with what to type, also one for what cannot be undone."""
    assert said in shell.mistake(f"%memory {typed}")
    assert "backup" in shell.mistake("%memory statsu")


@pytest.mark.parametrize(
    "typed",
    [
        "related", "forgt", "fogret", "delet 3f2a", "remvoe 3f2a", "restor m.sqlite",
        "forget --everthing", "forget --serches", "forget --yess", "model use nomic --yse",
    ],
)  # fmt: skip
def test_no_guess_names_what_destroys(shell, typed: str) -> None:
    """A name or an option that is only near to what cannot be undone, or answers the question before, leads nowhere."""
    said = shell.mistake(f"%memory {typed}").partition("There are:")[0]
    if "--" in typed:
        assert "There is no option" in said and "Did you mean" not in said
    else:
        assert "forget" not in said and "restore FILE" not in said


def test_messages_name_commands_as_magics(shell) -> None:
    """A message that names a command names it as it is typed in a notebook."""
    noted = shell.noted("%memsearch λ")
    assert all(f"`%{line}`" in noted for line in ("memory index FOLDER", "memadd TEXT", "memory model use nomic"))
    assert "`%memory index FOLDER`" in shell.printed("%memory status")
    assert "not fetched: `%memory model use nomic`" in shell.printed("%memory model")


def test_what_is_told_of_a_store(week, home: Path) -> None:
    """`status` tells the file, the counts and the model, `model` that as well, and `config` each value's origin."""
    shown = week.printed("%memory status")
    assert all(part in shown for part in ("memory.sqlite", "5 (5 note)", "static (256 dimensions, 5 vectors)"))
    assert "static, 256 dimensions, 5 vectors" in week.printed("%memory model")
    week.run("%config JupyterMemory.limit = 3")
    lines = [line.split() for line in week.printed("%memory config").splitlines()]
    assert ["limit", "3", "this", "session"] in lines
    assert ["path", str(home / "data" / "memory" / "memory.sqlite"), "default"] in lines


def test_index_and_search(shell, folder: Path) -> None:
    """A folder is indexed and found, paths may come from variables and in either quotes; again, nothing has changed."""
    for name, wanted in (("index", "a folder"), ("backup", "the file")):
        assert f"Name {wanted}" in shell.mistake(f"%memory {name}")
    assert "2 files indexed" in shell.printed(f'%memory index "{folder}"')
    assert shell.run("%memsearch ridge λ").iloc[0]["source"].endswith("müller.md")
    assert "2 unchanged" in shell.printed(f"%memory index '{folder}'")
    shell.ip.user_ns["files"] = folder
    assert shell.printed('%memory index "{files}/prices.md" "$files/müller.md"').count("1 unchanged") == 2
    (folder / "new.md").write_text("Quagga", encoding="utf-8")
    assert "/nowhere/at/all" in shell.mistake(f'%memory index /nowhere/at/all "{folder}"')
    assert shell.titles("%memsearch quagga")[0] == "new.md"


def test_interrupted_indexing_says_what_is_in(shell, home: Path, halfway) -> None:
    """Ctrl-C ends indexing with one line and no traceback, and running it again completes it."""
    folder, stops, wait = halfway
    cell = f"{stops}\n%load_ext jupyter_memory\n%memory index {folder}"
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=nocolor", "-c", cell]
    with running(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as kernel:
        wait(kernel)
        kernel.send_signal(signal.SIGINT)
        out, err = kernel.communicate(timeout=100)
    assert re.search(r"Interrupted: the store holds [1-9][\d,]* memories of", out)
    assert "Traceback" not in out + err
    assert "failed" not in shell.printed(f"%memory index {folder}")
    assert len(shell.run("%memory list --kind file -n 5000")) == 1600


def test_forget_by_id_filter_source_and_all(week, folder: Path) -> None:
    """Ids, filters, a source and --everything choose what is forgotten; what fits nothing is told with the nearest."""
    week.run(f'%memory index "{folder}"')
    ids = week.ids("%memsearch -n 2 --tier note")
    for line, said in (
        (" ".join(ids), "forgot 2 memories\n"),
        ("--tag people", "forgot 1 memory\n"),
        (f'--source "{folder}" --yes', "forgot 2 memories\n"),
        ("--until 2026-03-02", "forgot 1 memory\n"),
        ("--tag nobody", "forgot 0 memories\n"),
        ("--everything --yes", "forgot 1 memory\n"),
    ):
        assert week.printed(f"%memory forget {line}").startswith(said), line


def test_a_filter_that_matches_nothing_is_reported(week) -> None:
    """A tag that nothing has is named, with the nearest one, in a list and before nothing is forgotten."""
    assert "has the tag 'peple'. Did you mean 'people'?" in week.noted("found = %memory list --tag peple")
    assert week.ip.user_ns["found"].empty
    assert "has the tag 'decisoin'. Did you mean 'decision'?" in week.noted("%memory forget --tag decisoin")
    assert week.titles("%memory list --tag people --tag decision") == ["Müller", "Prices"]
    assert week.run("%memory list -n 2;") is None


def test_files_that_come_back_and_do_not(week, folder: Path) -> None:
    """Whoever forgets files that are still there reads that they return, and what prevents it; both is so."""
    index, forget = f'%memory index "{folder}"', f'%memory forget --source "{folder}" --yes'
    week.run(index)
    assert ".jupytermemoryignore in it with the line *" in week.printed(forget)
    assert week.printed(forget) == "forgot 0 memories\n"
    assert "2 files indexed" in week.printed(index)
    said = week.printed(f'%memory forget --source "{folder}/müller.md"')
    assert "Its name in a file .jupytermemoryignore beside it" in said
    (folder / ".jupytermemoryignore").write_text("müller.md\n", encoding="utf-8")
    assert "0 files indexed" in week.printed(index)
    (folder / ".jupytermemoryignore").write_text("*\n", encoding="utf-8")
    week.run(forget)
    assert "0 files indexed" in week.printed(index)


def test_forgetting_everything_takes_a_yes(week) -> None:
    """Without --yes nothing goes, and the line says how many would, in a space those of the space."""
    week.run("%memadd the λ of Müller --space trial")
    assert "all 6 memories of" in (said := week.mistake("%memory forget --everything"))
    assert "%memory forget --everything --yes" in said
    assert len(week.run("%memsearch")) == 6
    week.run("%config JupyterMemory.space = 'trial'")
    assert "the 1 memory of the space 'trial'" in week.mistake("%memory forget --everything")
    week.run("%memory forget --everything --yes")
    week.run("%config JupyterMemory.space = ''")
    assert len(week.run("%memsearch")) == 5


def test_looking_makes_no_store_at_a_named_path(week, tmp_path: Path) -> None:
    """A path that is misspelt is said, with how to make a store there; only adding makes one."""
    path = tmp_path / "elsewhere.sqlite"
    week.run(f"%config JupyterMemory.path = '{path}'")
    for cell in ("%memsearch λ", "%memsearch", "%memory list", "%memory status", "%memory doctor"):
        assert f"There is no store at {path}" in week.mistake(cell)
    assert not path.exists()
    week.run("%memadd we set λ to 0.3")
    assert len(week.run("%memsearch λ")) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "Say what to forget"),
        *((f"--everything {more}", "leave the rest out") for more in ("3f2a9c1b2d4e5f60", "--tag people")),
        ("nosuchid", "nosuchid"),
        ("--tag", "expected one argument"),
    ],
)
def test_nothing_is_forgotten_by_accident(week, words: str, says: str) -> None:
    """Without a clear choice nothing is forgotten, and one line says what is missing."""
    assert says in week.mistake(f"%memory forget {words}")
    assert len(week.run("%memsearch")) == 5


def test_a_rank_is_not_forgotten(week) -> None:
    """Whoever forgets a result by its rank is told its id, in a line that can be typed; nothing is done."""
    found = week.ids("%memsearch prices of Müller, merged frames")
    said = week.mistake(f"%memory forget {found[0]} 2")
    assert "2 is a rank" in said and said.endswith(f": %memory forget {found[1]}")
    assert "no rank 9000" in week.mistake("%memory pin 9000")
    assert len(week.run("%memsearch")) == 5 and week.run("%memsearch --tier core").empty
    assert week.printed(f"%memory forget {found[1]}") == "forgot 1 memory\n"


def test_related(week) -> None:
    """A rank of the last search, or an id, gives the memories most like that one; it is not among them."""
    week.run("%memadd The prices were scaled by their mean for Zürich as well.")
    first = week.ids("%memsearch scaled prices")[0]
    by_rank, by_id = week.ids("%memory related 1"), week.ids(f"%memory related {first}")
    assert by_rank and first not in by_rank and by_rank == by_id


def test_context(week) -> None:
    """The results of the last search as a text for a prompt, which a cell shows with its line breaks."""
    assert "There is no search yet" in week.mistake("%memory context 2000")
    week.run("%memsearch how were the prices scaled")
    text = week.run("%memory context 500")
    assert "we scaled the prices to zero mean" in text
    assert "\n[1] note " in repr(text)
    assert text == week.run("text = %memory context 500\ntext")
    assert estimated_tokens(text) <= 500
    assert "prices" in week.run("%memory context")
    assert week.run("%memory context;") is None


@pytest.mark.parametrize("query", ["volcano eruptions in kamchatka", "prices --tag nobody"])
def test_context_after_a_search_that_found_nothing(week, query: str) -> None:
    """Where nothing answers, the text says so."""
    week.run(f"%memsearch {query}")
    said = f"The memory holds nothing that answers “{query.partition(' --')[0]}”."
    assert str(week.run("%memory context 300")).startswith(said[:-1])


@pytest.mark.parametrize("typed", ["0", "-3", "many", "199", "2_000x"])
def test_context_with_a_wrong_number(week, typed: str) -> None:
    """The error says what to type."""
    week.run("%memsearch prices")
    assert "200 or more, such as 2000" in week.mistake(f"%memory context {typed}")
    assert week.mistake("%memory context 300 400").startswith("%memory context takes TOKENS")


def test_explain(week) -> None:
    """A rank of the last search is explained, also after a look at the list, or a memory for a query."""
    assert "run %memsearch first" in week.mistake("%memory explain 1")
    [first, *_] = week.ids("%memsearch Müller ridge")
    week.run("%memsearch")
    for line in ("1", f'"Müller ridge" {first}', f"Müller ridge {first}"):
        assert "Rank 1 of" in week.printed(f"%memory explain {line}")
    for line, said in (("99", "no rank 99"), ("Müller nosuchid", "nosuchid"), ("", "a query and an id")):
        assert said in week.mistake(f"%memory explain {line}")


def test_doctor(week) -> None:
    """`doctor` finds a healthy store well, and an open one not."""
    assert week.printed("%memory doctor").endswith("All is well.\n")
    Path(week.run("%memsearch Müller").attrs["memsearch"]["store"]).chmod(0o644)
    assert "chmod 600" in week.printed("%memory doctor")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Give a function that sets what the person answers, and returns the list of questions."""

    def answer(said: str) -> list[str]:
        asked: list[str] = []
        monkeypatch.setattr("builtins.input", lambda question: (asked.append(question), said)[1])
        return asked

    return answer


@pytest.mark.parametrize("choice", ["--kind note", "--tag decision,people", "--since 2026-03-02", "--tier note"])
def test_several_are_forgotten_after_a_question(week, answers, choice: str) -> None:
    """The question says how many and what they are; anything but yes leaves all of them."""
    found = len(week.run(f"%memory list {choice} -n 50"))
    asked = answers("")
    assert week.printed(f"%memory forget {choice}").endswith("Nothing was done.\n")
    assert asked[0].startswith(f"Forget {found} memories ({found} note; 0 pinned, ")
    assert len(week.run("%memsearch")) == 5
    answers("y")
    assert week.printed(f"%memory forget {choice}").endswith(f"forgot {found} memories\n")


def test_one_memory_or_its_ids_need_no_question(week, answers) -> None:
    """One memory goes at once, however it was chosen, and so does what was named by id."""
    asked = answers("")
    week.run("%memory forget --tag people")
    week.run(f"%memory forget {' '.join(week.ids('%memsearch -n 2'))}")
    assert asked == [] and len(week.run("%memsearch")) == 2


def test_a_dry_run_shows_what_would_go(week, answers) -> None:
    """The result is a DataFrame of the memories, and all of them stay."""
    asked = answers("y")
    said = week.printed("frame = %memory forget --since 2026-03-04 --dry-run")
    assert "these would go: 3 memories (3 note; 0 pinned, 1 with tags)" in said
    frame = week.ip.user_ns["frame"]
    assert set(frame["title"]) == {"Merge", "Regex", "Status"}
    one = frame["memory_id"].iloc[0]
    assert f"would forget {one}" in week.printed(f"%memory forget {one} --dry-run")
    assert asked == [] and len(week.run("%memsearch")) == 5


def test_nobody_to_ask(week) -> None:
    """Where nobody can answer it is an error, with the line to type; that line does it."""
    said = week.mistake("%memory forget --tag decision,people")
    assert "would forget 2 memories (2 note; 0 pinned, 2 with tags), and there is nobody to ask" in said
    line = said.partition("To do it: ")[2]
    assert line == "%memory forget --tag decision,people --yes" and len(week.run("%memsearch")) == 5
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
