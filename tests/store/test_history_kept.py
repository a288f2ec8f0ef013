"""What becomes of the history: forgotten to the last byte, kept in bounds, and found beside everything else."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import nbformat
import pytest
from kernel_runs import NOON, failed, memory_of, run

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.search import vault
from jupyter_memory.store import Vaults
from jupyter_memory.types import Run, RunError

# -- forgetting --------------------------------------------------------------------------------------------------------


def secret_runs():
    words = {"source": "walross", "name": "Eisbaerfehler", "message": "quarzlampe", "trace": "spitzbergen"}
    error = RunError(words["name"], words["message"], words["trace"])
    told = {"notebook": "/w/polarnacht.ipynb", "cell_id": "nordlicht", "environment": "gletscher"}
    return words | told, [
        Run(f"{words['source']}({n})", NOON + timedelta(minutes=n), "sitzungen", n, "error", 1.0, error, **told)
        for n in range(300)
    ]


def traces(store, words, bytes_of):
    content = bytes_of(store.path).lower()
    parts = {part.lower() for word in words.values() for part in re.findall(r"\w{5,}", word)}
    return {part for part in parts if part.encode() in content}


@pytest.mark.parametrize("way", ["clear", "forget", "age", "number"])
def test_no_byte_is_left(store, bytes_of, way):
    """Whatever removes the history leaves none of its words in the file: sources, errors, places, searches."""
    words, runs = secret_runs()
    settings = JupyterMemory(history_days=1.0 if way == "age" else 0.0, history_runs=1 if way == "number" else 0)
    opened = store(settings=settings)
    opened.add("λ is 3.2")
    opened.history.record(runs)
    answer = opened.hits("walross")
    opened.note_search(answer, "magic")
    opened.feedback(answer.hits[0].memory.id, True, query="walross")
    assert traces(opened, words, bytes_of) >= {"walross", "quarzlampe", "spitzbergen", "nordlicht", "gletscher"}
    if way == "number":
        opened.history.record([replace(runs[0], source="fit(λ)", number=1_000, started=NOON + timedelta(days=1),
                                       session="k1", error=None, notebook="", cell_id="", environment="")])  # fmt: skip

    gone = {
        "clear": opened.history.clear,
        "forget": lambda: opened.forget(sorted({one.memory_id for one in opened.history.runs(limit=500)})),
        "age": opened.history.retain,
        "number": opened.history.retain,
    }[way]()  # fmt: skip

    assert gone == 300 and traces(opened, words, bytes_of) == set()
    assert opened.recent() == [] and opened.feedbacks() == [] and opened.doctor() == []
    assert opened.stats()["kinds"] == ({"note": 1, "history": 1} if way == "number" else {"note": 1})


@pytest.mark.parametrize("counted", [False, True])
def test_a_notebook_that_is_forgotten(store, bytes_of, counted):
    """Forgetting a folder removes what happened in its notebooks, also to texts that ran elsewhere later."""
    opened = store()
    here = {
        "notebook": "/geheim/polarnacht.ipynb",
        "outcome": "error",
        "error": RunError("E", "quarzlampe", "gletscher"),
    }
    opened.history.record(
        [run("fit(λ)", 1, **here), run("spitzbergen()", 2, **here), run("fit(λ)", 3, notebook="/w/a.ipynb")]
    )
    chosen = opened.selection(source="/geheim") if counted else None

    assert (opened.forget(chosen) if counted else opened.forget(source="/geheim")) == 1
    assert [one.number for one in opened.history.runs()] == [3] and memory_of(opened, "fit(λ)").metadata["runs"] == 1
    assert not [
        word for word in (b"polarnacht", b"quarzlampe", b"gletscher", b"spitzbergen") if word in bytes_of(opened.path)
    ]


# -- found by their errors ---------------------------------------------------------------------------------------------


def found_by(store, query):
    """Return the texts of the history that the keyword retriever finds for a query."""
    return [hit.memory.text for hit in store.hits(query, filters={"kind": "history"}).hits if hit.kw_rank is not None]


def test_a_failed_run_is_found_by_its_error(store, bytes_of):
    """The name and the first line of the message lead to the text, also if it ran well before; secrets are hidden."""
    opened = store()
    error = RunError("KeyError", "'customer_number' password = 'Tr0ub4dor&3xyz'\nwalross", "")
    opened.history.record([run("orders.merge(left)", 1, outcome="ok"), run("plot(λ)", 2, outcome="ok")])
    opened.history.record([run("orders.merge(left)", 3, outcome="error", error=error)])

    assert found_by(opened, "KeyError customer_number") == found_by(opened, "customer") == ["orders.merge(left)"]
    assert found_by(opened, "walross") == [] and b"Tr0ub4dor" not in bytes_of(opened.path)
    assert opened.doctor() == []


def test_an_outcome_that_follows_is_found_too(store):
    """A run that was noted without its end is found by its error once that is known."""
    opened = store()
    opened.history.record([run("orders.merge(left)", 1)])
    assert found_by(opened, "ZeroDivisionError") == []
    opened.history.record([run("orders.merge(left)", 1, outcome="error", error=RunError("ZeroDivisionError", "by λ"))])

    assert found_by(opened, "ZeroDivisionError") == ["orders.merge(left)"]


@pytest.mark.parametrize("way", ["retain", "forget", "rebuild"])
def test_errors_of_runs_that_are_gone_find_nothing(store, bytes_of, way):
    """What is removed of a text's runs goes from the index to the last byte; of those that stay, it finds the text."""
    opened = store(settings=JupyterMemory(history_days=30.0))
    old = run("orders.merge(left)", 1, notebook="/w/a.ipynb", outcome="error", error=RunError("KeyError", "'walross'"))
    new = RunError("ValueError", "pinguin")
    opened.history.record(
        [old, replace(run("orders.merge(left)", 2, outcome="error", error=new), started=datetime.now(UTC))]
    )
    assert found_by(opened, "walross") == found_by(opened, "pinguin") == ["orders.merge(left)"]

    if way == "rebuild":
        opened.rebuild()
        assert found_by(opened, "walross") == ["orders.merge(left)"]
        return
    opened.history.retain() if way == "retain" else opened.forget(source="/w/a.ipynb")
    assert (found_by(opened, "walross"), found_by(opened, "pinguin")) == ([], ["orders.merge(left)"])
    assert b"walross" not in bytes_of(opened.path).lower() and opened.doctor() == []


