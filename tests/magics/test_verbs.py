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


@pytest.mark.parametrize("verb", VERBS)
def test_what_goes_wrong_says_what_to_type(week, verb: str) -> None:
    """No search yet, no word, no such rank, a range that runs backwards, an unknown id, a memory that is gone."""
    tag = " decision" if verb == "tag" else ""
    assert "There is no search yet" in week.mistake(f"%memory {verb} 1{tag}")
    assert f"%memory {verb}" in week.mistake(f"%memory {verb}")
    found = week.ids(f"%memsearch {QUESTION}")
    assert f"has {len(found)} results, so there is no rank 99." in week.mistake(f"%memory {verb} 99{tag}")
    assert "there is no rank 0." in week.mistake(f"%memory {verb} 0{tag}")
    assert "write 1-2" in week.mistake(f"%memory {verb} 2-1{tag}")
    said = "Name the hits" if tag else "'three' is neither a rank, such as 1 or 1-3, nor the id of a memory"
    assert said in week.mistake(f"%memory {verb} three{tag}")
    week.run(f"%memory forget {found[0]}")
    assert f"Rank 1 of the last results ({found[0]}) is gone" in week.mistake(f"%memory {verb} 1{tag}")
    week.run("%memsearch prices --kind file")
    assert "has no results" in week.mistake(f"%memory {verb} 1{tag}")


def test_texts(week) -> None:
    """One text is shown as it is, and can be kept; of several, each has a line with its rank and title above."""
    week.run("%memsearch --scan scaled prices")
    text = week.run("text = %memory text 1\ntext")
    assert text == repr(text) == "we scaled the prices to zero mean"
    found = week.ids("%memory list -n 5")
    assert str(week.run("%memory text 1 3-4")).splitlines()[0].startswith("── 1  ")
    assert week.run("%memory text 1,3-4") == week.run("%memory text 1 3 4") == week.run("%memory text 1-1 3 4 1")
    with week.store() as store:
        before = store.get(found[4]).accessed
        assert week.run(f"%memory text {found[4]}") == week.run("%memory text 5")
        assert store.get(found[4]).accessed == before + 2
    assert week.run("%memory text 1;") is None


def test_ranks_are_those_of_what_is_on_the_screen(week) -> None:
    """After a list or the results of `related`, a rank is one of theirs, also where a query comes with it."""
    week.run("%memsearch prices")
    listed = week.ids("%memory list")
    assert week.run("%memory text 2") == week.run(f"%memory text {listed[1]}")
    by_rank, by_id = (week.printed(f'%memory explain "scaled prices" {one}') for one in (1, listed[0]))
    assert by_rank == by_id
    [near, *_] = week.ids("%memory related 1")
    assert week.run("%memory text 1") == week.run(f"%memory text {near}")


def test_explain_speaks_of_what_was_ranked_last(week) -> None:
    """After `related`, whose last line offers it, the score is that of its row; after a list, that of the search."""
    week.run("%memadd the prices were scaled by their mean")
    asked = week.run("%memsearch scaled prices")
    near = week.run("%memory related 1 -n 1")
    assert len(near) == 1 and near["score"].iloc[0] != pytest.approx(asked["score"].iloc[0], abs=1e-5)
    assert f"score {near['score'].iloc[0]:.6f}" in week.printed("%memory explain 1")
    assert "1 result, so there is no rank 2" in week.mistake("%memory explain 2")
    week.run("%memsearch scaled prices")
    week.run("%memory list")
    assert f"score {asked['score'].iloc[0]:.6f}" in week.printed("%memory explain 1")


def test_tags(week) -> None:
    """A tag is added, several at once, and taken off whatever its case; a number by itself is no tag."""
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


def test_feedback(week) -> None:
    """Right and wrong are noted for the question; a list answers none, and a setting may forbid it."""
    found = week.ids(f"%memsearch {QUESTION}")
    assert week.printed("%memory good 1").startswith("noted as right: ")
    week.run("%memory bad 2-3")
    with week.store() as store:
        said = {(one.memory_id, one.accepted, one.rank, one.query) for one in store.feedbacks()}
    assert said == {(found[0], True, 1, QUESTION), *((found[n - 1], False, n, QUESTION) for n in (2, 3))}
    week.run("%memory list")
    assert "answers no question" in week.mistake("%memory good 1")
    [one] = week.ids(f"%memsearch {QUESTION} -n 1")
    [other] = [memory for memory in found[:2] if memory != one]
    assert "not among the results" in week.mistake(f"%memory good {other}")
    week.run("%config JupyterMemory.log_searches = False")
    assert "log_searches is off" in week.mistake("%memory good 1")


def test_pins(week) -> None:
    """What is pinned by its rank is named, and core until it is unpinned, here by its id."""
    found = week.ids("%memsearch -n 5")
    said = week.printed("%memory pin 2 4")
    assert said.splitlines()[0].startswith(f"pinned {found[1]}") and found[3] in said
    assert set(week.ids("%memsearch --tier core")) == {found[1], found[3]}
    assert week.printed(f"%memory unpin {found[3]}") == f"unpinned {found[3]} “Müller”\n"
    assert week.ids("%memsearch --tier core") == [found[1]]


def test_opening(week, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a terminal the editor opens the file at the line; a note has no file, and a file may be gone."""
    week.run("%memsearch prices")
    said = week.mistake("%memory open 1")
    assert "There is no file to open" in said and "%memory text " in said
    script = tmp_path / "fit.py"
    script.write_text("import numpy\n\n\ndef ridge_fit(x):\n    return x\n", encoding="utf-8")
    week.run(f"%memory index {script}")
    monkeypatch.setenv("EDITOR", "echo")
    week.run("%memsearch ridge_fit --kind file")
    assert str(script) in week.printed("%memory open 1")
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
    """In a kernel `open` gives a link to the cell, for several hits one a line."""
    new, cell = nbformat.v4.new_notebook, nbformat.v4.new_code_cell
    source = new(cells=[cell("ridge_fit(λ)"), cell("ridge_plot(λ)")])
    nbformat.write(source, tmp_path / "a.ipynb")
    lines = ("%load_ext jupyter_memory", f"%memory index {tmp_path}/a.ipynb", "%memsearch ridge_fit ridge_plot")
    notebook = new(cells=[cell(line) for line in (*lines, "%memory open 1-2")])
    NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = notebook.cells[3].outputs[0]["data"]["text/html"]
    assert shown.count('href="a.ipynb#cell-id=') == shown.count('class="jp-Memory-openSource" data-memory="') == 2
    assert all(one.id in shown for one in source.cells)
