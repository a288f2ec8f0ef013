"""Ways of ranking: `%memory profile`, and `%memeval`, which compares them by own questions and heeds changes."""

import json
from pathlib import Path

import pytest

QUESTIONS = ("prices to zero mean", "Müller λ ridge", "left join customer id", "dates match regex", "deleted 404")


@pytest.fixture
def judged(week):
    """Give a shell whose golden set has five questions, each with its first hit."""
    for question in QUESTIONS:
        week.run(f"%memsearch {question};")
        week.run("%memeval add")
    return week


def test_add_list_forget(week) -> None:
    week.run("%memsearch Müller or the server;")
    said = week.printed("%memeval add 1 2")
    assert "kept “Müller or the server” with 2 right answers" in said
    name = said.partition("(")[2][:6]
    assert f"{name}  2 right" in week.printed("%memeval list")
    assert "took 1 question out" in week.printed(f"%memeval forget {name}")
    assert "golden set is empty" in week.printed("%memeval list")


def test_mistakes(week) -> None:
    for line, said in (
        ("add", "run %memsearch first"), ("run", "golden set is empty"), ("plot", "%memeval run first"),
        ("rum", "Did you mean %memeval run?"), ("forget", "Name the questions"),
    ):  # fmt: skip
        assert said in week.mistake(f"%memeval {line}")
    week.run("%memsearch Müller;")
    assert "first is not one" in week.mistake("%memeval add first")
    assert "no rank 77" in week.mistake("%memeval add 77")


def test_run_compares_every_profile(judged) -> None:
    frame = judged.run("%memeval run")
    assert set(frame["profile"]) == {"auto", "covalence", "vault", "trovella", "memini", "memini-rrf"}
    assert (frame["questions"] == 5).all() and (frame["model"] == "static 256").all()
    assert frame["ndcg@10"].is_monotonic_decreasing
    assert frame.set_index("profile").loc["auto", "success@1"] == 1.0
    assert (frame["ndcg@10_low"] <= frame["ndcg@10"]).all()
    frame = judged.run("%memeval run --profile auto --profile keyword --dims 64")
    compared = {(profile, model) for profile in ("auto", "keyword") for model in ("static 256", "static 64")}
    assert set(zip(frame["profile"], frame["model"], strict=True)) == compared and len(frame) == 4


def test_right_answers_that_were_forgotten(judged) -> None:
    ids = [judged.ids(f"%memsearch {question}")[0] for question in QUESTIONS]
    judged.run(f"%memory forget {ids[1]} {ids[3]}")
    said = judged.noted("frame = %memeval run --profile auto")
    frame = judged.ip.user_ns["frame"]
    assert "The right answers of 2 questions are no longer here: “Müller λ ridge” (" in said and "“dates match" in said
    assert frame["questions"].item() == 3 and frame["success@1"].item() == 1.0
    judged.run(f"%memory forget {ids[0]} {ids[2]} {ids[4]}")
    assert "5 questions are no longer here" in judged.mistake("%memeval run")


def test_a_file_goes_by_its_name(judged, home) -> None:
    """A file is compared under its own name, or its path; differences are to the profile and model in use."""
    (home / "other").mkdir()
    first, second = worse(home), worse(home / "other")
    assert set(judged.run(f"%memeval run --profile auto --profile {first}")["profile"]) == {"auto", "worse"}
    assert set(judged.run(f"%memeval run -p {first} -p {second}")["profile"]) == {first, second}
    used = judged.run("%memeval run --profile auto")["ndcg@10"].item()
    frame = judged.run(f"%memeval run --profile {worse(home)} --dims 64")
    assert frame["difference"].tolist() == pytest.approx((frame["ndcg@10"] - used).tolist())
    assert (frame["difference"] < 0).all()


