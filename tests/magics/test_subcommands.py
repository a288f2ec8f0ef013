"""What %memory does with the store."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from programs import running

from jupyter_memory.magics.subcommands import MEMORY
from jupyter_memory.text import estimated_tokens


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Give a folder with two notes."""
    folder = tmp_path / "my reports"
    folder.mkdir()
    (folder / "prices.md").write_text("# Prices\n\nWe scaled the prices to zero mean.\n", encoding="utf-8")
    (folder / "müller.md").write_text("# Müller\n\nThe ridge model has λ = 0.3.\n", encoding="utf-8")
    return folder


def printed(shell, capsys, cell: str) -> str:
    """Run a cell and return what it printed."""
    capsys.readouterr()
    shell.run(cell)
    return capsys.readouterr().out


def test_alone_it_lists_the_subcommands(shell, capsys) -> None:
    """`%memory` alone names every subcommand with a sentence."""
    shown = printed(shell, capsys, "%memory")

    names = "status index list explain related pin unpin forget profile model config autoload doctor backup"
    for name in names.split():
        assert f"%memory {name}" in shown


@pytest.mark.parametrize("name", list(MEMORY.commands()))
@pytest.mark.parametrize("form", ["%memory {}?", "%memory {} --help", "%memory {} ?"])
def test_each_has_help(shell, capsys, name: str, form: str) -> None:
    """A question mark or --help shows the help of a subcommand, and does nothing else."""
    shown = printed(shell, capsys, form.format(name))

    assert f"%memory {name}" in shown
    assert MEMORY.commands()[name].summary in shown


def test_an_unknown_one_lists_them_all(shell) -> None:
    """A name that does not exist gives a guess and the list."""
    said = shell.mistake("%memory statsu")

    assert "Did you mean %memory status?" in said
    assert "backup" in said


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("search prices", "%memsearch"),
        ("serach prices", "%memsearch"),
        ("add λ = 0.3", "%memadd"),
        ("eval", "%memeval run"),
        ("stauts", "%memory status"),
    ],
)
def test_other_names_get_a_suggestion(shell, typed: str, meant: str) -> None:
    """A name that is something else here is answered with what to type."""
    assert f"Did you mean {meant}" in shell.mistake(f"%memory {typed}")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("delete 3f2a", "%memory forget"), ("restore müller.sqlite", "`jupyter-memory restore FILE` in a terminal")],
)
def test_what_destroys_has_other_names(shell, typed: str, meant: str) -> None:
    """Who writes out another name for what cannot be undone is told how it is called here."""
    assert f"That is {meant}" in shell.mistake(f"%memory {typed}")


@pytest.mark.parametrize("typed", ["related", "forgt", "fogret", "delet 3f2a", "remvoe 3f2a", "restor m.sqlite"])
def test_no_guess_names_what_destroys(shell, typed: str) -> None:
    """A name that is only near to a command that cannot be undone does not lead there."""
    said = shell.mistake(f"%memory {typed}").partition("There are:")[0]
    assert "forget" not in said and "restore FILE" not in said


@pytest.mark.parametrize("line", ["forget --everthing", "forget --serches", "forget --yess", "model use nomic --yse"])
def test_no_guess_names_an_option_that_destroys(shell, line: str) -> None:
    """A misspelt option never leads to one that forgets more, or that answers the question before that."""
    said = shell.mistake(f"%memory {line}")
    assert "There is no option" in said and "Did you mean" not in said


def test_help_fits_a_narrow_window(shell, capsys) -> None:
    """The list of subcommands has no line that a window of 80 characters would break, and names the other magics."""
    for cell in ("%memory", "%memeval"):
        assert max(map(len, printed(shell, capsys, cell).splitlines())) < 80
    assert "%memsearch?" in shell.ip.find_line_magic("memory").__doc__


