"""Embedders by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from jupyter_memory import InputError, UnknownEmbedder
from jupyter_memory.embedders import StaticEmbedder, open_embedder


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


def fresh(code):
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=100)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [(None, 256), ("auto", 256), ("static", 256), ("static-128", 128), ("static-64", 64)],
)
def test_names(name, dimensions):
    """Every name opens the static model with the dimensions that it says; no name is "auto"."""
    assert open_embedder(name) == StaticEmbedder(dimensions)


@pytest.mark.parametrize("name", [None, "auto", "static"])
def test_dimensions_beside_the_name(name):
    """Where the name leaves the dimensions open, the caller chooses."""
    assert open_embedder(name, dimensions=64).dimensions == 64


def test_own_embedder():
    """An embedder comes back as it is."""
    mine = LetterCounts()

    assert open_embedder(mine) is mine
    assert open_embedder(mine, dimensions=2) is mine


@pytest.mark.parametrize("embedder", ["static-128", LetterCounts()], ids=["name", "object"])
def test_two_answers(embedder):
    """Dimensions that contradict the embedder are refused, with both numbers."""
    with pytest.raises(InputError, match=r"(128|2) dimensions, not 64"):
        open_embedder(embedder, dimensions=64)


@pytest.mark.parametrize("name", ["nomik", "", "Static", "static-256 "])
def test_unknown_name(name):
    """A name that is not known is refused, and the known ones are listed."""
    with pytest.raises(UnknownEmbedder, match=r"Known are: auto, static, nomic, minilm .* mlx:FOLDER"):
        open_embedder(name)


def test_light_to_import():
    """Importing the package of embedders wakes neither MLX nor the tokenizer; opening one reads no file."""
    woken = fresh(
        "import sys, jupyter_memory.embedders as e\n"
        "print([m for m in ('mlx', 'mlx.core', 'tokenizers', 'pandas') if m in sys.modules])\n"
        "e.open_embedder()\n"
        "from jupyter_memory.embedders.tokenizer.bundled import bundled_file\n"
        "print(bundled_file.cache_info().misses)"
    )

    assert woken.splitlines() == ["[]", "0"]


def test_no_mlx_here(tmp_path):
    """Where MLX has no build, a transformer says so, that keyword search works without it, and what to install."""
    said = fresh(
        "import sys\n"
        "sys.modules['mlx.core'] = None\n"
        "from jupyter_memory.embedders import open_embedder\n"
        "from jupyter_memory.errors import EmbedderUnavailable\n"
        f"try:\n    open_embedder('mlx:{tmp_path}')\n"
        "except EmbedderUnavailable as error:\n    print(error)"
    )

    assert "cannot run here" in said
    assert "Keyword search works" in said
    assert "pip install 'jupyter-memory[hub]'" in said
