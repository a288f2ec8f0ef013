"""What every storage must answer about the words of one state of the store."""

from __future__ import annotations

import pytest
from contract import DRAFTS, EVERYTHING, PRICES, RATE, WEIGHTS, keys_of

from jupyter_memory.types import Filters, Terms, WordForms


def test_keyword_matches(filled):
    """Memories that hold any term come best first, within the filters, and no more than asked for."""
    with filled.snapshot() as snapshot:
        rate, prices, cell = keys_of(snapshot, *DRAFTS)
        found = snapshot.keyword_matches(Terms(words=("rate", "zürich", "prices")), WEIGHTS, EVERYTHING, 9)
        assert [one.memory for one in found] == [rate, prices]
        assert found[0].score > found[1].score > 0 and [found[0].chunk] == snapshot.chunks_of([rate])
        assert [
            one.memory
            for one in snapshot.keyword_matches(Terms(words=("orders",)), WEIGHTS, Filters(kind=("cell",)), 9)
        ] == [cell]
        assert len(snapshot.keyword_matches(Terms(words=("queue",)), WEIGHTS, EVERYTHING, 1)) == 1
        assert snapshot.keyword_matches(Terms(words=("queue",)), {"text": 1.0}, EVERYTHING, 9) == []
        assert snapshot.keyword_matches(Terms(words=("nowhere",)), WEIGHTS, EVERYTHING, 9) == []


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        (Terms(phrases=("arrival rate",)), True),
        (Terms(phrases=("rate arrival",)), False),
        (Terms(prefix="arriv"), True),
        (Terms(words=("ZURICH",)), True),  # neither case nor accents count
        (Terms(words=("hours",)), True),  # nor endings
        (Terms(respelled=("zurich",)), True),
    ],
)
def test_kinds_of_terms(filled, terms, expected):
    """Phrases need their order; words match by stem; a prefix and another spelling match too."""
    with filled.snapshot() as snapshot:
        found = snapshot.keyword_matches(terms, WEIGHTS, EVERYTHING, 9)
        assert [one.memory for one in found] == (keys_of(snapshot, RATE) if expected else [])


def test_keyword_scores(filled):
    """Scores of given memories are those of a search; a memory without any term has none."""
    terms = Terms(words=("rate", "orders"))
    with filled.snapshot() as snapshot:
        keys = keys_of(snapshot, *DRAFTS)
        found = snapshot.keyword_matches(terms, WEIGHTS, EVERYTHING, 9)
        assert snapshot.keyword_scores(terms, WEIGHTS, keys) == pytest.approx({one.memory: one.score for one in found})
        assert snapshot.keyword_scores(terms, WEIGHTS, keys[1:2]) == {}


def test_a_better_spelling_counts_more(filled):
    """What matches another spelling has half the score of what matches the word."""
    with filled.snapshot() as snapshot:
        keys = keys_of(snapshot, RATE)
        [written] = snapshot.keyword_scores(Terms(words=("zurich",)), WEIGHTS, keys).values()
        [respelled] = snapshot.keyword_scores(Terms(respelled=("zurich",)), WEIGHTS, keys).values()
        assert respelled == pytest.approx(written / 2)


def test_forms_count_as_the_word(filled):
    """A word in another form scores as the word does; compounds and parts count less; all are marked."""
    with filled.snapshot() as snapshot:
        keys = keys_of(snapshot, RATE)
        [chunk] = snapshot.chunks_of(keys)

        def score(forms):
            terms = Terms(words=("stadt",), forms=(forms,))
            [found] = snapshot.keyword_scores(terms, WEIGHTS, keys).values()
            marked = snapshot.highlights(terms, WEIGHTS, {chunk: RATE.text})[chunk]
            assert [RATE.text[start:end] for start, end in marked] == ["Zürich"]
            return found

        [written] = snapshot.keyword_scores(Terms(words=("zürich",)), WEIGHTS, keys).values()
        assert score(WordForms("stadt", inflected=("zürich",))) == pytest.approx(written)
        compound, part = WordForms("stadt", compounds=("zurich",)), WordForms("stadt", parts=("zurich",))
        assert score(compound) == score(part) == pytest.approx(0.8 * written)


def test_forms_within_filters(filled):
    """Filters hold for other forms as well."""
    terms = Terms(words=("stadt",), forms=(WordForms("stadt", inflected=("zürich",)),))
    with filled.snapshot() as snapshot:
        assert [one.memory for one in snapshot.keyword_matches(terms, WEIGHTS, Filters(tag=("queue",)), 9)] == keys_of(
            snapshot, RATE
        )
        assert snapshot.keyword_matches(terms, WEIGHTS, Filters(kind=("cell",)), 9) == []


def test_the_forms_of_a_word_share_their_rarity(filled):
    """A word in two forms, each in another memory, tells as little as one that both hold."""
    both = Terms(words=("orders",), forms=(WordForms("orders", inflected=("prices",)),))
    with filled.snapshot() as snapshot:
        keys = keys_of(snapshot, PRICES)
        [alone] = snapshot.keyword_scores(Terms(words=("prices",)), WEIGHTS, keys).values()
        [shared] = snapshot.keyword_scores(both, WEIGHTS, keys).values()
        assert 0 < shared < alone


def test_highlights(filled):
    """Matches are marked in code points, by chunk."""
    with filled.snapshot() as snapshot:
        [chunk] = snapshot.chunks_of(keys_of(snapshot, RATE))
        marked = snapshot.highlights(Terms(words=("zürich",), phrases=("orders an",)), WEIGHTS, {chunk: RATE.text})
        assert [RATE.text[start:end] for start, end in marked[chunk]] == ["Zürich", "orders an"]


def test_words_of_the_index(filled):
    """Phrases and words are found by their stems, in the columns asked for, and counted by chunk."""
    with filled.snapshot() as snapshot:
        assert snapshot.holds_phrase("arrival rate", WEIGHTS) and not snapshot.holds_phrase("rate arrival", WEIGHTS)
        assert snapshot.holds_word("orders", ["text"]) and not snapshot.holds_word("orders", ["title", "tags"])
        assert "zurich" in snapshot.words_beginning("zur") and list(snapshot.words_beginning("zzz")) == []
        assert list(snapshot.corpus.beginning("zur")) == ["zurich"] and list(snapshot.corpus.ending(("zurich",))) == []
        assert snapshot.chunk_count_of("queue", ["tags", "text"]) == 2
        assert snapshot.chunk_count_of("queue", ["text"]) == snapshot.chunk_count_of("nowhere", ["text"]) == 0


def test_the_corpus(filled):
    """The corpus counts chunks and the chunks that hold each word."""
    with filled.snapshot() as snapshot:
        corpus = snapshot.corpus
        words = corpus.words("Queues in Zürich")
        assert corpus.chunks == 3 and len(words) == 3
        assert corpus.frequencies([*words, "nowhere"]) == dict(zip((*words, "nowhere"), (2, 2, 1, 0), strict=True))
