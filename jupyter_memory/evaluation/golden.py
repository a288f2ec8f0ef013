"""Golden questions of your own, and their history as a chart."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import product
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, get_args

from jupyter_memory.config import JupyterMemory, companion, store_path
from jupyter_memory.dataframe.accessor import local_chart
from jupyter_memory.errors import InputError, MissingExtra, StoreLocked, StoreReadOnly
from jupyter_memory.evaluation.datasets import Question
from jupyter_memory.evaluation.metrics import DEPTH, METRICS
from jupyter_memory.evaluation.runner import Measured, Row, arms, rows
from jupyter_memory.search.fusion import weights_of, with_weights
from jupyter_memory.search.profiles import PROFILES, Profile
from jupyter_memory.search.profiles.profile import new_file
from jupyter_memory.search.query.parser import parse
from jupyter_memory.store.searching import QueryOptions
from jupyter_memory.store.store import MemoryStore
from jupyter_memory.text.display import columns, count_of, fit
from jupyter_memory.text.paths import make_private, write_private
from jupyter_memory.types import Answer, Filters, Hit, Memory, Query
from jupyter_memory.types.search import OWN

if TYPE_CHECKING:
    import altair

# The set is the file ``memory.golden.jsonl`` beside the store, which only its owner can read. It holds the questions as
# they were asked; of the answers it holds only ids and content hashes.

_PATIENCE = 10.0  # seconds until another program has judged
_INSTEAD = "choose another store: JUPYTER_MEMORY_PATH"
Verdict = Literal["right", "wrong", "first"]  # the last: right, and it should have been the first


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question with its time and filters; ``right`` and ``wrong`` map ids of answers to their content hashes.

    ``first`` is the id of that right answer which should be the first, empty if nobody said so.
    """

    text: str
    now: datetime
    right: Mapping[str, str]
    filters: Filters = field(default_factory=Filters)
    tags: tuple[str, ...] = ()
    domain: str | None = None
    time: bool = True  # as in ``Query``
    wrong: Mapping[str, str] = field(default_factory=dict)
    first: str = ""

    def options(self, profile: Profile) -> QueryOptions:
        asked: QueryOptions = {"filters": self.filters, "now": self.now, "tags": self.tags, "domain": self.domain}
        return {**asked, "time": self.time, "profile": profile, "limit": DEPTH}

    @property
    def grades(self) -> dict[str, float]:
        """Return what each right answer counts: the one that should be the first, twice as much."""
        return {one: 2.0 if one == self.first else 1.0 for one in self.right}

    def without(self, ids: Container[str]) -> GoldenQuestion:
        """Return the question without the judgements of these answers."""
        right, wrong = ({one: of for one, of in kept.items() if one not in ids} for kept in (self.right, self.wrong))
        return replace(self, right=right, wrong=wrong, first=self.first if self.first in right else "")

    @property
    def id(self) -> str:
        """Return six characters that name the question with its filters, and whether its time is read."""
        asked = [self.text, _plain(self.filters), self.tags, self.domain, *(() if self.time else (False,))]
        return blake2b(json.dumps(asked, ensure_ascii=False).encode(), digest_size=3).hexdigest()


def golden_file(settings: JupyterMemory) -> Path:
    """Return the file of the golden set of the store that the settings name, whether it is there or not."""
    store = companion(store_path(settings))
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
                    wrong={str(one): str(of) for one, of in held.get("wrong", {}).items()},
                    first=str(held.get("first", "")),
                    filters=_filters(held.get("filters", {})),
                    tags=tuple(held.get("tags", ())),
                    domain=held.get("domain"),
                    time=held.get("time") is not False,
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
        line |= {"time": None if one.time else False, "wrong": dict(one.wrong), "first": one.first}
        held = {name: value for name, value in line.items() if name == "right" or value not in ({}, [], None, "")}
        lines.append(json.dumps(held, ensure_ascii=False) + "\n")
    write_private(path, "".join(lines).encode(), _INSTEAD)


