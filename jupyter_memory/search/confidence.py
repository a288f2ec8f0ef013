"""How sure it is that a hit answers the query: strength, verdict, coverage, calibration."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from math import exp, log, sqrt
from operator import mul
from random import Random
from typing import Literal
from unicodedata import category, name, normalize

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.embedders import base
from jupyter_memory.embedders.base import token_vectors, tokens, unknown
from jupyter_memory.search.context import SearchContext
from jupyter_memory.search.fusion import Ranked
from jupyter_memory.search.query.terms import FEW_CHUNKS, AskedWord, Row
from jupyter_memory.search.signals.semantic import MaxSim
from jupyter_memory.storage.base import Corpus, EmbeddedParts, Passage
from jupyter_memory.storage.databases import Storage
from jupyter_memory.storage.snapshot import Snapshot
from jupyter_memory.text.code import EVERYDAY, language
from jupyter_memory.text.identifiers import ident_column, runs
from jupyter_memory.text.markdown import heading_of, words_above
from jupyter_memory.text.unicode import storable
from jupyter_memory.types.protocols import Embedder

# An identifier of which a text holds all parts, but not in a row, and a word that may be a slip for one that it holds.
_IN_PARTS = _NEAR = 0.5
# Words are close together in this much of the text: so many words, and more of them for a long query.
_CLOSE, _FOR_EACH = 16, 3


def coverage_of(words: Sequence[AskedWord], corpus: Corpus, passage: Passage, lang: str) -> float:
    """Return the share of the query that a passage covers, 0 to 1.

    Half of it counts what the passage holds anywhere, the other half what it holds close together. The title and
    the context are close to everything, and so is the name of the language that it is written in.
    """
    whole = sum(word.weight for word in words)
    if not whole:
        return 0.0
    written = {language(lang, passage.text)} - EVERYDAY
    above = "\n".join((passage.title, passage.context, passage.tags))
    asked = {stem for word in words for row in (*word.rows, *word.near, word.parts) for stem in row}
    head, body = _positions(corpus.words(above), asked), _positions(corpus.words(passage.text), asked)
    held: set[str] | None = None
    anywhere, scattered = 0.0, []
    for word in words:
        if word.text.lower() in written or _places(word.rows, head):
            anywhere += word.weight
        elif places := _places(word.rows, body):
            scattered.append((word.weight, places))
        elif _places(word.near, head) or _places(word.near, body):
            anywhere += word.weight * _NEAR
        else:
            if held is None:
                names = ident_column(f"{passage.context}\n{passage.tags}")
                held = {*head, *body, *corpus.words(f"{passage.ident} {names}")}
            if any(len(row) == 1 and row[0] in held for row in word.rows):
                anywhere += word.weight
            elif word.parts:
                anywhere += word.weight * (_IN_PARTS * sum(map(held.__contains__, word.parts)) / len(word.parts))
    total, closest = anywhere + sum(weight for weight, _ in scattered), 0.0
    for start in set().union(*(places for _, places in scattered)):
        stop = start + max(_CLOSE, _FOR_EACH * len(words))
        held_close = (weight for weight, places in scattered if bisect_left(places, start) < bisect_left(places, stop))
        closest = max(closest, sum(held_close))
    return (total + anywhere + closest) / (2 * whole)


def _positions(row: Sequence[str], asked: Collection[str]) -> dict[str, list[int]]:
    positions: dict[str, list[int]] = {}
    for place, stem in enumerate(row):
        if stem in asked:
            positions.setdefault(stem, []).append(place)
    return positions


def _places(rows: Sequence[Row], positions: Mapping[str, Sequence[int]]) -> list[int]:
    found = set()
    for first, *rest in rows:
        places = set(positions.get(first, ()))
        for distance, stem in enumerate(rest, start=1):
            places &= {place - distance for place in positions.get(stem, ())}
        found |= places
    return sorted(found)


# A logistic regression on what a hit holds of the query, how far it stands out, and how much is asked. Learnt on half
# of the questions about notebooks in `benchmarks/verdicts`, and on the judged sets against questions asked of memories
# that cannot answer them (docs/quality.md).

Verdict = Literal["strong", "weak", "none"]

# Those of `Confidence.parts`, in their order; `benchmarks/strength.py` fits them anew.
CONSTANTS = (-8.26, 1.44, 4.22, 0.11, -4.72, 2.2, 0.57, 1.49)

# What a memory does not cover: each halving of it adds the same, down to about a thirtieth.
_UNCOVERED = 0.03
# A cosine that lies further from the usual tells no more: in a store of alike memories, that is far.
_LOWEST_MARGIN, _HIGHEST_MARGIN = -2.0, 4.0
# The more words a memory covers, the less likely by chance; a longer question tells no more.
_MOST_WORDS, _USUAL_WORDS = 12, 5
# A hit stands out from the candidate at this place: others that answer as well may come before it.
_PLACE = 5
# What `defines` gives to a method whose definition is asked for, and how sure it is then that it answers.
_ASKED_FOR, _DEFINED = 0.6, 0.95
# The tokens of a chunk that is neither short nor long.
_USUAL_LENGTH = 40.0
# Where a word that carries this share of the query is missing, the answer is as likely wrong as right.
_MUCH = 0.2
_BOUND = 0.5
# Of the questions that it was learnt on, 1 of 100 that are answered lie below the first, and 2 of 100 that nothing
# answers reach the second.
NONE_BELOW = 0.05
STRONG_FROM = 0.75


@dataclass(frozen=True, slots=True)
class Confidence:
    """What a strength is computed from.

    ``coverage``: the share of the query that one memory covers, 0 to 1. ``max_sim``: the value of the signal, about 0
    to 1; None where the bundled model knows nothing of the query. ``margin``: how many standard deviations its cosine
    lies above that of two random chunks of the store; None where no model took part, or the store is small.
    ``missing``: the share of the query that are names which nothing in the store holds. With ``bounded`` a telling word
    is missing from the whole store, so that it cannot be strong. ``words``: how many the query has. The leads are how
    far ``max_sim`` and ``margin`` exceed the fifth highest of all candidates.
    """

    coverage: float
    max_sim: float | None
    margin: float | None = None
    missing: float = 0.0
    bounded: bool = False
    words: int = _USUAL_WORDS
    max_sim_lead: float = 0.0
    margin_lead: float = 0.0

    @property
    def parts(self) -> tuple[float, ...]:
        """Return what ``CONSTANTS`` multiply: 1, coverage, MaxSim, margin, what is missing, both leads, and words."""
        max_sim = 0.3 + 0.62 * self.coverage if self.max_sim is None else self.max_sim
        margin = (-0.2 + 1.92 * self.coverage + 0.48 * max_sim) if self.margin is None else self.margin
        coverage, words = -log(1 + _UNCOVERED - self.coverage), sqrt(min(_MOST_WORDS, self.words))
        return (1.0, coverage, max_sim, _bounded(margin), self.missing, self.max_sim_lead, self.margin_lead, words)

    @property
    def strength(self) -> float:
        """Return the probability that this answers, 0 to 1.

        >>> [round(Confidence(*values).strength, 2) for values in ((0.9, 0.8, 2.0), (0.1, 0.4, 0.5))]
        [0.83, 0.04]
        """
        logit = sum(map(mul, CONSTANTS, self.parts))
        likely = 1 / (1 + exp(-max(-30.0, min(30.0, logit))))
        return min(likely, _BOUND) if self.bounded else likely


def verdict(strength: float) -> Verdict:
    """Return what a strength means in a word, which agrees with the whole per cent that is shown.

    >>> verdict(0.95), verdict(0.748), verdict(0.3), verdict(0.02)
    ('strong', 'strong', 'weak', 'none')
    """
    shown = round(strength, 2)
    if shown < NONE_BELOW:
        return "none"
    return "strong" if shown >= STRONG_FROM else "weak"


def strengths(context: SearchContext, ranked: Sequence[Ranked]) -> list[float]:
    """Return the strength of each of these candidates, 0 to 1; their evidence must have the signal ``max_sim``."""
    query, words = context.query, context.asked_words
    # A model gives punctuation a vector as well, but nobody asked for anything; a picture says something.
    says = any(one.isalnum() or not (one.isascii() or category(one)[0] in "PZ") for one in query.text)
    if query.text and not (says or query.terms.words or query.terms.phrases or query.terms.ident):
        return [0.0] * len(ranked)
    if not ranked:
        return []
    letters = list(filter(str.isalnum, normalize("NFC", query.text)))
    # Nearly any text has one Latin letter somewhere; a sign such as 税 is a word.
    most = _BOUND if len(letters) == 1 and name(letters[0], "").startswith("LATIN") else 1.0
    passages = context.passages(one.candidate for one in ranked)
    whole = sum(word.weight for word in words)
    bounded = any(missed(words))
    if is_slip := bool(words) and all(word.near and not word.count for word in words):
        # Neither tokens nor a vector tell what was meant: the words that are near do.
        bounded, words = True, tuple([replace(word, rows=word.near) for word in words])
    missing = sum(word.weight for word in words if word.missing and word.is_name) / whole if whole else 0.0
    # A script without spaces has pairs of characters for words, and the bundled model learnt nothing of it.
    spaceless = bool(runs(query.text))
    count = _USUAL_WORDS if spaceless else len(words)
    max_sims, usual_max_sim, usual_margin = dict[int, float](), 0.0, 0.0
    if context.tokens_tell and not is_slip:
        values = ranked[0].table.rankings["max_sim"].scores
        max_sims = {key: values.get(key, 0.0) for key in context.keys}
    elif 0 < context.sample.chunks < FEW_CHUNKS and not spaceless and not is_slip:
        # Which tokens are rare is not known yet, so those of the words that tell something count alike.
        ids = tokens([storable(" ".join(word.text for word in words))]).ids
        asked = np.array(sorted(set(ids.tolist())), ids.dtype)
        asked, texts = asked[asked != unknown()], [context.tokens[chunk].different for chunk in context.chunks]
        alike, usual_length = np.ones(asked.size, np.float32), max(_USUAL_LENGTH, context.sample.typical_length)
        matches = MaxSim.matches(asked, alike, texts, token_vectors(), usual_length)
        max_sims = dict(zip(context.keys, matches.tolist(), strict=True)) if asked.size else {}
    if max_sims:
        usual_max_sim = nlargest(_PLACE, max_sims.values())[-1]
    cosines = context.cosines[~np.isnan(context.cosines)].tolist()
    pairs = context.sample.pairs if context.sample.chunks >= FEW_CHUNKS and not is_slip else None
    if pairs is not None and cosines:
        usual_margin = _bounded(pairs.margin(nlargest(_PLACE, cosines)[-1]))
    signal = ranked[0].table.rankings.get("defines")
    defines = {} if signal is None else signal.scores
    found = []
    for one in ranked:
        max_sim, cosine = max_sims.get(one.candidate.key), one.candidate.cosine
        margin = None if pairs is None or cosine is None else _bounded(pairs.margin(cosine))
        known = Confidence(
            coverage=coverage_of(words, context.corpus, passages[one.candidate.chunk], one.candidate.memory.lang),
            max_sim=max_sim,
            margin=margin,
            missing=missing,
            bounded=bounded,
            words=count,
            # Where one is missing, nothing speaks for or against.
            max_sim_lead=0.0 if max_sim is None else max_sim - usual_max_sim,
            margin_lead=0.0 if margin is None else margin - usual_margin,
        )
        # A definition that is asked for, and held, is the answer, whatever else the question says.
        defined = _DEFINED if defines.get(one.candidate.key, 0.0) >= _ASKED_FOR else 0.0
        found.append(min(max(known.strength, defined), most))
    return found


def _bounded(margin: float) -> float:
    return max(_LOWEST_MARGIN, min(_HIGHEST_MARGIN, margin))


def missed(words: Sequence[AskedWord]) -> Iterator[AskedWord]:
    """Yield the words that carry much of a query and that nothing in the store holds."""
    whole = sum(word.weight for word in words)
    for word in words:
        if word.missing and word.weight >= _MUCH * whole:
            yield word


# Calibration: how far meaning can be trusted in one store with one model, measured without judgements.
#
# Passages are divided into pseudo-queries and their answers. The retriever that finds more of the answers, among those
# of other passages, can be trusted more here. Measured once for a store and a model, and again when the store has
# doubled. A passage is divided in the first of these ways that it has words for: the first line of a docstring and its
# code, a heading or title and its text, the end of the Markdown above a cell and the cell, a telling sentence and those
# around it. Names of functions and comments in code agree less with judged questions (docs/quality.md).

# Passages that are divided, and below how many the result is too much of an accident.
PASSAGES = 150
ENOUGH = 30

# The failures of the retrievers are compared with this added to both, so that a handful of accidents decides nothing.
_SLACK = 0.05
_POWER = 2.0
_LEAST, _MOST = 0.3, 4.0

# Passages that are looked at for each that can be divided.
_SPARE = 4
_SEED = 20_260_302

_DOCSTRING = re.compile(r'"""(.+?)"""|\'\'\'(.+?)\'\'\'', re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\n+")
_FEWEST_WORDS = 3
_LONGEST_QUESTION = 200
# A longer sentence is not more telling.
_TELLING_WORDS = 12


def calibrate(storage: Storage, embedder: Embedder) -> float | None:
    """Measure how far an embedder can be trusted in a store, and keep that; None where it is not due or possible."""
    with storage.snapshot() as snapshot:
        model, size = snapshot.model(embedder.fingerprint), snapshot.newest_chunk()
        before = None if model is None else snapshot.calibration(model)
        if model is None or size < 2 * ENOUGH or (before is not None and size < 2 * before.chunks):
            return None
        chunks = snapshot.sample(_SPARE * PASSAGES)
        Random(_SEED).shuffle(chunks)  # noqa: S311 - which passages are asked about is no secret
        asked = _pseudo_queries(snapshot, chunks)
        if len(asked) < ENOUGH:
            return None
        questions, answers = zip(*asked, strict=True)
        words = _words_in_common(*(list(map(snapshot.corpus.words, some)) for some in (questions, answers)))
    # Outside the snapshot: a model of many layers takes its time.
    documents = base.documents(embedder, answers)
    cosines = np.stack([base.question(embedder, one) for one in questions]) @ documents.T
    ratio = (1 - mean_reciprocal_rank(words) + _SLACK) / (1 - mean_reciprocal_rank(cosines) + _SLACK)
    # 1 where meaning fails about as often as words do.
    value = float(min(_MOST, max(_LEAST, ratio**_POWER)))
    storage.writer.keep_calibration(model, size, value)
    return value


def mean_reciprocal_rank(scores: NDArray[np.floating]) -> float:
    """Return the mean of 1 / rank of the diagonal in its row; equal scores share the middle of their places."""
    right = np.diag(scores)[:, None]
    ranks = 1 + (scores > right).sum(axis=1) + ((scores == right).sum(axis=1) - 1) / 2
    return float((1 / ranks).mean())


def _words_in_common(questions: Sequence[Sequence[str]], answers: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    # BM25 (k1 = 1.2, b = 0.75, as FTS5) of each question, a row, with each answer; the right ones are the diagonal.
    lengths = np.array([len(answer) for answer in answers], dtype=np.float64)
    norms = 1.2 * (0.25 + 0.75 * lengths / max(lengths.mean(), 1.0)) if lengths.size else lengths
    postings: dict[str, dict[int, int]] = {}
    for row, answer in enumerate(answers):
        for word in answer:
            held = postings.setdefault(word, {})
            held[row] = held.get(row, 0) + 1
    scores = np.zeros((len(questions), len(answers)))
    for row, question in enumerate(questions):
        for word in set(question) & postings.keys():
            rows = np.fromiter(postings[word], np.int64)
            counts = np.fromiter(postings[word].values(), np.float64)
            idf = max(1e-6, float(np.log((len(answers) - rows.size + 0.5) / (rows.size + 0.5))))
            scores[row, rows] += idf * counts * 2.2 / (counts + norms[rows])
    return scores


def _pseudo_queries(snapshot: Snapshot, chunks: Sequence[int]) -> list[tuple[str, str]]:
    # Each a question and what is left of its passage without it. A heading is asked at most once: any passage under it
    # would be as good an answer as the one that counts as right.
    found: list[tuple[str, str]] = []
    headings: set[str] = set()
    for start in range(0, len(chunks), PASSAGES):
        some = chunks[start : start + PASSAGES]
        parts = snapshot.embedded_parts(some)
        for passage in (parts[chunk] for chunk in some if chunk in parts):
            heading = heading_of(passage.context, passage.title, passage.kind)
            one = _pseudo_query(passage, "" if heading in headings else heading)
            headings.add(heading)
            if one:
                found.append(one)
            if len(found) == PASSAGES:
                return found
    return found


def _pseudo_query(passage: EmbeddedParts, heading: str) -> tuple[str, str] | None:
    text, one = passage.text.strip(), None
    if found := _DOCSTRING.search(text):
        lines = (found[1] or found[2]).strip().splitlines() or [""]
        one = _fair(lines[0].strip(), text[: found.start()] + text[found.end() :])
    above = words_above(passage.context, passage.title, passage.kind)
    one = one or _fair(heading, text.lstrip("# ").removeprefix(heading))
    one = one or _fair(_SENTENCE_END.split(above)[-1], text)
    sentences = [sentence for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    if one or len(sentences) < 2:
        return one
    words = [min(len(sentence.split()), _TELLING_WORDS) for sentence in sentences]
    place = words.index(max(words))
    return _fair(sentences[place], " ".join(sentences[:place] + sentences[place + 1 :]))


def _fair(question: str, answer: str) -> tuple[str, str] | None:
    if min(len(question.split()), len(answer.split())) < _FEWEST_WORDS:
        return None
    return question[:_LONGEST_QUESTION], answer
