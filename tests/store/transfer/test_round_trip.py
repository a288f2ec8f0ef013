"""A store comes back from an exported folder as it was: ids, texts, times, history, and the answers to questions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transferred import LONG, NOTES, RUNS, answers, contents

from jupyter_memory import JupyterMemory, MemoryStore


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
