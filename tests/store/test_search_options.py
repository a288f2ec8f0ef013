"""What is typed in a search, from the text to the answer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from jupyter_memory import MemoryStore, QueryError

FRIDAY = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A store of four notes of a week in Zürich, bound to the space of the shops."""
    opened = MemoryStore(tmp_path_factory.mktemp("asking") / "memory.sqlite", embedder="static", space="shops")
    opened.add("electricity prices in Zürich", tags=["prices"], event_at="2026-03-02T09:00Z")
    opened.add("electricity tariffs, λ = 0.1", tags=["draft"], event_at="2026-03-05T09:00Z")
    opened.add("rows dropped by the join", event_at="2026-03-06T09:00Z", session="s1")
    opened.add("electricity of another space", space="home", event_at="2026-03-06T10:00Z")
    with opened:
        yield opened


def titles(answer):
    """Return the first words of what was found."""
    return sorted(hit.memory.text.split(",")[0].split(" in ")[0].split(" by ")[0] for hit in answer.hits)


def test_typed_filters_bound_the_answer(store):
    """A filter typed in the query filters; the answer still shows what was typed."""
    answer = store.hits("electricity tag:prices", now=FRIDAY)

    assert titles(answer) == ["electricity prices"]
    assert answer.to_json()["query"] == "electricity tag:prices"
    assert store.search("electricity tag:prices").attrs["memsearch"]["query"] == "electricity tag:prices"


def test_negation_keeps_what_has_no_value(store):
    """What has no tag and no session at all is not what is left out."""
    assert titles(store.hits("electricity rows -tag:draft -session:s1", now=FRIDAY)) == ["electricity prices"]
    assert "rows dropped" in titles(store.hits("electricity rows -tag:draft", now=FRIDAY))


def test_filters_alone_list(store):
    """A query of nothing but filters lists what fits them, newest first."""
    answer = store.hits("after:2026-03-02", now=FRIDAY)

    assert answer.profile == "browse"
    assert [hit.memory.text[:4] for hit in answer.hits] == ["rows", "elec"]
    assert answer.time_range is not None


def test_a_typed_space_is_another_space(store):
    """The space of the store is searched unless another is typed."""
    assert titles(store.hits("electricity space:home")) == ["electricity of another space"]
    assert "electricity of another space" not in titles(store.hits("electricity"))


def test_while_typing(store):
    """The last word finds what begins with it by its letters, not only by meaning, if it may be unfinished."""
    found = {hit.memory.text[:20] for hit in store.hits("electri", prefix=True).hits if hit.kw_rank}
    assert found == {"electricity prices i", "electricity tariffs,"}
    assert not [hit for hit in store.hits("electri", profile="covalence").hits if hit.kw_rank]


def test_a_mistake_says_what_there_is(store):
    """A kind that does not exist is answered with the nearest."""
    with pytest.raises(QueryError, match="Did you mean 'cell'"):
        store.hits("prices kind:cel")
