"""A profile: the terms that make a score; and the built-in ones."""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.search import signals
from jupyter_memory.search.context import RETRIEVERS, Signal
from jupyter_memory.search.fusion import (
    Alone,
    Deduplicate,
    DeduplicateFiles,
    DeduplicateRuns,
    MinMax,
    PostProcessor,
    ReciprocalRank,
    ReciprocalValue,
    Relevance,
    Weighted,
    weights_of,
    with_weights,
)
from jupyter_memory.search.profiles.own_lists import ALPHA, RRF_K, TEMPORAL_BOOST, RerankWeights
from jupyter_memory.search.signals import lexical, metadata, semantic, weights
from jupyter_memory.text.identifiers import COLUMNS
from jupyter_memory.text.paths import write_new
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types.protocols import Term

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# The parts of a profile that are a table by name, or a list of tables.
NAMED, LISTED = ("terms", "keyword_only", "signals"), ("steps",)

_TERMS = {one.__name__: one for one in (MinMax, ReciprocalRank, ReciprocalValue, Weighted)}
# The classes that a file can name.
FORMS: Mapping[str, Mapping[str, type]] = {
    "terms": _TERMS,
    "keyword_only": _TERMS,
    "signals": {name: getattr(signals, name) for name in sorted(signals.__all__)},
    "steps": {one.__name__: one for one in (Alone, Deduplicate, DeduplicateFiles, DeduplicateRuns, Relevance)},
}


def _encoded(part: Any, key: str) -> dict[str, Any]:
    form = type(part).__name__
    if FORMS[key].get(form) is not type(part):
        raise InputError(
            f"{part.name if hasattr(part, 'name') else form} is an instance of your own class {form}, and a file "
            "cannot contain it. Save the profile without it, and add it again with with_signal()."
        )
    # Defaults too, which a later version may change, but for those that say nothing.
    told = [one for one in dataclasses.fields(FORMS[key][form]) if one.name != "name"]
    silent = [one.name for one in told if one.default == getattr(part, one.name) in ("", ())]
    return {"is": form} | {one.name: getattr(part, one.name) for one in told if one.name not in silent}


def _table(head: str, values: Mapping[str, Any]) -> str:
    return "\n".join([head, *(f"{_key(name)} = {_value(value)}" for name, value in values.items())])


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # A JSON string is a TOML string, once DEL is escaped too.
        return json_text(value)
    if isinstance(value, int | float):
        return repr(value)
    raise InputError(f"A value of the type {type(value).__name__} cannot be written to a file.")


# What names a part or describes the whole is no constant of the sum.
_NAMES = ("name", "summary")


@dataclass(frozen=True, slots=True)
class OverFetch:
    """How many memories each retriever finds for ``limit`` hits: ``max(factor * limit, minimum)``."""

    factor: int = 4
    minimum: int = 20

    def __call__(self, limit: int, /) -> int:
        return max(self.factor * limit, self.minimum)


