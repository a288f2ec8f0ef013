"""What is forgotten on a server is gone: nothing promises that it can be taken back."""

from __future__ import annotations

import pytest

from jupyter_memory import InputError, JupyterMemory, MemoryStore

pytest.importorskip("psycopg", reason="needs the extra `postgres`")


def test_forgetting_that_could_be_taken_back_is_refused(postgres_address):
    """With the setting undo_minutes nothing goes unless it is to go for good, and there is nothing to take back."""
    with MemoryStore(postgres_address, None, settings=JupyterMemory(undo_minutes=10.0)) as store:
        memory = store.add("Prices rose.")
        with pytest.raises(InputError, match="--now"):
            store.forget(memory.id)
        assert store.count() == 1
        assert store.forget(memory.id, now=True) == 1
        with pytest.raises(InputError, match="nothing to take back"):
            store.undo()
