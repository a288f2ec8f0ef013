"""Operators of a query: parts of paths and globs, parts of memories, outcomes, and expressions."""

import json
from pathlib import Path

import pytest

from jupyter_memory import MemoryStore, QueryError
from jupyter_memory.types import Filters

FAILED = {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "by zero", "traceback": ["1/0"]}


def cell(source, *outputs):
    shown = [
        {"output_type": "stream", "name": "stdout", "text": one} if isinstance(one, str) else one for one in outputs
    ]
    kind = "code" if outputs else "markdown"
    return {"cell_type": kind, "source": source, "metadata": {}, **({"outputs": shown} if outputs else {})}


NOTEBOOKS = {
    "2025/11_train.ipynb": [
        cell("# Training\nThe accuracy of the model counts."),
        cell("fit(model)\nprint(accuracy)", "accuracy 0.93\n12 rows"),
        cell("share(model)", FAILED),
    ],
    "12_eval.ipynb": [cell("evaluate(model)", "accuracy 0.5\n7 rows")],
}


@pytest.fixture(params=["sqlite", "postgres"])
def runs(request, tmp_path):
    """A store of two notebooks and a text."""
    place = tmp_path / "s.sqlite" if request.param == "sqlite" else request.getfixturevalue("emptied_postgres")
    for name, cells in NOTEBOOKS.items():
        (path := tmp_path / "work" / name).parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    (tmp_path / "work" / "notes.md").write_text("# Notes\n\nThe model's accuracy.\n\nSee 12 rows.\n")
    with MemoryStore(place) as store:
        store.index(tmp_path / "work", progress=False)
        yield store


def places(answer):
    return sorted(f"{Path(hit.memory.source).name} {hit.memory.location}".strip() for hit in answer.hits)


TRAIN, EVAL = [f"11_train.ipynb #{number}" for number in range(3)], "12_eval.ipynb #0"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("model path:11_", TRAIN), ("model path:1", [*TRAIN, EVAL]), ("path:*/2025/*", TRAIN), ("path:2025/*", TRAIN),
        ("path:EVAL", [EVAL]), ("path:1?_*.ipynb", [*TRAIN, EVAL]), ("path:2025 path:*.md", [*TRAIN, "notes.md"]),
        ("-path:*.ipynb", ["notes.md"]), ("path:[x]*", []),
        ("in:output accuracy", [TRAIN[1], EVAL]), ("in:code accuracy", [TRAIN[1]]), ("in:output", [*TRAIN[1:], EVAL]),
        ("in:text accuracy", [TRAIN[0], "notes.md"]), ("-in:code", [TRAIN[0], "notes.md"]),
        ("outcome:error", [TRAIN[2]]),
        ("-outcome:error in:code", [TRAIN[1], EVAL]), ("outcome:ok model", [TRAIN[1], EVAL]),
        (r"/\d+ rows/", [TRAIN[1], EVAL, "notes.md"]), (r"in:output /\b7 ROWS$/", [EVAL]),
        (r"accuracy /0\.\d\d/", [TRAIN[1]]),
        (r"in:code /accuracy/", [TRAIN[1]]), ("/^See/ path:notes", ["notes.md"]),
        ("/(?-i)see/", []), ("/a/ /b/ /nowhere/", []),
    ],
)  # fmt: skip
def test_operators_choose(runs, query, expected):
    assert places(runs.hits(query)) == sorted(expected)


def test_what_matches_is_shown_and_only_searches_take_operators(runs):
    """The snippet of a hit is where its expression matches; what deletes names whole paths, and no operators."""
    [hit] = runs.hits("/se+ 1/").hits
    assert [hit.snippet[start:end] for start, end in hit.highlights] == ["See 1"] and hit.location == "5"
    assert "have in their path 'E'" in runs.hits("model path:E").notices[0]
    for refused in ({"outcome": "error"}, {"regex": "."}, {"path": "11_"}, {"path": "*.ipynb"}):
        with pytest.raises(ValueError, match=r"searches only|whole path"):
            runs.forget(filters=refused)
    reused = runs.hits("/rows/").query.filters
    assert len(runs.hits("model", filters=reused).hits) == 3 and reused != Filters()


@pytest.mark.parametrize(
    ("query", "told"),
    [("/(a/", "missing )"), (r"/(a)\1/", "cannot be referred to"), ("/(?=a)b/", "before or after"),
     ("in:outptu x", "'output'"), ("/a{1000}{1000}/", "cannot be read")],
)  # fmt: skip
def test_what_is_wrong_is_named(week_store, query, told):
    with pytest.raises(QueryError, match=r"^(The expression|There is no part)") as raised:
        week_store.hits(query)
    assert told in str(raised.value)


def test_many_files_by_a_part_of_their_path(week_store):
    """More files than a condition names one by one, with another path beside them; an expression is linear."""
    week_store.add_many(
        [{"text": f"{'a' * 2_000}! {n}", "source": f"/many/part_{n}.md"} for n in range(300)], progress=False
    )
    assert len(week_store.hits("path:part_", limit=999).hits) == 300
    assert len(week_store.hits("path:part_ path:*/part_1.md", limit=999).hits) == 300
    assert not week_store.hits("path:/many -path:part_").hits
    assert len(week_store.hits("/(a+)+(a|a)*!/", limit=999).hits) == 300