@contextmanager
def _changed(path: Path) -> Iterator[list[GoldenQuestion]]:
    # The questions, to be changed in place. Each program reads the whole file and writes it anew: one at a time.
    from filelock import FileLock, Timeout

    make_private(path.parent)
    try:
        held = FileLock(path.with_name(f".{path.stem}.lock"), timeout=_PATIENCE, mode=0o600).acquire()
    except Timeout:
        raise StoreLocked(f"Another program is judging answers in {path}. Nothing was changed; try again.") from None
    except OSError as error:
        told = f"{path} cannot be written: {error.strerror}. Make its folder writable, or {_INSTEAD}."
        raise StoreReadOnly(told) from None
    with held:
        questions = load(path)
        before = list(questions)
        yield questions
        if questions != before:
            _save(path, questions)


def asked(query: Query) -> GoldenQuestion:
    """Return a query as a question of which nothing was judged yet."""
    return GoldenQuestion(query.text, query.now, {}, query.filters, query.tags, query.domain, query.time)


def judge(path: Path, question: GoldenQuestion, memories: Sequence[Memory], verdict: Verdict) -> GoldenQuestion:
    """Keep what a person says of answers to a question, in place of what was said of them before."""
    said = {memory.id: memory.content_hash for memory in memories}
    with _changed(path) as known:
        held = next((one for one in known if one.id == question.id), question)
        rest = held.without(said)
        right, wrong = dict(rest.right), dict(rest.wrong)
        (wrong if verdict == "wrong" else right).update(said)
        first = memories[0].id if verdict == "first" else held.first if held.first in right else ""
        question = replace(held, right=right, wrong=wrong, first=first)
        known[:] = [*(one for one in known if one.id != question.id), question]
    return question


def take_back(
    path: Path | None, store: MemoryStore, memory_id: str, query: str, query_id: str = "", accepted: bool | None = None
) -> Literal["", "rating", "judgement"]:
    """Take back a rating, and what the panel made of it in the golden set (``path``).

    A notebook or a terminal says what was ``accepted``, and takes back that alone. Returns what is gone: a rating, or
    the judgement in the golden set, too; empty if nothing. Whatever its filters, a question goes with its last answer.
    """
    said = [one for one in store.activity.said(memory_id, query, query_id) if accepted in (None, one.accepted)]
    # Only the panel's ratings are judgements, too: others of the same answer are a person's own, by `%memeval`.
    others = {one.query_id for one in store.recent(200) if one.origin != "panel"}
    if accepted is not None and query_id:
        others.add(query_id)  # a search of their own, even if it was forgotten with what it showed
    judged = {one.accepted for one in said if one.query_id not in others}
    asked = {query, *(one.query for one in said)} - {""}
    now, both = datetime.now(UTC), (True, False)  # a rating does not say whether the time of its question was read
    texts = {parse(one, now=now, time=time).text for one in asked for time in both} if judged else set[str]()
    if not said:
        return ""
    changing = _changed(path) if path and path.exists() else nullcontext(list[GoldenQuestion]())
    with changing as known:
        before = list(known)
        for number, one in enumerate(before):
            verdict = memory_id in one.right if memory_id in (*one.right, *one.wrong) else None
            if one.text in texts and verdict in judged:
                known[number] = one.without((memory_id,))
        known[:] = [one for one in known if one.right or one.wrong]
        store.feedback(memory_id, None, query=query, query_id=query_id)
        return "rating" if known == before else "judgement"


def add(path: Path, answer: Answer, ranks: Sequence[int]) -> GoldenQuestion:
    """Keep an answer's question with the hits of these ranks as right answers; a known question gets them added."""
    if not answer.query.text:
        raise InputError("The last search listed memories without a question. Ask one first: %memsearch …")
    for rank in ranks:
        if not 1 <= rank <= len(answer.hits):
            results = count_of(len(answer.hits), "result")
            raise InputError(f"The last search has {results}, so there is no rank {rank}.")
        if answer.hits[rank - 1].store not in ("", OWN):
            raise InputError(f"Rank {rank} is of another store; the golden set measures your own.")
    return judge(path, asked(answer.query), [answer.hits[rank - 1].memory for rank in ranks], "right")


