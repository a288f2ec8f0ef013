"""The nomic embedder, with a stored model and with one as wide as the real one."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from jupyter_memory import EmbedderError, EmbedderUnavailable, InputError
from jupyter_memory.embedders.nomic.embedder import DOCUMENT_PREFIX, QUERY_PREFIX, NomicEmbedder
from jupyter_memory.embedders.nomic.folder import open_folder, revision
from jupyter_memory.embedders.runtime.mlx import mx

TEXTS = [
    "We scaled the electricity prices to zero mean and unit variance before fitting the forecast.",
    "The λ of the Poisson model is 3.2 orders an hour; at night it falls to 0.4.",
    "Sales in Zürich rose by four percent after the price cut, in Genève they fell.",
    "prices " * 30,
    "df.groupby('shop')['price'].transform('mean')",
    "",
    "ü",
]


@pytest.fixture(autouse=True)
def nothing_kept():
    """Let every test read its folder anew."""
    yield
    open_folder.cache_clear()
    revision.cache_clear()


def cosines(some, others):
    return np.sum(some * others, axis=-1)


def test_pooled_as_transformers(small_folder, expected):
    """Mean pooling, layer-norm, the cut and the renormalisation give the reference's vectors."""
    texts = [one["text"].removeprefix(DOCUMENT_PREFIX) for one in expected[1:]]
    wanted = np.array([one["pooled"] for one in expected[1:]])
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)

    found = NomicEmbedder(small_folder, 64).embed_documents(texts)

    assert cosines(found, wanted).min() >= 0.99999


def test_query_as_transformers(small_folder, expected):
    """A question is embedded under its own prefix."""
    wanted = np.array(expected[0]["pooled"])

    found = NomicEmbedder(small_folder, 64).embed_query(expected[0]["text"].removeprefix(QUERY_PREFIX))

    assert found @ wanted / np.linalg.norm(wanted) >= 0.99999


def test_alone_or_together(wide_folder):
    """A text has one vector: alone, in a batch, in another order, with longer neighbours."""
    embedder = NomicEmbedder(wide_folder)
    together = embedder.embed_documents(TEXTS)

    alone = np.stack([embedder.embed_documents([text])[0] for text in TEXTS])
    backwards = embedder.embed_documents(TEXTS[::-1])[::-1]
    many = embedder.embed_documents([text for text in TEXTS for _ in range(3)])[::3]

    for other in (alone, backwards, many):
        assert cosines(together, other).min() >= 0.99999


def test_many_texts(small_folder):
    """More texts than one block holds come out in their order."""
    embedder = NomicEmbedder(small_folder, 64)
    texts = [TEXTS[row % 3] for row in range(1_030)]

    found = embedder.embed_documents(texts)

    assert cosines(found, embedder.embed_documents(TEXTS[:3])[np.arange(1_030) % 3]).min() >= 0.99999


def test_prefixes_matter(wide_folder):
    """One text as a question and as a document has two vectors."""
    embedder = NomicEmbedder(wide_folder)

    assert embedder.embed_query(TEXTS[0]) @ embedder.embed_documents(TEXTS[:1])[0] < 0.999


@pytest.mark.parametrize("dimensions", [768, 512, 256, 128, 64])
@pytest.mark.parametrize("layer_norm", [True, False], ids=["layer-norm", "as it is"])
def test_matryoshka(wide_folder, dimensions, layer_norm):
    """Every size is what NumPy cuts from the whole vector, with length 1."""
    model, tokenizer = open_folder(wide_folder)
    [ids] = tokenizer.token_ids([DOCUMENT_PREFIX + TEXTS[1]])
    mean = np.asarray(model(mx.array([ids])), dtype=np.float64)[0].mean(axis=0)
    if layer_norm:
        mean = (mean - mean.mean()) / np.sqrt(mean.var() + 1e-5)
    wanted = mean[:dimensions] / np.linalg.norm(mean[:dimensions])

    found = NomicEmbedder(wide_folder, dimensions, layer_norm).embed_documents([TEXTS[1]])

    assert found.shape == (1, dimensions)
    assert found.dtype == np.float32
    assert np.linalg.norm(found) == pytest.approx(1, abs=1e-6)
    assert np.allclose(found[0], wanted, atol=1e-5)


