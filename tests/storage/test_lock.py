"""Locks and forks: what a thread of the parent held is open in the child."""

from __future__ import annotations

import os

import pytest

from jupyter_memory.storage import Lock


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_finds_the_lock_open():
    """A child that is forked while the lock is held takes it all the same, and the parent's stays held."""
    lock = Lock()
    with lock:
        child = os.fork()
        if child == 0:
            os._exit(0 if lock._lock.acquire(timeout=60) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert lock._lock.locked()
    assert not lock._lock.locked()
