"""What a person does with single results: open, text, tag, good, bad, several at once; and undo."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

# Has four hits or more.
QUESTION = (
    "how were prices scaled, how to merge frames on customer, what does Müller want, dates match, the server answers"
)
VERBS = ("open", "text", "tag", "related", "good", "bad", "pin", "unpin")


def printed(shell, capsys, cell: str) -> str:
    """Run a cell and return what it printed."""
    capsys.readouterr()
    shell.run(cell)
    return capsys.readouterr().out


def ids(shell, cell: str) -> list[str]:
    found: list[str] = shell.run(cell)["memory_id"].tolist()
    return found


@pytest.mark.parametrize("verb", VERBS)
def test_what_goes_wrong_says_what_to_type(week, verb: str) -> None:
    """No search yet, no word, no such rank, a range that runs backwards, an unknown id, a memory that is gone."""
    tag = " decision" if verb == "tag" else ""
    assert "There is no search yet" in week.mistake(f"%memory {verb} 1{tag}")
    assert f"%memory {verb}" in week.mistake(f"%memory {verb}")
    found = ids(week, f"%memsearch {QUESTION}")
    assert f"has {len(found)} results, so there is no rank 99." in week.mistake(f"%memory {verb} 99{tag}")
    assert "there is no rank 0." in week.mistake(f"%memory {verb} 0{tag}")
    assert "write 1-2" in week.mistake(f"%memory {verb} 2-1{tag}")
    said = "Name the hits" if tag else "'three' is neither a rank, such as 1 or 1-3, nor the id of a memory"
    assert said in week.mistake(f"%memory {verb} three{tag}")
    week.run(f"%memory forget {found[0]}")
    assert f"Rank 1 of the last results ({found[0]}) is gone" in week.mistake(f"%memory {verb} 1{tag}")
    week.run("%memsearch prices --kind file")
    assert "has no results" in week.mistake(f"%memory {verb} 1{tag}")


def test_texts(week, capsys) -> None:
    """One text is shown as it is, and can be kept; of several, each has a line with its rank and title above."""
    week.run("%memsearch --scan scaled prices")
    text = week.run("text = %memory text 1\ntext")
    assert text == repr(text) == "we scaled the prices to zero mean"
    found = ids(week, "%memory list -n 5")

    assert str(week.run("%memory text 1 3-4")).splitlines()[0].startswith("── 1  ")
    assert week.run("%memory text 1,3-4") == week.run("%memory text 1 3 4") == week.run("%memory text 1-1 3 4 1")
    store = week.ip.find_magic("memsearch").__self__.session.store
    before = store.get(found[4]).accessed
    assert week.run(f"%memory text {found[4]}") == week.run("%memory text 5")
    assert store.get(found[4]).accessed == before + 2
    assert week.run("%memory text 1;") is None


def test_ranks_are_those_of_what_is_on_the_screen(week) -> None:
    """After a list or the results of `related`, a rank is one of theirs."""
    week.run("%memsearch prices")
    listed = ids(week, "%memory list")
    store = week.ip.find_magic("memsearch").__self__.session.store
    assert week.run("%memory text 2") == store.get(listed[1]).text
    near = ids(week, "%memory related 1")
    assert [store.get(one).text for one in near[:1]] == [week.run("%memory text 1")][: len(near)]


def test_explain_speaks_of_what_was_ranked_last(week, capsys) -> None:
    """After `related`, whose last line offers it, the score is that of its row; after a list, that of the search."""
    week.run("%memadd the prices were scaled by their mean")
    asked = week.run("%memsearch scaled prices")
    near = week.run("%memory related 1 -n 1")
    assert len(near) == 1 and near["score"].iloc[0] != pytest.approx(asked["score"].iloc[0], abs=1e-5)
    assert f"score {near['score'].iloc[0]:.6f}" in printed(week, capsys, "%memory explain 1")
    assert "1 result, so there is no rank 2" in week.mistake("%memory explain 2")
    week.run("%memsearch scaled prices")
    week.run("%memory list")
    assert f"score {asked['score'].iloc[0]:.6f}" in printed(week, capsys, "%memory explain 1")


def test_explain_takes_a_rank_with_a_query(week, capsys) -> None:
    """A rank of what is on the screen stands for its memory, whatever the query is."""
    [first, *_] = ids(week, "%memory list")
    by_rank = printed(week, capsys, '%memory explain "scaled prices" 1')
    assert by_rank == printed(week, capsys, f'%memory explain "scaled prices" {first}')


def test_tags(week, capsys) -> None:
    """A tag is added, several at once, and taken off whatever its case; a number by itself is no tag."""
    found = ids(week, "%memsearch -n 5")
    assert printed(week, capsys, "%memory tag 1-2 to read, idea").count("tagged to read, idea") == 2
    store = week.ip.find_magic("memsearch").__self__.session.store
    assert set(store.get(found[0]).tags) >= {"to read", "idea"}
    assert "has the tag" in printed(week, capsys, '%memory tag 1 "to read"')
    assert "no longer tagged to read" in printed(week, capsys, '%memory tag 1 "To Read" --remove')
    assert "lacks the tag" in printed(week, capsys, "%memory tag 1 nosuch --remove")
    assert "Name the hits, and then the tag" in week.mistake("%memory tag 1 2")
    assert "Name the hits, and then the tag" in week.mistake("%memory tag 1")
    assert "2026" in printed(week, capsys, "%memory tag 1 2026")


def test_feedback(week, capsys) -> None:
    """Right and wrong are noted for the question; a list answers none, and a setting may forbid it."""
    found = ids(week, f"%memsearch {QUESTION}")
    assert printed(week, capsys, "%memory good 1").startswith("noted as right: ")
    week.run("%memory bad 2-3")
    store = week.ip.find_magic("memsearch").__self__.session.store
    said = {(one.memory_id, one.accepted, one.rank, one.query) for one in store.feedbacks()}
    assert said == {(found[0], True, 1, QUESTION), *((found[n - 1], False, n, QUESTION) for n in (2, 3))}
    week.run("%memory list")
    assert "answers no question" in week.mistake("%memory good 1")
    [one] = ids(week, f"%memsearch {QUESTION} -n 1")
    [other] = [memory for memory in found[:2] if memory != one]
    assert "not among the results" in week.mistake(f"%memory good {other}")
    week.run("%config JupyterMemory.log_searches = False")
    assert "log_searches is off" in week.mistake("%memory good 1")


def test_pins(week, capsys) -> None:
    """What is pinned by its rank is named."""
    found = ids(week, "%memsearch -n 5")
    said = printed(week, capsys, "%memory pin 2 4")
    assert said.splitlines()[0].startswith(f"pinned {found[1]}") and found[3] in said
    assert set(ids(week, "%memsearch --tier core")) == {found[1], found[3]}


def test_opening(week, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """In a terminal the editor opens the file at the line; a note has no file, and a file may be gone."""
    week.run("%memsearch prices")
    assert "There is no file to open" in week.mistake("%memory open 1") and "%memory text " in week.mistake(
        "%memory open 1"
    )
    script = tmp_path / "fit.py"
    script.write_text("import numpy\n\n\ndef ridge_fit(x):\n    return x\n", encoding="utf-8")
    week.run(f"%memory index {script}")
    monkeypatch.setenv("EDITOR", "echo")
    week.run("%memsearch ridge_fit --kind file")
    assert str(script) in printed(week, capsys, "%memory open 1")
    monkeypatch.setenv("EDITOR", "/no/such/editor")
    assert "cannot be started" in week.mistake("%memory open 1")
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
    assert "new.md" in "".join(week.titles("%memsearch Walross"))


def test_undo(week, capsys) -> None:
    """Off, it says how to turn it on; on, `forget` says that the texts are still there, and undo brings them back."""
    [memory] = ids(week, "%memsearch zero mean -n 1")
    assert "undo_minutes is 0" in week.mistake("%memory undo")
    week.run("%config JupyterMemory.undo_minutes = 10")
    said = printed(week, capsys, f"%memory forget {memory}")
    assert "%memory undo brings it back, and its texts are still in the file" in said
    assert "undo " in printed(week, capsys, "%memory status")
    assert week.run("%memsearch --tag decision").empty
    assert printed(week, capsys, "%memory undo") == "brought back 1 memory\n"
    assert ids(week, "%memsearch --tag decision") == [memory]
    assert "still in the file" not in printed(week, capsys, f"%memory forget {memory} --now")
    assert "nothing to take back" in week.mistake("%memory undo")


def test_the_time_of_an_undo_has_bounds(week, capsys) -> None:
    """More than a month is refused, since no timer waits for centuries; another day than today is named."""
    [memory] = ids(week, "%memsearch zero mean -n 1")
    week.run("%config JupyterMemory.undo_minutes = 1e9")
    assert "undo_minutes is 0" in week.mistake("%memory undo")
    week.run("%config JupyterMemory.undo_minutes = 43200")
    said = printed(week, capsys, f"%memory forget {memory}")
    assert re.search(r"Until \d{4}-\d\d-\d\d \d\d:\d\d, %memory undo brings it back", said)


def test_forget_now_alone(week, capsys) -> None:
    """It removes for good what could be brought back, and nothing else."""
    week.run("%config JupyterMemory.undo_minutes = 10")
    [memory] = ids(week, "%memsearch zero mean -n 1")
    assert "There was nothing that `undo` could bring back" in printed(week, capsys, "%memory forget --now")
    week.run(f"%memory forget {memory}")
    assert printed(week, capsys, "%memory forget --now") == "removed for good what `undo` could bring back: 1 memory\n"
    assert "nothing to take back" in week.mistake("%memory undo") and len(week.run("%memsearch")) == 4


def test_a_link_in_a_notebook(home: Path, tmp_path: Path) -> None:
    """In a kernel `open` gives a link to the cell, for several hits one a line."""
    source = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("ridge_fit(λ)"), nbformat.v4.new_code_cell("ridge_plot(λ)")]
    )
    nbformat.write(source, tmp_path / "a.ipynb")
    cells = [
        "%load_ext jupyter_memory",
        f"%memory index {tmp_path}/a.ipynb",
        "%memsearch ridge_fit ridge_plot",
        "%memory open 1-2",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()

    shown = notebook.cells[3].outputs[0]["data"]["text/html"]
    assert shown.count('href="a.ipynb#cell-id=') == shown.count('class="jp-Memory-openSource" data-memory="') == 2
    assert {cell.id in shown for cell in source.cells} == {True}
