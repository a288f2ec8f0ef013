"""What was run: one memory for a text, found again, in bounds and without secrets, whatever is noted."""

from __future__ import annotations

import threading
from datetime import timedelta, timezone

import pytest
from kernel_runs import NOON, failed, memory_of, run

from jupyter_memory import InputError, JupyterMemory
from jupyter_memory.embedders import open_embedder
from jupyter_memory.storage.sqlite import writer as run_log
from jupyter_memory.types import Run, RunError

TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"


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


def test_secrets_in_what_names_a_place(store, bytes_of):
    """A password in the address of a notebook, in a session or in the name of an environment is hidden, too."""
    opened = store()
    told = {"notebook": "https://anna:k4ffee-im-schrank@hub/λ.ipynb", "environment": f"env {TOKEN}", "session": TOKEN}
    opened.history.record([run("fit(λ)", **told)])

    assert TOKEN.encode() not in bytes_of(opened.path) and b"k4ffee-im-schrank" not in bytes_of(opened.path)
    assert opened.history.record([run("fit(λ)", **told)]) == 0


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