def test_messages_name_commands_as_magics(shell, capsys) -> None:
    """A message that names a command names it as it is typed in a notebook."""
    shell.run("%memsearch λ")
    noted = capsys.readouterr().err
    assert "`%memory index FOLDER`" in noted and "`%memadd TEXT`" in noted and "`%memory model use nomic`" in noted
    assert "`%memory index FOLDER`" in printed(shell, capsys, "%memory status")
    assert "not fetched: `%memory model use nomic`" in printed(shell, capsys, "%memory model")


def test_status(week, capsys) -> None:
    """`status` tells the file, the counts and the model."""
    shown = printed(week, capsys, "%memory status")

    assert "memory.sqlite" in shown
    assert "5 (5 note)" in shown
    assert "static (256 dimensions, 5 vectors)" in shown


def test_index_and_search(shell, folder: Path, capsys) -> None:
    """A folder is indexed and found; indexed again, nothing has changed."""
    assert "2 files indexed" in printed(shell, capsys, f'%memory index "{folder}"')
    assert shell.run("%memsearch ridge λ").iloc[0]["source"].endswith("müller.md")
    assert "2 unchanged" in printed(shell, capsys, f'%memory index "{folder}"')


def test_index_several_paths_by_variable(shell, folder: Path, capsys) -> None:
    """Paths may come from variables, as everywhere in IPython."""
    shell.ip.user_ns["files"] = folder
    shown = printed(shell, capsys, '%memory index "{files}/prices.md" "$files/müller.md"')

    assert shown.count("1 file indexed") == 2


def test_index_wants_a_path(shell) -> None:
    """Without a path, or with one that is not there, one line says so."""
    assert "Name a folder" in shell.mistake("%memory index")
    assert "nowhere" in shell.mistake("%memory index /nowhere/at/all")


def test_index_of_several_with_a_mistake(shell, folder: Path, capsys) -> None:
    """A path that cannot be indexed is told, and the one behind it is indexed."""
    mistake = shell.mistake(f'%memory index /nowhere/at/all "{folder}"')

    assert "/nowhere/at/all" in mistake and len(shell.run("%memsearch ridge λ"))


def test_interrupted_indexing_says_what_is_in(shell, home: Path, capsys, halfway) -> None:
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
    assert "failed" not in printed(shell, capsys, f"%memory index {folder}")
    assert len(shell.run("%memory list --kind file -n 5000")) == 1600


def test_forget_by_id(week, capsys) -> None:
    """Ids are forgotten, and how many is said."""
    ids = week.run("%memsearch -n 2")["memory_id"].tolist()

    assert printed(week, capsys, f"%memory forget {ids[0]} {ids[1]}") == "forgot 2 memories\n"
    assert len(week.run("%memsearch")) == 3


def test_forget_by_filter_source_and_all(week, folder: Path, capsys) -> None:
    """Filters, a source and --everything choose what is forgotten."""
    week.run(f'%memory index "{folder}"')

    assert printed(week, capsys, "%memory forget --tag people") == "forgot 1 memory\n"
    forget = f'%memory forget --source "{folder}" --yes'
    assert printed(week, capsys, forget).startswith("forgot 2 memories\n")
    assert printed(week, capsys, "%memory forget --until 2026-03-02") == "forgot 1 memory\n"
    assert printed(week, capsys, "%memory forget --everything --yes") == "forgot 3 memories\n"


def test_files_that_come_back_and_do_not(week, folder: Path, capsys) -> None:
    """Whoever forgets files that are still there reads that they return, and what prevents it; both is so."""
    week.run(f'%memory index "{folder}"')
    forget = f'%memory forget --source "{folder}" --yes'
    assert ".jupytermemoryignore in it with the line *" in printed(week, capsys, forget)
    assert printed(week, capsys, forget) == "forgot 0 memories\n"
    assert "2 files indexed" in printed(week, capsys, f'%memory index "{folder}"')
    said = printed(week, capsys, f'%memory forget --source "{folder}/müller.md"')
    assert "Its name in a file .jupytermemoryignore beside it" in said
    (folder / ".jupytermemoryignore").write_text("müller.md\n", encoding="utf-8")
    assert "0 files indexed" in printed(week, capsys, f'%memory index "{folder}"')
    (folder / ".jupytermemoryignore").write_text("*\n", encoding="utf-8")
    week.run(forget)
    assert "0 files indexed" in printed(week, capsys, f'%memory index "{folder}"')


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


