"""What %memory does with the store and with single results, and what it asks before several memories are forgotten."""

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
from small_notebooks import write

from jupyter_memory.text import estimated_tokens

NAMES = [
    "status", "index", "update", "list", "open", "text", "explain", "related", "context", "tag", "good", "bad", "pin",
    "unpin", "forget", "undo", "history", "profile", "model", "config", "autoload", "doctor", "backup", "watch",
    "store", "export", "import", "copy", "move", "insert", "verify", "versions", "runs", "folders",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "my reports"
    folder.mkdir()
    (folder / "prices.md").write_text("# Prices\n\nWe scaled the prices to zero mean.\n", encoding="utf-8")
    (folder / "müller.md").write_text("# Müller\n\nThe ridge model has λ = 0.3.\n", encoding="utf-8")
    return folder


def test_folders_are_described_and_hidden(shell, folder: Path) -> None:
    """A line about a folder comes with its hits, and a folder is hidden and shown again; what is no folder is said."""
    assert "No folder is indexed yet: %memory index FOLDER" in shell.printed("%memory folders")
    shell.run(f'%memory index "{folder}"')
    shell.run(f'%memory folders describe "{folder}" "reports of 2025, superseded"')
    assert set(shell.run("%memsearch prices")["folder_description"]) == {"reports of 2025, superseded"}
    assert f"{folder} is hidden" in shell.printed(f'%memory folders hide "{folder}"')
    listed = " ".join(shell.printed("%memory folders").split())
    assert listed == f"{folder} 2 memories hidden reports of 2025, superseded"
    assert f"Below {folder}, 2 memories are hidden" in shell.noted("%memsearch prices")
    assert len(shell.run(f'%memsearch --path "{folder}" prices'))
    assert "is searched again" in shell.printed(f'%memory folders hide --off "{folder}"')
    assert "has no description" in shell.printed(f'%memory folders describe "{folder}" --off')
    for line, said in (
        ("describe", "Name an indexed folder"), (f'describe "{folder}"', "Say what is in the folder"),
        ("hide /nowhere", "was indexed. Check the path"), ("hid x", "is followed by list, describe PATH TEXT"),
    ):  # fmt: skip
        assert said in shell.mistake(f"%memory folders {line}")


def test_alone_it_lists_the_subcommands(shell) -> None:
    """`%memory` alone names every subcommand with a sentence; no line is broken in a window of 80 characters."""
    shown = shell.printed("%memory")
    assert {*NAMES} == set(re.findall(r"^ *%memory (\w+)", shown, re.MULTILINE))
    assert max(map(len, (shown + shell.printed("%memeval")).splitlines())) < 80
    assert "%memsearch?" in shell.ip.find_line_magic("memory").__doc__


def test_each_has_help(shell) -> None:
    listed = shell.printed("%memory")
    for name in NAMES:
        line = listed.partition(f"%memory {name} ")[2].splitlines()[0]
        shown = [shell.printed(f"%memory {name}{form}") for form in ("?", " --help", " ?")]
        assert shown[0] == shown[1] == shown[2] and f"%memory {name}" in shown[0], name
        assert " ".join(line.split()[-3:]) in " ".join(shown[0].split()), name


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("statsu", "Did you mean %memory status?"), ("search prices", "Did you mean %memsearch"),
        ("serach prices", "Did you mean %memsearch"), ("add λ = 0.3", "Did you mean %memadd"),
        ("eval", "Did you mean %memeval run"), ("delete 3f2a", "That is %memory forget"),
        ("restore müller.sqlite", "That is `jupyter-memory restore FILE` in a terminal"),
        ("status now", "takes nothing but options"), ("model use", "Name the model"),
        ("model fetch nomic", "is followed by nothing, list, use NAME, drop, drop NAME or remove NAME"),
        ("model drop nomic", "no vectors of 'nomic'"), ("model drop one two", "is followed by"),
    ],
)  # fmt: skip
def test_other_names_get_a_suggestion(shell, typed: str, said: str) -> None:
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


