"""Signals of words: scores of the retrievers, titles, own words and names in code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, repeat
from math import nan
from operator import attrgetter, mul
from typing import ClassVar
from unicodedata import combining, normalize

import numpy as np

from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.fusion import exports_in, is_copy, stem
from jupyter_memory.search.query.terms import idf, names_in, words_of
from jupyter_memory.search.signals.semantic import words_count
from jupyter_memory.text.code import Definitions
from jupyter_memory.text.languages import STOP_WORDS
from jupyter_memory.text.markdown import source_of
from jupyter_memory.types import Candidate, Query


@dataclass(frozen=True, slots=True)
class WordScore:
    """BM25 of the memory's best chunk, times how much words count in this search; no opinion without a shared word.

    The keyword retriever finds the best by their words alone. Memories that only the vector retriever finds often
    contain some of the words too, but not enough to be among those.
    """

    label: ClassVar[str] = "the words of the query in it"
    # It gives the score of that retriever to more memories, and is shown under the retriever's name, with its rank.
    completes: ClassVar[str] = "keyword"
    name: str = "words"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        scores, count = context.keyword_scores, words_count(context)
        return dict(zip(scores, map(mul, repeat(count), scores.values()), strict=False))


@dataclass(frozen=True, slots=True)
class Cosine:
    """The cosine of the query and the memory's best chunk, a negative one as 0; NaN without a vector."""

    label: ClassVar[str] = "how close its meaning is to that of the query"
    name: str = "similarity"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        return {one.key: nan if one.cosine is None else max(0.0, one.cosine) for one in context}


@dataclass(frozen=True, slots=True)
class TfIdf:
    """TF-IDF cosine over title, text, context and tags of the chunk that speaks for a memory.

    idf = log((N + 1) / (df + 1)) + 1 over the chunks of the store (seed system `vault`); the query's words that the
    store does not hold have no place in its vocabulary. NaN where the query has no word that it holds.
    """

    label: ClassVar[str] = "the words that it shares with the query"
    name: str = "tfidf"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        corpus = context.corpus
        words = query.text.split()
        telling = [word for word in words if word.lower() not in STOP_WORDS] or words
        asked = Counter(corpus.words(" ".join(telling)))
        held = {word for word, chunks in corpus.frequencies(asked).items() if chunks}
        if not held:
            return dict.fromkeys(context.keys, nan)
        passages = context.passages(context)
        texts = {one.key: corpus.words(str(passages[one.chunk])) for one in context}
        sharing = {key: words for key, words in texts.items() if not held.isdisjoint(words)}
        found = dict.fromkeys(texts, 0.0)
        if not sharing:
            return found
        numbers = {word: number for number, word in enumerate(dict.fromkeys(chain(asked, *sharing.values())))}
        counts = corpus.frequencies(numbers)
        chunks = np.fromiter((counts[word] for word in numbers), np.float64, len(numbers))
        # A text that is being typed in at this moment may hold words that the index does not have yet.
        idf = np.where(chunks > 0, np.log((corpus.chunks + 1) / (chunks + 1)) + 1, 0.0)
        wanted = np.zeros(len(numbers))
        wanted[: len(asked)] = np.fromiter(asked.values(), np.float64, len(asked)) * idf[: len(asked)]
        lengths = np.fromiter(map(len, sharing.values()), np.int64, len(sharing))
        every = chain.from_iterable(sharing.values())
        places = np.fromiter(map(numbers.__getitem__, every), np.int64, int(lengths.sum()))
        # Each word of a text once, with how often it is there.
        rows = np.repeat(np.arange(len(sharing)), lengths) * len(numbers)
        different, often = np.unique(rows + places, return_counts=True)
        text, word = np.divmod(different, len(numbers))
        weights = often * idf[word]
        shared = np.bincount(text, weights * wanted[word], minlength=len(sharing))
        norms = np.sqrt(np.bincount(text, weights * weights, minlength=len(sharing)) * (wanted @ wanted))
        return found | dict(zip(sharing, (shared / norms).tolist(), strict=True))