@pytest.mark.parametrize("dimensions", [0, 100, 384, 1024])
def test_other_sizes(tmp_path, dimensions):
    """Dimensions that the model was not trained for are refused before a file is read."""
    with pytest.raises(InputError, match=f"768, 512, 256, 128, 64 dimensions, not {dimensions}"):
        NomicEmbedder(tmp_path, dimensions)


def test_fingerprint(wide_folder, small_folder):
    """Weights, dimensions and the recipe are told apart; nothing is loaded for it."""
    kinds = [
        NomicEmbedder(wide_folder),
        NomicEmbedder(wide_folder, 128),
        NomicEmbedder(wide_folder, layer_norm=False),
        NomicEmbedder(small_folder),
    ]

    assert len({kind.fingerprint for kind in kinds}) == 4
    assert NomicEmbedder(str(wide_folder)).fingerprint == kinds[0].fingerprint
    assert open_folder.cache_info().currsize == 0


def test_zero_weights(small_folder):
    """Weights that are all zero give a vector without a direction, which is refused."""
    weights = {name: value * 0 for name, value in mx.load(str(small_folder / "model.safetensors")).items()}
    mx.eval(list(weights.values()))
    mx.save_safetensors(str(small_folder / "zero.safetensors"), weights)
    (small_folder / "model.safetensors").unlink()

    with pytest.raises(EmbedderError, match="no direction"):
        NomicEmbedder(small_folder, 64).embed_documents(TEXTS)


@pytest.mark.parametrize(("broken", "said"), [(None, "tokenizer is missing"), ("{", "tokenizer.json cannot be read")])
def test_tokenizer(small_folder, broken, said):
    """A tokenizer that is missing or broken is named."""
    (small_folder / "tokenizer.json").unlink()
    if broken is not None:
        (small_folder / "tokenizer.json").write_text(broken)

    with pytest.raises(EmbedderUnavailable, match=said):
        NomicEmbedder(small_folder, 64).embed_query("prices")


def test_very_long(small_folder):
    """Of a very long text the beginning counts, up to 2,048 tokens."""
    embedder = NomicEmbedder(small_folder, 64)
    long = "prices rose " * 20_000

    first, second = embedder.embed_documents([long, long + " and fell"])

    assert first @ second == pytest.approx(1, abs=1e-5)


def test_odd_text(wide_folder):
    """Half a surrogate pair, control characters and other scripts have vectors."""
    found = NomicEmbedder(wide_folder, 64).embed_documents(["\ud83d half", "\x00\x01", "東京の売上", "🚚 Malmö"])

    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_nothing(wide_folder):
    """No texts, no rows."""
    assert NomicEmbedder(wide_folder).embed_documents([]).shape == (0, 256)


def test_threads(wide_folder):
    """Threads that embed at the same time get the vectors that one alone gets."""
    embedder = NomicEmbedder(wide_folder, 64)
    alone = embedder.embed_documents(TEXTS)
    found = {}
    threads = [
        threading.Thread(target=lambda n=n: found.update({n: embedder.embed_documents(TEXTS)})) for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)

    assert len(found) == 4
    for vectors in found.values():
        assert cosines(alone, vectors).min() >= 0.99999


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_interrupted(small_folder):
    """Ctrl-C stops a long run within a batch or so, and the next text is embedded as if nothing had happened."""
    code = f"""
import os, signal, threading
import numpy as np
from jupyter_memory.embedders.nomic.embedder import NomicEmbedder
embedder = NomicEmbedder({str(small_folder)!r}, 64)
before = embedder.embed_query("prices")
try:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        embedder.embed_documents(["prices " * 200] * 64)
except KeyboardInterrupt:
    print("stopped", np.allclose(before, embedder.embed_query("prices"), atol=1e-5))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)

    assert done.stdout.strip() == "stopped True", done.stderr


def test_memory_is_given_back(small_folder):
    """After a large batch MLX keeps the weights, not the space that the computation took."""
    embedder = NomicEmbedder(small_folder, 64)
    embedder.embed_query("prices")
    before = mx.get_active_memory()

    embedder.embed_documents(["prices " * 400] * 40)

    assert mx.get_active_memory() - before < 1_000_000
    assert mx.get_cache_memory() < 1_000_000