def test_what_is_told_of_a_store(week, home: Path) -> None:
    """`status` and `model` tell file, counts and model, `config` each value's origin, `doctor` what is wrong."""
    shown = week.printed("%memory status")
    assert all(part in shown for part in ("memory.sqlite", "5 (5 note)", "static (256 dimensions, 5 vectors)"))
    assert "static, 256 dimensions, 5 vectors" in week.printed("%memory model")
    week.run("%config JupyterMemory.limit = 3")
    lines = [line.split() for line in week.printed("%memory config").splitlines()]
    assert ["limit", "3", "this", "session"] in lines
    assert ["path", str(home / "data" / "memory" / "memory.sqlite"), "default"] in lines
    assert week.printed("%memory doctor").endswith("All is well.\n")
    Path(week.run("%memsearch Müller").attrs["memsearch"]["store"]).chmod(0o644)
    assert "chmod 600" in week.printed("%memory doctor")


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
    """Without --yes nothing goes, and the line says how many would, in a space those of the space; nor by accident."""
    week.run("%memadd the λ of Müller --space trial")
    for words, says in (
        ("", "Say what to forget"),
        ("--everything 3f2a9c1b2d4e5f60", "leave the rest out"),
        ("--everything --tag people", "leave the rest out"),
        ("nosuchid", "nosuchid"),
        ("--tag", "expected one argument"),
    ):
        assert says in week.mistake(f"%memory forget {words}")
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


def test_a_rank_is_not_forgotten(week) -> None:
    """Whoever forgets a result by its rank is told its id, in a line that can be typed; nothing is done."""
    found = week.ids("%memsearch prices of Müller, merged frames")
    said = week.mistake(f"%memory forget {found[0]} 2")
    assert "2 is a rank" in said and said.endswith(f": %memory forget {found[1]}")
    assert "no rank 9000" in week.mistake("%memory pin 9000")
    assert len(week.run("%memsearch")) == 5 and week.run("%memsearch --tier core").empty
    assert week.printed(f"%memory forget {found[1]}") == "forgot 1 memory\n"


def test_context(week) -> None:
    assert "There is no search yet" in week.mistake("%memory context 2000")
    week.run("%memsearch how were the prices scaled")
    text = week.run("%memory context 500")
    assert "we scaled the prices to zero mean" in text
    assert "\n[1] note " in repr(text)
    assert text == week.run("text = %memory context 500\ntext")
    assert estimated_tokens(text) <= 500
    assert "prices" in week.run("%memory context")
    assert week.run("%memory context;") is None
    for typed in ("0", "-3", "many", "199", "2_000x"):
        assert "200 or more, such as 2000" in week.mistake(f"%memory context {typed}")
    assert week.mistake("%memory context 300 400").startswith("%memory context takes TOKENS")


