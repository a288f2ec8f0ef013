"""Stores that leave their place, for tests of export, import and copies: what they hold, and what they answer."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st
from inside import storage_of

from jupyter_memory import JupyterMemory
from jupyter_memory.types import Run, RunError

PLAIN = JupyterMemory()

EPOCH = datetime(2024, 2, 29, 23, 59, tzinfo=UTC)
WORDS = st.sampled_from(
    ["prices", "λ", "Zürich", "forecast", "df.groupby('shop')", "🐍 snake", '"quoted"', "# title\n", "null"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
TIMES = st.integers(0, 10**14).map(lambda micros: EPOCH + timedelta(microseconds=micros))
NOTES = st.fixed_dictionaries(
    {
        "text": TEXTS, "title": st.one_of(st.just(""), TEXTS),
        "tags": st.lists(st.sampled_from(["decision", "λ", "a b", "draft"]), unique=True),
        "tier": st.sampled_from(["note", "mcp", "core"]), "event_at": TIMES, "valid_until": st.one_of(st.none(), TIMES),
        "severity": st.sampled_from([None, "critical", "warning"]),
        "session": st.sampled_from([None, "monday"]), "domain": st.sampled_from([None, "sales"]),
        "space": st.sampled_from([None, "work", "private"]),
        "metadata": st.dictionaries(st.sampled_from(["a", "ü"]), st.one_of(st.integers(), st.none(), TEXTS)),
    }
)  # fmt: skip
RUNS = st.builds(
    Run, source=TEXTS, started=TIMES, session=st.sampled_from(["k1", "k2"]), number=st.integers(1, 5),
    outcome=st.sampled_from(["ok", "error", "unknown"]), seconds=st.one_of(st.none(), st.floats(0, 100)),
    notebook=st.sampled_from(["", "/week/λ.ipynb"]), cell_id=st.sampled_from(["", "c1"]),
    environment=st.sampled_from(["", "py311"]), result=st.sampled_from(["", "0.78"]),
    packages=st.sampled_from(["", "numpy 2.4.6, pandas 3.1.1"]),
    error=st.one_of(st.none(), st.builds(RunError, st.just("KeyError"), TEXTS, TEXTS)),
)  # fmt: skip
LONG = "\n\n".join(f"## Part {n}\n\n" + f"The price of shop {n} rose in week {n}. " * 30 for n in range(12))


def contents(store):
    with storage_of(store) as storage, storage.transfer.contents("") as found:
        held = list(found.memories())
        # Pictures are no part of an export, and so it does not tell whether they were read.
        files = [one._replace(state=replace(one.state, pictures=None)) for one in found.files()]
        return held, files, list(found.folders()), list(found.feedback())


def answers(store):
    questions = ("prices in Zürich", "how was the forecast made", "KeyError null", "shop 7", "λ")
    now = EPOCH + timedelta(days=2000)
    hits = [hit for one in questions for hit in store.hits(one, limit=20, now=now).hits]
    return [(hit.memory.id, hit.snippet) for hit in hits], [hit.score for hit in hits]


def carried(store):
    """Return what a copy carries beyond an export: vectors, tokens, definitions, pictures, trust and searches."""
    with storage_of(store) as storage, storage.transfer.contents("") as found:
        ready = found.prepared(list(found.memories()))
        vectors = [None if one.vectors is None else one.vectors.tobytes() for one in ready]
        tokens = [list(one.tokens) for one in ready]
        more = [(one.draft, one.definitions) for one in ready]
        return vectors, tokens, more, found.calibration(), list(found.files()), list(found.searches())


def write_files(week):
    week.mkdir()
    (week / "shops.md").write_text(f"---\ntags: [shops]\n---\n\n{LONG}")
    (week / "prices.py").write_text("import os\n\n\ndef prices():\n    return 'λ'\n")


def fill(store, week, notes, runs):
    write_files(week)
    store.index(week, progress=False)
    store.watch(week)
    added = [store.add(**note | {"text": f"{note['text']} no {number}"}) for number, note in enumerate(notes)]
    store.history.record(runs)
    for memory in added[:2]:
        store.note_access(memory.id)
        store.feedback(memory.id, True)
        store.pin(memory.id)
    for question in ("prices in Zürich", "λ"):
        store.note_search(store.hits(question, now=EPOCH + timedelta(days=2000)), "magic")
