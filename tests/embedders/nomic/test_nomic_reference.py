"""Parity with transformers on torch at full size, with seeded random weights: run by .ci/run."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from jupyter_memory.embedders.nomic.embedder import DIMENSIONS, DOCUMENT_PREFIX, NomicEmbedder
from jupyter_memory.embedders.nomic.folder import open_folder, revision
from jupyter_memory.embedders.runtime.mlx import mx

why = "needs the extra `reference` (torch, transformers)"
torch = pytest.importorskip("torch", reason=why)
transformers = pytest.importorskip("transformers", minversion="5", reason=why)

# torch reads its weights first.
pytestmark = [pytest.mark.reference, pytest.mark.timeout(600)]

TEXTS = [
    "We scaled the electricity prices to zero mean and unit variance before fitting the forecast.",
    "The λ of the Poisson model is 3.2 orders an hour; at night it falls to 0.4.",
    "Sales in Zürich rose by four percent after the price cut, in Genève they fell. " * 6,
    "df.groupby('shop')['price'].transform('mean')",
]


@pytest.fixture(scope="module")
def reference():
    """The model of nomic-embed-text-v1.5's size as transformers has it, with seeded weights."""
    torch.manual_seed(7)
    # Two threads that wait for each other are slow where other work runs.
    torch.set_num_threads(1)
    return transformers.NomicBertModel(transformers.NomicBertConfig()).eval()


@pytest.fixture(scope="module", params=["hub", "transformers"])
def folder(request, reference, tmp_path_factory):
    """The reference's weights in a folder, under the hub's names or under transformers' own."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "hub":
        reference.save_pretrained(folder)
    else:
        reference.config.save_pretrained(folder)
        weights = {name: mx.array(value.numpy()) for name, value in reference.state_dict().items()}
        mx.save_safetensors(str(folder / "model.safetensors"), weights)
    shutil.copy(Path(__file__).parents[1] / "nomic_small" / "tokenizer.json", folder)
    yield folder
    open_folder.cache_clear()
    revision.cache_clear()
    shutil.rmtree(folder)


def torch_hidden(model, ids, mask):
    with torch.inference_mode():
        found = model(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask)).last_hidden_state
    return found.numpy()


def torch_embeddings(model, tokenizer, texts, dimensions):
    rows = []
    for text in texts:
        ids = tokenizer.token_ids([DOCUMENT_PREFIX + text])
        mean = torch.tensor(torch_hidden(model, ids, np.ones_like(ids))).mean(dim=1)
        cut = torch.nn.functional.layer_norm(mean, (768,))[:, :dimensions]
        rows.append(torch.nn.functional.normalize(cut, dim=1).numpy()[0])
    return np.stack(rows)


@pytest.mark.parametrize(
    "lengths",
    [[1], [2], [16], [127], [512], [37, 128, 64], [1, 100, 300]],
    ids=lambda lengths: "+".join(map(str, lengths)),
)
def test_token_vectors(reference, folder, lengths):
    """The vectors of all tokens agree to 1e-4, alone and in padded batches of mixed lengths."""
    model = open_folder(folder)[0]
    ids = np.random.default_rng(sum(lengths)).integers(1_000, 30_000, (len(lengths), max(lengths)))
    mask = (np.arange(max(lengths)) < np.array(lengths)[:, None]).astype(np.int64)
    ids = ids * mask

    found = np.asarray(model(mx.array(ids), None if mask.all() else mx.array(mask, dtype=mx.float32)))

    assert np.abs((found - torch_hidden(reference, ids, mask)) * mask[..., None]).max() <= 1e-4


@pytest.mark.parametrize("dimensions", DIMENSIONS)
def test_embeddings(reference, folder, dimensions):
    """Embeddings of every size agree to a cosine of 0.99999."""
    found = NomicEmbedder(folder, dimensions).embed_documents(TEXTS)

    wanted = torch_embeddings(reference, open_folder(folder)[1], TEXTS, dimensions)

    assert np.sum(found * wanted, axis=1).min() >= 0.99999


def test_half_precision(reference, folder, tmp_path):
    """With weights of 16 bits they agree to 0.999."""
    weights = {name: value.astype(mx.float16) for name, value in mx.load(str(folder / "model.safetensors")).items()}
    mx.save_safetensors(str(tmp_path / "model.safetensors"), weights)
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(folder / name, tmp_path)

    found = NomicEmbedder(tmp_path).embed_documents(TEXTS)

    wanted = torch_embeddings(reference, open_folder(folder)[1], TEXTS, 256)
    assert np.sum(found * wanted, axis=1).min() >= 0.999


def test_small_model_is_current(small_folder, expected):
    """The stored outputs are what transformers computes today with the stored model."""
    model = transformers.NomicBertModel.from_pretrained(small_folder).eval()

    for one in expected:
        assert np.allclose(torch_hidden(model, [one["ids"]], [[1] * len(one["ids"])])[0], one["tokens"], atol=1e-5)
