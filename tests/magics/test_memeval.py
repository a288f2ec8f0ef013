"""`%memeval`: own questions kept, compared, drawn, and heeded when settings change."""

from __future__ import annotations

import json

import pytest

QUESTIONS = (
    "prices to zero mean",
    "Müller λ ridge",
    "left join customer id",
    "dates match regex",
    "deleted customers 404",
)


@pytest.fixture
def judged(week):
    """Give a shell whose golden set has five questions, each with its first hit."""
    for question in QUESTIONS:
        week.run(f"%memsearch {question};")
        week.run("%memeval add")
    return week


def test_add_list_forget(week, capsys) -> None:
    """The last search is kept with the ranks that were picked, listed, and taken out again."""
    week.run("%memsearch Müller or the server;")
    capsys.readouterr()
    week.run("%memeval add 1 2")
    said = capsys.readouterr().out
    assert "kept “Müller or the server” with 2 right answers" in said
    name = said.partition("(")[2][:6]
    week.run("%memeval list")
    assert f"{name}  2 right" in capsys.readouterr().out
    week.run(f"%memeval forget {name}")
    week.run("%memeval list")
    said = capsys.readouterr().out
    assert "took 1 question out" in said and "golden set is empty" in said


def test_mistakes(shell, week) -> None:
    """Nothing searched, nothing kept, a word for a rank, an unknown subcommand: one line each."""
    assert "run %memsearch first" in week.mistake("%memeval add")
    assert "golden set is empty" in week.mistake("%memeval run")
    assert "%memeval run first" in week.mistake("%memeval plot")
    week.run("%memsearch Müller;")
    assert "first is not one" in week.mistake("%memeval add first")
    assert "no rank 77" in week.mistake("%memeval add 77")
    assert "Did you mean %memeval run?" in week.mistake("%memeval rum")
    assert "Name the questions" in week.mistake("%memeval forget")


def test_run_compares_every_profile(judged) -> None:
    """A row a profile, the best first, with intervals and the difference to the profile in use."""
    frame = judged.run("%memeval run")

    assert set(frame["profile"]) == {"auto", "covalence", "vault", "trovella", "memini", "memini-rrf"}
    assert (frame["questions"] == 5).all() and (frame["model"] == "static 256").all()
    assert frame["ndcg@10"].is_monotonic_decreasing
    assert frame.set_index("profile").loc["auto", "success@1"] == 1.0
    assert (frame["ndcg@10_low"] <= frame["ndcg@10"]).all()


def test_right_answers_that_were_forgotten(judged, capsys) -> None:
    """Questions whose right answers are gone are named and left out; with none left there is nothing to measure."""
    ids = [judged.run(f"%memsearch {question}")["memory_id"].iloc[0] for question in QUESTIONS]
    judged.run(f"%memory forget {ids[1]} {ids[3]}")
    capsys.readouterr()
    frame = judged.run("%memeval run --profile auto")

    said = capsys.readouterr().err
    assert "The right answers of 2 questions are no longer here: “Müller λ ridge” (" in said and "“dates match" in said
    assert frame["questions"].item() == 3 and frame["success@1"].item() == 1.0

    judged.run(f"%memory forget {ids[0]} {ids[2]} {ids[4]}")
    assert "5 questions are no longer here" in judged.mistake("%memeval run")


def test_run_with_other_lengths(judged) -> None:
    """`--dims` and `--profile` say what is compared."""
    frame = judged.run("%memeval run --profile auto --profile keyword --dims 64")

    assert sorted(zip(frame["profile"], frame["model"], strict=True)) == [
        ("auto", "static 256"),
        ("auto", "static 64"),
        ("keyword", "static 256"),
        ("keyword", "static 64"),
    ]


def test_differences_are_to_what_is_in_use(judged, home) -> None:
    """Profiles without the one in use, and another length, are compared with the profile and the model in use."""
    used = judged.run("%memeval run --profile auto")["ndcg@10"].item()
    frame = judged.run(f"%memeval run --profile {worse(home)} --dims 64")

    assert frame["difference"].tolist() == pytest.approx((frame["ndcg@10"] - used).tolist())
    assert (frame["difference"] < 0).all()


def test_a_file_goes_by_its_name(judged, home) -> None:
    """A profile in a TOML file is compared under its own name; two of one name keep their paths."""
    (home / "other").mkdir()
    first, second = worse(home), worse(home / "other")

    assert set(judged.run(f"%memeval run --profile auto --profile {first}")["profile"]) == {"auto", "worse"}
    assert set(judged.run(f"%memeval run -p {first} -p {second}")["profile"]) == {first, second}


def test_plot(judged) -> None:
    """The picture is drawn by JupyterLab itself, from numbers alone: no question is in it."""
    pytest.importorskip("altair")
    judged.run("%memeval run --profile auto --profile covalence;")
    bundle = judged.run("%memeval plot")._repr_mimebundle_()
    kind = next(name for name in bundle if name.startswith("application/vnd.vegalite"))
    drawn = json.dumps(bundle[kind])

    assert {"vconcat", "datasets"} <= set(bundle[kind])
    assert "ndcg@10" in drawn and "recency" in drawn and "covalence" in drawn
    assert "Müller" not in drawn and "prices" not in drawn


def worse(home) -> str:
    """Write a profile that ranks upside down and return its path."""
    file = home / "worse.toml"
    file.write_text('base = "trovella"\n[terms.keyword]\nweight = -1\n[terms.vector]\nweight = -1\n', encoding="utf-8")
    return str(file)


def test_a_worse_setting_is_said(judged, home, capsys) -> None:
    """A change that makes the golden set worse is said in one line with the way back; a better one is not."""
    capsys.readouterr()
    judged.run(f"%config JupyterMemory.profile = {worse(home)!r}")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "your golden set gets worse: nDCG@10 0." in lines[0] and "instead of 1.00 over 5 questions" in lines[0]
    assert "%config JupyterMemory.profile = 'auto'" in lines[0]
    judged.run("%config JupyterMemory.profile = 'auto'")
    assert capsys.readouterr().err == ""
    judged.run(f"%memory profile {worse(home)}")
    assert "gets worse" in capsys.readouterr().err


def test_a_threshold_that_hides_answers_is_said(judged, capsys) -> None:
    """Other settings are compared as well; one that changes no answer is not spoken of."""
    capsys.readouterr()
    judged.run("%config JupyterMemory.limit = 3")
    judged.run("%config JupyterMemory.threshold = 0.3")
    assert "gets worse" not in capsys.readouterr().err


def test_a_small_set_says_nothing(week, home, capsys) -> None:
    """Four questions are too few to judge a setting by."""
    for question in QUESTIONS[:4]:
        week.run(f"%memsearch {question};")
        week.run("%memeval add")
    capsys.readouterr()
    week.run(f"%config JupyterMemory.profile = {worse(home)!r}")
    assert capsys.readouterr().err == ""
