"""Golden questions of your own, and their history as a chart."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any

from jupyter_memory.config import JupyterMemory
from jupyter_memory.dataframe.accessor import local_chart
from jupyter_memory.errors import InputError, MissingExtra
from jupyter_memory.evaluation.datasets import Question
from jupyter_memory.evaluation.metrics import DEPTH, METRICS
from jupyter_memory.evaluation.runner import Measured, Row, rows
from jupyter_memory.search.profiles import Profile
from jupyter_memory.store.store import MemoryStore
from jupyter_memory.text.display import count_of
from jupyter_memory.types import Answer, Filters

if TYPE_CHECKING:
    import altair

# The set is the file ``memory.golden.jsonl`` beside the store, which only its owner can read. It holds the questions as
# they were asked; of the answers it holds only ids and content hashes.


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question with its time and filters; ``right`` maps the ids of its answers to their content hashes."""

    text: str
    now: datetime
    right: Mapping[str, str]
    filters: Filters = field(default_factory=Filters)
    tags: tuple[str, ...] = ()
    domain: str | None = None

    @property
    def id(self) -> str:
        """Return six characters that name the question with its filters."""
        identity = json.dumps([self.text, _plain(self.filters), self.tags, self.domain], ensure_ascii=False)
        return blake2b(identity.encode(), digest_size=3).hexdigest()


def golden_path(store: Path) -> Path:
    """Return the file of a store's golden set, whether it is there or not."""
    return store.with_name(f"{store.stem}.golden.jsonl")


def load(path: Path) -> list[GoldenQuestion]:
    """Return the questions of a golden set, none where there is no file."""
    if not path.exists():
        return []
    found = []
    # Only at line feeds: JSON leaves other ends of lines, such as U+0085, in a text as they are.
    for number, line in enumerate(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"), start=1):
        try:
            held = json.loads(line)
            found.append(
                GoldenQuestion(
                    text=str(held["text"]),
                    now=datetime.fromisoformat(held["date"]),
                    right={str(one): str(of) for one, of in held["right"].items()},
                    filters=_filters(held.get("filters", {})),
                    tags=tuple(held.get("tags", ())),
                    domain=held.get("domain"),
                )
            )
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number}, is not a question: correct the line or remove it.") from error
    return found


def _save(path: Path, questions: Sequence[GoldenQuestion]) -> None:
    if not questions:
        path.unlink(missing_ok=True)
        return
    lines = []
    for one in questions:
        line: dict[str, Any] = {"_id": one.id, "text": one.text, "date": one.now.isoformat(), "right": dict(one.right)}
        line |= {"filters": _plain(one.filters), "tags": list(one.tags), "domain": one.domain}
        held = {name: value for name, value in line.items() if value not in ({}, [], None)}
        lines.append(json.dumps(held, ensure_ascii=False) + "\n")
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    # Created with its permissions rather than given them afterwards: no other user can open it in between.
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.writelines(lines)
    temporary.replace(path)


def add(path: Path, answer: Answer, ranks: Sequence[int]) -> GoldenQuestion:
    """Keep an answer's question with the hits of these ranks as right answers; a known question gets them added."""
    if not answer.query.text:
        raise InputError("The last search listed memories without a question. Ask one first: %memsearch …")
    query, right = answer.query, {}
    for rank in ranks:
        if not 1 <= rank <= len(answer.hits):
            results = count_of(len(answer.hits), "result")
            raise InputError(f"The last search has {results}, so there is no rank {rank}.")
        memory = answer.hits[rank - 1].memory
        right[memory.id] = memory.content_hash
    question = GoldenQuestion(query.text, query.now, right, query.filters, query.tags, query.domain)
    known = load(path)
    same = next((one for one in known if one.id == question.id), None)
    if same is not None:
        question = replace(same, right={**same.right, **right})
    _save(path, [*(one for one in known if one.id != question.id), question])
    return question