def test_a_text_that_first_ran_after_the_count_goes_with_its_folder(store):
    """What runs in a folder between the count and the answer is forgotten whole: no text is left without a run."""
    opened = store()
    opened.history.record([run("fit(λ)", 1, notebook="/geheim/a.ipynb")])
    chosen = opened.selection(source="/geheim")
    opened.history.record([run("spitzbergen()", 2, notebook="/geheim/a.ipynb")])

    assert opened.forget(chosen) == 2
    assert opened.history.status().runs == 0 and opened.browsed().hits == ()


def test_no_limits(store):
    """With both settings at 0 nothing is ever too old or too much."""
    opened = store(settings=JupyterMemory(history_runs=0))
    opened.history.record([run("fit(λ)")])

    assert opened.history.retain() == 0 and opened.history.status().runs == 1


def test_an_index_of_the_notebook_leaves_history_alone(store, tmp_path):
    """What was run stays when its notebook is indexed again, renamed or gone; a renamed notebook is its new place."""
    opened, notebook = store(), tmp_path / "λ.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("plot(λ)")]), notebook)
    opened.history.record([run("fit(λ)", notebook=str(notebook))])
    opened.index(notebook, progress=False)
    moved = notebook.rename(tmp_path / "μ.ipynb")
    opened.rename(notebook, moved)

    assert memory_of(opened, "fit(λ)").source == opened.history.runs()[0].notebook == str(moved)
    moved.unlink()
    opened.index(tmp_path, progress=False)
    assert [hit.memory.text for hit in opened.browsed().hits] == ["fit(λ)"]


# -- searching and the rest of the store -------------------------------------------------------------------------------