@dataclass(frozen=True, slots=True)
class Profile:
    """A ranking: what the retrievers fetch, which signals judge, and the terms whose sum is the score.

    ``columns`` are the BM25 weights of the keyword index; a column that is not among them is not searched.
    ``threshold`` says whether matches below the embedder's (or the user's) cosine threshold are dropped, or below which
    cosine. ``steps`` are the post-processors. ``keyword_only`` are the terms for a search without a model, if they are
    others. Fewer keyword matches than ``small_corpus`` are all shown where ``limit`` would cut off half of them.
    ``timed`` says whether the query is rewritten for the store: other forms, spellings, the time that it names.
    ``adaptive`` names the term whose weight follows feedback; see `adapted`. ``apart`` names a kind that is searched by
    itself, so that its memories and the others do not take each other's places among the candidates.

    Raises:
        InputError: two terms or two signals share a name, a term reads what does not exist, or a column does not exist.
    """

    name: str
    summary: str
    terms: tuple[Term, ...]
    columns: Mapping[str, float]
    signals: tuple[Signal, ...] = ()
    fetch: OverFetch = OverFetch()
    threshold: bool | float = False
    steps: tuple[PostProcessor, ...] = ()
    keyword_only: tuple[Term, ...] = ()
    small_corpus: int = 0
    timed: bool = False
    adaptive: str = ""
    apart: str = ""

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
        if not -1 <= self.threshold <= 1:
            raise InputError(f"threshold is true, false or a cosine from -1 to 1, not {self.threshold!r}.")
        if not self.columns or set(self.columns) - set(COLUMNS):
            raise InputError(f"columns= maps one or more of {', '.join(COLUMNS)} to weights.")

    @property
    def formula(self) -> str:
        """Return the score as a sum that a person can check."""
        return " + ".join(map(str, self.terms))

    @property
    def is_judged(self) -> bool:
        """Return whether its evidence has the signal ``max_sim``, from which the strength of a hit is computed."""
        return "max_sim" in map(attrgetter("name"), self.signals)

    def fetches(self, limit: int) -> int:
        """Return how many memories each retriever is asked for: more than ``fetch`` only to measure a small corpus."""
        return max(self.fetch(limit), self.small_corpus)

    def terms_for(self, hybrid: bool) -> tuple[Term, ...]:
        """Return the terms that count where the vector retriever takes part, or where it does not."""
        return self.terms if hybrid or not self.keyword_only else self.keyword_only

    def unread(self, tags: Sequence[str]) -> str:
        """Return a notice if tags are given as evidence and no signal reads them."""
        is_read = not tags or metadata.Tags in map(type, self.signals)
        return "" if is_read else f"The profile {self.name} gives no points for tags; vault does."

    def without(self, term: str) -> Profile:
        """Return a copy, called ``name-term``, in which one term does not count: what the others do without it."""
        if term not in {one.name for one in self.terms}:
            raise InputError(f"{self.name} has no term {term!r}. Its terms: {', '.join(t.name for t in self.terms)}.")
        return dataclasses.replace(
            self,
            name=f"{self.name}-{term}",
            terms=tuple(one for one in self.terms if one.name != term),
            keyword_only=tuple(one for one in self.keyword_only if one.name != term),
        )

    def to_toml(self) -> str:
        """Return the profile as the text of a TOML file, which cannot hold signals and terms of one's own classes."""
        plain, tables = [], []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in NAMED:
                tables += [_table(f"[{field.name}.{_key(one.name)}]", _encoded(one, field.name)) for one in value]
            elif field.name in LISTED:
                tables += [_table(f"[[{field.name}]]", _encoded(one, field.name)) for one in value]
            elif isinstance(value, Mapping):
                tables.append(_table(f"[{field.name}]", value))
            elif dataclasses.is_dataclass(value) and not isinstance(value, type):
                tables.append(_table(f"[{field.name}]", dataclasses.asdict(value)))
            else:
                plain.append(f"{field.name} = {_value(value)}")
        return "\n\n".join(["\n".join(plain), *tables]) + "\n"

    def save(self, name: str) -> Path:
        """Write the profile into a new TOML file, whose name becomes its own, and return the file."""
        file = new_file(name)
        write_new(file, self.replace(name=file.stem).to_toml())
        return file

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


@dataclass(frozen=True, slots=True)
class Constant:
    """One value of a profile: ``part`` is term, signal, column …, ``form`` the class of the part, such as Weighted."""

    part: str
    name: str
    form: str
    constant: str
    value: Any


def constants(profile: Profile) -> list[Constant]:
    """Return every constant of a profile: of its terms and signals, the columns, the fetch, the steps and the rest.

    >>> from jupyter_memory.search.profiles.profile import trovella
    >>> [(one.name, one.constant, one.value) for one in constants(trovella)][:2]
    [('keyword', 'weight', 1.0), ('keyword', 'k', 60.0)]
    """
    found: list[Constant] = []
    for field in fields(profile):
        value = getattr(profile, field.name)
        if field.name == "columns":
            found += [Constant("column", name, "", "weight", weight) for name, weight in value.items()]
        elif field.name == "keyword_only":
            found += [one for part in value for one in _of_part("term, words alone", part)]
        elif isinstance(value, tuple):
            found += [one for part in value for one in _of_part(field.name.removesuffix("s"), part)]
        elif is_dataclass(value):
            found += _of_part(field.name, value)
        elif field.name not in _NAMES:
            found.append(Constant("rule", "", "", field.name, value))
    return found


def _of_part(part: str, value: Any) -> Iterator[Constant]:
    form = type(value).__name__
    name = getattr(value, "name", "")
    held = [one.name for one in fields(value)] if is_dataclass(value) else []
    told = [one for one in held if one != "name" and getattr(value, one) not in ("", ())]
    if not told:
        yield Constant(part, name, form, "", "")
    for constant in told:
        yield Constant(part, name, form, constant, getattr(value, constant))


