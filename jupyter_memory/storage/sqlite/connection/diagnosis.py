"""Looking for the cause of an error that nobody expected: another file in the store's place, or damage."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from jupyter_memory.errors import JupyterMemoryError, StoreDamaged

# Seconds for which a store that was found sound counts as such: the check of a large one takes that long.
_SOUND_FOR = 60.0


class Diagnosis:
    """Examines a store after an error.

    ``refuse_replaced`` raises where another file is in the store's place; ``find_damage`` returns the first damage that
    the checks of the store find, as a sentence, empty where there is none.
    """

    def __init__(self, path: Path, refuse_replaced: Callable[[], None]) -> None:
        self.find_damage: Callable[[], str] = str
        self._path = path
        self._refuse_replaced = refuse_replaced
        self._examining = False
        self._sound_until = 0.0

    @contextmanager
    def of_errors(self) -> Iterator[None]:
        """Turn errors that come from another file, or from damage, into ours; all others stay as they are."""
        try:
            yield
        except StoreDamaged:
            self._examine(self._refuse_replaced)
            raise
        except JupyterMemoryError:
            raise
        except Exception:
            # Any: a damaged value may fail wherever it is first used, as what it should have been.
            self._examine(self._refuse_replaced, self._refuse_damaged)
            raise

    def _examine(self, *refusals: Callable[[], None]) -> None:
        if self._examining:
            return  # an examination that fails is not examined itself
        self._examining = True
        try:
            for refuse in refusals:
                refuse()
        finally:
            self._examining = False

    def _refuse_damaged(self) -> None:
        if monotonic() < self._sound_until:
            return
        if finding := self.find_damage():
            raise StoreDamaged(f"{self._path} is damaged. {finding} `jupyter-memory doctor` lists all that is wrong.")
        self._sound_until = monotonic() + _SOUND_FOR
