"""Terms, which turn a ranking into contributions, and post-processors."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise, repeat
from math import nan
from operator import add, attrgetter, mul
from pathlib import PurePath
from typing import NamedTuple, Protocol

from jupyter_memory.text.markdown import source_of
from jupyter_memory.types import Candidate, Evidence, Memory, Ranking
from jupyter_memory.types.protocols import Term, WeightedTerm

Contributions = Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class ReciprocalRank:
    """``weight / (k + rank)``: reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""

    name: str
    weight: float
    k: float = 60.0
    reads: str = ""

    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]:
        return {key: self.weight / (self.k + rank) for key, rank in ranking.ranks.items()}

    def __str__(self) -> str:
        return f"{self.weight:g}/({self.k:g} + {self.name}_rank)"


@dataclass(frozen=True, slots=True)
class ReciprocalValue:
    """``weight / (k + value)``: a value that is itself a rank, such as a tier."""

    name: str
    weight: float
    k: float = 60.0
    reads: str = ""

    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]:
        return {key: self.weight / (self.k + value) for key, value in ranking.scores.items()}

    def __str__(self) -> str:
        return f"{self.weight:g}/({self.k:g} + {self.name})"


@dataclass(frozen=True, slots=True)
class Weighted:
    """``weight * value``."""

    name: str
    weight: float
    reads: str = ""

    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]:
        return dict(zip(ranking.scores, map(mul, repeat(self.weight), ranking.scores.values()), strict=False))

    def __str__(self) -> str:
        return f"{self.weight:g}*{self.name}"


@dataclass(frozen=True, slots=True)
class MinMax:
    """``weight * (value - worst) / (best - worst)`` over all that the retriever found; 1 for each where all are equal.

    Relative score fusion, as in seed system `memini`'s FuseScores.
    """

    name: str
    weight: float
    reads: str = ""

    def contributions(self, ranking: Ranking[int], /) -> Mapping[int, float]:
        best, worst = max(ranking.scores.values(), default=0.0), min(ranking.scores.values(), default=0.0)
        if best == worst:
            return dict.fromkeys(ranking.scores, self.weight)
        return {key: self.weight * (value - worst) / (best - worst) for key, value in ranking.scores.items()}

    def __str__(self) -> str:
        return f"{self.weight:g}*minmax({self.name})"


def weights_of(terms: Iterable[Term]) -> dict[str, float]:
    return {term.name: float(term.weight) for term in terms if isinstance(term, WeightedTerm)}


def with_weights(terms: Iterable[Term], weights: Mapping[str, float]) -> tuple[Term, ...]:
    return tuple(
        replace(term, weight=weights[term.name]) if term.name in weights else term  # type: ignore[type-var]
        for term in terms
    )


class Column(NamedTuple):
    """What one term or signal said of all candidates: values, the ranking that gives their ranks, contributions."""

    name: str
    values: Mapping[int, float]
    order: Ranking[int]
    contributions: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Table:
    """All that was said of the candidates of one search, from which the evidence for each of them is read.

    ``rankings`` are what each retriever found and each signal gave.
    """

    columns: Sequence[Column]
    rankings: Mapping[str, Ranking[int]]


class Ranked(NamedTuple):
    """A candidate with its place in the fused list; the evidence that put it there is read when it is asked for."""

    rank: int
    candidate: Candidate
    score: float
    table: Table

    @property
    def evidence(self) -> dict[str, Evidence]:
        """Return what each term and signal said of it."""
        key, said = self.candidate.key, {}
        for name, values, order, contributions in self.table.columns:
            said[name] = Evidence(values.get(key, nan), order.ranks.get(key), contributions.get(key, 0.0))
        return said


# What two long texts say is known from their beginnings.
_LONGEST, _LONGEST_EXPORT = 2_000, 100_000
NOTEBOOK = ".ipynb"
# As file managers and programs for sharing files name them, in the languages of most desktops.
_COPY_WORDS = (
    "copy|kopie|copie|copia|cópia|kopia|kopi|kopio|kopya|kópia|копия|копія|副本|拷贝|コピー|のコピー|복사본|사본"
)
_COPY_OF = re.compile(rf"^(?:{_COPY_WORDS}) (?:of|von|de|di|van|av|af) |^(?:копия|копія) |^(?:복사본|사본) [-–] ")
# Characters at the end of a name, where its version stands; no name of a file has more.
_LONGEST_NAME = 255
# Possessive: "-copy 7" reads in two ways, and a name of thirty such pieces would read in a billion.
_MARK = (
    rf"\((?:\d++|(?:{_COPY_WORDS})(?: ?\d++)?+|[^()]*conflict[^()]*)\)"
    rf"|(?<=[-_ .–—])(?:{_COPY_WORDS}|old|bak|backup|nbconvert)(?: ?\(?\d++\)?)?+"
    r"|(?<=[-_ .])(?:sync-conflict|conflict)-[\w-]++|副本(?: ?\d++)?+|のコピー(?: ?\d++)?+"
)
_COPY = re.compile(rf"(?:{_MARK})$")
_VERSION = re.compile(rf"(?:[-_ .–—]*+(?:{_MARK}|(?<=[-_ .])(?:final|new)(?: ?\d++)?+|v?\d++))++$")


