"""Local time in another zone."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def zone(name: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", name)
        time.tzset()
        yield
    time.tzset()