def forget(path: Path, ids: Sequence[str]) -> int:
    """Remove questions from the set and return how many were removed."""
    known = load(path)
    if missing := sorted(set(ids) - {one.id for one in known}):
        raise InputError(f"There is no question {missing[0]} in the golden set. %memeval list shows the ids.")
    left = [one for one in known if one.id not in ids]
    _save(path, left)
    return len(known) - len(left)


def _plain(filters: Filters) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in fields(filters):
        value = getattr(filters, one.name)
        if isinstance(value, Filters):
            found[one.name] = _plain(value)
        elif isinstance(value, datetime):
            found[one.name] = value.isoformat()
        elif value:
            found[one.name] = list(value)
    return found


def _filters(plain: Mapping[str, Any]) -> Filters:
    values: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, Mapping):
            values[name] = _filters(value)
        else:
            values[name] = datetime.fromisoformat(value) if isinstance(value, str) else tuple(value)
    return Filters(**values)


# What a copy of the store takes over, so that it answers as the store does.
SETTINGS = ("space", "threshold", "models")


@dataclass(frozen=True, slots=True)
class GoldenRun:
    """``rows`` has one row per profile; ``shares`` has each term's share of the right answers' scores, by profile."""

    rows: tuple[Row, ...]
    shares: Mapping[str, Mapping[str, float]]
    model: str


def run(
    store: MemoryStore,
    golden: Sequence[GoldenQuestion],
    profiles: Mapping[str, Profile],
    against: Sequence[Measured] = (),
) -> GoldenRun:
    """Search for every question with every profile, in the way and with the settings of any other search.

    ``against`` are the answers of another profile or another model, from which differences are counted.
    """
    measured: list[Measured] = []
    shares: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for question in golden:
        for label, profile in profiles.items():
            one, given = _measured(store, question, label, profile)
            measured.append(one)
            shares[label] += given
    active = next((one for one in store.stats()["models"] if one.get("active")), None)
    model = f"{active['name']} {active['dimensions']}" if active else "words alone"
    means = {}
    for label, given in shares.items():
        terms = dict.fromkeys(term for one in given for term in one)
        means[label] = {term: fmean(one.get(term, 0.0) for one in given) for term in terms}
    found = tuple(rows(measured, "golden", model, against=against)) if measured else ()
    return GoldenRun(found, means, model)


def answerable(
    store: MemoryStore, golden: Sequence[GoldenQuestion]
) -> tuple[list[GoldenQuestion], list[GoldenQuestion]]:
    """Return the questions whose right answers a store still has, with those answers alone, and the other questions."""
    here = store.known({one: of for question in golden for one, of in question.right.items()})
    left, others = list[GoldenQuestion](), list[GoldenQuestion]()
    for question in golden:
        right = {one: of for one, of in question.right.items() if one in here}
        (left if right else others).append(replace(question, right=right or question.right))
    return left, others


def baseline(store: MemoryStore, golden: Sequence[GoldenQuestion], profile: Profile) -> list[Measured]:
    """Measure one profile, for others to be compared with."""
    return [_measured(store, one, profile.name, profile)[0] for one in golden]


def score(store: MemoryStore, golden: Sequence[GoldenQuestion], profile: Profile) -> float:
    """Return the mean nDCG@10 of one profile."""
    return fmean(one.metrics["ndcg@10"] for one in baseline(store, golden, profile))


@contextmanager
def other_model(
    store: MemoryStore, name: str, dimensions: int | None, settings: JupyterMemory
) -> Iterator[MemoryStore]:
    """Provide a private copy of a store that searches with another model, and remove it at the end."""
    same = {one: getattr(settings, one) for one in SETTINGS}
    with TemporaryDirectory(prefix="jupyter-memory-golden-") as folder:
        copy = store.backup(Path(folder) / "copy.sqlite")
        changed = JupyterMemory(dimensions=dimensions, **same)
        with MemoryStore(copy, space=store.space or None, settings=changed) as other:
            other.reembed(name, progress=False)
            yield other