_EDGES = re.compile(r"^\W+|\W+$")


@dataclass(frozen=True, slots=True)
class Title:
    """1 if every word of the query occurs in the title as a substring, whatever its case, else 0.

    Substrings, because the keyword index splits "1.4" into "1" and "4": "roadmap 1.4" has to find v1.4-ROADMAP.md.
    """

    label: ClassVar[str] = "having every word of the query in its title"
    name: str = "title"
    lower_is_better: bool = False

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        words = [word for written in query.text.split() if (word := _EDGES.sub("", written).casefold())]
        # Composed, as queries are: macOS takes the umlauts of file names apart.
        titles = normalize("NFC", "\0".join(map(attrgetter("title"), context.memories))).casefold()
        found = dict.fromkeys(context.keys, 0.0)
        if words and all(map(titles.__contains__, words)):
            for key, title in zip(context.keys, titles.split("\0"), strict=True):
                found[key] = float(all(map(title.__contains__, words)))
        return found


# What was stored by itself. A cell's title is that of its whole section, a file's its path (see `file_stem`).
_TITLED = frozenset({"note", "mcp"})


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """How well the title of a note answers the query, from 0 to 1.

    BM25 adds up the words that a title shares with the query, whatever else it says and the query asks for. This is how
    "Delta types" comes before "Streaming request with tool use" when the types of deltas in a stream are asked for.
    """

    label: ClassVar[str] = "how well its title answers the query"
    name: str = "title_match"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        titles = {}
        for key, one in zip(context.keys, context.memories, strict=True):
            if one.title and one.kind in _TITLED:
                titles[key] = one.title
        covered = context.name_words.titles(titles.values())
        return dict(zip(titles, map(covered.__getitem__, titles.values()), strict=True))


# A cell is also found by the words of its notebook's title, of the headings above it and of the Markdown just before
# it. Filler is full of such borrowed words and holds few of its own.

# A longer cell is judged by its beginning.
LONGEST = 2_400


@dataclass(frozen=True, slots=True)
class OwnWords:
    """Minus the square of the share of the query that the text of a cell lacks, by idf, 0 for the best cell.

    Words also count within names. Only cells have a value. Since it is counted from the best cell, cells do not sink
    below notes and files if none of them has a word of the query. A query of stop words gives no values.
    """

    label: ClassVar[str] = "the words of the query in its own text"
    name: str = "own_words"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        if not context.cells:
            return {}
        corpus = context.corpus
        forms = {one.word: one.inflected for one in query.terms.forms}
        words = [(stem, word) for word in context.name_words.content for stem in corpus.words(word)]
        asked = {stem: (stem, *corpus.words(" ".join(forms.get(word, ())))) for stem, word in words}
        counts = corpus.frequencies(chain.from_iterable(asked.values()))
        tells = [
            (tuple(map(_root, stems)), idf(max(counts[stem] for stem in stems), corpus.chunks))
            for stems in asked.values()
        ]
        whole = sum(tell for _, tell in tells)
        if not whole:
            return {}
        found = {}
        for key, one in context.cells.items():
            text = _plain(one.text[:LONGEST])
            lacking = sum(tell for roots, tell in tells if not any(root in text for root in roots))
            found[key] = -((lacking / whole) ** 2)
        best, count = max(found.values()), words_count(context)
        return {key: count * (value - best) for key, value in found.items()}


def _plain(text: str) -> str:
    # As the index compares it: in lower case, without accents.
    text = text.lower()
    if text.isascii():
        return text
    text = normalize("NFD", text)
    for mark in filter(combining, set(text)):
        text = text.replace(mark, "")
    return text


def _root(stem: str) -> str:
    # What each form of a word begins with: the stemmer writes "entries" and "entry" as "entri".
    stem = _plain(stem)
    return stem[:-1] if len(stem) > 3 and stem[-1] in "eiy" else stem


