"""A store comes back from an exported folder as it was: ids, texts, times, history, and the answers to questions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_memory import MemoryStore
from jupyter_memory.config import JupyterMemory
from jupyter_memory.types import Run, RunError

EPOCH = datetime(2024, 2, 29, 23, 59, tzinfo=UTC)
WORDS = st.sampled_from(
    ["prices", "λ", "Zürich", "forecast", "df.groupby('shop')", "🐍 snake", '"quoted"', "# title\n", "null"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
TIMES = st.integers(0, 10**14).map(lambda micros: EPOCH + timedelta(microseconds=micros))
NOTES = st.fixed_dictionaries(
    {
        "text": TEXTS,
        "title": st.one_of(st.just(""), TEXTS),
        "tags": st.lists(st.sampled_from(["decision", "λ", "a b", "draft"]), unique=True),
        "tier": st.sampled_from(["note", "mcp", "core"]),
        "event_at": TIMES,
        "valid_until": st.one_of(st.none(), TIMES),
        "severity": st.sampled_from([None, "critical", "warning"]),
        "session": st.sampled_from([None, "monday"]),
        "domain": st.sampled_from([None, "sales"]),
        "space": st.sampled_from([None, "work", "private"]),
        "metadata": st.dictionaries(st.sampled_from(["a", "ü"]), st.one_of(st.integers(), st.none(), TEXTS)),
    }
)
RUNS = st.builds(
    Run,
    source=TEXTS,
    started=TIMES,
    session=st.sampled_from(["k1", "k2"]),
    number=st.integers(1, 5),
    outcome=st.sampled_from(["ok", "error", "unknown"]),
    seconds=st.one_of(st.none(), st.floats(0, 100)),
    notebook=st.sampled_from(["", "/week/λ.ipynb"]),
    cell_id=st.sampled_from(["", "c1"]),
    environment=st.sampled_from(["", "py311"]),
    error=st.one_of(st.none(), st.builds(RunError, st.just("KeyError"), TEXTS, TEXTS)),
)
LONG = "\n\n".join(f"## Part {n}\n\n" + f"The price of shop {n} rose in week {n}. " * 30 for n in range(12))


def contents(store):
    """Return everything that a store holds, as values that can be compared."""
    with store._storage.transfer.contents("") as found:
        held = list(found.memories())
        return held, list(found.files()), list(found.folders()), list(found.feedback())


def answers(store):
    """Return the answers of a store to some questions: the ids of their hits and snippets, and the scores, in order."""
    questions = ("prices in Zürich", "how was the forecast made", "KeyError null", "shop 7", "λ")
    now = EPOCH + timedelta(days=2000)
    hits = [hit for one in questions for hit in store.hits(one, limit=20, now=now).hits]
    return [(hit.memory.id, hit.snippet) for hit in hits], [hit.score for hit in hits]


@given(st.lists(NOTES, max_size=6), st.lists(RUNS, max_size=6))
@settings(max_examples=10)
def test_export_and_import_give_back_the_same_store(tmp_path_factory, notes, runs):
    """Every field of every memory, its chunks, its runs and the answers to questions are exactly those of before."""
    folder = tmp_path_factory.mktemp("store")
    week = folder / "week"
    week.mkdir()
    (week / "shops.md").write_text(f"---\ntags: [shops]\n---\n\n{LONG}")
    (week / "prices.py").write_text("import os\n\n\ndef prices():\n    return 'λ'\n")
    plain = JupyterMemory()
    with MemoryStore(folder / "a.sqlite", "static", settings=plain) as store:
        store.index(week, progress=False)
        # Of two notes with the same text, either may stand for both.
        added = [store.add(**note | {"text": f"{note['text']} no {number}"}) for number, note in enumerate(notes)]
        store.history.record(runs)
        for memory in added[:2]:
            store.note_access(memory.id)
            store.feedback(memory.id, True)
        before, asked = contents(store), answers(store)
        report = store.export(folder / "out")
    with MemoryStore(folder / "b.sqlite", "static", settings=plain) as store:
        imported = store.import_(folder / "out", progress=False)
        assert contents(store) == before
        found, scores = answers(store)
        assert found == asked[0]
        # A vector depends on the batch in which it is computed, in its last bits.
        assert scores == pytest.approx(asked[1], abs=1e-6)
        assert store.doctor() == []
        assert imported.added == report.memories == len(before[0])
        again = store.import_(folder / "out", update=True, progress=False)
        assert (again.added, again.updated, again.merged, again.kept) == (0, 0, 0, report.memories)
        assert contents(store) == before
        assert store.index(week, progress=False).unchanged == 2
