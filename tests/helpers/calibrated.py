"""A store whose model was measured to be this good, without the passages that measuring takes."""

from __future__ import annotations

from inside import storage_of

from jupyter_memory import MemoryStore


def calibrated(store: MemoryStore, value: float) -> None:
    """Keep a calibration for the model that a store searches with."""
    with storage_of(store) as storage:
        with storage.snapshot() as snapshot:
            model = snapshot.active_model()
        assert model is not None, "the store has no vectors"
        storage.writer.keep_calibration(model, 1, value)