@dataclass(frozen=True, slots=True)
class Fused:
    """Contributions by term and candidate; ``duplicates`` maps candidates that are left out to the one that stays."""

    candidates: Sequence[Candidate]
    contributions: Contributions
    duplicates: Mapping[int, int] = field(default_factory=dict)

    def totals(self, terms: Iterable[str] = ()) -> dict[int, float]:
        """Return the sum for each candidate that is left, of all terms or of those named."""
        keys = list(map(attrgetter("key"), self.candidates))
        sums = [0.0] * len(keys)
        for values in map(self.contributions.get, terms or self.contributions, repeat({})):
            # Most of what signals say of most queries is 0.
            if any(values.values()):
                sums = list(map(add, sums, map(values.get, keys, repeat(0.0))))
        return {key: total for key, total in zip(keys, sums, strict=True) if key not in self.duplicates}


class PostProcessor(Protocol):
    """Changes contributions, or leaves candidates out, once all contributions are known."""

    def __call__(self, fused: Fused, /) -> Fused: ...


@dataclass(frozen=True, slots=True)
class Deduplicate:
    """Drop a candidate that says the same as a better one; ``by`` names the terms that tell which is better, or all."""

    by: tuple[str, ...] = ()

    def __call__(self, fused: Fused, /) -> Fused:
        totals = fused.totals(self.by)
        kept: dict[str, int] = {}
        duplicates = dict(fused.duplicates)
        for one in best_first(fused.candidates, totals):
            said = normalised(one.memory.text)
            if said in kept:
                duplicates[one.key] = kept[said]
            else:
                kept[said] = one.key
        return replace(fused, duplicates=duplicates)

    def __str__(self) -> str:
        return "only the best of duplicate memories is kept"


@dataclass(frozen=True, slots=True)
class DeduplicateFiles:
    """Drop what a better candidate from another copy of the same file says too.

    Copies are recognised by their names (``a.ipynb``, ``a-Copy1.ipynb``, ``old/a.ipynb``) and by the ``share`` of their
    pairs of neighbouring words that they have in common (Jaccard; Broder, SEQUENCES 1997). Of a file and its copy, the
    file stays, even where the copy is better for being newer. An export of a notebook (``a.py`` beside ``a.ipynb``) is
    dropped where it holds a cell that was found.
    """

    share: float = 0.9

    def __call__(self, fused: Fused, /) -> Fused:
        if len(set(map(attrgetter("memory.source"), fused.candidates)) - {""}) < 2:
            return fused
        left = [one for one in fused.candidates if one.memory.source and one.key not in fused.duplicates]
        stems = {source: stem(source) for source in dict.fromkeys(one.memory.source for one in left)}
        files = Counter(stems.values())
        if len(files) == len(stems):
            return fused
        best, exports = best_first(left, fused.totals()), exports_in(stems)
        # By stem, those that stay with the number of their pairs, and the places of those that hold a pair.
        kept: dict[str, list[tuple[Candidate, int]]] = defaultdict(list)
        holding: dict[str, dict[tuple[str, ...], list[int]]] = defaultdict(dict)
        duplicates = dict(fused.duplicates)
        for one in sorted(best, key=lambda one: (one.memory.source in exports, is_copy(one.memory.source))):
            source, is_export = one.memory.source, one.memory.source in exports
            if files[of := stems[source]] == 1:
                continue
            words = source_of(one.memory.text)[: _LONGEST_EXPORT if is_export else _LONGEST].casefold().split()
            said = frozenset(pairwise(words) if len(words) > 1 else zip(words, strict=True))
            shared = Counter(chain.from_iterable(map(holding[of].get, said, repeat(()))))
            for place in sorted(shared):
                other, size = kept[of][place]
                # Of a whole file it is enough that it holds the cell.
                whole = size if is_export else len(said) + size - shared[place]
                if other.memory.source != source and shared[place] >= self.share * whole:
                    duplicates[one.key] = other.key
                    break
            else:
                for pair in said:
                    holding[of].setdefault(pair, []).append(len(kept[of]))
                kept[of].append((one, len(said)))
        return replace(fused, duplicates=duplicates) if len(duplicates) > len(fused.duplicates) else fused

    def __str__(self) -> str:
        return "only the best of duplicates in copied notebooks and files is kept, the original before its copies"


