"""A golden set asked of profiles and models: how well each does, and which signals the right answers live on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter

from jupyter_memory.config import JupyterMemory
from jupyter_memory.evaluation.golden import Asked
from jupyter_memory.evaluation.judged import Question
from jupyter_memory.evaluation.metrics import DEPTH, METRICS
from jupyter_memory.evaluation.rows import Row, rows
from jupyter_memory.evaluation.run import Measured
from jupyter_memory.search.profiles.builtin import Profile
from jupyter_memory.store import MemoryStore
from jupyter_memory.types import Hit

SETTINGS = ("space", "threshold", "models")


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """``rows`` are a row a profile; ``shares`` how much of the right answers' scores each term gave, by profile."""

    rows: tuple[Row, ...]
    shares: Mapping[str, Mapping[str, float]]
    model: str


def run(
    store: MemoryStore, golden: Sequence[Asked], profiles: Mapping[str, Profile], against: Sequence[Measured] = ()
) -> GoldenRun:
    """Ask every question of every profile, by the path and with the settings of any other search.

    ``against`` are the answers that differences are counted from, of another profile or another model.
    """
    measured: list[Measured] = []
    shares: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for asked in golden:
        for label, profile in profiles.items():
            one, given = _measured(store, asked, label, profile)
            measured.append(one)
            shares[label] += given
    model = _model(store)
    found = tuple(rows(measured, "golden", model, against=against)) if measured else ()
    return GoldenRun(found, {label: _mean(of) for label, of in shares.items()}, model)


def answerable(store: MemoryStore, golden: Sequence[Asked]) -> tuple[list[Asked], list[Asked]]:
    """Return the questions that a store still has right answers to, with these alone, and those that it has none to."""
    here = store.known({one: of for asked in golden for one, of in asked.right.items()})
    left = [
        replace(asked, right={one: of for one, of in asked.right.items() if one in here})
        for asked in golden
        if not here.isdisjoint(asked.right)
    ]
    return left, [asked for asked in golden if here.isdisjoint(asked.right)]


def asked_of(store: MemoryStore, golden: Sequence[Asked], profile: Profile) -> list[Measured]:
    """Return the answers of one profile, for others to be compared with."""
    return [_measured(store, one, profile.name, profile)[0] for one in golden]


def score(store: MemoryStore, golden: Sequence[Asked], profile: Profile) -> float:
    """Return the mean nDCG@10 of one profile."""
    return fmean(
        METRICS["ndcg@10"](names(_hits(store, one, profile), one), dict.fromkeys(one.right, 1.0)) for one in golden
    )


@contextmanager
def other_model(
    store: MemoryStore, name: str, dimensions: int | None, settings: JupyterMemory
) -> Iterator[MemoryStore]:
    """Give a private copy of a store that searches with another model, and remove it at the end.

    Raises:
        EmbedderError: the model is unknown, or does not run here.
    """
    same = {one: getattr(settings, one) for one in SETTINGS}
    with TemporaryDirectory(prefix="jupyter-memory-golden-") as folder:
        copy = store.backup(Path(folder) / "copy.sqlite")
        changed = JupyterMemory(dimensions=dimensions, **same)
        with MemoryStore(copy, space=store.space or None, settings=changed) as other:
            other.reembed(name, progress=False)
            yield other


def names(hits: Sequence[Hit], asked: Asked) -> list[str]:
    """Return the hits' ids, best first; where an answer has got another id, its content still tells it."""
    found = {hit.memory.id for hit in hits}
    by_content = {of: one for one, of in asked.right.items() if one not in found}
    named = []
    for hit in hits:
        known = hit.memory.id in asked.right
        # Taken out: a second copy of the same text is no second right answer.
        named.append(hit.memory.id if known else by_content.pop(hit.memory.content_hash, hit.memory.id))
    return named


def _measured(
    store: MemoryStore, asked: Asked, label: str, profile: Profile
) -> tuple[Measured, list[Mapping[str, float]]]:
    """Return how well a question is answered, and the shares of the terms in each right answer."""
    begun = perf_counter()
    hits = _hits(store, asked, profile)
    ms = (perf_counter() - begun) * 1000
    named, grades = names(hits, asked), dict.fromkeys(asked.right, 1.0)
    metrics = {metric: of(named, grades) for metric, of in METRICS.items()}
    shares: list[Mapping[str, float]] = [_shares(hit) for name, hit in zip(named, hits, strict=True) if name in grades]
    return Measured(label, Question(asked.id, asked.text, grades), metrics, ms), shares


def _hits(store: MemoryStore, asked: Asked, profile: Profile) -> tuple[Hit, ...]:
    return store.hits(
        asked.text,
        limit=DEPTH,
        profile=profile,
        filters=asked.filters,
        now=asked.now,
        tags=asked.tags,
        domain=asked.domain,
    ).hits


def _shares(hit: Hit) -> dict[str, float]:
    given = {name: abs(seen.contribution) for name, seen in hit.signals.items()}
    whole = sum(given.values()) or 1.0
    return {name: one / whole for name, one in given.items()}


def _mean(shares: Sequence[Mapping[str, float]]) -> dict[str, float]:
    terms = dict.fromkeys(term for one in shares for term in one)
    return {term: fmean(one.get(term, 0.0) for one in shares) for term in terms}


def _model(store: MemoryStore) -> str:
    stats = store.stats()
    active = next((one for one in stats["models"] if one.get("active")), None)
    return f"{active['name']} {active['dimensions']}" if active else "words alone"