def test_explain(week) -> None:
    """A rank of what was ranked last is explained, also after a list or `related`, or a memory for a query."""
    assert "run %memsearch first" in week.mistake("%memory explain 1")
    [first, *_] = week.ids("%memsearch Müller ridge")
    week.run("%memsearch")
    for line in ("1", f'"Müller ridge" {first}', f"Müller ridge {first}"):
        assert "Rank 1 of" in week.printed(f"%memory explain {line}")
    for line, said in (("99", "no rank 99"), ("Müller nosuchid", "nosuchid"), ("", "a query and an id")):
        assert said in week.mistake(f"%memory explain {line}")
    week.run("%memadd the prices were scaled by their mean")
    asked = week.run("%memsearch scaled prices")
    near = week.run("%memory related 1 -n 1")
    assert len(near) == 1 and near["score"].iloc[0] != pytest.approx(asked["score"].iloc[0], abs=1e-5)
    assert f"score {near['score'].iloc[0]:.6f}" in week.printed("%memory explain 1")
    assert "1 result, so there is no rank 2" in week.mistake("%memory explain 2")
    week.run("%memsearch scaled prices")
    week.run("%memory list")
    assert f"score {asked['score'].iloc[0]:.6f}" in week.printed("%memory explain 1")


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Give a function that sets what the person answers, and returns the list of questions."""

    def answer(said: str) -> list[str]:
        asked: list[str] = []
        monkeypatch.setattr("builtins.input", lambda question: (asked.append(question), said)[1])
        return asked

    return answer


@pytest.mark.parametrize("choice", ["--kind note", "--tag decision,people", "--until 2026-03-04"])
def test_several_are_forgotten_after_a_question(week, answers, choice: str) -> None:
    """The question says how many and what they are; anything but yes leaves all of them."""
    found = len(week.run(f"%memory list {choice} -n 50"))
    asked = answers("")
    assert week.printed(f"%memory forget {choice}").endswith("Nothing was done.\n")
    assert asked[0].startswith(f"Forget {found} memories ({found} note; 0 pinned, ")
    assert len(week.run("%memsearch")) == 5
    answers("y")
    assert week.printed(f"%memory forget {choice}").endswith(f"forgot {found} memories\n")


def test_a_dry_run_shows_what_would_go(week, answers) -> None:
    """A dry run returns the memories and keeps them; one memory, or what was named by id, goes without a question."""
    asked = answers("y")
    said = week.printed("frame = %memory forget --since 2026-03-04 --dry-run")
    assert "these would go: 3 memories (3 note; 0 pinned, 1 with tags)" in said
    frame = week.ip.user_ns["frame"]
    assert set(frame["title"]) == {"Merge", "Regex", "Status"}
    one = frame["memory_id"].iloc[0]
    assert f"would forget {one}" in week.printed(f"%memory forget {one} --dry-run")
    assert asked == [] and len(week.run("%memsearch")) == 5
    asked = answers("")
    week.run("%memory forget --tag people")
    week.run(f"%memory forget {' '.join(week.ids('%memsearch -n 2'))}")
    assert asked == [] and len(week.run("%memsearch")) == 2


@pytest.mark.usefixtures("home")
def test_a_notebook_that_runs_by_itself_stops(tmp_path: Path) -> None:
    """A kernel whose front end takes no input refuses, so that nothing after it goes on as if it had happened."""
    cells = ("%load_ext jupyter_memory", "%memadd λ is 3.2", "%memadd μ is 4", "%memory forget --kind note")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("\n".join(cells))])
    client = NotebookClient(notebook, timeout=600, startup_timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(CellExecutionError, match=r"nobody to ask\. To do it: %memory forget --kind note --yes"):
        client.execute()


# Has four hits or more.
QUESTION = (
    "how were prices scaled, how to merge frames on customer, what does Müller want, dates match, the server answers"
)
VERBS = ("open", "text", "tag", "related", "good", "bad", "pin", "unpin")


@pytest.mark.parametrize("verb", VERBS)
def test_what_goes_wrong_says_what_to_type(week, verb: str) -> None:
    """No search yet, no word, no such rank, a range that runs backwards, an unknown id, a memory that is gone."""
    tag = " decision" if verb == "tag" else ""
    assert "No search is kept" in week.mistake(f"%memory {verb} 1{tag}")
    assert f"%memory {verb}" in week.mistake(f"%memory {verb}")
    found = week.ids(f"%memsearch {QUESTION}")
    assert ("Name the hits" if tag else "Name a rank") in week.mistake(f'%memory {verb} ""{tag}')
    assert f"has {len(found)} results, so there is no rank 99." in week.mistake(f"%memory {verb} 99{tag}")
    assert "there is no rank 0." in week.mistake(f"%memory {verb} 0{tag}")
    assert "write 1-2" in week.mistake(f"%memory {verb} 2-1{tag}")
    said = "Name the hits" if tag else "'three' is neither a rank, such as 1 or 1-3, nor the id of a memory"
    assert said in week.mistake(f"%memory {verb} three{tag}")
    with week.store() as store:
        store.forget(found[0])
    assert f"Rank 1 of the last results ({found[0]}) is gone" in week.mistake(f"%memory {verb} 1{tag}")
    week.run("%memsearch prices --kind file")
    assert "has no results" in week.mistake(f"%memory {verb} 1{tag}")


def test_texts(week) -> None:
    week.run("%memsearch --scan scaled prices")
    text = week.run("text = %memory text 1\ntext")
    assert text == repr(text) == "we scaled the prices to zero mean"
    found = week.ids("%memory list -n 5")
    lines = str(week.run("%memory text 3-4 1")).splitlines()
    assert [line[:5] for line in lines if line.startswith("──")] == ["── 3 ", "── 4 ", "── 1 "]
    assert week.run("%memory text 1,3-4") == week.run("%memory text 1 3 4") == week.run("%memory text 1-1 3 4 1")
    with week.store() as store:
        before = store.get(found[4]).accessed
        assert week.run(f"%memory text {found[4]}") == week.run("%memory text 5")
        assert store.get(found[4]).accessed == before + 2
    assert week.run("%memory text 1;") is None


def test_code_is_inserted_with_what_it_needs(week, tmp_path) -> None:
    """The next cell has the code of a hit and what it needs, without what the kernel has; text and df show it too."""
    week.run(f"%memory index {write(tmp_path / 'quagga.ipynb', 'λ = 2', 'ü = λ + 1', 'quagga = λ * ü')}")
    week.run("df = %memsearch quagga")
    whole = "# Cell 1 of quagga.ipynb defines λ.\nλ = 2\n\n# Cell 2 of quagga.ipynb defines ü.\nü = λ + 1"
    whole += "\n\n# Cell 3 of quagga.ipynb, the one that was found.\nquagga = λ * ü"
    assert week.run("%memory text 1 --runnable") == week.run("df.memory.runnable(1)") == whole
    week.run("λ = 7")
    week.run("%memory insert 1")
    inserted = week.ip.rl_next_input
    assert inserted.startswith("# Not added, since the kernel has them: λ.\n\n# Cell 2") and "λ = 2" not in inserted
    assert "Name one rank" in week.mistake("%memory insert 1-2")


def test_ranks_are_those_of_what_is_on_the_screen(week) -> None:
    """After a list or the results of `related`, a rank is one of theirs."""
    week.run("%memsearch prices")
    listed = week.ids("%memory list")
    assert week.run("%memory text 2") == week.run(f"%memory text {listed[1]}")
    related = week.ids(f"%memory related {listed[0]}")
    week.ids("%memory list")
    assert week.ids("%memory related 1") == related and listed[0] not in related
    assert week.run("%memory text 1") == week.run(f"%memory text {related[0]}")


def test_tags_and_pins(week) -> None:
    found = week.ids("%memsearch -n 5")
    assert week.printed("%memory tag 1-2 to read, idea").count("tagged to read, idea") == 2
    with week.store() as store:
        assert set(store.get(found[0]).tags) >= {"to read", "idea"}
    for line, said in (
        ('1 "to read"', "has the tag"),
        ('1 "To Read" --remove', "no longer tagged to read"),
        ("1 nosuch --remove", "lacks the tag"),
        ("1 2026", "2026"),
    ):
        assert said in week.printed(f"%memory tag {line}")
    for line in ("1 2", "1"):
        assert "Name the hits, and then the tag" in week.mistake(f"%memory tag {line}")
    found = week.ids("%memsearch -n 5")
    said = week.printed("%memory pin 2 4")
    assert said.splitlines()[0].startswith(f"pinned {found[1]}") and found[3] in said
    assert set(week.ids("%memsearch --tier core")) == {found[1], found[3]}
    assert week.printed(f"%memory unpin {found[3]}") == f"unpinned {found[3]} “Müller”\n"
    assert week.printed(f"%memory unpin {found[3]}") == f"was not pinned: {found[3]} “Müller”\n"
    assert week.ids("%memsearch --tier core") == [found[1]]


def test_feedback(week) -> None:
    """Right and wrong are noted for the question; a list answers none, and a setting may forbid it."""
    found = week.ids(f"%memsearch {QUESTION}")
    assert week.printed("%memory good 1").startswith(f"noted as right for “{QUESTION[:50]}")
    week.run("%memory bad 2-3")
    with week.store() as store:
        said = {(one.memory_id, one.accepted, one.rank, one.query) for one in store.feedbacks()}
    assert said == {(found[0], True, 1, QUESTION), *((found[n - 1], False, n, QUESTION) for n in (2, 3))}
    # Only this verdict is taken back, and nothing that %memeval keeps.
    week.run("%memeval add 1 4")
    right, wrong = week.printed("%memory good --remove 1 2").splitlines()
    assert right.startswith("no longer noted as right for “") and wrong.startswith("was not noted as right for “")
    assert week.printed("%memory bad --remove 4").startswith("was not noted as wrong for “")
    with week.store() as store:
        assert {one.memory_id for one in store.feedbacks()} == {*found[1:3]}
    assert "2 right" in week.printed("%memeval list")
    for line in ("%memory list", "%memsearch --tag decision", f"%memory related {found[0]}"):
        week.run(f"%memsearch {QUESTION}")
        week.run(line)
        for judged in ("%memory good 1", "%memeval add 1"):
            assert "The last list answers no question" in week.mistake(judged)
    [one] = week.ids(f"%memsearch {QUESTION} -n 1")
    [other] = [memory for memory in found[:2] if memory != one]
    assert "not among the results" in week.mistake(f"%memory good {other}")
    week.run("%config JupyterMemory.log_searches = False")
    assert "log_searches is off" in week.mistake("%memory good 1")


@pytest.mark.parametrize("everything", [True, False])
def test_a_forgotten_question_does_not_come_back(week, everything: bool) -> None:
    """With the searches, or a memory that was shown, the answer goes: nothing notes its question again."""
    [one, *_] = week.ids("%memsearch prices of the Walrossherde")
    week.run("%memory forget --searches" if everything else f"%memory forget {one}")
    for line in ("good 1", "tag 1 decision", "pin 1"):
        assert "No search is kept, so there are no ranks" in week.mistake(f"%memory {line}")
    assert "run %memsearch first" in week.mistake("%memory explain 1")
    assert "run %memsearch first" in week.mistake("%memory context")
    assert "run %memsearch first" in week.mistake("%memeval add 1")
    assert "empty" in week.printed("%memeval list")
    with week.store() as store:
        assert not any("Walrossherde" in repr(said) for said in (store.recent(), store.feedbacks()))


def test_what_was_not_forgotten_stays_shown(week) -> None:
    [one] = week.ids("%memsearch scaled prices -n 1")
    [other] = [each for each in week.ids("%memory list -n 2") if each != one][:1]
    week.run("%memsearch scaled prices -n 1")
    week.run("%memory forget --searches --dry-run")
    week.run(f"%memory forget {other}")
    assert "noted as right" in week.printed("%memory good 1")


def test_opening(week, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal the editor opens the file at the line; a note has no file, and a file may be gone."""
    week.run("%memsearch prices")
    said = week.mistake("%memory open 1")
    assert "There is no file to open" in said and "%memory text " in said
    script = tmp_path / "fit.py"
    script.write_text("import numpy\n\n\ndef ridge_fit(x):\n    return x\n", encoding="utf-8")
    week.run(f"%memory index {script}")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "echo")
    week.run("%memsearch ridge_fit --kind file")
    assert str(script) in week.printed("%memory open 1")
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert "cannot be started" in week.mistake("%memory open 1")
    monkeypatch.delenv("EDITOR")
    assert "\nTo open it in an editor, name one" in week.printed("%memory open 1")
    script.unlink()
    assert "no longer exists" in week.mistake("%memory open 1")


