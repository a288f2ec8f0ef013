"""How well a name answers a query, whatever form its words have."""

from __future__ import annotations

import pytest

from jupyter_memory.search.query.name_words import NameWords, names_in

STEMS = {"routing": "rout", "routes": "rout", "handling": "handl", "sessions": "session", "parsing": "pars"}


class Stems:
    """A corpus in which words are cut as the keyword index cuts them."""

    def words(self, text, /):
        return [STEMS.get(text, text)]


def words(text):
    return NameWords(text, Stems())


@pytest.mark.parametrize(
    ("query", "name", "value"),
    [
        ("session", "session", 1.0),
        ("how do sessions work", "Session", 0.5**0.5),
        ("client session", "ClientSession", 1.0),
        ("client session", "client", 0.5**0.5),
        ("client", "client_session", 0.5**0.5),
        ("URL parsing", "_urlparse", 0.0),
        ("URL parsing", "parse_url", 1.0),
        ("routing", "routes", 1.0),
        ("connection pooling", "conn", 0.5**0.5),
        ("container", "con", 0.0),
        ("how is the", "how", 1.0 / 3**0.5),
        ("λ der Zürich", "zürich_rate", 0.5),
        ("session", "", 0.0),
        ("?!", "session", 0.0),
    ],
)
def test_cover(query, name, value):
    """The share of the query's words counts and that of the name's parts; stop words only if there are no others."""
    assert words(query).cover(name) == pytest.approx(value)


def test_best_name():
    """The best of several names is found, also behind capitals whose small letters are longer."""
    asked = words("client session")

    assert asked.best("connect ClientSession session Session")[1] == "ClientSession"
    assert asked.best("İz ClientSession") == (1.0, "ClientSession")
    assert asked.best("Close_session session") == (pytest.approx(0.5**0.5), "session")
    assert asked.best("connect") == asked.best("") == (0.0, "")
    assert words("?").best("session") == (0.0, "")


def test_every_name_that_answers_is_looked_at():
    """Looking at all names at once loses none: the best is that which comparing them one by one finds."""
    names = "routes Router add_route handle Handle_ sessions parse_url URLParser con connection_pool λ Zürich x1"
    for query in ("routing", "handling urls", "session", "connection", "zürich", "λ", "url x1"):
        asked = words(query)
        assert asked.best(names)[0] == max(map(words(query).cover, names.split())), query


def test_names_in_a_path():
    """A file has its own name and those of two folders, however short its path is."""
    assert names_in("/a/src/v1/types.py") == ("src", "v1", "types")
    assert names_in("v1/types.tar.gz") == ("", "v1", "types.tar")
    assert names_in("/a/.env") == ("", "a", ".env")
    assert names_in("") == ("", "", "")
