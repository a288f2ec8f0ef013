"""What was run: one memory for a text, found and forgotten; taken in from journals, and from IPython's own history."""

import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import nbformat
import pytest
from hashing import Hashing
from inside import while_another_writes
from kernel_runs import NOON, failed, memory_of, run
from zones import zone

from jupyter_memory import InputError, JupyterMemory, MemoryStore, StoreLocked
from jupyter_memory.storage import Journal, abandoned, ipython_runs, note, runs
from jupyter_memory.types import Run, RunError

TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


def test_a_run_is_found_again(store):
    opened = store()
    opened.history.record([run("model.fit(prices)  # Zürich", n, notebook="/w/λ.ipynb", cell_id="c-1") for n in (1, 2)])
    [hit] = opened.hits("kind:history zürich prices").hits
    assert (hit.memory.kind, hit.memory.source, hit.memory.location) == ("history", "/w/λ.ipynb", "c-1")
    assert hit.memory.event_at == NOON + timedelta(minutes=2) and hit.memory.session == "k1"
    assert hit.badges == "KW+SEM" and hit.memory.metadata["runs"] == 2
    assert opened.hits("zürich prices", filters={"not_kind": "history"}).hits == ()
    assert opened.hits("-kind:history zürich prices").hits == ()


def test_a_text_is_embedded_once(store):
    """Twenty runs of one text embed it once, in one call or in many; without a model words alone find it."""
    embedder = Hashing()
    opened = store(embedder=embedder)
    for begin in (1, 11):
        assert opened.history.record([run("fit(λ)", begin + n) for n in range(10)]) == 10
    assert embedder.batches == [1] and memory_of(opened, "fit(λ)").metadata["runs"] == 20
    words = store("words.sqlite", embedder=None)
    words.history.record([run("fit(λ)")])
    assert [hit.memory.kind for hit in words.hits("fit").hits] == ["history"]


def test_the_title_is_the_first_telling_line(store):
    """A memory is called by what it does: imports, magics that set up and blank lines say little."""
    opened = store()
    setting_up = "import pandas as pd\n%matplotlib inline\n\n# Fit the λ of Zürich\nfit()"
    texts = (setting_up, "import pandas as pd", "@cache\ndef price(): ...")
    opened.history.record([run(text, number) for number, text in enumerate(texts)])
    titles = {hit.memory.title for hit in opened.browsed().hits}
    assert titles == {"Fit the λ of Zürich", "import pandas as pd", "def price(): ..."}


def test_secrets_are_hidden(store, bytes_of):
    """No byte of a secret in a source, a message, a traceback or a place reaches the file, unless ``redact`` is off."""
    bad = failed(f"login({TOKEN!r})", 1, f"bad token {TOKEN}", f"  login({TOKEN!r})\nValueError")
    told = {"notebook": "https://anna:k4ffee-im-schrank@hub/λ.ipynb", "environment": f"env {TOKEN}", "session": TOKEN}
    for redact in (True, False):
        opened = store(f"{redact}.sqlite", settings=JupyterMemory(redact=redact))
        opened.history.record([bad, run("fit(λ)", 2, **told)])
        [noted] = opened.history.runs(error="ValueError")
        for text in (noted.source, noted.error.message):
            assert ("[redacted: " in text, TOKEN in text) == (redact, not redact)
        for secret in (TOKEN.encode(), b"k4ffee-im-schrank"):
            assert (secret in bytes_of(opened.path)) is not redact
        assert opened.history.record([run("fit(λ)", 2, **told)]) == 0


@pytest.mark.parametrize(
    "source", ["%memsearch λ", "%%memadd\nλ", "%memfix", "%memory history on", "  \n", "x = 1  # memory: off", "%sql a"]
)
def test_what_stays_out(store, source):
    """Cells that use this memory, say so, are blank or fit a pattern of the settings are left out; others are not."""
    opened = store(settings=JupyterMemory(history_ignore=["%sql *"]))
    assert opened.history.record([run(source, 1), run("fit(λ)", 2)]) == 1
    assert [one.source for one in opened.history.runs()] == ["fit(λ)"]


def test_forgotten_while_it_is_recorded(store):
    """A text that somebody forgets between the look-up and the writing is written anew with its run."""
    embedder = Hashing()
    opened = store(embedder=embedder)
    opened.history.record([run("fit(λ)", 1)])
    # The known text is looked up before the new one is embedded.
    embedder.before = lambda texts: "plot" in texts[0] and opened.history.clear()
    assert opened.history.record([run("fit(λ)", 2), run("plot(λ)", 3)]) == 2
    assert {one.number for one in opened.history.runs()} == {2, 3}