def test_a_list_says_what_a_filter_misses(week, capsys) -> None:
    """A tag that nothing has is named, with the nearest one."""
    capsys.readouterr()
    assert week.run("%memory list --tag peple").empty

    assert "has the tag 'peple'. Did you mean 'people'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%memory forget", "Say what to forget"),
        ("%memory forget --everything 3f2a9c1b2d4e5f60", "leave the rest out"),
        ("%memory forget --everything --tag people", "leave the rest out"),
        ("%memory forget nosuchid", "nosuchid"),
        ("%memory forget --tag", "expected one argument"),
    ],
)
def test_nothing_is_forgotten_by_accident(week, cell: str, says: str) -> None:
    """Without a clear choice nothing is forgotten, and one line says what is missing."""
    assert says in week.mistake(cell)
    assert len(week.run("%memsearch")) == 5


def test_pin_and_unpin(week, capsys) -> None:
    """A pinned memory is core until it is unpinned."""
    memory_id = week.run("%memsearch Müller -n 1")["memory_id"].iloc[0]

    assert printed(week, capsys, f"%memory pin {memory_id}") == f"pinned {memory_id} “Müller”\n"
    assert week.run("%memsearch --tier core")["title"].tolist() == ["Müller"]
    assert printed(week, capsys, f"%memory unpin {memory_id}") == f"unpinned {memory_id} “Müller”\n"
    assert week.run("%memsearch --tier core").empty


def test_a_rank_is_not_forgotten(week, capsys) -> None:
    """Whoever forgets a result by its rank is told its id, in a line that can be typed; nothing is done."""
    found = week.run("%memsearch prices of Müller, merged frames")["memory_id"].tolist()

    said = week.mistake(f"%memory forget {found[0]} 2")
    assert "2 is a rank" in said and said.endswith(f": %memory forget {found[1]}")
    assert "no rank 9000" in week.mistake("%memory pin 9000")
    assert len(week.run("%memsearch")) == 5 and week.run("%memsearch --tier core").empty
    assert printed(week, capsys, f"%memory forget {found[1]}") == "forgot 1 memory\n"


def test_nothing_forgotten_says_why(week, capsys) -> None:
    """A tag or a source that nothing has is told, with the nearest that would do."""
    capsys.readouterr()
    week.run("%memory forget --tag decisoin")
    said = capsys.readouterr()

    assert said.out == "forgot 0 memories\n"
    assert "has the tag 'decisoin'. Did you mean 'decision'?" in said.err


def test_list(week) -> None:
    """`list` gives a DataFrame by filters."""
    assert week.titles("%memory list --tag people --tag decision") == ["Müller", "Prices"]
    assert week.run("%memory list -n 2;") is None


def test_related(week) -> None:
    """A rank of the last search, or an id, gives the memories most like that one; it is not among them."""
    assert "There is no search yet" in week.mistake("%memory related 1")
    week.run("%memadd The prices were scaled by their mean for Zürich as well.")
    found = week.run("%memsearch scaled prices")
    first = found.loc[1, "memory_id"]

    by_rank, by_id = week.run("%memory related 1"), week.run(f"%memory related {first}")
    assert len(by_rank) and first not in by_rank["memory_id"].tolist()
    assert by_rank["memory_id"].tolist() == by_id["memory_id"].tolist()
    assert "no rank 99" in week.mistake("%memory related 99")
    assert week.mistake("%memory related").startswith("Name a rank of the last results, or an id")


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


