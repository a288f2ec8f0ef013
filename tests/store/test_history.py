"""What was run: one memory for a text, in bounds and without secrets, found again, and forgotten to the last byte."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import nbformat
import pytest

from jupyter_memory import MemoryStore
from jupyter_memory.config import JupyterMemory
from jupyter_memory.embedders import open_embedder
from jupyter_memory.errors import InputError
from jupyter_memory.search.profiles import vault
from jupyter_memory.storage.sqlite import runs as run_log
from jupyter_memory.store.federation import Vaults
from jupyter_memory.types import Run, RunError

NOON = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)
TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def run(source, number=1, **values):
    """Return a run of one kernel, which began as many minutes after noon as its number says."""
    return Run(source, NOON + timedelta(minutes=number), values.pop("session", "k1"), number, **values)


def failed(source, number=1, message="", traceback=""):
    return run(source, number, outcome="error", error=RunError("ValueError", message, traceback))


def memory_of(store, text):
    """Return the memory of a text that was run."""
    [found] = [
        hit.memory for hit in store.browsed(limit=100, filters={"kind": "history"}).hits if hit.memory.text == text
    ]
    return found


class Counting:
    """An embedder that counts the texts that it is given."""

    def __init__(self):
        self._inner = open_embedder("static")
        self.name, self.dimensions = self._inner.name, self._inner.dimensions
        self.fingerprint, self.threshold = self._inner.fingerprint, self._inner.threshold
        self.texts = 0

    def embed_documents(self, texts, /):
        self.texts += len(texts)
        return self._inner.embed_documents(texts)

    def embed_query(self, text, /):
        return self._inner.embed_query(text)


# -- recording ---------------------------------------------------------------------------------------------------------


def test_a_run_is_found_again(store):
    """What was run is found by its words and its meaning, with the place and the time of its last run."""
    opened = store()
    opened.history.record([run("model.fit(prices)  # Zürich", n, notebook="/w/λ.ipynb", cell_id="c-1") for n in (1, 2)])

    [hit] = opened.hits("kind:history zürich prices").hits
    assert (hit.memory.kind, hit.memory.source, hit.memory.location) == ("history", "/w/λ.ipynb", "c-1")
    assert hit.memory.event_at == NOON + timedelta(minutes=2) and hit.memory.session == "k1"
    assert hit.badges == "KW+SEM" and hit.memory.metadata["runs"] == 2
    assert opened.hits("zürich prices", filters={"not_kind": "history"}).hits == ()
    assert opened.hits("-kind:history zürich prices").hits == ()


def test_a_text_is_embedded_once(store):
    """Twenty runs of one text embed it once, in one call or in many."""
    embedder = Counting()
    opened = store(embedder=embedder)
    for begin in (1, 11):
        assert opened.history.record([run("fit(λ)", begin + n) for n in range(10)]) == 10

    assert embedder.texts == 1
    assert memory_of(opened, "fit(λ)").metadata["runs"] == 20


def test_the_title_is_the_first_telling_line(store):
    """A memory is called by what it does: imports, magics that set up and blank lines say little."""
    opened = store()
    opened.history.record(
        [
            run("import pandas as pd\n%matplotlib inline\n\n# Fit the λ of Zürich\nfit()", 1),
            run("import pandas as pd", 2),
            run("@cache\ndef price(): ...", 3),
        ]
    )

    titles = {hit.memory.title for hit in opened.browsed().hits}
    assert titles == {"Fit the λ of Zürich", "import pandas as pd", "def price(): ..."}


def test_secrets_are_hidden(store, bytes_of):
    """No byte of a secret in a source, a message or a traceback reaches the file; a mark stands for it."""
    opened = store()
    opened.history.record([failed(f"login({TOKEN!r})", 1, f"bad token {TOKEN}", f"  login({TOKEN!r})\nValueError")])

    [noted] = opened.history.runs()
    assert "[redacted: " in noted.source and noted.error and "[redacted: " in noted.error.message
    assert TOKEN.encode() not in bytes_of(opened.path)


def test_secrets_stay_where_the_setting_says_so(store):
    """With the setting ``redact`` off nothing is hidden."""
    opened = store(settings=JupyterMemory(redact=False))
    opened.history.record([failed(f"login({TOKEN!r})", 1, f"bad token {TOKEN}")])

    [noted] = opened.history.runs()
    assert TOKEN in noted.source and noted.error and TOKEN in noted.error.message


@pytest.mark.parametrize(
    "source", ["%memsearch λ", "%%memadd\nλ", "%memfix", "%memory history on", "  \n", "x = 1  # memory: off", "%sql a"]
)
def test_what_stays_out(store, source):
    """Cells that use this memory, say so, are blank or fit a pattern of the settings are left out; others are not."""
    opened = store(settings=JupyterMemory(history_ignore=["%sql *"]))

    assert opened.history.record([run(source, 1), run("fit(λ)", 2)]) == 1
    assert [one.source for one in opened.history.runs()] == ["fit(λ)"]


def test_without_a_model(store):
    """A store that is searched by words alone has history, too."""
    opened = store(embedder=None)
    opened.history.record([run("fit(λ)")])

    assert [hit.memory.kind for hit in opened.hits("fit").hits] == ["history"]


def test_forgotten_while_it_is_recorded(store, monkeypatch):
    """A text that somebody forgets between the look-up and the writing is written anew with its run."""
    opened = store()
    opened.history.record([run("fit(λ)", 1)])
    holds = run_log.SqliteRunLog.holds

    def holds_no_more(self, drafts, /):
        monkeypatch.undo()
        known = holds(self, drafts)
        opened.history.clear()
        return known

    monkeypatch.setattr(run_log.SqliteRunLog, "holds", holds_no_more)

    assert opened.history.record([run("fit(λ)", 2), run("plot(λ)", 3)]) == 2
    assert {one.number for one in opened.history.runs()} == {2, 3}


def test_two_kernels_at_once(store):
    """Two kernels that run one notebook's cells at the same time make one memory for a text, with all its runs."""
    opened, other = store(), store()
    batches = [[run(f"cell({n % 5})", n, session=name) for n in range(60)] for name in ("k1", "k2")]
    threads = [
        threading.Thread(target=lambda log, runs: [log.record([one]) for one in runs], args=(one.history, runs))
        for one, runs in zip((opened, other), batches, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert opened.history.status().runs == 120 and opened.history.status().texts == 5
    assert memory_of(opened, "cell(3)").metadata["runs"] == 24 and opened.doctor() == []


# -- bad input ---------------------------------------------------------------------------------------------------------


def test_a_cell_of_ten_megabytes(store):
    """Of a huge cell the beginning is kept, and its memory says how long it was; half a secret is never kept."""
    opened = store()
    begin = "rows = [\n" + "    (1, 2, 3),\n" * 31_000
    # The first half of the token is the last that is read of the text.
    source = begin + "#" * (500_000 - 20 - len(begin)) + TOKEN + "\n" + "    (4, 5, 6),\n" * 700_000
    opened.history.record([run(source)])

    [noted] = opened.history.runs()
    assert len(noted.source) <= 200_010 and TOKEN[:12] not in noted.source
    assert opened.get(noted.memory_id).metadata["characters"] == len(source) > 10_000_000


def test_an_endless_traceback(store):
    """A traceback keeps its beginning and its end, a message its beginning and end."""
    opened = store()
    opened.history.record([failed("fit(λ)", 1, "μ" * 100_000, "first\n" + "  frame\n" * 100_000 + "ValueError: last")])

    [noted] = opened.history.runs()
    assert noted.error and len(noted.error.message) < 4_100 and len(noted.error.traceback) < 20_100
    assert noted.error.traceback.startswith("first\n")


def test_colours_of_a_terminal(store):
    """A traceback that IPython coloured is kept as plain text."""
    opened = store()
    opened.history.record([failed("fit(λ)", 1, "\x1b[31mλ\x1b[0m", "\x1b[0;31mValueError\x1b[0m: λ")])

    [noted] = opened.history.runs()
    assert noted.error == RunError("ValueError", "λ", "ValueError: λ")


def test_characters_that_cannot_be_stored(store):
    """Lone surrogates and NULs anywhere in a run do not harm; the run is found as it was noted."""
    bad = "λ\ud83d\0x"
    given = Run(
        f"print('{bad}')", NOON, bad, 1, "error", 0.1, RunError(bad, bad, bad), f"/w/{bad}.ipynb", bad, bad, bad
    )
    opened = store()

    assert (opened.history.record([given]), opened.history.record([given])) == (1, 0)
    [noted] = opened.history.runs(error="λ\ufffdx")
    assert noted.source == "print('λ\ufffdx')" and noted.session == "λ\ufffdx"
    assert opened.doctor() == []


def test_an_outcome_that_does_not_exist(store):
    """A run ends in one of three ways; nothing is noted of another."""
    opened = store()
    with pytest.raises(InputError, match="outcome is 'aborted'; it must be one of ok, error, unknown"):
        opened.history.record([run("fit(λ)", 1), run("plot(λ)", 2, outcome="aborted")])

    assert opened.history.runs() == []


def test_a_start_in_local_time(store):
    """A start without a zone is local, and the same moment in two zones is one run."""
    opened = store()
    for start in (NOON, NOON.astimezone(timezone(timedelta(hours=9))), NOON.replace(tzinfo=None)):
        opened.history.record([Run("fit(λ)", start, "k1", 1)])

    assert [one.started for one in opened.history.runs()] == [NOON]


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