def test_two_kernels_at_once(store):
    """Two stores record into one file at once, and no run of either is lost."""
    opened, other = store(), store()
    batches = [[run(f"cell({n % 5})", n, session=name) for n in range(20)] for name in ("k1", "k2")]
    with ThreadPoolExecutor() as kernels:
        for one, runs in zip((opened, other), batches, strict=True):
            kernels.submit(lambda log, runs: [log.record([one]) for one in runs], one.history, runs)
    assert opened.history.status().runs == 40 and opened.history.status().texts == 5
    assert memory_of(opened, "cell(3)").metadata["runs"] == 8 and opened.doctor() == []


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
    """A traceback keeps its beginning and its end, without colours, a message its beginning and end."""
    opened = store()
    coloured = failed("fit(λ)", 2, "\x1b[31mλ\x1b[0m", "\x1b[0;31mValueError\x1b[0m: λ")
    trace = "first\n" + "  frame\n" * 100_000 + "ValueError: last"
    opened.history.record([failed("fit(λ)", 1, "μ" * 100_000, trace), coloured])
    plain, endless = opened.history.runs()
    assert len(endless.error.message) < 4_100 and len(endless.error.traceback) < 20_100
    assert endless.error.traceback.startswith("first\n") and plain.error == RunError("ValueError", "λ", "ValueError: λ")


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


def test_a_start_in_local_time(store):
    """A start without a zone is local, the same moment in two zones is one run; odd outcomes are refused."""
    opened = store()
    for start in (NOON, NOON.astimezone(timezone(timedelta(hours=9))), NOON.replace(tzinfo=None)):
        opened.history.record([Run("fit(λ)", start, "k1", 1)])
    with pytest.raises(InputError, match="outcome is 'aborted'; it must be one of ok, error, unknown"):
        opened.history.record([run("fit(μ)", 1), run("plot(λ)", 2, outcome="aborted")])
    assert [one.started for one in opened.history.runs()] == [NOON]


def secret_runs():
    words = {"source": "walross", "name": "Eisbaerfehler", "message": "quarzlampe", "trace": "spitzbergen"}
    error = RunError(words["name"], words["message"], words["trace"])
    told = {"notebook": "/w/polarnacht.ipynb", "cell_id": "nordlicht", "environment": "gletscher"}
    told |= {"packages": "moschus 1.0", "result": "krakenfjord"}
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
    assert traces(opened, words, bytes_of) >= {
        *("walross", "quarzlampe", "spitzbergen", "nordlicht", "gletscher", "moschus", "krakenfjord")
    }
    if way == "number":
        opened.history.record([replace(runs[0], source="fit(λ)", number=1_000, started=NOON + timedelta(days=1),
                                       session="k1", error=None, notebook="", cell_id="", environment="",
                                       packages="", result="")])  # fmt: skip
    gone = {
        "clear": opened.history.clear,
        "forget": lambda: opened.forget(sorted({one.memory_id for one in opened.history.runs(limit=500)})),
        "age": opened.history.retain, "number": opened.history.retain,
    }[way]()  # fmt: skip
    assert gone == 300 and traces(opened, words, bytes_of) == set()
    assert opened.recent() == [] and opened.feedbacks() == [] and opened.doctor() == []
    assert opened.stats()["kinds"] == ({"note": 1, "history": 1} if way == "number" else {"note": 1})


@pytest.mark.parametrize("counted", [False, True])
def test_a_notebook_that_is_forgotten(store, bytes_of, counted):
    """Forgetting a folder removes what happened in its notebooks, also to texts that ran elsewhere later."""
    # What runs there between the count and the answer is forgotten whole: no text is left without a run.
    opened, error = store(), RunError("E", "quarzlampe", "gletscher")
    here = {"notebook": "/geheim/polarnacht.ipynb", "outcome": "error", "error": error}
    runs = [run("fit(λ)", 1, **here), run("spitzbergen()", 2, **here), run("fit(λ)", 3, notebook="/w/a.ipynb")]
    opened.history.record(runs)
    chosen = opened.selection(source="/geheim") if counted else None
    opened.history.record([run("nordlicht()", 4, **here)])
    assert (opened.forget(chosen) if counted else opened.forget(source="/geheim")) == 2
    assert [one.number for one in opened.history.runs()] == [3] and memory_of(opened, "fit(λ)").metadata["runs"] == 1
    for word in (b"polarnacht", b"quarzlampe", b"gletscher", b"spitzbergen", b"nordlicht"):
        assert word not in bytes_of(opened.path)