def _measured(
    store: MemoryStore, question: GoldenQuestion, label: str, profile: Profile
) -> tuple[Measured, list[Mapping[str, float]]]:
    begun = perf_counter()
    hits = store.hits(
        question.text,
        limit=DEPTH,
        profile=profile,
        filters=question.filters,
        now=question.now,
        tags=question.tags,
        domain=question.domain,
    ).hits
    ms = (perf_counter() - begun) * 1000
    # An answer whose id has changed is recognised by its content.
    found = {hit.memory.id for hit in hits}
    by_content = {of: one for one, of in question.right.items() if one not in found}
    named = []
    for hit in hits:
        known = hit.memory.id in question.right
        # Removed: a second copy of the same text is not a second right answer.
        named.append(hit.memory.id if known else by_content.pop(hit.memory.content_hash, hit.memory.id))
    grades = dict.fromkeys(question.right, 1.0)
    metrics = {metric: of(named, grades) for metric, of in METRICS.items()}
    shares: list[Mapping[str, float]] = []
    for hit in [hit for name, hit in zip(named, hits, strict=True) if name in grades]:
        given = {name: abs(seen.contribution) for name, seen in hit.signals.items()}
        whole = sum(given.values()) or 1.0
        shares.append({name: one / whole for name, one in given.items()})
    return Measured(label, Question(question.id, question.text, grades), metrics, ms), shares


_SHOWN = ("ndcg@10", "recall@5", "mrr@10", "success@1")


def golden_chart(runs: list[GoldenRun]) -> altair.VConcatChart:
    """Return the metrics by profile above the shares of the signals; a panel a model."""
    try:
        import altair
        import pandas as pd
    except ImportError:
        raise MissingExtra("%memeval plot", "plots") from None
    rows = [(run, row) for run in runs for row in run.rows]
    metrics = [
        {"profile": row.profile, "model": run.model, "metric": name, "mean": row.metrics[name]}
        | dict(zip(("low", "high"), row.ci95[name], strict=True))
        for run, row in rows
        for name in _SHOWN
    ]
    shares = [
        {"profile": profile, "model": run.model, "signal": term, "share": share}
        for run in runs
        for profile, terms in run.shares.items()
        for term, share in terms.items()
    ]
    order = list(dict.fromkeys(row.profile for _, row in rows))
    bars = altair.Chart(pd.DataFrame(shares)).mark_bar()
    share = altair.X("share:Q", stack="zero", title="share of the right answers' scores", axis=altair.Axis(format="%"))
    below = bars.encode(
        x=share,
        y=altair.Y("profile:N", sort=order, title=None),
        row=altair.Row("model:N", title=None),
        color=altair.Color("signal:N", title="signal"),
        tooltip=["profile", "model", "signal", altair.Tooltip("share:Q", format=".1%")],
    ).properties(width=640, height=altair.Step(18))
    chart = local_chart(altair.VConcatChart, "<altair.VConcatChart of a golden run>")
    base: Any = altair.Chart(pd.DataFrame(metrics)).encode(y=altair.Y("profile:N", sort=order, title=None))
    points = base.mark_point(filled=True, size=60).encode(
        x=altair.X("mean:Q", title="mean, with its 95 % interval", scale=altair.Scale(domain=[0, 1])),
        color=altair.Color("model:N", title="model"),
        tooltip=["profile", "model", "metric", "mean", "low", "high"],
    )
    spans = base.mark_rule(opacity=0.5).encode(x="low:Q", x2="high:Q", color="model:N")
    panels: Any = altair.layer(spans, points).properties(width=150, height=altair.Step(18))
    above = panels.facet(column=altair.Column("metric:N", title=None, sort=_SHOWN))
    return chart(vconcat=[above, below])