def test_the_cell_is_shown_and_not_its_run(store, tmp_path):
    """Where a cell with the text that was run is indexed, `auto` shows the cell; another version of it is shown."""
    opened, notebook = store(), tmp_path / "λ.ipynb"
    cell = nbformat.v4.new_code_cell("forecast = ridge.fit(prices)", outputs=[])
    cell["outputs"] = [nbformat.v4.new_output("stream", text="fitted λ = 0.3\n")]
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), notebook)
    opened.index(notebook, progress=False)
    opened.history.record([run("forecast = ridge.fit(prices)\n", 1), run("forecast = lasso.fit(prices)", 2)])

    answer = opened.hits("fit the forecast of prices")
    assert sorted(hit.memory.kind for hit in answer.hits) == ["cell", "history"]
    assert "1 duplicate of a result is not shown." in answer.notices
    assert len(opened.hits("kind:history fit the forecast of prices").hits) == 2


def test_the_profile_of_session_histories(store):
    """`vault` gives what was run its fixed score, as the published system does, and shows the newest first."""
    opened = store(profile="vault")
    opened.add("prices are fitted with ridge", title="Prices", severity="critical", tags=["prices"])
    opened.history.record([run(f"fit(prices, {n})", n) for n in range(30)])

    hits = opened.hits("prices", limit=40, tags=["prices"]).hits
    history = [hit for hit in hits if hit.memory.kind == "history"]
    assert {hit.score for hit in history} == {0.5} and vault.steps
    assert [hit.memory.event_at for hit in history] == sorted((h.memory.event_at for h in history), reverse=True)
    assert all("history" in hit.signals for hit in hits)


def test_stores_searched_together(store, now):
    """A federation shows history like any memory, and leaves it out where the filters say so."""
    agent, team = store("agent.sqlite"), store("team.sqlite")
    team.history.record([run("fit(prices)")])
    agent.add("prices are net of tax")
    stores = Vaults(agent=agent, team=team)

    assert {hit.memory.kind for hit in stores.hits("prices", now=now).hits} == {"note", "history"}
    left = stores.hits("prices", now=now, filters={"not_kind": "history"})
    assert {hit.memory.kind for hit in left.hits} == {"note"}


def test_kernels_have_no_numbered_sessions(store):
    """ "Our second session" counts conversations; the sessions of kernels have numbers that nobody means."""
    opened = store()
    for number in (1, 2, 3):
        opened.add(f"We talked about λ, part {number}.", session=f"session_{number}")
    opened.history.record([run("talk(λ)", session="ipython 2 2026")])

    [first, *_] = opened.hits("what did we say about λ in our second session").hits
    assert first.memory.session == "session_2"


def test_everything_else_holds_with_history(store, tmp_path):
    """Lists, facets, counts, frames, checks, other models and a backup hold with history, and a copy has its runs."""
    opened = store()
    opened.add("λ is 3.2")
    opened.history.record([failed("fit(λ)", n, "λ", "…") for n in (1, 2)])

    assert [hit.memory.kind for hit in opened.browsed().hits] == ["note", "history"]
    assert opened.hits("λ").facets["kind"] == {"note": 1, "history": 1}
    assert opened.stats()["kinds"] == {"note": 1, "history": 1} and opened.doctor() == []
    assert set(opened.search("fit λ")["kind"]) == {"note", "history"} and len(opened.browse()) == 2
    opened.rebuild()
    opened.reembed("static-64", progress=False)
    copy = MemoryStore.restore(opened.backup(tmp_path / "copy"), tmp_path / "copied.sqlite")
    with MemoryStore(copy) as restored:
        assert restored.history.runs() == opened.history.runs() != []
        assert restored.doctor() == [] and restored.hits("fit").hits[0].memory.kind == "history"


def test_the_space_of_the_store(store):
    """A store with a space notes and sees only its own history, and clears only that."""
    team, mine = store(space="team"), store(space="mine")
    team.history.record([run("fit(λ)", 1)])
    mine.history.record([run("fit(λ)", 2)])

    assert [one.number for one in team.history.runs()] == [1] and team.history.status().runs == 1
    assert team.history.clear() == 1 and mine.history.status().runs == 1


def test_the_status_in_words(store):
    """The status says how much there is, and since when."""
    opened = store()
    assert str(opened.history.status()) == "no runs"
    opened.history.record([run("fit(λ)", 1), run("fit(λ)", 2)])

    assert str(opened.history.status()) == "2 runs of 1 text, 2026-03-06 12:01 to 2026-03-06 12:02"
