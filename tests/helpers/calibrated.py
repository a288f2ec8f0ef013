"""A store whose model was measured to be this good, without the passages that measuring takes."""

import apsw

from jupyter_memory import MemoryStore


def calibrated(store: MemoryStore, value: float) -> None:
    """Keep a calibration for the model that a store searches with, as another process would."""
    with apsw.Connection(str(store.path)) as connection:
        connection.execute("insert or replace into trust select id, 1, ? from models where active", (value,))
        assert connection.changes(), "the store has no vectors"
