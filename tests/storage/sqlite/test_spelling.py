"""The nearest spellings of words that a store does not hold."""

from __future__ import annotations

import random
import re

import pytest

from jupyter_memory.search import profile_named
from jupyter_memory.types import Filters, Terms

ANY = Filters()
AUTO = profile_named("auto").columns
WEEK = [
    *({"text": f"prices of day {day}"} for day in range(5)),
    {"text": "normalise the prices in Zürich"},
    {"text": "the prizes, λ"},
    {"text": "forecast of the electricity"},
    {"text": "ü", "tags": ["regression"]},
]


def tried(store, query, **options):
    """Return the stems that a search tried in place of words that the store does not hold."""
    notices = store.hits(query, **options).notices
    return [stem for one in notices for stem in re.findall(r"(\w+)…", one.partition("also tried")[2])]


@pytest.fixture
def holding(store):
    """Open a store that holds these texts."""

    def make(*texts):
        opened = store(embedder=None)
        opened.add_many([{"text": text} if isinstance(text, str) else text for text in texts], progress=False)
        return opened

    return make


@pytest.fixture
def held(holding):
    """A store with the words of a week: prices often, normalise once, and one only in a tag."""
    return holding(*WEEK)


@pytest.mark.parametrize(
    ("word", "best"),
    [
        ("prces", "price"),
        ("pricse", "price"),
        ("rpices", "price"),
        ("pirces", "price"),
        ("nromalise", "normalis"),
        ("normalsie", "normalis"),
        ("elektricity", "electr"),
        ("forcast", "forecast"),
    ],
)
def test_a_slip_is_found(held, word, best):
    """A letter too many, too few, another or two changed places lead to the word that the store holds."""
    assert tried(held, word)[0] == best


def test_of_equally_near_words_the_frequent_one_is_first(held):
    """Prices and prizes are one slip from "prise": the one that more chunks hold is tried first."""
    assert tried(held, "prise") == ["price", "prize"]


@pytest.mark.parametrize(
    "query",
    [
        # Words that are held, short words, names, numbers, words near to none, shorter by two letters, and as quoted.
        *("prices", "pricing", "the", "prc", "prcs", "price2", "price_list", "λαμβδα", "zzzzzzzz", "pricesService"),
        *("prces.groupby", '"prces"', "prces_total"),
    ],
)
def test_what_has_no_other_spelling(held, query):
    """What is held, short, a name, a number, near to none or quoted is looked for as it is."""
    assert tried(held, query) == []


@pytest.mark.parametrize(
    ("texts", "word", "expected"),
    [
        # A word of everyday language that the store lacks is no slip of one that looks like it.
        *((("the same sake to save, came, cap, rating, raking, stores, promise",), word, [])
          for word in ("sales", "camped", "racing", "stories", "provides")),
        # But for the one on the other side of the Atlantic.
        *(((f"the {other} of λ", "cooler, greedy, graph, catalysis, cents"), word, [stem])
          for word, other, stem in [
              ("colour", "color", "color"), ("color", "colour", "colour"), ("centre", "center", "center"),
              ("grey", "gray", "grai"), ("catalogue", "catalog", "catalog"),
          ]),
        # What is one slip away leaves out what is two slips away.
        (("the argument", "an agreement"), "arguemennts", ["argument"]),
        (("the argument", "an agreement"), "arguements", ["argument"]),
        # Two slips count only in a long stem, whatever the length of the word with its ending.
        (("the classification", "polar"), "clasifcation", ["classif"]),
        (("the classification", "polar"), "poaalsing", []),
    ],
)  # fmt: skip
def test_only_what_was_meant(holding, texts, word, expected):
    """Only the nearest words are tried, and for a word of everyday language only its other spelling."""
    assert tried(holding(*texts), word) == expected


def test_only_columns_that_are_searched(held):
    """A word that no column of the profile holds is not suggested."""
    assert tried(held, "regresion", profile="covalence") == []
    assert tried(held, "regresion") == ["regress"]


def test_the_index_of_many_segments(store):
    """Words are found in every part of the index, and one that is forgotten is not offered."""
    opened = store(embedder=None)
    for number in range(40):
        words = (f"pr{chr(97 + number % 26)}x{chr(97 + k % 26)}{chr(97 + k // 26)}" for k in range(60))
        opened.add(" ".join(words))
    memory = opened.add("prices in Zürich")
    assert tried(opened, "prces") == ["price"]
    opened.forget(memory.id)
    assert tried(opened, "prces") == []


def test_every_stem_leads_to_its_words(sqlite, remember):
    """FTS5 is asked for words, so each stem is turned back into one, also where the stemmer would shorten it again."""
    opened, rng = sqlite(), random.Random(1)
    made = {"".join(rng.choices("aeinsty", k=rng.randint(1, 9))) for _ in range(1_500)}
    words = sorted(made | {"expense", "expenses", "agreed", "databases", "λ"})
    remember(opened, *words)
    with opened.snapshot() as snapshot:
        texts = {key: memory.text for key, memory in snapshot.memories(snapshot.keys(Filters())).items()}
        with_stem = {}
        for word in words:
            [stem] = snapshot.corpus.words(word)
            with_stem.setdefault(stem, set()).add(word)
        assert with_stem["expens"] == {"expense", "expenses"}
        for stem, expected in with_stem.items():
            found = snapshot.keyword_matches(Terms(respelled=(stem,)), AUTO, Filters(), 100)
            assert {texts[one.memory] for one in found} == expected
