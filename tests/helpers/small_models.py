"""The small models of the tests in a folder of models, what transformers computes with them, and changes to them."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from jupyter_memory import Embedder
from jupyter_memory.embedders import BertEmbedder, open_embedder

assert BertEmbedder  # which brings MLX, after the BLAS that has to be there first
import mlx.core as mx  # noqa: E402

EMBEDDERS = Path(__file__).parents[1] / "embedders"
PREFIXES = {"nomic": ("search_query: ", "search_document: "), "minilm": ("", "")}
# Computed by a GPU, they differ a little more.
NEAR = 1e-5 if mx.default_device() == mx.Device(mx.cpu) else 1e-2


def placed(models: Path, kind: str, source: Path | None = None) -> Path:
    folder = Path(shutil.copytree(source or EMBEDDERS / f"{kind}_small", models / kind))
    (folder / "manifest.json").write_text(json.dumps(dict.fromkeys(("name", "identity", "kept", "recipe"), "")))
    return folder


class SmallModel:
    """A copy of a small model, ``nomic`` or ``minilm``, opened by its name."""

    def __init__(self, models: Path, kind: str) -> None:
        self.models, self.kind = models, kind
        self.folder = placed(models, kind)
        self.file = self.folder / "model.safetensors"
        self.name = "nomic-64" if kind == "nomic" else kind
        self.expected = json.loads((self.folder / "expected.json").read_text())
        query, document = PREFIXES[kind]
        self.query = self.expected[0]["text"].removeprefix(query)
        self.texts = [one["text"].removeprefix(document) for one in self.expected[1:]]
        means = np.array([one.get("pooled") or np.mean(one["tokens"], axis=0) for one in self.expected])
        self.wanted = means / np.linalg.norm(means, axis=1, keepdims=True)

    def open(self) -> Embedder:
        return open_embedder(self.name, models=self.models)

    @property
    def difference(self) -> float:
        return float(np.abs(self.open().embed_documents(self.texts) - self.wanted[1:]).max())

    @property
    def weights(self) -> dict[str, Any]:
        weights = dict(mx.load(str(self.file)))
        # They may still be read from the file when it is replaced.
        mx.eval(list(weights.values()))
        return weights

    def save(self, weights: dict[str, Any], **config: object) -> None:
        mx.eval(list(weights.values()))
        self.file.unlink()
        mx.save_safetensors(str(self.file), weights)
        self.change("config.json", **config)

    def change(self, name: str, **values: object) -> None:
        file = self.folder / name
        known = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps(known | values))