covalence = Profile(
    name="covalence",
    summary="Five signals by reciprocal ranks: meaning, words, tier, title, recency.",
    terms=(
        ReciprocalRank("vector", 0.90),
        ReciprocalRank("keyword", 0.90),
        ReciprocalValue("tier", 0.18),
        Weighted("title", 0.009),
        Weighted("recency", 0.0033),
    ),
    columns=MappingProxyType({"title": 5.0, "text": 1.0}),
    signals=(metadata.Tier(), lexical.Title(), metadata.Recency()),
    threshold=True,
)

trovella = Profile(
    name="trovella",
    summary="Two signals by reciprocal ranks: words and meaning, nothing else.",
    terms=(ReciprocalRank("keyword", 1.0), ReciprocalRank("vector", 1.0)),
    columns=MappingProxyType({"title": 1.0, "context": 1.0, "text": 1.0}),
)

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
        Weighted("title", weights.TITLE),
        Weighted("title_match", weights.TITLE_MATCH),
        Weighted("defines", weights.DEFINES),
        Weighted("file_stem", weights.FILE_STEM),
        Weighted("defined_names", weights.DEFINED_NAMES),
        Weighted("aside", weights.ASIDE),
        ReciprocalValue("tier", weights.TIER, k=0),
        Weighted("recency", weights.RECENCY),
    ),
    columns=MappingProxyType(dict(weights.COLUMNS)),
    signals=(
        lexical.WordScore(),
        semantic.SemanticMargin(),
        semantic.MaxSim(),
        metadata.Neighbour(),
        metadata.Session(),
        metadata.QuestionPenalty(),
        metadata.LengthPenalty(),
        lexical.OwnWords(),
        semantic.BestPassage(),
        metadata.NamedTime(),
        lexical.Title(),
        lexical.TitleMatch(),
        lexical.Defines(),
        lexical.FileStem(),
        lexical.DefinedNames(),
        lexical.Aside(),
        metadata.TierOfRuns(),
        metadata.Recency(),
    ),
    # The same for up to 25 hits, so that one question has one score in a notebook and in the panel.
    fetch=OverFetch(2, weights.POOL),
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
    signals=(
        lexical.TfIdf("semantic"),
        lexical.Cosine(),
        metadata.Severity(),
        metadata.Validity(name="temporal"),
        metadata.Tags(),
        metadata.Domain(),
        metadata.OfKind("history"),
    ),
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
    signals=(metadata.Quality(), metadata.NearTime()),
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

# Fewer verdicts than these say nothing yet.
LEAST = 30
# Of an accept rate of 0 or 1 comes a shift of 0.15, the most there is.
SLOPE = 0.30


def adapted(profile: Profile, accepted: int, judged: int) -> Profile:
    """Return a profile as ``accepted`` of ``judged`` hits have made it (seed system `vault`; the slope is ours).

    From 30 verdicts on, 0.30 * (accept rate - 0.5) is added to the weight of its ``adaptive`` term; the others are
    scaled so that the sum of the weights stays what it was. A term that counts alone where it speaks is not among them.
    What comes back adapts no further.
    """
    if judged < LEAST or profile.adaptive not in {term.name for term in profile.terms}:
        return profile
    shift = SLOPE * (accepted / judged - 0.5)
    fixed = {step.term for step in profile.steps if isinstance(step, Alone)}
    return profile.replace(
        adaptive="",
        terms=_shifted(profile.terms, profile.adaptive, shift, fixed),
        keyword_only=_shifted(profile.keyword_only, profile.adaptive, shift, fixed),
    )


def _shifted(terms: tuple[Term, ...], name: str, shift: float, fixed: set[str]) -> tuple[Term, ...]:
    weights = {other: weight for other, weight in weights_of(terms).items() if other not in fixed}
    if name not in weights:
        return terms
    own, whole = weights[name], sum(weights.values())
    leaning = min(max(own + shift, 0.0), whole)
    scale = (whole - leaning) / (whole - own) if whole != own else 1.0
    new = {other: leaning if other == name else weight * scale for other, weight in weights.items()}
    return with_weights(terms, new)


def new_file(name: str) -> Path:
    """Return the file of a new profile; raise ``InputError`` where none of this name can be made."""
    file = Path(name).expanduser()
    if file.suffix != ".toml" or file.stem in PROFILES:
        raise InputError("Name a new file that ends in .toml, such as my-auto.toml")
    if file.exists():
        raise InputError(f"{file} already exists: name a new one.")
    if not os.access(file.parent, os.W_OK):
        raise InputError(f"{file} cannot be written: name a file in a folder that is there and writable.")
    return file
