"""What every storage must do with the history: a memory for each text, a row for each of its runs."""

from dataclasses import replace
from datetime import timedelta

import pytest
from contract import NOW, add, everything, seen
from hashing import Hashing

from jupyter_memory import EmbeddingMismatch
from jupyter_memory.ingest import drafted, prepare
from jupyter_memory.storage import RunFilter
from jupyter_memory.types import Feedback, HistoryStatus, Recent, Run, RunError

KEY_ERROR = RunError("KeyError", "'λ'", "Traceback (most recent call last): …")


def run(source, number, *, session="monday", **values):
    return Run(source, NOW + timedelta(minutes=number), session, number, **values)


def note(storage, *runs, embedder=None, space=""):
    """Note runs with all their texts, as new ones; return what the storage says."""
    found = [drafted(one, space=space, redacting=True) for one in runs]
    return storage.runs.note(found, prepare([draft for _, draft in found], embedder), embedder)


def texts(storage):
    return {memory.text: memory for memory in everything(storage, kind=("history",))}


def numbers(storage, limit=100, oldest_first=False, **wanted):
    return [one.number for one in storage.runs.find(RunFilter(**wanted), limit, oldest_first=oldest_first)]


def test_one_memory_for_a_text(storage):
    """A text that runs again stays one memory, which tells how often, from when until when, and how it ended."""
    noted = note(storage, run("fit(λ)", 1), run("plot(λ)", 2), run("fit(λ)", 3, outcome="error", error=KEY_ERROR))
    memory = texts(storage)["fit(λ)"]
    assert noted == (3, []) and set(texts(storage)) == {"fit(λ)", "plot(λ)"}
    assert memory.event_at == NOW + timedelta(minutes=3)
    moments = {"first_run": "2026-03-06T18:01:00+00:00", "last_run": "2026-03-06T18:03:00+00:00"}
    assert memory.metadata == {"runs": 2, "outcome": "error", "error": "KeyError", **moments}


def test_a_run_comes_back_whole(storage):
    place = {"notebook": "/w/λ.ipynb", "cell_id": "c-1", "environment": "zürich", "packages": "pandas 2.2.3"}
    place["result"] = "R² 0.78"
    runs = [run("fit(λ)", 7, outcome="error", seconds=1.5, error=KEY_ERROR, **place), run("fit(λ)", 6)]
    note(storage, *runs)
    before = texts(storage), storage.runs.find(RunFilter(), 10)
    assert before[1] == [replace(one, memory_id=before[0]["fit(λ)"].id) for one in runs]
    assert note(storage, *runs, *runs) == (0, [])
    assert (texts(storage), storage.runs.find(RunFilter(), 10)) == before


def test_the_outcome_follows(storage):
    """A run without an outcome gets the one that comes later, and keeps it."""
    note(storage, run("fit(λ)", 1))
    ended = note(storage, run("fit(λ)", 1, outcome="error", seconds=2.0, error=KEY_ERROR))
    later = note(storage, run("fit(λ)", 1, outcome="ok"), run("fit(λ)", 1))
    [found] = storage.runs.find(RunFilter(), 10)
    assert (ended.changed, later.changed) == (1, 0)
    assert (found.outcome, found.seconds, found.error) == ("error", 2.0, KEY_ERROR)
    assert texts(storage)["fit(λ)"].metadata["outcome"] == "error"


def test_what_its_user_gave_a_memory_stays(storage):
    """Id, pin, tags and metadata of a memory stay when its text runs again, in another notebook too."""
    note(storage, run("fit(λ)", 1, notebook="/w/a.ipynb"))
    before = texts(storage)["fit(λ)"]
    storage.writer.update(before.id, {"pinned": True, "metadata": {**before.metadata, "mine": 3}}, tags=["λ"])
    note(storage, run("fit(λ)", 2, notebook="/w/b.ipynb", cell_id="c-2"))
    after = texts(storage)["fit(λ)"]
    assert (after.id, after.pinned, after.tags) == (before.id, True, ("λ",))
    assert (after.source, after.location) == ("/w/b.ipynb", "c-2")
    assert after.metadata["mine"] == 3 and after.metadata["runs"] == 2


def test_clocks_and_numbers(storage):
    """A kernel that starts again counts from 1: the start tells its runs apart, and the latest is the last run."""
    note(storage, run("fit(λ)", 30, outcome="ok"), run("plot(λ)", 1))
    note(storage, replace(run("fit(λ)", 31, outcome="error", error=KEY_ERROR), started=NOW))
    note(storage, replace(run("plot(μ)", 1), started=NOW + timedelta(hours=1)))
    memory = texts(storage)["fit(λ)"]
    assert set(texts(storage)) == {"fit(λ)", "plot(λ)", "plot(μ)"} and numbers(storage) == [1, 30, 1, 31]
    assert memory.metadata["first_run"] == NOW.isoformat()
    assert memory.metadata["outcome"] == "ok" and memory.event_at == NOW + timedelta(minutes=30)


