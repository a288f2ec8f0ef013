"""The former static model: it reads the vectors that it wrote."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from blocked import run_without

from jupyter_memory import JupyterMemory, MemoryStore
from jupyter_memory.embedders import open_embedder
from jupyter_memory.text import embedding_text

OLD = Path(__file__).parents[1] / "golden" / "store_98f57c3" / "memory.sqlite.gz"


@pytest.fixture
def wordllama():
    pytest.importorskip("wordllama", reason="needs the extra `wordllama`")
    return open_embedder("wordllama")


def test_the_vectors_of_before(wordllama, tmp_path):
    """Its vectors of a store's texts are those that the former model stored, and its fingerprint is theirs."""
    path = tmp_path / "memory.sqlite"
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    with MemoryStore(path, embedder=None, settings=JupyterMemory()) as store, store._storage.snapshot() as snapshot:
        model = snapshot.active_model()
        chunks = snapshot.sample(100)
        found = snapshot.vectors(model, chunks)
        parts = snapshot.embedded_parts(found.ids.tolist())

    texts = [embedding_text(*parts[chunk]) for chunk in found.ids.tolist()]
    assert model.fingerprint == wordllama.fingerprint
    assert np.abs(wordllama.embed_documents(texts) - found.vectors).max() < 1e-6
    assert np.abs(wordllama.embed_query(texts[0]) - found.vectors[0]).max() < 1e-6


@pytest.mark.parametrize("text", ["", " ", "half \ud83d of a pair", "a" * 5_000])
def test_any_text_has_a_vector(wordllama, text):
    """Unusual text has a vector of length 1, alone and among others; no texts have none."""
    assert np.linalg.norm(wordllama.embed_query(text)) == pytest.approx(1, abs=1e-6)
    assert wordllama.embed_documents([text, "prices"]).shape == (2, 256)
    assert wordllama.embed_documents([]).shape == (0, 256)


@pytest.mark.parametrize("package", ["wordllama", "tokenizers"])
def test_not_installed(package):
    """Where the extra is missing, the error says what to type."""
    said = run_without(
        [package],
        "from jupyter_memory.embedders import open_embedder\n"
        "from jupyter_memory.errors import EmbedderUnavailable\n"
        "try:\n    open_embedder('wordllama')\n"
        "except EmbedderUnavailable as error:\n    print(error)",
    )

    assert "pip install 'jupyter-memory[wordllama]'" in said
