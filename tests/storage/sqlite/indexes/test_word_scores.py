"""Scores of words that are kept between searches, or asked of one memory: those that a search gives without."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from words_asked import ANY, corpus

from jupyter_memory import MemoryStore
from jupyter_memory.search.profiles import auto, covalence
from jupyter_memory.search.query.parser import terms
from jupyter_memory.storage.sqlite.indexes import keyword, word_scores


def test_kept_scores_change_nothing(database, remember):
    """With the scores of single words kept, searches give what they give without, to the last digit."""
    opened, kept = database(), word_scores.WordScoreCache()
    remember(opened, *corpus(4), "東京の売上 FileSyncService")
    for query in ("price rare1 rare2", '"price model" rare5', "own7", "東京 rare1", "sync service", "nothing here"):
        for count in (1, 10, 1000):
            for weights in (auto.columns, covalence.columns):
                with opened.read() as connection:
                    plain = keyword.search(connection, terms(query), weights, ANY, count)
                    for _ in range(2):
                        assert keyword.search(connection, terms(query), weights, ANY, count, kept) == plain


WORDS = ("alpha", "beta", "gamma", "delta")


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["add", "forget", "update", "tag", "rebuild"]), st.data()), max_size=8))
def test_kept_scores_are_never_stale(tmp_path_factory, steps):
    """Whatever is added, changed, forgotten or built anew between searches, each finds what is there."""
    with MemoryStore(tmp_path_factory.mktemp("kept") / "memory.sqlite", embedder=None) as store:
        held = {}
        for step, data in [("add", None), *steps]:
            draw = (lambda: "alpha beta") if data is None else (lambda: " ".join(data.draw(two_words)))  # noqa: B023
            if step == "add":
                memory = store.add(draw(), title=f"T{len(held)}")
                held[memory.id] = memory.text
            elif step == "rebuild":
                store.rebuild()
            elif held:
                chosen = data.draw(st.sampled_from(sorted(held)))
                if step == "forget":
                    store.forget(chosen)
                    del held[chosen]
                elif step == "update":
                    held[chosen] = store.update(chosen, text=draw()).text
                else:
                    store.update(chosen, tags=[data.draw(st.sampled_from("xyz"))])
            for word in WORDS * 2:
                expected = {memory for memory, text in held.items() if word in text.split()}
                assert {hit.memory.id for hit in store.hits(word, limit=100).hits} == expected


two_words = st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS))


@pytest.mark.parametrize(
    "query", ["prices λ", '"left join" prices', "pirces of Zürich", "the", "東京 prices", "FileSyncService"]
)
@pytest.mark.parametrize("searched", [0, 1, 2])
def test_any_memory_is_scores_its_score(database, remember, query, searched):
    """A memory has the same score alone as in a search for all matches, whatever is cached."""
    week = ["prices of Zürich", "the left join of the prices, λ", "東京 prices prices", "FileSyncService λ", "weather"]
    opened = database()
    remember(opened, *week)
    kept = word_scores.WordScoreCache()
    with opened.read() as connection:
        asked = terms(query)
        for _ in range(searched):
            keyword.search(connection, asked, auto.columns, ANY, 1, kept)
        keys = [key for (key,) in connection.execute("select key from memories")]
        scores = keyword.scores_of(connection, asked, auto.columns, keys, kept)
        found = keyword.search(connection, asked, auto.columns, ANY, 100)

    assert scores == pytest.approx({one.memory: one.score for one in found})
    assert set(scores) < set(keys)