@dataclass(frozen=True, slots=True)
class DeduplicateRuns:
    """Drop what was run where a cell with the same source is a candidate, too: the cell has a place and outputs."""

    def __call__(self, fused: Fused, /) -> Fused:
        by_kind: dict[str, list[Candidate]] = defaultdict(list)
        for one in fused.candidates:
            if one.key not in fused.duplicates:
                by_kind[one.memory.kind].append(one)
        if not by_kind["history"]:
            return fused
        # Of cells that say the same, the best one stands last, and stays.
        cells = reversed(best_first(by_kind["cell"], fused.totals()))
        kept = {normalised(source_of(one.memory.text)): one.key for one in cells}
        duplicates = dict(fused.duplicates)
        for one in by_kind["history"]:
            if (of := kept.get(normalised(one.memory.text))) is not None:
                duplicates[one.key] = of
        return replace(fused, duplicates=duplicates)

    def __str__(self) -> str:
        return "what was run is not shown beside the cell that holds it"


@dataclass(frozen=True, slots=True)
class Relevance:
    """Scale the terms of relevance together so that the best candidate has ``share`` (seed system `memini`)."""

    terms: tuple[str, ...]
    share: float

    def __call__(self, fused: Fused, /) -> Fused:
        best = max(fused.totals(self.terms).values(), default=0.0)
        scaled = {
            name: {key: value / best * self.share for key, value in values.items()} if best > 0 else values
            for name, values in fused.contributions.items()
            if name in self.terms
        }
        return replace(fused, contributions={**fused.contributions, **scaled})

    def __str__(self) -> str:
        return f"{' + '.join(self.terms)} scaled so that the best candidate has {self.share:g}"


@dataclass(frozen=True, slots=True)
class Alone:
    """Where this term says anything, no other counts: the score is fixed (seed system `vault`: session history)."""

    term: str

    def __call__(self, fused: Fused, /) -> Fused:
        fixed = set(fused.contributions.get(self.term, ()))
        others = {
            name: {key: value for key, value in values.items() if name == self.term or key not in fixed}
            for name, values in fused.contributions.items()
        }
        return replace(fused, contributions=others)

    def __str__(self) -> str:
        return f"where {self.term} has a value, no other term counts"


def normalised(text: str) -> str:
    """Return a text without what two copies of it may differ in: case, white space, punctuation at its end.

    >>> normalised("Prices  are\\n scaled. ")
    'prices are scaled'
    """
    return " ".join(text.casefold().split()).rstrip(".!?,;: …")


def stem(source: str) -> str:
    """Return the name of a file without its folder, its suffix and what a copy or another version adds to it.

    A source without a suffix is no file that was copied, and stays as it is.

    >>> [stem(name) for name in ("/week/λ.ipynb", "old/λ-Copy1.ipynb", "Copy of λ (2).ipynb", "λ_final_v3.ipynb")]
    ['λ', 'λ', 'λ', 'λ']
    >>> stem("notes/2026-03-02.md"), stem("04_prices.ipynb"), stem("turn_3")
    ('2026-03-02', '04_prices', 'turn_3')
    """
    path = PurePath(source)
    if not path.suffix:
        return source
    name = path.stem.casefold()
    original = _COPY_OF.sub("", name)
    return original[:-_LONGEST_NAME] + _VERSION.sub("", original[-_LONGEST_NAME:]) or name


def is_copy(source: str) -> bool:
    """Return whether the name of a file says that it is a copy of another; a later version is none.

    >>> [is_copy(f"{name}.ipynb") for name in ("λ-Copy1", "λ (copia)", "λ – Kopie (2)", "Kopie von λ", "λ_final_v3")]
    [True, True, True, True, False]
    """
    name = PurePath(source).stem.casefold()
    return _COPY_OF.match(name) is not None or _COPY.search(name[-_LONGEST_NAME:]) is not None


def exports_in(sources: Iterable[str]) -> set[str]:
    """Return those of these sources that are an export of a notebook among them, as ``a.py`` beside ``a.ipynb``."""
    notebooks = {source.removesuffix(NOTEBOOK) for source in sources if source.endswith(NOTEBOOK)}
    return {one for one in sources if not one.endswith(NOTEBOOK) and one.rpartition(".")[0] in notebooks}


def newer_first(memory: Memory) -> tuple[float, str, str, str]:
    """Of equal scores the newer; a copy of the same age is known by its place, so that insertion order never speaks."""
    return -memory.event_at.timestamp(), memory.content_hash, memory.source, memory.location


def best_first(candidates: Iterable[Candidate], scores: Mapping[int, float]) -> list[Candidate]:
    """Return the candidates that have a score, the best first, of equal ones the newer first."""
    by_score: dict[float, list[Candidate]] = {}
    for one in candidates:
        if (score := scores.get(one.key)) is not None:
            by_score.setdefault(score, []).append(one)
    ordered: list[Candidate] = []
    # Few scores are equal, and only of those anybody asks the age.
    for score in sorted(by_score, reverse=True):
        equal = by_score[score]
        ordered += sorted(equal, key=lambda one: newer_first(one.memory)) if len(equal) > 1 else equal
    return ordered
