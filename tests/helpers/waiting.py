"""Wait for what another thread or process does."""

from collections.abc import Callable
from time import monotonic, sleep


def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end, "it did not happen"
        sleep(0.02)