def found_by(store, query):
    return [hit.memory.text for hit in store.hits(query, filters={"kind": "history"}).hits if hit.kw_rank is not None]


def test_a_failed_run_is_found_by_its_error(store, bytes_of):
    """Name and first line of the message lead to the text, though it ran well before, or its end comes later."""
    opened = store()
    error = RunError("KeyError", "'customer_number' password = 'Tr0ub4dor&3xyz'\nwalross", "")
    opened.history.record([run("orders.merge(left)", 1, outcome="ok"), run("plot(λ)", 2, outcome="ok")])
    opened.history.record([run("orders.merge(left)", 3, outcome="error", error=error), run("fit(μ)", 4)])
    assert found_by(opened, "KeyError customer_number") == found_by(opened, "customer") == ["orders.merge(left)"]
    assert "fit(μ)" not in found_by(opened, "ZeroDivisionError")
    opened.history.record([run("fit(μ)", 4, outcome="error", error=RunError("ZeroDivisionError", "by λ"))])
    assert "fit(μ)" in found_by(opened, "ZeroDivisionError")
    assert found_by(opened, "walross") == [] and b"Tr0ub4dor" not in bytes_of(opened.path)
    assert opened.doctor() == []


@pytest.mark.parametrize("way", ["retain", "forget", "rebuild"])
def test_errors_of_runs_that_are_gone_find_nothing(store, bytes_of, way):
    """What is removed of a text's runs goes from the index to the last byte; of those that stay, it finds the text."""
    opened = store(settings=JupyterMemory(history_days=30.0))
    old = run("orders.merge(left)", 1, notebook="/w/a.ipynb", outcome="error", error=RunError("KeyError", "'walross'"))
    new = run("orders.merge(left)", 2, outcome="error", error=RunError("ValueError", "pinguin"))
    opened.history.record([old, replace(new, started=datetime.now(UTC))])
    assert found_by(opened, "walross") == found_by(opened, "pinguin") == ["orders.merge(left)"]
    {"retain": opened.history.retain, "forget": lambda: opened.forget(source="/w/a.ipynb"), "rebuild": opened.rebuild}[
        way
    ]()
    left = ["orders.merge(left)"] if way == "rebuild" else []
    assert (found_by(opened, "walross"), found_by(opened, "pinguin")) == (left, ["orders.merge(left)"])
    assert (b"walross" in bytes_of(opened.path).lower()) == bool(left) and opened.doctor() == []


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
    """A store with a space notes and sees only its own history, and clears only that; the status is said in words."""
    team, mine = store(space="team"), store(space="mine")
    assert str(team.history.status()) == "no runs"
    team.history.record([run("fit(λ)", 1), run("fit(λ)", 2)])
    mine.history.record([run("fit(λ)", 3)])
    assert [one.number for one in team.history.runs()] == [2, 1]
    assert str(team.history.status()) == "2 runs of 1 text, 2026-03-06 12:01 to 2026-03-06 12:02"
    assert team.history.clear() == 1 and mine.history.status().runs == 1


@pytest.fixture
def path(tmp_path):
    """Give the path of a store; no journal of it stays in the memory of the machine."""
    store = tmp_path / "store" / "memory.sqlite"
    yield store
    for journal in abandoned(store):
        journal.remove()


def leave(store, record, name="0"):
    """Leave a journal beside a store, as a kernel that died does; journals are read in the order of their names."""
    journal = Journal.on_disk(store)
    journal.write(record)
    journal.close()
    return journal.path.rename(journal.path.with_name(journal.path.name[:-16] + name * 16))


def test_a_journal_that_cannot_be_read_keeps_no_other_waiting(path, caplog):
    """The others are taken in, when the store opens and later; what cannot be read stays, and is said once."""
    bad = leave(path, note(replace(run("odd"), source=5)), "0")
    leave(path, note(run("fit(λ)")), "1")
    with MemoryStore(path) as store:
        assert [one.source for one in store.history.runs()] == ["fit(λ)"]
        leave(path, note(run("plot(λ)", 2)), "2")
        store.history.catch_up()
        store.history.catch_up()
        assert [one.source for one in store.history.runs()] == ["plot(λ)", "fit(λ)"] and len(caplog.records) == 1
    assert [journal.path for journal in abandoned(path)] == [bad]


