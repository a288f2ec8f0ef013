"""The profiles: named recipes that say which evidence counts and how much."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from jupyter_memory.search.fusion import MinMax, ReciprocalRank, ReciprocalValue, Weighted
from jupyter_memory.search.postprocessing import Alone, Deduplicate, DeduplicateFiles, DeduplicateRuns, Relevance
from jupyter_memory.search.profiles.own_lists import ALPHA, RRF_K, TEMPORAL_BOOST, RerankWeights
from jupyter_memory.search.profiles.profile import OverFetch, Profile
from jupyter_memory.search.signals import (
    Aside,
    BestPassage,
    Cosine,
    DefinedNames,
    Defines,
    Domain,
    FileStem,
    LengthPenalty,
    MaxSim,
    NamedTime,
    NearTime,
    Neighbour,
    OfKind,
    OwnWords,
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
    TitleMatch,
    Validity,
    WordScore,
    weights,
)
from jupyter_memory.types.protocols import Term


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
        Weighted("keyword", weights.WORDS, "words"),
        Weighted("semantic_margin", weights.SEMANTIC_MARGIN),
        Weighted("max_sim", weights.MAX_SIM),
        Weighted("neighbour", weights.NEIGHBOUR),
        Weighted("session", weights.SESSION),
        Weighted("question_penalty", weights.QUESTION_PENALTY),
        Weighted("length_penalty", weights.LENGTH_PENALTY),
        Weighted("own_words", weights.OWN_WORDS),
        Weighted("best_passage", weights.BEST_PASSAGE),
        Weighted("time", weights.TIME),
        Weighted("title", _TITLE),
        Weighted("title_match", weights.TITLE_MATCH),
        Weighted("defines", weights.DEFINES),
        Weighted("file_stem", weights.FILE_STEM),
        Weighted("defined_names", weights.DEFINED_NAMES),
        Weighted("aside", weights.ASIDE),
        ReciprocalValue("tier", _TIER, k=0),
        Weighted("recency", _RECENCY),
    ),
    columns=MappingProxyType(dict(weights.COLUMNS)),
    signals=(
        WordScore(),
        SemanticMargin(),
        MaxSim(),
        Neighbour(),
        Session(),
        QuestionPenalty(),
        LengthPenalty(),
        OwnWords(),
        BestPassage(),
        NamedTime(),
        Title(),
        TitleMatch(),
        Defines(),
        FileStem(),
        DefinedNames(),
        Aside(),
        Tier(),
        Recency(),
    ),
    fetch=OverFetch(4, weights.POOL),
    threshold=True,
    steps=(DeduplicateRuns(), DeduplicateFiles()),
    timed=True,
)

alike = Profile(
    name="alike",
    summary="What `auto` makes of words and meaning, without what is evidence for questions alone.",
    terms=auto.terms[:4],
    columns=auto.columns,
    signals=auto.signals[:4],
    fetch=auto.fetch,
    threshold=True,
    steps=auto.steps,
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
    apart="history",
)

_RETRIEVER_TERMS = ("vector", "keyword")
_MEMINI_RERANK = (Weighted("quality", RerankWeights().quality), Weighted("near_time", TEMPORAL_BOOST))

memini = Profile(
    name="memini",
    summary="Both retrievers by scaled score, the memory's own quality, and the time that the query names.",
    terms=(MinMax("vector", ALPHA), MinMax("keyword", 1 - ALPHA), *_MEMINI_RERANK),
    columns=MappingProxyType({"title": 1.0, "text": 1.0}),
    signals=(Quality(), NearTime()),
    fetch=OverFetch(5, 50),
    steps=(Deduplicate(by=_RETRIEVER_TERMS), Relevance(_RETRIEVER_TERMS, RerankWeights().relevance)),
)

memini_rrf = memini.replace(
    name="memini-rrf",
    summary="Like memini, but adds both retrievers by rank; the first ranks count far more.",
    # The system counts ranks from 0.
    terms=(ReciprocalRank("vector", 1.0, k=RRF_K - 1), ReciprocalRank("keyword", 1.0, k=RRF_K - 1), *_MEMINI_RERANK),
)

PROFILES: Mapping[str, Profile] = MappingProxyType(
    {profile.name: profile for profile in (auto, covalence, vault, trovella, memini, memini_rrf)}
)
