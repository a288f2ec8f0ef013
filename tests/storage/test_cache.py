"""What is kept between searches: for one version of the store, within bounds, and after a fork."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from forked import in_fork

from jupyter_memory.storage import Cache, Lock


def test_a_value_of_another_version_is_not_returned():
    """Each version has its values; the first of a new version takes the place of all others."""
    cache = Cache(10)
    cache.put("1", "λ", 3)
    assert (cache.get("1", "λ"), cache.get("2", "λ"), cache.get("1", "μ")) == (3, None, None)
    assert (cache.of("2", "λ", lambda: 4), cache.of("2", "λ", lambda: 5)) == (4, 4)
    assert cache.get("1", "λ") is None


def test_the_least_recently_used_go_first():
    """Sizes are added up, also of a value that takes the place of another."""
    cache = Cache(6, len)
    cache.put("", "a", "xx")
    cache.put("", "b", "yy")
    cache.put("", "a", "xxx")
    cache.get("", "b")
    cache.put("", "c", "zz")
    assert [cache.get("", key) for key in "abc"] == [None, "yy", "zz"]
    cache.put("", "d", "too long for it")
    assert cache.get("", "d") is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_finds_the_lock_open():
    """A child that is forked while the lock is held takes it all the same, and the parent's stays held."""
    lock, taken = Lock(), threading.Event()

    def take():
        signal.alarm(60)  # which ends a child that waits
        with lock:
            taken.set()
        return signal.alarm(0) > 0

    with lock:
        assert in_fork(take) is True
        thread = threading.Thread(target=lambda: lock.__enter__() or taken.set() or lock.__exit__(None, None, None))
        thread.start()
        assert not taken.wait(0.2)
    thread.join(60)
    assert taken.is_set()
