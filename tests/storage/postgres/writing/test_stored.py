"""What was stored is reported as stored, and what was not is not."""

from __future__ import annotations

import threading

import pytest

from jupyter_memory import Interrupted, StoreLocked
from jupyter_memory.ingest import prepare
from jupyter_memory.storage import open_storage
from jupyter_memory.types import Draft, Filters

pytest.importorskip("psycopg", reason="needs the extra `postgres`")

from jupyter_memory.storage.postgres.indexes import postings


@pytest.fixture
def storage(emptied_postgres):
    """A store on the server."""
    opened = open_storage(emptied_postgres, busy_seconds=2)
    yield opened
    opened.close()


@pytest.mark.parametrize("error", [Interrupted, StoreLocked])
def test_a_fold_that_fails_after_the_change_was_stored_reaches_nobody(storage, monkeypatch, error):
    """A change returns what it stored, though the upkeep that follows it was stopped or found others in its way."""
    folds = []

    def failing(session):
        folds.append(session)
        raise error("Nothing was changed.")

    monkeypatch.setattr(postings, "FOLDED_AT", 1)
    monkeypatch.setattr(postings, "fold", failing)
    for text in ("one note", "another note"):
        [memory] = storage.writer.add(prepare([Draft(text=text)], None), None)
        assert memory.text == text
    assert folds
    with storage.snapshot() as snapshot:
        assert len(snapshot.keys(Filters())) == 2


def test_a_stop_that_comes_with_a_change_does_not_deny_it(storage, monkeypatch):
    """What a thread reads may be stopped at any time; between the change and its report there is nothing to stop."""
    is_unfolded, stopped = postings.is_unfolded, []

    def stopping(session):
        stopped.append(storage.interrupt(threading.get_ident()))
        return is_unfolded(session)

    monkeypatch.setattr(postings, "is_unfolded", stopping)
    storage.writer.add(prepare([Draft(text="one note")], None), None)
    assert stopped == [False]
