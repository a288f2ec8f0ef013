"""`%memory profile`: ways of ranking shown, chosen, saved and read."""

from __future__ import annotations

from pathlib import Path

import pandas as pd


def test_show_gives_every_constant(week, capsys) -> None:
    """`show` says the formula in one line and returns the constants as a DataFrame."""
    frame = week.run("%memory profile show covalence")

    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["part", "name", "form", "constant", "value"]
    k = frame[(frame["part"] == "term") & (frame["name"] == "vector") & (frame["constant"] == "k")]
    assert k["value"].tolist() == [60.0]
    assert "score = 0.9/(60 + vector_rank) + 0.9/(60 + keyword_rank)" in capsys.readouterr().out
    assert frame.attrs["profile"]["name"] == "covalence"


def test_show_alone_shows_the_one_in_use(week) -> None:
    """Without a name it is the profile of the session."""
    week.run("%memory profile trovella")

    assert week.run("%memory profile show").attrs["profile"]["name"] == "trovella"


def test_steps_are_said(week, capsys) -> None:
    """What is done after the sum is said below it."""
    week.run("%memory profile show memini")

    assert "then: only the best of duplicate memories is kept" in capsys.readouterr().out


def test_a_file_of_ones_own(week, home: Path, capsys) -> None:
    """A profile is saved, changed by hand, and then ranks a search, the session, and what explains it."""
    file = home / "mine.toml"
    week.run("%memory profile covalence")
    week.run(f"%memory profile save {file}")
    file.write_text(file.read_text(encoding="utf-8").replace("weight = 0.9\n", "weight = 0.25\n", 1), encoding="utf-8")

    found = week.run(f"%memsearch scaled prices --profile {file}")
    assert found.attrs["memsearch"]["profile"] == "mine"
    assert found["contrib_vector"].max() == 0.25 / 61
    week.run(f"%memory profile {file}")
    assert week.run("%memsearch scaled prices")["contrib_vector"].max() == 0.25 / 61
    assert f"*  {file}" in capsys.readouterr().out
    assert "by mine" in repr(week.run("%memsearch scaled prices").memory.explain(1))
    week.run(f"%config JupyterMemory.profile = {str(file)!r}")
    assert week.run("%memsearch scaled prices").attrs["memsearch"]["profile"] == "mine"


def test_mistakes(week, home: Path) -> None:
    """A wrong name, a file with a mistake and a file that is there are each one line."""
    (home / "bad.toml").write_text('base = "auto"\n[columns]\ntitl = 1\n', encoding="utf-8")

    assert "bad.toml: columns.titl is not known. Did you mean title?" in week.mistake(
        f"%memory profile {home}/bad.toml"
    )
    assert "Name the file to write: %memory profile save" in week.mistake("%memory profile save")
    assert "bad.toml: columns.titl" in week.mistake(f"%memsearch λ -p {home}/bad.toml")
    assert "is there already" in week.mistake(f"%memory profile save {home}/bad.toml")
    assert "ends in .toml" in week.mistake("%memory profile save auto.toml")
    assert "Did you mean 'trovella'" in week.mistake("%memory profile show trovela")
    assert "Name one profile" in week.mistake("%memory profile auto vault")
