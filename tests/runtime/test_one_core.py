"""NumPy's products on one core, and on as many as before afterwards."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from jupyter_memory import runtime


@pytest.fixture
def library():
    found = runtime._numpy_openblas()
    if found is None:
        pytest.skip("NumPy has another BLAS than that of its wheels for Linux")
    return found


def test_as_before(library):
    """Inside, one thread multiplies; outside as many as before, also after an error and with two at a time."""
    before = library.scipy_openblas_get_num_threads64_()
    inside, outside = threading.Event(), threading.Event()

    def other():
        with runtime.one_core():
            inside.set()
            outside.wait(60)

    thread = threading.Thread(target=other)
    with pytest.raises(ValueError, match="λ"), runtime.one_core():
        thread.start()
        assert inside.wait(60)
        assert library.scipy_openblas_get_num_threads64_() == 1
        raise ValueError("λ")
    assert library.scipy_openblas_get_num_threads64_() == 1
    outside.set()
    thread.join(100)

    assert library.scipy_openblas_get_num_threads64_() == before


def test_without(monkeypatch):
    """With another BLAS products are what they are."""
    monkeypatch.setattr(runtime, "_numpy_openblas", lambda: None)
    with runtime.one_core():
        assert (np.eye(3) @ np.eye(3)).trace() == 3