def forget(path: Path, ids: Sequence[str]) -> int:
    """Remove questions from the set and return how many were removed."""
    with _changed(path) as known:
        if missing := sorted(set(ids) - {one.id for one in known}):
            raise InputError(f"There is no question {missing[0]} in the golden set. %memeval list shows the ids.")
        known[:] = [one for one in known if one.id not in ids]
    return len(set(ids))


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
    golden = [one for one in golden if one.right]
    here = store.known({one: of for question in golden for one, of in question.right.items()})
    left, others = list[GoldenQuestion](), list[GoldenQuestion]()
    for question in golden:
        right = {one: of for one, of in question.right.items() if one in here}
        (left if right else others).append(replace(question, right=right or question.right))
    return left, others


def baseline(store: MemoryStore, golden: Sequence[GoldenQuestion], profile: Profile) -> list[Measured]:
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
    hits = store.hits(question.text, **question.options(profile)).hits
    ms = (perf_counter() - begun) * 1000
    named = _named(question, hits)
    metrics = {metric: of(named, question.grades) for metric, of in METRICS.items()}
    shares: list[Mapping[str, float]] = []
    for hit in [hit for name, hit in zip(named, hits, strict=True) if name in question.right]:
        given = {name: abs(seen.contribution) for name, seen in hit.signals.items()}
        whole = sum(given.values()) or 1.0
        shares.append({name: one / whole for name, one in given.items()})
    return Measured(label, Question(question.id, question.text, question.grades), metrics, ms), shares


def _named(question: GoldenQuestion, hits: Sequence[Hit]) -> list[str]:
    # An answer whose id has changed is recognised by its content.
    found = {hit.memory.id for hit in hits}
    by_content = {of: one for one, of in question.right.items() if one not in found}
    named = []
    for hit in hits:
        known = hit.memory.id in question.right
        # Removed: a second copy of the same text is not a second right answer.
        named.append(hit.memory.id if known else by_content.pop(hit.memory.content_hash, hit.memory.id))
    return named


# What nobody judged yet, and weights that suit what was judged. Of a large set only the newest are looked at.

_MOST = 50
_OF_EACH = 5  # hits of a profile that are worth a judgement
_SIZES = (1.1, 1.25, 1.5, 2.0, 3.0)  # how many times as much or as little a weight may count, the smallest change first
_EQUAL = 1e-9
_Tried = tuple[float, str, Profile, list[float]]  # mean nDCG@10, a sentence on it, and nDCG@10 by question


def named_profiles(used: str, named: Sequence[str] | None = None) -> tuple[dict[str, Profile], Profile]:
    """Return the profiles of these names, or all, and the one that is used; a file goes by the name of its profile."""
    in_use = arms([used])
    chosen = arms(named) if named else {**PROFILES, **in_use}
    labels = {label: one.name if label.endswith(".toml") else label for label, one in chosen.items()}
    if len(set(labels.values())) < len(labels):  # another profile has that name
        labels = {label: label for label in chosen}
    return {labels[label]: one for label, one in chosen.items()}, in_use[used]


