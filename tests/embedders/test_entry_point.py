"""Embedders that installed packages register by name; the package is the one that docs/extending.md shows."""

from __future__ import annotations

import sys
import tomllib

import numpy as np
import pytest
from plugins import shown, write_package

from jupyter_memory import EmbedderUnavailable, InputError, MemoryStore, UnknownEmbedder
from jupyter_memory.embedders import names, open_embedder
from jupyter_memory.embedders.registry import GROUP


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return what installs a package of one module, as pip would, for the time of a test."""
    monkeypatch.syspath_prepend(tmp_path)

    def install(name, module, code, points):
        write_package(tmp_path, name, module, code, GROUP, points)
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


@pytest.fixture
def trigrams(install):
    """The package of the page."""
    project = tomllib.loads(shown("Add an embedder", "toml"))["project"]
    install(project["name"], "trigrams", shown("Add an embedder", "python"), project["entry-points"][GROUP])


def test_the_page_works(trigrams, tmp_path):
    """A store is written with the registered name, finds by meaning, and opens its embedder again by itself."""
    path = tmp_path / "memory.sqlite"
    with MemoryStore(path, embedder="trigrams") as store:
        store.add("Electricity tariffs were normalised.", title="Tariffs")
        store.add("The ferry to Malmö leaves at noon.", title="Ferry")
        assert store.stats()["model"] == "trigrams"

    with MemoryStore(path) as store:
        best = store.hits("normalising tariff").hits[0]
    assert (best.memory.title, best.sem_rank) == ("Tariffs", 1)


def test_dimensions(trigrams):
    """The function is given the dimensions that were asked for."""
    assert open_embedder("trigrams").dimensions == 512
    assert open_embedder("trigrams", dimensions=64).embed_query("λ").shape == (64,)


def test_known_with_the_others(trigrams):
    """A registered name is listed among the known ones, and guessed where it was misspelt."""
    assert "trigrams" in names()
    with pytest.raises(UnknownEmbedder, match=r"Did you mean 'trigrams'\? Known are: auto, static, .*, trigrams \("):
        open_embedder("trigram")


def test_a_store_whose_package_is_gone(install, tmp_path, monkeypatch):
    """Without the package the store is searched by words, and says why."""
    with monkeypatch.context() as here:
        here.syspath_prepend(tmp_path)
        install(
            "gone",
            "gone",
            shown("Add an embedder", "python").replace('"trigrams"', '"gone"'),
            {"gone": "gone:open_trigrams"},
        )
        with MemoryStore(tmp_path / "memory.sqlite", embedder="gone") as store:
            store.add("Electricity tariffs were normalised.")
    (tmp_path / "gone-1.0.dist-info" / "entry_points.txt").unlink()

    with MemoryStore(tmp_path / "memory.sqlite") as store:
        answer = store.hits("tariffs")
    assert len(answer.hits) == 1
    assert any("written with gone" in notice for notice in answer.notices)


def test_our_names_stay_ours(install):
    """A package cannot take the name of a built-in model."""
    install("thief", "thief", "raise RuntimeError('imported')", {"static": "thief:open"})

    assert open_embedder("static").fingerprint.startswith("static-wordpiece-")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_like_it", "of the package broken-one cannot be opened: No module named 'nothing_like_it'"),
        ("def open_it(dimensions): raise ValueError('no weights')", "cannot be opened: no weights"),
        ("open_it = None", "cannot be opened: 'NoneType' object is not callable"),
        ("def open_it(dimensions): return dimensions", "cannot be opened: 'NoneType' object has no attribute 'name'"),
        (
            "class Other:\n    name = 'other'\n\ndef open_it(dimensions): return Other()",
            "registers the embedder 'broken', which calls itself 'other'",
        ),
    ],
    ids=["import", "error", "no function", "no embedder", "name"],
)
def test_broken_packages(install, code, said):
    """Whatever is wrong with a package, one line says it and names the package."""
    install("broken-one", "broken_one", code, {"broken": "broken_one:open_it"})

    with pytest.raises(EmbedderUnavailable, match=said) as caught:
        open_embedder("broken")
    assert "broken-one" in str(caught.value)


def test_its_own_errors_pass(install):
    """A package may refuse dimensions in the words of our own errors."""
    code = "from jupyter_memory.errors import InputError\ndef open_it(dimensions): raise InputError('only 8')"
    install("exact", "exact", code, {"exact": "exact:open_it"})

    with pytest.raises(InputError, match="only 8"):
        open_embedder("exact", dimensions=7)


def test_vectors_are_float32(trigrams):
    """What the page's embedder gives is what it promises."""
    vectors = open_embedder("trigrams").embed_documents(["", "prices", "Zürich \ud800"])

    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