def test_context_after_a_search_that_found_nothing(week) -> None:
    """Where nothing answers, the text says so."""
    week.run("%memsearch volcano eruptions in kamchatka")
    assert week.run("%memory context") == "The memory holds nothing that answers “volcano eruptions in kamchatka”."
    week.run("%memsearch prices --tag nobody")
    assert "holds nothing that answers “prices”" in week.run("%memory context 300")


@pytest.mark.parametrize("typed", ["0", "-3", "many", "199", "2_000x"])
def test_context_with_a_wrong_number(week, typed: str) -> None:
    """The error says what to type."""
    week.run("%memsearch prices")

    assert "200 or more, such as 2000" in week.mistake(f"%memory context {typed}")
    assert week.mistake("%memory context 300 400").startswith("%memory context takes TOKENS")


def test_explain(week, capsys) -> None:
    """A rank of the last search is explained, or a memory for a query."""
    found = week.run("%memsearch Müller ridge")

    assert "Rank 1 of" in printed(week, capsys, "%memory explain 1")
    last = found["memory_id"].iloc[0]
    assert "Rank 1 of" in printed(week, capsys, f'%memory explain "Müller ridge" {last}')
    assert "Rank 1 of" in printed(week, capsys, f"%memory explain Müller ridge {last}")


def test_browsing_does_not_replace_the_last_search(week, capsys) -> None:
    """`explain RANK` speaks of the last search, also after a look at the list."""
    week.run("%memsearch Müller ridge")
    week.run("%memsearch")

    assert "Rank 1 of" in printed(week, capsys, "%memory explain 1")


def test_explain_mistakes(week) -> None:
    """Explaining what is not there is one line."""
    assert "run %memsearch first" in week.mistake("%memory explain 1")
    week.run("%memsearch Müller -n 1")
    assert "no rank 9" in week.mistake("%memory explain 9")
    assert "nosuchid" in week.mistake("%memory explain Müller nosuchid")
    assert "a query and an id" in week.mistake("%memory explain")


def test_profile(week, capsys) -> None:
    """`profile` lists the profiles, marks the active one, and sets it for the session."""
    assert "*  auto" in printed(week, capsys, "%memory profile")
    assert "*  trovella" in printed(week, capsys, "%memory profile trovella")
    assert week.run("%memsearch Müller").attrs["memsearch"]["profile"] == "trovella"
    assert "Did you mean 'trovella'" in week.mistake("%memory profile trovela")


def test_model(week, capsys) -> None:
    """`model` lists the models, and below them the one of the store."""
    assert "static, 256 dimensions, 5 vectors" in printed(week, capsys, "%memory model")


def test_config(shell, home: Path, capsys) -> None:
    """`config` shows each value and where it came from."""
    shell.run("%config JupyterMemory.limit = 3")
    lines = printed(shell, capsys, "%memory config").splitlines()

    assert ["limit", "3", "this", "session"] in [line.split() for line in lines]
    assert ["path", str(home / "data" / "memory" / "memory.sqlite"), "default"] in [line.split() for line in lines]


def test_doctor(week, capsys) -> None:
    """`doctor` finds a healthy store well, and an open one not."""
    assert printed(week, capsys, "%memory doctor").endswith("All is well.\n")

    path = Path(week.run("%memsearch Müller").attrs["memsearch"]["store"])
    path.chmod(0o644)
    assert "chmod 600" in printed(week, capsys, "%memory doctor")


def test_backup(week, tmp_path: Path, capsys) -> None:
    """A backup is a store of its own, and never overwrites."""
    assert printed(week, capsys, f"%memory backup {tmp_path}/copy.sqlite") == f"copied to {tmp_path}/copy.sqlite\n"
    assert "exists already" in week.mistake(f"%memory backup {tmp_path}/copy.sqlite")
    assert "Name the file" in week.mistake("%memory backup")
    week.run(f"%config JupyterMemory.path = '{tmp_path}/copy.sqlite'")
    assert len(week.run("%memsearch")) == 5


def test_words_where_none_belong(shell) -> None:
    """A subcommand without arguments refuses some."""
    assert "takes nothing but options" in shell.mistake("%memory status now")