def pool(store: MemoryStore, path: Path, profiles: Mapping[str, Profile], said: Mapping[str, Any]) -> str:
    """Keep verdicts, each with its rows, and return a table of the first hits of all profiles that nobody judged.

    The questions are those of the golden set, and those of which a hit was noted as right or wrong in the store.
    """
    kept, noted = load(path), store.feedbacks()
    known, seen = {one.text for one in kept}, {(one.query, one.memory_id) for one in noted}
    others = {one.query: GoldenQuestion(one.query, one.at, {}) for one in noted if one.query not in (*known, "")}
    rows: dict[str, tuple[GoldenQuestion, Hit, list[str]]] = {}
    for question, (label, profile) in product([*kept, *others.values()][-_MOST:], profiles.items()):
        judged = {**question.right, **question.wrong}
        for hit in store.hits(question.text, **question.options(profile)).hits[:_OF_EACH]:
            id_, content = hit.memory.id, hit.memory.content_hash
            if id_ not in judged and content not in judged.values() and (question.text, id_) not in seen:
                row = blake2b(f"{question.id} {id_}".encode(), digest_size=3).hexdigest()
                rows.setdefault(row, (question, hit, []))[2].append(f"{label} {hit.rank}")
    chosen: dict[str, Verdict] = {row: one for one in get_args(Verdict) for row in said.get(one) or ()}
    if len(chosen) < sum(len(set(said.get(one) or ())) for one in get_args(Verdict)):
        raise InputError("A row has one verdict: --right, --wrong or --first.")
    if strange := [row for row in chosen if row not in rows]:
        raise InputError(
            f"There is no row {strange[0]} to judge. Rows are named by the first column, with the same --profile."
        )
    lines = []
    for row, verdict in chosen.items():
        question, hit, _ = rows.pop(row)
        judge(path, question, [hit.memory], verdict)
        lines.append(f"{verdict}: “{fit(hit.title, 60)}” for “{fit(question.text, 60)}”")
    table = [(row, fit(one.text, 40), fit(hit.title, 50), ", ".join(by)) for row, (one, hit, by) in rows.items()]
    head = ("row", "question", "title", "shown by")
    nothing = "left to judge." if kept or others else "judged yet: search, then note what is right."
    return "\n".join([*lines, columns([head, *table]) if table else f"Nothing is {nothing}"])


def tune(
    store: MemoryStore, golden: Sequence[GoldenQuestion], profile: Profile, files: Sequence[str] = ()
) -> tuple[Profile, str]:
    """Return a profile whose weights lift answers that rank too low, and a line for each weight that was changed.

    Weights change one by one, each as little as lifts an answer, until every further change would lower another.
    Raises ``InputError`` if no answer ranks too low, or if no change lifts one without lowering another, and at once if
    one of ``files`` is no name for the new profile.
    """
    for name in files:
        new_file(name)
    kept, _ = answerable(store, golden)
    pools = [(one, store.pooled(one.text, **one.options(profile))) for one in kept[-_MOST:]]
    if not pools:
        raise InputError(
            "The golden set has no right answers yet: judge some in the panel, with %memeval, or `eval pool`."
        )
    base = pools[0][1].profile

    def measured(tried: Profile) -> list[float]:
        return [METRICS["ndcg@10"](_named(one, of.weighed(tried).hits), one.grades) for one, of in pools]

    tuned, before, steps, lowering = base, measured(base), list[str](), list[_Tried]()
    if min(before) > 1 - _EQUAL:
        raise InputError("Every right answer is at the top: there is nothing to lift.")
    while True:
        lifting, lowering = _changes(tuned, before, measured)
        if not lifting:
            break
        _, said, tuned, before = max(lifting, key=itemgetter(0))
        steps.append(said)
    if not steps and lowering:
        best = max(lowering, key=itemgetter(0))[1]
        raise InputError(f"Each change that lifts one makes another worse, so none is proposed. At best: {best}")
    if not steps:
        raise InputError("No change of one weight, up to threefold either way, lifts an answer.")
    return tuned, "\n".join(steps)


def _changes(
    base: Profile, before: Sequence[float], measured: Callable[[Profile], list[float]]
) -> tuple[list[_Tried], list[_Tried]]:
    # The smallest changes of one weight that lift an answer and lower none, and those tried that also lower one.
    lifting, lowering = list[_Tried](), list[_Tried]()
    for size in _SIZES:
        for (name, weight), factor in product(weights_of(base.terms).items(), (size, 1 / size)):
            new = {name: float(f"{weight * factor:.4g}")}
            tried = base.replace(terms=with_weights(base.terms, new), keyword_only=with_weights(base.keyword_only, new))
            after = measured(tried)
            if all(now < was + _EQUAL for was, now in zip(before, after, strict=True)):
                continue
            falling = sum(now < was - _EQUAL for was, now in zip(before, after, strict=True))
            said = (
                f"{base.name} with the weight {name} {new[name]:g} instead of {weight:g}: nDCG@10 of the golden set "
                f"{fmean(before):.3f} before, {fmean(after):.3f} after, {count_of(falling, 'question')} worse."
            )
            (lowering if falling else lifting).append((fmean(after), said, tried, after))
        if lifting:
            break
    return lifting, lowering


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