# By where a name is defined: at the top level, as a variable, within a class or a function.
_LEVELS = (1.0, 0.8, 0.6)
# A word without capital or underline is rarely meant as a name, and in a sentence a name is often that of a use.
_PLAIN, _IN_A_SENTENCE = 0.25, 0.125
_DEFINED = re.compile(r"\b(defin\w+|implement\w+|class|def|function|method)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Defines:
    """1 if the query asks for the definition of a class or function and the memory holds it, else less or 0.

    A variable counts 0.8, a method 0.6. A query that is a name asks for its definition, and so does one with a name and
    a word such as "defined". A query of one plain word counts a quarter; in other sentences, what looks like a name
    counts an eighth. Of a name with dots, the last part is looked up.
    """

    label: ClassVar[str] = "the names that it defines"
    name: str = "defines"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        found = dict.fromkeys(context.keys, 0.0)
        if named := _named(query.text):
            for key, definitions in context.definitions.items():
                found[key] = max((value for value, _ in _matches(named, definitions)), default=0.0)
        return found

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        definitions = context.definitions.get(candidate.key, Definitions())
        matches = _matches(_named(query.text), definitions)
        return max(((value, f"its definition of `{name}`") for value, name in matches), default=(0.0, self.label))[1]


def _named(text: str) -> Mapping[str, float]:
    words = words_of(text)
    names = [
        one
        for one in words
        if "." in one or "_" in one.strip("_") or (one != one.lower() and one.lower() not in STOP_WORDS)
    ]
    if len(words) == 1:
        return {words[0].rpartition(".")[2]: 1.0 if names else _PLAIN}
    certainty = 1.0 if _DEFINED.search(text) else _IN_A_SENTENCE
    return dict.fromkeys([name.rpartition(".")[2] for name in names], certainty)


def _matches(named: Mapping[str, float], definitions: Definitions) -> Iterator[tuple[float, str]]:
    for level, names in zip(_LEVELS, definitions, strict=True):
        for name, certainty in named.items():
            if name in names and f" {name} " in f" {names} ":
                yield level * certainty, name


# Where few files were found, the usual file is not known well.
_USUAL_AT_MOST = 0.5


@dataclass(frozen=True, slots=True)
class DefinedNames:
    """How well the best name of a class or function in a file answers the query, above what is usual.

    Among the hundred names of a file, one is like the query by chance. So what is usual for the files that were found,
    their mean and a standard deviation, is subtracted: otherwise files would come before the cells of notebooks. A cell
    has no value, since it is so short that its words say as much. Nor has a file that is not in Python.
    """

    label: ClassVar[str] = "the best name that it defines"
    name: str = "defined_names"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        found: dict[int, float] = {}
        for key, one in zip(context.keys, context.memories, strict=True):
            if one.kind == "file" and (defined := context.definitions.get(key)) is not None:
                found[key], _ = context.name_words.best(_names(defined))
        if not found:
            return found
        values = list(found.values())
        usual = min(_USUAL_AT_MOST, float(np.mean(values) + np.std(values)))
        return {key: value - usual for key, value in found.items()}

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        definitions = context.definitions.get(candidate.key, Definitions())
        _, name = context.name_words.best(_names(definitions))
        return f"its definition of `{name}`" if name else self.label


def _names(definitions: Definitions) -> str:
    return f"{definitions.defined} {definitions.nested}"


_FOLDER = 0.5


@dataclass(frozen=True, slots=True)
class FileStem:
    """How well the name of a file answers the query, and half of how well that of its folder does; 1 at most.

    A cell has no value: its notebook has many others.
    """

    label: ClassVar[str] = "the name of its file"
    name: str = "file_stem"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        found, cover = {}, context.name_words.cover
        for key, one in zip(context.keys, context.memories, strict=True):
            if one.kind == "file":
                _, folder, stem = names_in(one.source)
                found[key] = min(1.0, cover(stem) + _FOLDER * cover(folder))
        return found


_ASIDE = re.compile(r"__init__|__main__|tests?|test_.*|.*_test|conftest|v\d+|deprecated|_?compat|legacy", re.IGNORECASE)


# Verbs of which one undoes the other; "the saved model" names a state. pandas writes `to_csv`.
_VERBS = (
    ("read(?:s|ing)?|load(?:s|ing)?|open(?:s|ing)?",
     "writ(?:es?|ing)|sav(?:es?|ing)|(?:export|dump)(?:s|ing)?|to(?= (?:csv|excel|hdf|html|json|parquet|pickle|sql))"),
    ("(?:add|insert|append)(?:s|ing)?|creat(?:es?|ing)", "remov(?:es?|ing)|delet(?:es?|ing)|drop(?:s|ping)?|del|pop"),
)  # fmt: skip
_BETWEEN = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")


@dataclass(frozen=True, slots=True)
class Aside:
    """-1 for a file whose name, or that of a folder, says that it is beside the point, unless the query has that name.

    Such names are ``__init__``, ``tests``, ``v1``, ``compat``, ``deprecated``. Where a file was found, its copies have
    -1 too, and so have the exports of a notebook. What was run has -1, since notes and files explain more, and -2 if it
    failed. So has a cell that only does the opposite of what is asked: it saves, and the query asks what loads.
    """

    label: ClassVar[str] = "what its path or its verbs say"
    name: str = "aside"

    def __call__(self, query: Query, context: SearchContext, /) -> Mapping[int, float]:
        copies, found = context.shared(_copies), dict(context.shared(_opposite))
        for key, one in zip(context.keys, context.memories, strict=True):
            if one.kind == "history" and not one.pinned:
                found[key] = -2.0 if one.error else -1.0
            elif one.kind == "file" or one.source in copies:
                is_beside = one.source in copies or _beside(one.source, context)
                found.setdefault(key, -1.0 if is_beside else 0.0)
        return found

    def reason(self, query: Query, context: SearchContext, candidate: Candidate, /) -> str:
        source = candidate.memory.source
        name = _beside(source, context)
        if candidate.memory.outcome:
            return "being a run that failed" if candidate.memory.error else "being a run"
        if candidate.key in context.shared(_opposite):
            return "doing the opposite of what is asked"
        if source in context.shared(_copies):
            return "being a copy or an export of a file that was found, too"
        return f"`{name}` in its path" if name else self.label


def _opposite(context: SearchContext) -> dict[int, float]:
    # A cell says that it does the opposite to what is asked about: `save_to_csv_files`, "adds a new column".
    asked = _BETWEEN.sub(" ", context.query.text).lower()
    for pair in _VERBS if context.asked and context.cells else ():
        said = [set(re.findall(rf"\b(?:{verbs})\b", asked)) for verbs in pair]
        about = [re.escape(word) for word in asked.split() if word not in STOP_WORDS | said[0] | said[1]]
        if about and any(said) and not all(said):
            wanted, other = pair if said[0] else pair[::-1]
            does = re.compile(rf"\b(?:{other}) (?:\w+ ){{0,2}}?(?:{'|'.join(about)})")
            # Code opens what it writes, too.
            cells = context.cells.items()
            texts = {key: source_of(one.text)[:LONGEST].replace("open(", "") for key, one in cells}
            words = {key: _BETWEEN.sub(" ", text).lower() for key, text in texts.items()}
            opposite = [key for key, text in words.items() if does.search(text)]
            return {key: -2.0 for key in opposite if not re.search(rf"\b(?:{wanted})\b", words[key])}
    return {}


def _copies(context: SearchContext) -> set[str]:
    sources = set(filter(None, map(attrgetter("source"), context.memories)))
    if len(sources) < 2:
        return set()
    copies = set(filter(is_copy, sources))
    stems = set(map(stem, sources - copies))
    return exports_in(sources - copies) | {one for one in copies if stem(one) in stems}


def _beside(source: str, context: SearchContext) -> str:
    names = (name for name in names_in(source) if _ASIDE.fullmatch(name))
    return next((name for name in names if not context.name_words.asks_for(name)), "")
