"""The profiles: named recipes that say which evidence counts and how much."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

from jupyter_memory.errors import InputError, UnknownProfile
from jupyter_memory.protocols import Term
from jupyter_memory.search import evidence
from jupyter_memory.search.context import Signal
from jupyter_memory.search.fusion import MinMax, ReciprocalRank, ReciprocalValue, Weighted
from jupyter_memory.search.postprocessing import Alone, Deduplicate, DeduplicateFiles, PostProcessor, Relevance
from jupyter_memory.search.retrieval import RETRIEVERS
from jupyter_memory.search.signals import (
    RENAMED,
    Cosine,
    Domain,
    LengthPenalty,
    MaxSim,
    NamedTime,
    NearTime,
    Neighbour,
    OfKind,
    Quality,
    QuestionPenalty,
    Recency,
    SemanticMargin,
    Session,
    Severity,
    Tags,
    TfIdf,
    Tier,
    Title,
    Validity,
    WordScore,
)
from jupyter_memory.text.identifiers import COLUMNS


@dataclass(frozen=True, slots=True)
class OverFetch:
    """How many memories each leg brings for ``limit`` hits: ``max(factor * limit, minimum)``."""

    factor: int = 4
    minimum: int = 20

    def __call__(self, limit: int, /) -> int:
        return max(self.factor * limit, self.minimum)


@dataclass(frozen=True, slots=True)
class Profile:
    """A ranking: what the legs fetch, which signals judge, and the terms whose sum is the score.

    ``columns`` are the BM25 weights of the keyword index; a column that is not among them is not searched.
    ``threshold`` tells whether finds below the embedder's (or the user's) cosine threshold are dropped. ``steps``
    change the contributions once all are known. ``keyword_only`` are the terms where no model can look, if they are
    others. Fewer keyword matches than ``small_corpus`` are all shown where ``limit`` would cut off half of them.
    ``timed`` tells whether a time that the query names is looked at by the legs. ``adaptive`` names the term whose
    weight follows what was said of hits; see `ranking.adaptive`.

    Raises:
        InputError: two terms or two signals share a name, a term reads what nobody gives, or a column does not exist.
    """

    name: str
    summary: str
    terms: tuple[Term, ...]
    columns: Mapping[str, float]
    signals: tuple[Signal, ...] = ()
    fetch: OverFetch = OverFetch()
    threshold: bool = False
    steps: tuple[PostProcessor, ...] = ()
    keyword_only: tuple[Term, ...] = ()
    small_corpus: int = 0
    timed: bool = False
    adaptive: str = ""

    def __post_init__(self) -> None:
        signals, terms = [signal.name for signal in self.signals], [term.name for term in self.terms]
        for what, names in (("signals", [*RETRIEVERS, *signals]), ("terms", terms)):
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise InputError(f"The profile {self.name} has two {what} called {twice[0]!r}. Rename one of them.")
        for term in (*self.terms, *self.keyword_only):
            if (reads := term.reads or term.name) not in (*RETRIEVERS, *signals):
                raise InputError(
                    f"The profile {self.name} has no signal {reads!r}, which its term {term.name!r} reads. "
                    "Add it to signals=, or use with_signal()."
                )
        if not self.columns or set(self.columns) - set(COLUMNS):
            raise InputError(f"columns= maps one or more of {', '.join(COLUMNS)} to weights.")

    @property
    def formula(self) -> str:
        """Return the score as a sum that a person can check."""
        return " + ".join(map(str, self.terms))

    def fetches(self, limit: int) -> int:
        """Return how many memories each leg is asked for; more than ``fetch`` only to see how small a corpus is."""
        return max(self.fetch(limit), self.small_corpus)

    def terms_for(self, hybrid: bool) -> tuple[Term, ...]:
        """Return the terms that count where the vector leg can look, or where it cannot."""
        return self.terms if hybrid or not self.keyword_only else self.keyword_only

    def without(self, term: str) -> Profile:
        """Return a copy, called ``name-term``, in which one term does not count: what the others do without it.

        Raises:
            InputError: the profile has no such term.
        """
        term = RENAMED.get(term, term)
        if term not in {one.name for one in self.terms}:
            raise InputError(f"{self.name} has no term {term!r}. Its terms: {', '.join(t.name for t in self.terms)}.")
        return dataclasses.replace(
            self,
            name=f"{self.name}-{term}",
            terms=tuple(one for one in self.terms if one.name != term),
            keyword_only=tuple(one for one in self.keyword_only if one.name != term),
        )

    def to_toml(self) -> str:
        """Return the profile as the text of a TOML file, which ``profile_named("./mine.toml")`` reads.

        Raises:
            InputError: a signal or a term is of a class of one's own, which a file cannot hold.
        """
        # Imported late: reading and writing files rests on this module.
        from jupyter_memory.search.profiles.toml import to_toml

        return to_toml(self)

    def replace(self, **changes: Any) -> Profile:
        """Return a copy with other values, such as ``columns={"title": 3, "text": 1}``."""
        return dataclasses.replace(self, **changes)

    def with_signal(self, signal: Signal, weight: float) -> Profile:
        """Return a copy, called ``name+signal``, in which ``weight * value`` of one more signal counts."""
        return dataclasses.replace(
            self,
            name=f"{self.name}+{signal.name}",
            signals=(*self.signals, signal),
            terms=(*self.terms, Weighted(signal.name, weight)),
        )


def _covalence_terms() -> tuple[Term, ...]:
    """0.90 * (1/(60+vec) + 1/(60+kw) + 0.20/(60+tier) + 0.01*title) + 0.10 * recency * 0.033, multiplied out."""
    return (
        ReciprocalRank("vector", 0.90),
        ReciprocalRank("keyword", 0.90),
        ReciprocalValue("tier", 0.18),
        Weighted("title", 0.009),
        Weighted("recency", 0.0033),
    )


covalence = Profile(
    name="covalence",
    summary="Five signals by reciprocal ranks: meaning, words, tier, title, recency.",
    terms=_covalence_terms(),
    columns=MappingProxyType({"title": 5.0, "text": 1.0}),
    signals=(Tier(), Title(), Recency()),
    threshold=True,
)

trovella = Profile(
    name="trovella",
    summary="Two signals by reciprocal ranks: words and meaning, nothing else.",
    terms=(ReciprocalRank("keyword", 1.0), ReciprocalRank("vector", 1.0)),
    columns=MappingProxyType({"title": 1.0, "context": 1.0, "text": 1.0}),
)

# What a title that holds the whole query, a pin or a file, and a fresh memory add: less than one more rare word.
_TITLE, _TIER, _RECENCY = 0.15, 0.06, 0.05

auto = Profile(
    name="auto",
    summary="The default: words, distinctive meaning, MaxSim, neighbours, and the time that the query names.",
    terms=(
        Weighted("keyword", evidence.WORDS, "words"),
        Weighted("semantic_margin", evidence.SEMANTIC_MARGIN),
        Weighted("max_sim", evidence.MAX_SIM),
        Weighted("neighbour", evidence.NEIGHBOUR),
        Weighted("session", evidence.SESSION),
        Weighted("question_penalty", evidence.QUESTION_PENALTY),
        Weighted("length_penalty", evidence.LENGTH_PENALTY),
        Weighted("time", evidence.TIME),
        Weighted("title", _TITLE),
        ReciprocalValue("tier", _TIER, k=0),
        Weighted("recency", _RECENCY),
    ),
    columns=MappingProxyType(dict(evidence.COLUMNS)),
    signals=(
        WordScore(),
        SemanticMargin(),
        MaxSim(),
        Neighbour(),
        Session(),
        QuestionPenalty(),
        LengthPenalty(),
        NamedTime(),
        Title(),
        Tier(),
        Recency(),
    ),
    fetch=OverFetch(4, evidence.POOL),
    threshold=True,
    steps=(DeduplicateFiles(),),
    timed=True,
)


def _vault_terms(semantic: float, vector: float) -> tuple[Term, ...]:
    return (
        Weighted("semantic", semantic),
        Weighted("vector", vector, "similarity"),
        Weighted("severity", 0.15),
        Weighted("temporal", 0.15),
        Weighted("tags", 0.15),
        Weighted("domain", 0.15),
        Weighted("history", 0.5),
    )


vault = Profile(
    name="vault",
    summary="Six weighted signals: TF-IDF, meaning, severity, age or validity, tags, domain.",
    terms=_vault_terms(0.25, 0.15),
    keyword_only=_vault_terms(0.40, 0.0),
    columns=MappingProxyType({"title": 10.0, "context": 1.0, "text": 3.0, "tags": 2.0, "ident": 5.0}),
    signals=(TfIdf("semantic"), Cosine(), Severity(), Validity(name="temporal"), Tags(), Domain(), OfKind("history")),
    fetch=OverFetch(3, 30),
    steps=(Alone("history"),),
    small_corpus=50,
    adaptive="semantic",
)

_LEG_TERMS = ("vector", "keyword")
_ALPHA = 0.5  # the vector leg's share
_MEMINI_RERANK = (Weighted("quality", 0.20), Weighted("near_time", 0.40))

memini = Profile(
    name="memini",
    summary="Both retrievers by scaled score, the memory's own quality, and the time that the query names.",
    terms=(MinMax("vector", _ALPHA), MinMax("keyword", 1 - _ALPHA), *_MEMINI_RERANK),
    columns=MappingProxyType({"title": 1.0, "text": 1.0}),
    signals=(Quality(), NearTime()),
    fetch=OverFetch(5, 50),
    steps=(Deduplicate(by=_LEG_TERMS), Relevance(_LEG_TERMS, 0.80)),
)

memini_rrf = memini.replace(
    name="memini-rrf",
    summary="Like memini, but adds both retrievers by rank; the first ranks count far more.",
    # 1 / (5 + rank - 1): the system counts ranks from 0.
    terms=(ReciprocalRank("vector", 1.0, k=4), ReciprocalRank("keyword", 1.0, k=4), *_MEMINI_RERANK),
)

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {profile.name: profile for profile in (auto, covalence, vault, trovella, memini, memini_rrf)}
)


def profile_named(name: str | Profile) -> Profile:
    """Return a profile by its name, from its file (a name that ends in ``.toml``), or the profile itself.

    Raises:
        UnknownProfile: no profile has this name, or there is no such file.
        InputError: the file describes no profile.
    """
    if isinstance(name, Profile):
        return name
    if isinstance(name, str) and name.endswith(".toml"):
        from jupyter_memory.search.profiles.toml import read_profile

        return read_profile(name)
    if isinstance(name, str) and name in PROFILES:
        return PROFILES[name]
    near = get_close_matches(str(name), PROFILES, n=1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    raise UnknownProfile(f"There is no profile {name!r}.{guess} Known: {', '.join(PROFILES)}, or a file: ./mine.toml.")