def test_a_look_at_what_is_left_is_no_matter_for_a_store_that_is_not_written(path):
    """A store that another program locks answers, and so does one without an embedder: what is left waits."""
    settings = JupyterMemory(busy_seconds=0.1)
    with MemoryStore(path, settings=settings) as store, MemoryStore(path, None, settings=settings) as by_words:
        left = leave(path, note(run("fit(λ)")), "0")
        by_words.history.catch_up()
        with while_another_writes(store):
            store.history.catch_up()
        assert left.exists() and store.history.runs() == []
        store.history.catch_up()
        assert len(store.history.runs()) == 1 and not left.exists()


@pytest.mark.parametrize("way", ["clear", "everything", "counted"])
def test_nothing_is_lost_where_forgetting_fails(path, way):
    """While the store is locked nothing is forgotten, and what waits beside it is not overwritten."""
    with MemoryStore(path, settings=JupyterMemory(busy_seconds=0.1)) as store:
        store.add("prices are net of tax")
        left = leave(path, note(run("fit(λ)")), "0")
        counted = store.selection(everything=True)
        forget = {
            "clear": store.history.clear,
            "everything": lambda: store.forget(everything=True),
            "counted": lambda: store.forget(counted),
        }[way]
        with while_another_writes(store), pytest.raises(StoreLocked):
            forget()
        assert [one.source for one in runs(left.read_bytes())] == ["fit(λ)"]
        assert forget() == (way != "clear")
        assert not left.exists()


@pytest.mark.parametrize("way", ["clear", "everything"])
def test_what_is_taken_in_while_the_history_is_cleared_goes_as_well(path, monkeypatch, way):
    """A kernel that takes in its runs after the store forgot, and before the journals are empty, brings none back."""
    with MemoryStore(path) as store:
        store.history.record([run("fit(λ)", 1)])
        leave(path, note(run("fit(λ)", 3)))
        remove = Journal.remove

        def taken_in_before(journal):
            store.history.record([run("plot(λ)", 2)])
            return remove(journal)

        monkeypatch.setattr(Journal, "remove", taken_in_before)
        assert (store.history.clear() if way == "clear" else store.forget(everything=True)) == 2
        assert store.history.runs() == []


def test_runs_of_a_dead_kernel_go_into_the_space_that_it_had(path):
    """Whoever opens the store, a journal's runs belong where their kernel recorded."""
    leave(path, note(run("fit(λ)", space="team")) + note(run("plot(λ)", 2)), "0")
    for space, sources in (("mine", []), ("team", ["fit(λ)"])):
        with MemoryStore(path, space=space) as store:
            assert [one.source for one in store.history.runs()] == sources
            assert store.count() == len(sources)


START = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)
SCHEMA = """
    create table sessions (session integer primary key autoincrement, start timestamp, end timestamp, num_cmds integer,
        remark text);
    create table history (session integer, line integer, source text, source_raw text, primary key (session, line));
    create table output_history (session integer, line integer, output text, primary key (session, line));
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "profile_default" / "history.sqlite"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        connection.execute("insert into sessions values (1, '2026-03-06 12:00:00.000000', null, null, '')")
        connection.execute("insert into sessions values (4, '2026-03-06 14:00:00+01:00', null, null, '')")
        lines = [(1, 1, "λ = 3"), (1, 2, "%memsearch λ"), (4, 1, "fit(λ)"), (4, 2, "λ = 3")]
        connection.executemany("insert into history values (?, ?, 'transformed', ?)", lines)
        connection.commit()
    return path


def add_line(path, session, line, source):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("insert into history values (?, ?, ?, ?)", (session, line, source, source))
        connection.commit()


def test_what_is_read(file):
    """Each line is a run, as it was typed, of unknown outcome; its session began when IPython says."""
    assert list(ipython_runs(file)) == [
        Run("λ = 3", START + timedelta(milliseconds=1), "ipython 1 2026-03-06 12:00:00.000000", 1),
        Run("%memsearch λ", START + timedelta(milliseconds=2), "ipython 1 2026-03-06 12:00:00.000000", 2),
        Run("fit(λ)", START + timedelta(hours=1, milliseconds=1), "ipython 4 2026-03-06 14:00:00+01:00", 1),
        Run("λ = 3", START + timedelta(hours=1, milliseconds=2), "ipython 4 2026-03-06 14:00:00+01:00", 2),
    ]


def test_what_ipython_writes(tmp_path):
    path = tmp_path / "history.sqlite"
    options = [f"--HistoryManager.hist_file={path}", "--HistoryManager.enabled=True", "--no-banner"]
    subprocess.run([sys.executable, "-m", "IPython", *options], input="λ = 3\nλ / 0\n", text=True, capture_output=True,
                   timeout=60, check=True)  # fmt: skip
    first, second = ipython_runs(path)
    assert (first.source, second.source, second.number) == ("λ = 3", "λ / 0", 2)
    assert first.started < second.started <= datetime.now(UTC) + timedelta(minutes=1)


def test_imported_twice(store, file):
    """A second import adds what is new since the first, and nothing else; excluded cells stay out."""
    opened = store()
    assert opened.history.import_ipython(file) == 3
    assert opened.history.import_ipython(str(file)) == 0
    add_line(file, 4, 3, "plot(λ)")
    assert opened.history.import_ipython(file) == 1
    assert {one.source for one in opened.history.runs()} == {"λ = 3", "fit(λ)", "plot(λ)"}


def test_imported_in_another_time_zone(store, file):
    """IPython writes local times: a journey between two imports does not double the history."""
    opened, before = store(), next(ipython_runs(file)).started
    opened.history.import_ipython(file)
    with zone("Asia/Tokyo"):
        after, added = next(ipython_runs(file)).started, opened.history.import_ipython(file)
    assert (after, added) == (before - timedelta(hours=9), 0)


def test_the_file_is_not_touched(store, file):
    """The file stays as it is, and nothing is made beside it; what the settings would forget at once is left out."""

    def seen():
        return file.read_bytes(), file.stat().st_mtime_ns, sorted(file.parent.iterdir())

    before = seen()
    assert store("old.sqlite", settings=JupyterMemory(history_days=1.0)).history.import_ipython(file) == 0
    store().history.import_ipython(file)
    assert seen() == before


def test_ipython_goes_on_writing(file):
    """While runs are read, another program can write; what is unfinished is not read, and a locked file is told."""
    runs = ipython_runs(file)
    next(runs)
    add_line(file, 4, 3, "plot(λ)")
    assert [run.source for run in runs] == ["%memsearch λ", "fit(λ)", "λ = 3", "plot(λ)"]
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("begin immediate")
        other.execute("insert into history values (4, 9, 'half', 'half')")
        assert [run.number for run in ipython_runs(file)] == [1, 2, 1, 2, 3]
        other.execute("rollback")
        other.execute("begin exclusive")
        with pytest.raises(InputError, match=r"locked by another program\. Try again"):
            list(ipython_runs(file))


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_in_a_folder_that_cannot_be_written(file, common_folder, as_user, journal):
    """A history that its reader may not write to, in a folder that it may not write to, is read."""
    copy = common_folder / "history.sqlite"
    copy.write_bytes(file.read_bytes())
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute(f"pragma journal_mode = {journal}")
    copy.chmod(0o444)
    assert as_user(lambda: len(list(ipython_runs(copy)))) == 4


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4_000])
def test_no_history(file, content):
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"Name IPython's history\.sqlite"):
        list(ipython_runs(file))
    file.unlink()
    with pytest.raises(InputError, match="There is no file"):
        list(ipython_runs(file))
    assert not file.exists()


def test_rows_of_any_kind(file):
    rows = [(5, 1, None, "first"), (6, 1, None, b"\xff\xfe"), (6, 2, None, None), (6, 3, "only", None), (7, 1, "", "")]
    with closing(sqlite3.connect(file)) as connection:
        for session, start in ((5, None), (6, "gestern"), (7, "9999-12-31 23:59:59-12:00")):
            connection.execute("insert into sessions values (?, ?, null, null, null)", (session, start))
        connection.executemany("insert into history values (?, ?, ?, ?)", rows)
        connection.commit()
    last = list(ipython_runs(file))[4:]
    assert [one.source for one in last] == ["first", "\ufffd\ufffd", "only"]
    # A session without a time began after the one before.
    assert {one.started.replace(microsecond=0) for one in last} == {START + timedelta(hours=1)}
