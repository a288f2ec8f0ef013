"""What is alike stands out, and its section does too; what a dozen cells share is like nothing in particular."""

from __future__ import annotations

import json

import pytest

from jupyter_memory.search.related import ALIKE_FROM, Likeness

WORDS = ("tariff", "meter", "customer", "invoice", "forecast", "weather", "holiday", "outlier", "firmware", "schema")
ASKED = "lags = demand.shift(48).rolling(24).mean()\nfeatures['demand_lag'] = lags.reindex(features.index)"


def notebook(*cells):
    """Return a notebook of code cells and headings."""
    kinds = (("markdown" if one.startswith("#") else "code", one) for one in cells)
    sources = [{"cell_type": kind, "source": one, "metadata": {}, "outputs": []} for kind, one in kinds]
    return json.dumps({"cells": sources, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


@pytest.fixture
def work(store, tmp_path):
    """A store of twelve notebooks that begin alike, of which one computes lags of the demand."""
    for place, word in enumerate(WORDS):
        cells = ["import numpy as np\nimport pandas as pd", *(f"{word}_{other} = load('{other}')" for other in WORDS)]
        (tmp_path / f"{place}.ipynb").write_text(notebook(f"# {word}", *cells))
    old = ASKED.replace("48", "72").replace("demand_lag", "lag_of_demand")
    (tmp_path / "lags.ipynb").write_text(notebook("# Lags", old, "features.plot()"))
    memory = store()
    memory.index(tmp_path, progress=False)
    return memory


def test_the_more_it_stands_out_the_likelier():
    """Of two candidates, the one that stands out more is likelier; so is the one whose section has others."""
    assert Likeness(1.0, 0.4).value > Likeness(1.0, 0.8).value
    assert Likeness(1.0, 0.6, beside=1.5).value > Likeness(1.0, 0.6).value
    assert Likeness(1.0, 0.6).value > Likeness(0.5, 0.6).value
    assert Likeness(1.0, 1.0).value < ALIKE_FROM < Likeness(1.0, 0.2).value


def test_what_is_about_the_same_is_found(work):
    """The cell that does nearly the same is the answer."""
    answer = work.related_to(ASKED)
    assert answer.hits[0].memory.text.startswith("lags = demand.shift(72)")
    # What stands beside it in its section may be of use as well, nothing of other notebooks is.
    assert {hit.memory.source for hit in answer.hits} == {answer.hits[0].memory.source}
    assert (answer.hits[0].rank, answer.verdict) == (1, None)


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nimport pandas as pd",
        "The committee met and adopted the report of its chairman without a vote.",
        "tariff",
        "",
    ],
)
def test_what_is_like_everything_or_nothing_has_no_answer(work, text):
    """The imports of every notebook, a text about something else, a word, and nothing."""
    assert work.related_to(text).hits == ()


def test_limit_and_filters_hold(work, tmp_path):
    """A notebook that is left out is left out."""
    assert work.related_to(ASKED, filters={"not_path": [str(tmp_path / "lags.ipynb")]}).hits == ()
    assert len(work.related_to(ASKED, limit=1).hits) == 1


def test_its_vector_is_not_kept(work):
    """The store's cache of questions has nothing of a text that nobody asked."""
    work.related_to(ASKED)
    with work._storage.snapshot() as snapshot:
        assert not snapshot.has_query_vectors()
