"""The embedder minilm, with the small model of the tests."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from jupyter_memory import EmbedderUnavailable
from jupyter_memory.embedders.minilm.embedder import MiniLmEmbedder
from jupyter_memory.embedders.minilm.folder import forget_folders, open_folder


def of_length_one(computed):
    means = np.array([np.mean(one["tokens"], axis=0) for one in computed])
    return means / np.linalg.norm(means, axis=1, keepdims=True)


def test_pooled_as_published(small_bert, computed):
    """A vector is the mean of the tokens' vectors, with length 1; documents and questions are embedded alike."""
    embedder = MiniLmEmbedder(small_bert)
    texts = [one["text"] for one in computed]

    found = embedder.embed_documents(texts)

    assert np.abs(found - of_length_one(computed)).max() <= 1e-5
    assert np.abs(embedder.embed_query(texts[0]) - found[0]).max() <= 1e-6
    assert (embedder.name, embedder.dimensions, embedder.threshold) == ("minilm", 48, 0.3)


def test_many_texts_of_all_lengths(small_bert):
    """A text has one vector: alone, among more texts than one block holds, and beside longer ones."""
    embedder = MiniLmEmbedder(small_bert)
    texts = ["prices " * (row % 40) + str(row % 7) for row in range(1_030)]

    found = embedder.embed_documents(texts)

    alone = np.stack([embedder.embed_query(texts[row]) for row in (0, 39, 500, 1_029)])
    assert np.abs(found[[0, 39, 500, 1_029]] - alone).max() <= 1e-5


def test_of_a_long_text_the_beginning_counts(small_bert):
    """A text is read up to 256 tokens, the marks of beginning and end among them."""
    embedder = MiniLmEmbedder(small_bert)
    tokenizer = open_folder(small_bert)[1]
    long = "price " * 254

    first, second, third = embedder.embed_documents([long, long + "zero", "zero " + long])

    assert [len(ids) for ids in tokenizer.token_ids([long, long + "zero"])] == [256, 256]
    assert np.abs(first - second).max() <= 1e-6
    assert np.abs(first - third).max() > 1e-4


def test_odd_text(small_bert):
    """No text, half a surrogate pair, control characters and other scripts have vectors."""
    found = MiniLmEmbedder(small_bert).embed_documents(["", "  ", "\ud83d half", "\x00\x01", "東京の売上"])

    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert MiniLmEmbedder(small_bert).embed_documents([]).shape == (0, 48)


def test_fingerprint(small_bert, tmp_path):
    """The fingerprint follows the weights and nothing else, and nothing is loaded for it."""
    other = shutil.copytree(small_bert, tmp_path / "other")
    same = MiniLmEmbedder(small_bert).fingerprint
    file = small_bert / "model.safetensors"

    assert MiniLmEmbedder(other).fingerprint == same
    file.write_bytes(file.read_bytes()[:-4] + b"1234")
    forget_folders()
    assert MiniLmEmbedder(small_bert).fingerprint != same == MiniLmEmbedder(str(other)).fingerprint
    assert open_folder.cache_info().currsize == 0


def test_nothing_there(tmp_path):
    """Without a configuration, or without weights, the error says what is missing."""
    with pytest.raises(EmbedderUnavailable, match=r"config\.json is missing"):
        _ = MiniLmEmbedder(tmp_path).dimensions
    with pytest.raises(EmbedderUnavailable, match=r"model\.safetensors is missing"):
        _ = MiniLmEmbedder(tmp_path).fingerprint