def test_which_runs_are_found(storage):
    failed = run("fit(μ)", 2, outcome="error", error=KEY_ERROR, notebook="/w/a.ipynb")
    note(storage, run("fit(λ)", 1, outcome="ok", notebook="/w/a.ipynb"), failed, run("fit(λ)", 3, session="friday"))
    assert numbers(storage) == [3, 2, 1] and numbers(storage, 2, oldest_first=True) == [1, 2]
    assert numbers(storage, error="KeyError") == numbers(storage, outcome="error") == [2]
    assert numbers(storage, session="monday") == numbers(storage, notebook="/w/a.ipynb") == [2, 1]
    assert numbers(storage, memory_id=texts(storage)["fit(λ)"].id) == [3, 1]
    assert numbers(storage, after=NOW + timedelta(minutes=1)) == [3, 2]
    assert numbers(storage, before=NOW + timedelta(minutes=2)) == [1]
    assert storage.runs.numbers("monday") == {1, 2} and storage.runs.numbers("sunday") == set()


def test_the_texts_that_are_there(storage):
    """History knows its texts, each in its space, and no text of another kind; a run without one is left, and told."""
    _, here = drafted(run("fit(λ)", 1), space="", redacting=True)
    note(storage, run("fit(λ)", 1))
    add(storage, replace(here, kind="cell", text="a cell", title=""))
    others = [replace(here, text="plot(λ)"), replace(here, space="team"), replace(here, text="a cell", title="")]
    assert storage.runs.holds([here, *others]) == [True, False, False, False]
    found = [drafted(run(text, at), space="", redacting=True) for at, text in ((2, "show(λ)"), (3, "plot(λ)"))]
    assert storage.runs.note(found, prepare([found[1][1]], None), None) == (1, [0])
    assert set(texts(storage)) == {"fit(λ)", "plot(λ)"}


def test_another_model(storage):
    note(storage, run("fit(λ)", 1), embedder=Hashing())
    with pytest.raises(EmbeddingMismatch):
        note(storage, run("plot(λ)", 2), embedder=Hashing(dimensions=32))
    assert numbers(storage) == [1]


def test_the_status(storage):
    """The status counts runs and texts of a space; a memory that is forgotten takes its runs along."""
    note(storage, run("fit(λ)", 1), run("fit(λ)", 2), run("plot(λ)", 3))
    note(storage, run("fit(λ)", 4), space="team")
    assert storage.runs.status("") == HistoryStatus(4, 3, NOW + timedelta(minutes=1), NOW + timedelta(minutes=4))
    assert storage.runs.status("team").runs == 1 and storage.runs.status("nobody") == HistoryStatus()
    storage.writer.forget([texts(storage)["plot(λ)"].id])
    assert numbers(storage) == [4, 2, 1]


def test_how_long_cells_took(storage):
    """The last runs of each cell that ended well tell it, the newest first, of one space or of all."""
    cells = [("/w/λ.ipynb", "c-1"), ("/w/λ.ipynb", "c-2"), ("/w/μ.ipynb", "c-1")]
    place = dict(zip(("notebook", "cell_id"), cells[0], strict=True))
    note(storage, *(run("fit(λ)", n, outcome="ok", seconds=n / 2, **place) for n in (1, 2, 3)))
    note(storage, run("fit(λ)", 4, outcome="error", seconds=9.0, **place), run("plot()", 5, cell_id="c-2"))
    note(storage, run("fit(λ)", 6, outcome="ok", seconds=7.0, **place), space="team")
    assert storage.runs.durations("", cells, 3) == {cells[0]: [7.0, 1.5, 1.0]}
    assert storage.runs.durations("team", cells, 3) == {cells[0]: [7.0]}
    assert numbers(storage, notebook="/w/λ.ipynb", cell="c-1") == [6, 4, 3, 2, 1]


def test_retention_by_age(storage):
    """Runs before a time go, with the searches and feedback on memories that go with their last run."""
    note(storage, run("fit(λ)", 1), run("plot(λ)", 2), run("fit(λ)", 3))
    id_ = texts(storage)["plot(λ)"].id
    storage.writer.note_search(Recent("q1", "fit", "auto", NOW, "magic", 1), [id_], 0.1)
    storage.writer.judge(Feedback(id_, True, "fit", "q1", "auto", 1, NOW))
    assert storage.runs.retain("", since=NOW + timedelta(minutes=3), most=None) == 2
    assert texts(storage)["fit(λ)"].metadata["first_run"] == (NOW + timedelta(minutes=3)).isoformat()
    assert set(texts(storage)) == {"fit(λ)"} and texts(storage)["fit(λ)"].metadata["runs"] == 1
    assert storage.runs.retain("", since=NOW + timedelta(minutes=3), most=None) == 0
    assert seen(storage, lambda snapshot: (snapshot.recent_searches(10), snapshot.feedback())) == ([], [])


def test_retention_by_number(storage):
    """All but the newest runs go, in their space only; what has a pin or a tag stays, and does not count."""
    note(storage, *(run(f"{verb}(λ)", number) for number, verb in enumerate(("fit", "plot", "show"), 1)))
    note(storage, run("fit(λ)", 4), space="team")
    assert storage.runs.retain("team", since=None, most=1) == 0
    assert storage.runs.retain("", since=None, most=2) == 2 and numbers(storage) == [4, 3]
    note(storage, run("fit(μ)", 5), run("plot(μ)", 6))
    storage.writer.update(texts(storage)["fit(μ)"].id, {"pinned": True})
    storage.writer.update(texts(storage)["plot(μ)"].id, {}, tags=["λ"])
    assert storage.runs.retain("", since=NOW + timedelta(days=1), most=1) == 2
    assert set(texts(storage)) == {"fit(μ)", "plot(μ)"}