def test_pool_and_tune(week, home) -> None:
    """Rows are judged by their names; a proposal is used once it has a file, and one command goes back."""
    assert "judge some in the panel" in week.mistake("%memeval tune")
    assert "Name a new file" in week.mistake("%memeval tune mine.txt")
    assert "a folder that is there" in week.mistake("%memeval tune nowhere/mine.toml")
    assert week.printed("%memeval pool").startswith("Nothing is judged yet")
    week.run("%memsearch dates of customers;")
    week.run("%memory bad 1")
    head, *rows = week.printed("%memeval pool -p auto -p vault").splitlines()
    assert head.split() == ["row", "question", "title", "shown", "by"] and len(rows) == 4
    said = week.printed(f"%memeval pool -p auto -p vault --first {rows[0].split()[0]} --wrong {rows[1].split()[0]}")
    assert said.startswith("wrong: “") and "first: “" in said
    assert "1 right, 1 wrong" in week.printed("%memeval list")
    assert "no row zzzzzz" in week.mistake("%memeval pool --right zzzzzz")
    said = week.printed("%memeval tune")
    assert "auto with the weight " in said and "%memeval tune mine.toml" in said
    assert "*  auto" in week.printed("%memory profile")
    for name in ("auto.toml", "mine.txt"):
        assert "Name a new file that ends in .toml" in week.mistake(f"%memeval tune {home / name}")
    said = week.printed(f"%memeval tune {home / 'mine.toml'}")
    assert f"{home / 'mine.toml'} ranks in this session now; to go back: %memory profile auto" in said
    assert week.run("%memsearch dates of customers").attrs["memsearch"]["profile"] == "mine"
    week.run("%memory profile auto")
    assert week.run("%memsearch dates of customers").attrs["memsearch"]["profile"] == "auto"
    assert "already exists" in week.mistake(f"%memeval tune {home / 'mine.toml'}")


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
    file = home / "worse.toml"
    file.write_text('base = "trovella"\n[terms.keyword]\nweight = -1\n[terms.vector]\nweight = -1\n', encoding="utf-8")
    return str(file)


def test_a_worse_setting_is_said(judged, home) -> None:
    """A change that makes the golden set worse is said in one line with the way back; others are not spoken of."""
    [line] = judged.noted(f"%config JupyterMemory.profile = {worse(home)!r}").splitlines()
    assert "your golden set gets worse: nDCG@10 0." in line and "instead of 1.00 over 5 questions" in line
    assert "%config JupyterMemory.profile = 'auto'" in line
    for setting in ("profile = 'auto'", "limit = 3", "threshold = 0.3"):
        assert "gets worse" not in judged.noted(f"%config JupyterMemory.{setting}")
    assert "gets worse" in judged.noted(f"%memory profile {worse(home)}")


def test_a_small_set_says_nothing(week, home) -> None:
    for question in QUESTIONS[:4]:
        week.run(f"%memsearch {question};")
        week.run("%memeval add")
    assert week.noted(f"%config JupyterMemory.profile = {worse(home)!r}") == ""


def test_a_profile_of_ones_own(week, home: Path) -> None:
    """A profile is saved, changed by hand, and then ranks a search, the session, and what explains it."""
    file = home / "mine.toml"
    week.run("%memory profile covalence")
    week.run(f"%memory profile save {file}")
    file.write_text(file.read_text(encoding="utf-8").replace("weight = 0.9\n", "weight = 0.25\n", 1), encoding="utf-8")
    found = week.run(f"%memsearch scaled prices --profile {file}")
    assert found.attrs["memsearch"]["profile"] == "mine"
    assert found["contrib_vector"].max() == 0.25 / 61
    assert f"*  {file}" in week.printed(f"%memory profile {file}")
    assert week.run("%memsearch scaled prices")["contrib_vector"].max() == 0.25 / 61
    assert "by mine" in repr(week.run("%memsearch scaled prices").memory.explain(1))
    week.run(f"%config JupyterMemory.profile = {str(file)!r}")
    assert week.run("%memsearch scaled prices").attrs["memsearch"]["profile"] == "mine"
    assert week.run("%memory profile show").attrs["profile"]["name"] == "mine"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%memory profile {bad}", "bad.toml: columns.titl is not known. Did you mean 'title'?"),
        ("%memory profile save", "Name the file to write: %memory profile save"),
        ("%memsearch λ -p {bad}", "bad.toml: columns.titl"),
        ("%memory profile save {bad}", "already exists"),
        ("%memory profile save auto.toml", "ends in .toml"),
        ("%memory profile show trovela", "Did you mean 'trovella'"),
        ("%memory profile trovela", "Did you mean 'trovella'"),
        ("%memory profile auto vault", "Name one profile"),
    ],
)
def test_mistakes_with_profiles(week, home: Path, line: str, said: str) -> None:
    (home / "bad.toml").write_text('base = "auto"\n[columns]\ntitl = 1\n', encoding="utf-8")
    assert said in week.mistake(line.format(bad=home / "bad.toml"))
