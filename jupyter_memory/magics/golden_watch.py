"""Notes when a change of settings makes the answers to a person's golden set worse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from traitlets import Bunch

from jupyter_memory.config import JupyterMemory, companion, has_store, store_path
from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.magics.output import note

WATCHED = ("profile", "threshold", "embedder", "dimensions")
FEWEST = 5
# Of a large set only the newest questions are measured, so that a change of settings stays quick.
MOST = 50
_TINY = 0.005


def watch(settings: JupyterMemory) -> None:
    """Compare before and after each change of a setting that affects ranking."""

    def changed(change: Bunch) -> None:
        before = score(settings, **{change.name: change.old})
        if before is not None:
            _compare(
                before,
                score(settings),
                f"{change.name} = {change.new!r}",
                f"%config JupyterMemory.{change.name} = {change.old!r}",
            )

    settings.observe(changed, names=list(WATCHED))


@contextmanager
def watched(settings: JupyterMemory, what: str, back: str) -> Iterator[None]:
    """Compare before and after the block, such as a change of the model."""
    before = score(settings)
    yield
    if before is not None:
        _compare(before, score(settings), what, back)


def score(settings: JupyterMemory, **other: Any) -> tuple[float, int] | None:
    """Return nDCG@10 on the golden set with the settings, but for ``other``, and on how many questions.

    None where there are fewer than five questions, or where nothing can be measured.
    """
    from jupyter_memory.evaluation.golden import golden_path, load

    path = store_path(settings)
    try:
        kept = load(golden_path(companion(path)))[-MOST:]
        if len(kept) < FEWEST or not has_store(settings):
            return None
        # Imported late: most changes of settings have nothing to measure.
        from jupyter_memory.evaluation import golden
        from jupyter_memory.search.profiles import profile_named
        from jupyter_memory.store.memory_store import MemoryStore

        values = {name: getattr(settings, name) for name in (*WATCHED, *golden.SETTINGS)} | other
        tried = JupyterMemory(**values)
        profile = profile_named(tried.profile)
        with MemoryStore(path, tried.embedder, space=tried.space or None, settings=tried) as store:
            kept, _ = golden.answerable(store, kept)
            return (golden.score(store, kept, profile), len(kept)) if len(kept) >= FEWEST else None
    except (JupyterMemoryError, OSError):
        return None  # the search that uses a wrong setting reports it


def _compare(before: tuple[float, int], after: tuple[float, int] | None, what: str, back: str) -> None:
    if after is not None and after[0] < before[0] - _TINY:
        note(
            f"With {what} your golden set gets worse: nDCG@10 {after[0]:.2f} instead of {before[0]:.2f} over "
            f"{after[1]} questions. %memeval run compares; to go back: {back}"
        )
