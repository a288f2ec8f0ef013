"""Postings beside FTS5: its BM25 to 1e-12 whatever was added, changed and forgotten, and pages that are damaged."""

import random
from contextlib import closing

import numpy as np
import pytest

from jupyter_memory import StoreDamaged
from jupyter_memory.storage import open_storage
from jupyter_memory.types import Chunk, Draft, Filters, Terms

COLUMNS = ("title", "context", "text", "tags", "ident")
RNG = random.Random(7)
WORDS = [f"w{int(RNG.expovariate(1 / 60))}" for _ in range(20_000)]


def draft(number):
    """Return a text of words as people use them: some in most texts, many in one; now and then one far too often."""
    if number % 97 == 0:
        return Draft(text=f"— {'!' * number} —")  # without any word
    often = ["often"] * (300, 3_000, 40_000)[number // 101 % 3] if number % 101 == 0 else []
    text = " ".join([f"own{number}", *RNG.choices(WORDS, k=RNG.randint(1, 40)), *often])
    return Draft(
        text=text, title=RNG.choice(WORDS), context=RNG.choice(("", "of w1 w2")),
        tags=tuple(RNG.choices(WORDS, k=number % 3)), chunks=(Chunk(0, len(text)),),
    )  # fmt: skip


def worst(storage, questions=170):
    """Return by how much the scores of random questions, in random columns, differ from those of FTS5's bm25()."""
    difference = 0.0
    for _ in range(questions):
        words = tuple(dict.fromkeys([*RNG.choices(WORDS, k=RNG.randint(1, 5)), RNG.choice(("often", "own7", "none"))]))
        searched = RNG.sample(COLUMNS, RNG.randint(1, 5))
        weights = {column: RNG.choice((0.5, 1.0, 2.0, 5.0, RNG.random())) for column in searched}
        with storage.snapshot() as snapshot:
            found = snapshot.keyword_scores(Terms(words=words), weights, snapshot.keys(Filters()))
        either = " OR ".join(f'"{word}"' for word in words)
        listed = ", ".join(str(weights.get(column, 0.0)) for column in COLUMNS)
        expected = dict(
            storage.database.connection.execute(
                f"""
                with found as materialized (
                    select rowid as chunk, -bm25(keyword, {listed}) as score from keyword where keyword match ?
                )
                select memory, max(score) from found join chunks on chunks.id = chunk group by 1
                """,
                (f"{{{' '.join(searched)}}} : ({either})",),
            )
        )
        assert found.keys() == expected.keys()
        difference = max([difference, *(abs(found[key] / score - 1) for key, score in expected.items())])
    return difference


def test_bm25_of_1000_questions(sqlite, remember):
    """Whatever is added, one by one and many at once, changed and forgotten, in several blocks of ids."""
    storage, number = sqlite(), 0
    held = {}
    for count in (1, 1, 3, 200, 400, 600, 700):
        for memory in remember(storage, *(draft(number + place) for place in range(count))):
            held[memory.id] = memory
        number += count
    assert worst(storage) < 1e-12

    # Ids of chunks are never used twice: the next ones are of other blocks.
    for last, counts in ((32_760, (1, 1, 1, 1, 1, 700, *[60] * 20)), (200_000, (5, 70))):
        with storage.database.write() as session:
            session.execute("update sqlite_sequence set seq = ? where name = 'chunks'", (last,))
        for count in counts:
            for memory in remember(storage, *(draft(number + place) for place in range(count))):
                held[memory.id] = memory
            number += count
        assert worst(storage) < 1e-12

    for id_ in RNG.sample(sorted(held), 30):
        storage.writer.update(id_, {}, tags=RNG.choices(WORDS, k=2))
    for id_ in RNG.sample(sorted(held), 15):
        storage.writer.forget([id_])
        del held[id_]
    assert worst(storage) < 1e-12

    storage.writer.forget(RNG.sample(sorted(held), 1_000))
    assert worst(storage) < 1e-12
    assert list(storage.problems()) == []
    storage.writer.rebuild()
    assert worst(storage) < 1e-12
    assert list(storage.problems()) == []


def test_a_mistake_is_no_damage(sqlite, remember, monkeypatch):
    """An error of the check itself does not tell a person that the store is damaged."""
    storage = sqlite()
    remember(storage, "prices of λ")
    monkeypatch.setattr(np, "bincount", None)
    with pytest.raises(TypeError):
        list(storage.problems())


@pytest.mark.parametrize(
    "damage",
    [
        "delete from word_pages where id = 1", "update word_pages set bounds = zeroblob(length(bounds)) where id = 1",
        "update word_pages set body = zeroblob(3) where id = 1", "update word_pages set kinds = x'00' where id = 1",
        "update word_pages set kinds = zeroblob(10) where id = 1", "update word_pages set bounds = x'00' where id = 1",
        "update word_pages set bounds = cast(x'0100' || substr(bounds, 3) as blob) where id = 1",
        "update word_pages set terms = x'0aff0a' where id = 1", "update word_pages set first = 'aaa' where id = 1",
        "update word_segments set lengths = x'000000'", "update word_segments set chunks = zeroblob(length(chunks))",
        "delete from word_segments", "update word_segments set memories = zeroblob(length(memories))",
        "update word_segments set memories = x''", "update word_segments set lengths = cast(x'01000000' as blob)",
        "update word_segments set block = 1000000000",
        "insert into word_segments (block, chunks, lengths, memories) "
        "select block, chunks, lengths, memories from word_segments",
    ],
)  # fmt: skip
def test_damage_is_found_and_repaired(path, remember, damage):
    """A search answers or names the damage, `doctor` says how to repair the index, and that repairs it."""
    with closing(open_storage(path)) as storage:
        remember(storage, *(f"prices of λ, text {i} with {'ridge ' * (i % 3)}" for i in range(9)))
        with storage.database.write() as session:
            session.execute(damage)
    with closing(open_storage(path)) as storage:
        try:
            with storage.snapshot() as snapshot:
                snapshot.keyword_matches(Terms(words=("prices", "ridge")), {"text": 1.0}, Filters(), 20)
        except StoreDamaged:
            pass
        [problem] = storage.problems()
        assert "The keyword index does not match the memories. Repair it with store.rebuild()." in problem
        storage.writer.rebuild()
        assert list(storage.problems()) == []
        assert worst(storage, 5) < 1e-12
