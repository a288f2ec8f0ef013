"""What tests of the history share: runs of one kernel, and the memory of a text that was run."""

from datetime import UTC, datetime, timedelta

from jupyter_memory.types import Run, RunError

NOON = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)


def run(source, number=1, **values):
    return Run(source, NOON + timedelta(minutes=number), values.pop("session", "k1"), number, **values)


def failed(source, number=1, message="", traceback=""):
    return run(source, number, outcome="error", error=RunError("ValueError", message, traceback))


def memory_of(store, text):
    [found] = [
        hit.memory for hit in store.browsed(limit=100, filters={"kind": "history"}).hits if hit.memory.text == text
    ]
    return found
