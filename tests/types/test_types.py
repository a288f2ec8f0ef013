"""The words of the house, as values that cannot change under anyone's hands."""

import json
from dataclasses import FrozenInstanceError, fields, replace
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from week import NOW

from jupyter_memory.types import (
    Answer,
    Evidence,
    Explanation,
    Filters,
    Hit,
    IndexReport,
    Memory,
    Query,
    Ranking,
    Terms,
    as_tuple,
)

MEMORY = Memory(
    id="3f2a9c1b2d4e5f60", text="The λ of the Poisson model is 3.2 orders an hour.", title="Poisson λ", kind="note",
    tier="note", pinned=False, space="", source="", location="", lang="", tags=("decision", "Zürich"), severity=None,
    domain=None, event_at=NOW, indexed_at=NOW, stored_at=NOW, valid_from=None, valid_until=None, session=None,
    content_hash="aa", metadata={},
)  # fmt: skip
HIT = Hit(
    rank=1, memory=MEMORY, snippet=MEMORY.text, highlights=((4, 5), (13, 20)), location="1", score=0.5, strength=nan,
    kw_rank=1, sem_rank=None, bm25=2.5, cosine=nan,
    signals={"keyword": Evidence(2.5, 1, 0.5), "vector": Evidence(nan, None, 0.0)},
)  # fmt: skip


def answer(**changes):
    query = Query("λ of Poisson", NOW, Terms(words=("poisson",)), "keyword", **changes)
    counts = {"keyword": 1, "vector": 0, "fused": 1}
    return Answer(query, (HIT,), "auto", ("keyword", "vector"), (), counts, {"total": 1.5}, ("So it is.",), "q1", "/s")


def test_values_do_not_change():
    for value, name in ((MEMORY, "text"), (HIT, "score"), (Filters(), "tag"), (answer(), "hits")):
        with pytest.raises((FrozenInstanceError, TypeError)):
            setattr(value, name, "ü")


@given(scores=st.dictionaries(st.integers(), st.floats(-10, 10) | st.sampled_from([0.0, 1.0])))
def test_ranks(scores):
    """A rank is one more than the number of better scores, so equal scores share one."""
    assert Ranking(scores).ranks == {
        key: 1 + sum(other > score for other in scores.values()) for key, score in scores.items()
    }
    assert (len(Ranking(scores)), set(Ranking(scores))) == (len(scores), set(scores))


@pytest.mark.parametrize(
    ("kw_rank", "sem_rank", "badges"), [(1, None, "KW"), (None, 2, "SEM"), (3, 4, "KW+SEM"), (None, None, "")]
)
def test_badges(kw_rank, sem_rank, badges):
    values = {field.name: getattr(HIT, field.name) for field in fields(Hit)}
    assert Hit(**{**values, "kw_rank": kw_rank, "sem_rank": sem_rank}).badges == badges


def test_a_hit_as_json():
    """A hit has the fields that the command line and the panel know, and null where there is no number."""
    assert json.loads(json.dumps(HIT.to_json(), allow_nan=False)) == {
        "rank": 1, "memory_id": MEMORY.id, "title": "Poisson λ", "snippet": MEMORY.text,
        "highlights": [[4, 5], [13, 20]], "badges": "KW", "score": 0.5, "strength": None, "kind": "note",
        "tier": "note", "source": "", "location": "1", "tags": ["decision", "Zürich"],
        "event_at": "2026-03-06T18:00:00+00:00", "freshness": "unknown", "thumbnails": 0, "kw_rank": 1,
        "sem_rank": None, "bm25": 2.5, "cosine": None,
        "signals": {
            "keyword": {"value": 2.5, "rank": 1, "contribution": 0.5},
            "vector": {"value": None, "rank": None, "contribution": 0.0},
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("told", "outcome", "error", "title"),
    [
        ({"outcome": "error", "error": "KeyError"}, "error", "KeyError", "Poisson λ – failed: KeyError"),
        (
            {"outcome": "error", "error": "KeyboardInterrupt"}, "error", "KeyboardInterrupt",
            "Poisson λ – interrupted: KeyboardInterrupt",
        ),
        ({"outcome": "ok", "error": "KeyError"}, "ok", "", "Poisson λ"),
        ({"outcome": 3, "error": 4}, "unknown", "", "Poisson λ"), ({}, "unknown", "", "Poisson λ"),
    ],
)  # fmt: skip
def test_a_hit_tells_how_its_last_run_ended(told, outcome, error, title):
    """What was run says in its title and as JSON how it ended; other kinds never ran, whatever their metadata say."""
    ran = replace(HIT, memory=replace(MEMORY, kind="history", metadata=told))
    found = ran.to_json()
    assert (ran.title, found["outcome"], found["error"]) == (title, outcome, error)
    note = replace(HIT, memory=replace(MEMORY, metadata=told))
    assert note.title == "Poisson λ" and "outcome" not in note.to_json()


def test_an_answer_as_json():
    """An answer has the query, its bounds in time, what the retrievers found, the notices and the hits."""
    shown = json.loads(json.dumps(answer().to_json(), allow_nan=False))
    assert list(shown) == ["query", "verdict", "query_class", "time_range", "counts", "notices", "hits"]
    assert shown["query"] == "λ of Poisson"
    assert shown["counts"] == {"keyword": 1, "vector": 0, "fused": 1}
    assert (shown["verdict"], shown["time_range"], shown["notices"]) == (None, None, ["So it is."])
    assert shown["hits"] == [HIT.to_json()]
    assert answer(filters=Filters(since=NOW)).time_range == ["2026-03-06T18:00:00+00:00", None]
    assert answer(filters=Filters(until=NOW)).time_range == [None, "2026-03-06T18:00:00+00:00"]
    assert answer(filters=Filters(kind=("cell",))).time_range is None


def test_filters_and_terms():
    """No facet and no term is false, any is true; what a value means takes its place, in filters behind others too."""
    assert not Filters()
    assert Filters(tag=("λ",)) and Filters(since=NOW)
    typed, meant = (Filters(path=paths, also=Filters(not_path=paths)) for paths in (("a",), ("a", "b")))
    assert typed.meaning(("path", "not_path"), lambda facet, path: [path, "b"]) == meant
    assert not Terms()
    assert all((Terms(words=("λ",)), Terms(phrases=("left join",)), Terms(ident=("東京",))))


@pytest.mark.parametrize(
    ("value", "expected"), [(None, ()), ("λ", ("λ",)), ("", ("",)), (["a", "b"], ("a", "b")), (("a",), ("a",))]
)
def test_one_or_several(value, expected):
    """A string is one value, not its letters."""
    assert as_tuple(value) == expected


def test_what_is_printed():
    """An explanation prints a reason a line; a report names counts above zero, and what was skipped or failed."""
    assert str(Explanation(MEMORY, "λ", "auto", 1, HIT, ("Rank 1.", "Its words."))) == "Rank 1.\nIts words."
    plain = IndexReport(files=2, cells=7, unchanged=1, seconds=0.26)
    full = IndexReport(3, 9, 0, 1, 2, (("ü.csv", "unknown kind"),), (("x.ipynb", "not JSON"),), 1.0)
    assert str(plain) == "2 files indexed (7 memories), 1 unchanged in 0.3 s"
    assert str(full).splitlines() == [
        "3 files indexed (9 memories), 0 unchanged, 1 file forgotten (gone or left out), 2 secrets redacted, "
        "1 skipped, 1 failed in 1.0 s",
        "  skipped ü.csv: unknown kind",
        "  failed  x.ipynb: not JSON",
    ]
