"""Runs profiles over judged sets, and tables of what came out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from statistics import fmean, median
from tempfile import TemporaryDirectory
from time import perf_counter
from types import MappingProxyType
from typing import Any

import nbformat

from jupyter_memory.config import JupyterMemory
from jupyter_memory.embedders import open_embedder
from jupyter_memory.errors import InputError
from jupyter_memory.evaluation.datasets import JudgedSet, Question, read_set
from jupyter_memory.evaluation.metrics import DEPTH, METRICS, interval, p_value
from jupyter_memory.runtime import shown
from jupyter_memory.search.context import RETRIEVERS
from jupyter_memory.search.fusion import ReciprocalRank
from jupyter_memory.search.profiles import PROFILES, Profile, profile_named
from jupyter_memory.store.store import MemoryStore
from jupyter_memory.text.display import columns
from jupyter_memory.types.protocols import Embedder


@dataclass(frozen=True, slots=True)
class Bed:
    """A test bed: a store, and the judged document of each of its memories by memory id."""

    store: MemoryStore
    documents: Mapping[str, str]


@contextmanager
def beds(
    judged: JudgedSet,
    embedder: str | Embedder,
    *,
    notebooks: Path | None = None,
    files: Path | None = None,
    work: Path | None = None,
    progress: bool = False,
) -> Iterator[dict[str, Bed]]:
    """Open a store for each group of a set and close them at the end.

    ``notebooks`` is the folder whose cells a set judges; ``files`` has a folder for each group of a set that judges
    files. Stores are built in ``work`` and used again the next time, or in a temporary folder.
    """
    with ExitStack() as opened:
        scratch = opened.enter_context(TemporaryDirectory(prefix="jupyter-memory-eval-"))
        folder = Path(scratch) if work is None else work
        found: dict[str, Bed] = {}
        for group in judged.groups:
            documents = judged.of_group(group)
            sources = _sources(judged, group, notebooks, files)
            # By its fingerprint: under the same name, another version may have another model.
            origin = [open_embedder(embedder).fingerprint, str(sources and sources.resolve())]
            digest = blake2b(json.dumps(origin).encode(), digest_size=6)
            for one in documents:
                digest.update(json.dumps([one.id, one.title, one.text, one.date, one.session]).encode())
            path = folder / f"{judged.name}-{digest.hexdigest()}.sqlite"
            store = opened.enter_context(MemoryStore(path, embedder=embedder, settings=JupyterMemory()))
            if sources is None:
                records = [
                    {
                        "text": one.text if one.text.strip() else one.title,
                        "title": one.title,
                        "source": one.id,
                        "event_at": one.date,
                        "session": one.session,
                    }
                    for one in documents
                    if one.text.strip() or one.title.strip()
                ]
                # What is known comes back as it is stored, so a bed that was built before is only read.
                memories = store.add_many(shown(records, progress, "Remembering"), progress=False)
                named = {memory.id: memory.source for memory in memories}
            else:
                report = store.index(sources, progress=progress)
                if report.failed:
                    raise InputError(f"{report.failed[0][0]} cannot be read: {report.failed[0][1]}")
                named = (_cells if judged.unit == "cell" else _files)(store, sources, judged, group)
            found[group] = Bed(store, named)
        yield found


def _sources(judged: JudgedSet, group: str, notebooks: Path | None, files: Path | None) -> Path | None:
    if judged.unit == "document":
        return None
    if judged.unit == "cell":
        if notebooks is None:
            raise InputError(f"{judged.name} judges notebook cells: name their folder with --notebooks FOLDER.")
        return notebooks
    if files is None:
        raise InputError(f"{judged.name} judges files: say where they are with --files FOLDER.")
    if not (files / group).is_dir():
        raise InputError(
            f"{files} has no folder {group}, whose files {group}.json judges. Put them there; of a package of Python, "
            f"they are those of `pip download --no-deps {group}==VERSION`, unpacked."
        )
    return files / group


def _files(store: MemoryStore, folder: Path, judged: JudgedSet, group: str) -> dict[str, str]:
    # By the end of its path that is judged, or else by the whole path.
    ends = {
        end: ("/" + end.removeprefix("src/"))
        for question in judged.questions
        if question.group == group
        for end in question.grades
    }
    paths = [f"/{path.relative_to(folder.parent).as_posix()}" for path in folder.rglob("*") if path.is_file()]
    if missing := [end for end, last in ends.items() if not any(path.endswith(last) for path in paths)]:
        raise InputError(f"{folder} does not hold {missing[0]}, which {group}.json judges: is it another version?")
    named = {}
    for hit in store.browsed(limit=10**9).hits:
        source = Path(hit.memory.source).as_posix()
        named[hit.memory.id] = next((end for end, last in ends.items() if source.endswith(last)), source)
    return named


def _cells(store: MemoryStore, notebooks: Path, judged: JudgedSet, _group: str) -> dict[str, str]:
    judged_names = {name.rpartition("#")[0] for question in judged.questions for name in question.grades}
    if missing := sorted(name for name in judged_names if not any(notebooks.rglob(name))):
        raise InputError(f"{notebooks} does not hold {missing[0]}, whose cells are judged.")
    places: dict[str, dict[str, int]] = {}
    named = {}
    for memory in (hit.memory for hit in store.browsed(limit=10**9).hits):
        if memory.kind == "cell" and memory.source not in places:
            path = Path(memory.source)
            cells = nbformat.reader.reads(path.read_text(encoding="utf-8"))["cells"]
            places[memory.source] = {f"#{place}": place for place in range(len(cells))} | {
                cell["id"]: place for place, cell in enumerate(cells) if cell.get("id")
            }
        place = places[memory.source][memory.location] if memory.kind == "cell" else 0
        named[memory.id] = f"{Path(memory.source).name}#{place}"
    return named


_COLUMNS = MappingProxyType({"title": 5.0, "text": 1.0})


def arms(names: Sequence[str] = ()) -> dict[str, Profile]:
    """Return profiles by label: those named, or all, each retriever alone, and ``auto-<term>`` for each term."""
    if names:
        return {name: _arm(name) for name in names}
    auto = PROFILES["auto"]
    ablations = {f"auto-{term.name}": auto.without(term.name) for term in auto.terms}
    return {**PROFILES, **{name: _arm(name) for name in RETRIEVERS}, **ablations}


def _arm(name: str) -> Profile:
    if name in RETRIEVERS:
        # In the order of the retriever's own ranks.
        return Profile(name, f"The {name} retriever alone.", (ReciprocalRank(name, 1.0),), _COLUMNS)
    base, dash, term = name.rpartition("-")
    if name not in PROFILES and dash and base in PROFILES and term in {one.name for one in PROFILES[base].terms}:
        return PROFILES[base].without(term)
    return profile_named(name)


@dataclass(frozen=True, slots=True)
class Measured:
    """One question answered by one arm, a profile under test: metrics by name, milliseconds of the whole search."""

    arm: str
    question: Question
    metrics: Mapping[str, float]
    ms: float


_MAIN = "ndcg@10"


@dataclass(frozen=True, slots=True)
class Row:
    """Means over the questions of one type (``all`` for every type), each with its 95 % interval.

    ``difference`` is that of ndcg@10 to the arm ``against``, ``p`` the probability that chance alone gives as much.
    """

    set: str
    profile: str
    embedder: str
    type: str
    queries: int
    metrics: Mapping[str, float]
    ci95: Mapping[str, tuple[float, float]]
    p50_ms: float
    against: str = ""
    difference: float = 0.0
    p: float = 1.0

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("set", "profile", "embedder", "type", "queries")},
            **self.metrics,
            "p50_ms": self.p50_ms,
            "ci95": {name: list(bounds) for name, bounds in self.ci95.items()},
            **({"against": self.against, "difference": self.difference, "p": self.p} if self.against else {}),
        }


def rows(
    measured: Sequence[Measured],
    name: str,
    embedder: str,
    *,
    by_type: bool = False,
    folds: str = "query",
    baseline: str = "",
    against: Sequence[Measured] = (),
) -> Iterator[Row]:
    """Yield a row for each arm, and with ``by_type`` one for each of its types.

    Differences are counted from the arm ``baseline``, or from ``against``: the same questions measured elsewhere.
    ``folds="group"`` treats the questions of a group, which are not independent, as one for the intervals and ``p``.
    """
    arms: dict[str, list[Measured]] = {}
    for one in measured:
        arms.setdefault(one.arm, []).append(one)
    for arm, ones in arms.items():
        base = against or (arms.get(baseline, []) if arm != baseline else [])
        types = sorted({one.question.type for one in ones} - {""}) if by_type else []
        for kind in ("all", *types):
            chosen = [place for place, one in enumerate(ones) if kind in ("all", one.question.type)]
            clusters = [ones[i].question.group for i in chosen] if folds == "group" else None
            values = {metric: [ones[i].metrics[metric] for i in chosen] for metric in METRICS}
            others = [base[i].metrics[_MAIN] for i in chosen] if base else []
            yield Row(
                set=name,
                profile=arm,
                embedder=embedder,
                type=kind,
                queries=len(chosen),
                metrics={metric: fmean(found) for metric, found in values.items()},
                ci95={metric: interval(found, clusters) for metric, found in values.items()},
                p50_ms=median(ones[i].ms for i in chosen),
                against=base[0].arm if base else "",
                difference=fmean(values[_MAIN]) - fmean(others) if others else 0.0,
                p=p_value(values[_MAIN], others, clusters) if others else 1.0,
            )


def table(found: Sequence[Row]) -> str:
    kinds = len({row.type for row in found}) > 1
    compared = any(row.against for row in found)
    head = ["set", "profile", *(["type"] if kinds else []), "queries", *METRICS, "p50 ms"]
    lines = [[*head, *([f"to {next(row.against for row in found if row.against)} (p)"] if compared else [])]]
    for row in found:
        low, high = row.ci95[_MAIN]
        lines.append(
            [
                row.set,
                row.profile,
                *([row.type] if kinds else []),
                str(row.queries),
                f"{row.metrics[_MAIN]:.3f} [{low:.3f} {high:.3f}]",
                *(f"{row.metrics[name]:.3f}" for name in METRICS if name != _MAIN),
                f"{row.p50_ms:.1f}",
                *([f"{row.difference:+.3f} ({row.p:.2g})" if row.against else ""] if compared else []),
            ]
        )
    return columns([tuple(line) for line in lines])


def evaluate(
    folder: Path,
    arms: Mapping[str, Profile],
    embedder: str | Embedder,
    *,
    notebooks: Path | None = None,
    files: Path | None = None,
    work: Path | None = None,
    by_type: bool = False,
    folds: str = "query",
    baseline: str = "",
    progress: bool = False,
) -> tuple[list[Row], list[str]]:
    """Return a row for each arm (and type of question), and what a reader of them should know; see ``beds``."""
    judged = read_set(folder, notebooks)
    notices = [f"{judged.name}: {judged.unjudged} questions without an answer are left out."] if judged.unjudged else []
    name = embedder if isinstance(embedder, str) else embedder.name
    with beds(judged, embedder, notebooks=notebooks, files=files, work=work, progress=progress) as opened:
        # The arms take turns, so that their times can be compared.
        asked = [(label, profile, question) for question in judged.questions for label, profile in arms.items()]
        measured = []
        for label, profile, question in shown(asked, progress, f"Asking {judged.name}"):
            bed, begun = opened[question.group], perf_counter()
            hits = bed.store.hits(question.text, limit=DEPTH, profile=profile, now=question.date).hits
            if profile.name in RETRIEVERS:
                # Of a single retriever only what it found.
                keyword = profile.name == "keyword"
                hits = tuple(hit for hit in hits if (hit.kw_rank if keyword else hit.sem_rank) is not None)
            # A file with several memories, such as a notebook, counts by its best. A heading or file that was not
            # judged has no name, but it keeps its place in the list.
            found = list(dict.fromkeys(bed.documents.get(hit.memory.id, hit.memory.id) for hit in hits))
            ms = (perf_counter() - begun) * 1000
            metrics = {metric: of(found, question.grades) for metric, of in METRICS.items()}
            measured.append(Measured(label, question, metrics, ms))
    return list(rows(measured, judged.name, name, by_type=by_type, folds=folds, baseline=baseline)), notices
