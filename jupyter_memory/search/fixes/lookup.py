"""Earlier errors like a new one, with what mended each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice, zip_longest

from jupyter_memory.search.fixes.failures import Failure, Trees, failure
from jupyter_memory.search.fixes.fixing_runs import fixing_runs
from jupyter_memory.search.fixes.similarity import FailureSimilarity, Parts, Weights, agreement, score
from jupyter_memory.types import Fix, Run

Around = Callable[[Run], tuple[Sequence[Run], Sequence[Run]]]
"""Returns the runs before and after one in its session, in their order."""


class KnownErrors:
    """Earlier failed runs, to be compared with new ones."""

    def __init__(self, failed: Iterable[Run], around: Around) -> None:
        self._around = around
        self._trees = Trees()
        self._by_name: dict[str, list[Failure]] = {}
        for run in failed:
            if run.error is not None:
                one = failure(run, around(run)[0], self._trees)
                self._by_name.setdefault(one.signature.name, []).append(one)

    def compared(self, run: Run, before: Sequence[Run]) -> list[tuple[Parts, Run]]:
        """Return the earlier failed runs with an error of the same type, and how alike each is in its parts.

        ``before`` are the earlier runs of the session of the new one, in their order.
        """
        new = failure(run, before, self._trees)
        known = self._by_name.get(new.signature.name, [])
        similarity = FailureSimilarity(known)
        return [(similarity.parts(new, old), old.run) for old in known]

    def fixes(self, run: Run, before: Sequence[Run], limit: int = 3) -> list[Fix]:
        """Return what mended the errors most like that of a run, the best first; nothing if none is alike.

        ``before`` are the earlier runs of its session, in their order.
        """
        return self.chosen(self.compared(run, before), Weights(), limit)

    def chosen(self, compared: Iterable[tuple[Parts, Run]], weights: Weights, limit: int) -> list[Fix]:
        """Return the fixes of the runs that are alike, as these weights rank them.

        The best fix of each comes first, then the second best. What mended several errors is shown once.
        """
        alike = [(score(parts, weights), run) for parts, run in compared if agreement(parts) >= weights.least]
        alike.sort(key=lambda one: (one[0], one[1].started), reverse=True)
        found: dict[str, Fix] = {}
        # An error that was never mended takes no place.
        lists = filter(None, (self._fixes(run, strength) for strength, run in alike))
        for fix in chain.from_iterable(zip_longest(*islice(lists, limit))):
            if fix is not None:
                found.setdefault(fix.mended.source.strip(), fix)
        return list(islice(found.values(), limit))

    def _fixes(self, failed: Run, strength: float) -> list[Fix]:
        mended = fixing_runs(failed, self._around(failed)[1], self._trees)
        return [Fix(failed, run, round(strength / place, 3)) for place, run in enumerate(mended[:2], start=1)]