def test_update(week, tmp_path: Path, capsys) -> None:
    """The known folders are indexed again; one that is not there is left alone, and without any it says what to do."""
    assert "Nothing was indexed yet" in week.mistake("%memory update")
    folders = [tmp_path / "λ", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
        (folder / "a.md").write_text("# Prices\n", encoding="utf-8")
        week.run(f"%memory index {folder}")
    (folders[0] / "new.md").write_text("# Walross\n", encoding="utf-8")
    folders[1].rename(tmp_path / "elsewhere")
    capsys.readouterr()
    week.run("%memory update")
    shown = capsys.readouterr()
    assert f"{folders[0]}\n1 file indexed" in shown.out and f"{folders[1]} is not there now" in shown.err
    assert "new.md" in week.titles("%memsearch Walross")


def test_undo(week) -> None:
    """Off, it says how to turn it on; on, `forget` says that the texts are still there, and undo brings them back."""
    [memory] = week.ids("%memsearch zero mean -n 1")
    assert "undo_minutes is 0" in week.mistake("%memory undo")
    week.run("%config JupyterMemory.undo_minutes = 10")
    assert "There was nothing that `undo` could bring back" in week.printed("%memory forget --now")
    said = week.printed(f"%memory forget {memory}")
    assert "%memory undo brings it back, and its texts are still in the file" in said
    assert "undo " in week.printed("%memory status") and week.run("%memsearch --tag decision").empty
    assert week.printed("%memory undo") == "brought back 1 memory\n"
    assert week.ids("%memsearch --tag decision") == [memory]

    assert "still in the file" not in week.printed(f"%memory forget {memory} --now")
    assert "nothing to take back" in week.mistake("%memory undo")
    [other] = week.ids("%memsearch Müller -n 1")
    week.run(f"%memory forget {other}")
    assert week.printed("%memory forget --now") == "removed for good what `undo` could bring back: 1 memory\n"
    assert "nothing to take back" in week.mistake("%memory undo") and len(week.run("%memsearch")) == 3


def test_the_time_of_an_undo_has_bounds(week) -> None:
    """More than a month is refused, since no timer waits for centuries; another day than today is named."""
    [memory] = week.ids("%memsearch zero mean -n 1")
    week.run("%config JupyterMemory.undo_minutes = 1e9")
    assert "undo_minutes is 0" in week.mistake("%memory undo")
    week.run("%config JupyterMemory.undo_minutes = 43200")
    said = week.printed(f"%memory forget {memory}")
    assert re.search(r"Until \d{4}-\d\d-\d\d \d\d:\d\d, %memory undo brings it back", said)


def test_a_link_in_a_notebook(home: Path, tmp_path: Path) -> None:
    new, cell = nbformat.v4.new_notebook, nbformat.v4.new_code_cell
    source = new(cells=[cell("ridge_fit(λ)"), cell("ridge_plot(λ)")])
    nbformat.write(source, tmp_path / "a.ipynb")
    lines = ("%load_ext jupyter_memory", f"%memory index {tmp_path}/a.ipynb", "%memsearch ridge_fit ridge_plot")
    notebook = new(cells=[cell(line) for line in (*lines, "%memory open 1-2")])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = notebook.cells[3].outputs[0]["data"]["text/html"]
    assert shown.count('href="a.ipynb#cell-id=') == shown.count('class="jp-Memory-openSource" data-memory="') == 2
    assert all(one.id in shown for one in source.cells)
