"""How fast our models run on MLX, against transformers on torch with the same random weights, in the same run.

    pip install torch==2.13.0 'transformers>=5'
    python benchmarks/embed.py [--model nomic|minilm] [--rounds 3] [--texts 48] [--rows 8x128 cells] [--layers 2]

Each side is a process of its own (so its peak memory is its own), and they take turns: one shape, then the other side
with the same shape. Ours is given texts and makes its own batches; torch is given their tokens, sorted by length, in
batches of 2,048 tokens. "cells" are texts as long as the cells of the sample notebooks. Both sides use as many threads
as there are processors: `taskset -c 0 python benchmarks/embed.py` compares one thread with one. Without torch, only our
side is measured. `--layers` makes a smaller model.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from measure import ROOT, lacks, parser_of, table, timed

SHAPES = {"1x16": (1, 16), "8x128": (8, 128), "4x512": (4, 512)}
BATCH = 2_048
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "search", "_", "document", ":")
# By model: the tokens that it adds to a text, and how many it reads.
LIMITS = {"nomic": (6, 2_048), "minilm": (2, 256)}


def make_nomic(folder: Path, layers: int) -> None:
    """Write a model of nomic's size with seeded weights, under the hub's names."""
    shapes = {"embeddings.word_embeddings": (30_528, 768), "embeddings.token_type_embeddings": (2, 768)}
    norms = ["emb_ln"]
    for number in range(layers):
        layer = f"encoder.layers.{number}"
        norms += [f"{layer}.norm1", f"{layer}.norm2"]
        shapes |= {f"{layer}.attn.Wqkv": (2304, 768), f"{layer}.attn.out_proj": (768, 768)}
        shapes |= {f"{layer}.mlp.fc11": (3072, 768), f"{layer}.mlp.fc12": (3072, 768), f"{layer}.mlp.fc2": (768, 3072)}
    save(folder, shapes, norms, {"model_type": "nomic_bert", "num_hidden_layers": layers, "n_layer": layers})


def make_minilm(folder: Path, layers: int) -> None:
    """Write a model of all-MiniLM-L6-v2's width with seeded weights, under transformers' names."""
    shapes = {f"embeddings.{name}_embeddings": (rows, 384) for name, rows in (("word", 30_522), ("position", 512))}
    shapes["embeddings.token_type_embeddings"] = (2, 384)
    norms = ["embeddings.LayerNorm"]
    for number in range(layers):
        layer = f"encoder.layer.{number}"
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
        shapes |= {f"{layer}.attention.self.{part}": (384, 384) for part in ("query", "key", "value")}
        shapes |= {f"{layer}.attention.output.dense": (384, 384)}
        shapes |= {f"{layer}.intermediate.dense": (1536, 384), f"{layer}.output.dense": (384, 1536)}
    sizes = {"hidden_size": 384, "num_hidden_layers": layers, "intermediate_size": 1536, "hidden_act": "gelu"}
    save(folder, shapes, norms, {"model_type": "bert", "vocab_size": 30_522, **sizes}, biased=True)


def save(folder: Path, shapes: dict, norms: Sequence[str], config: dict[str, object], biased: bool = False) -> None:
    """Write weights, configuration, and the tests' tokenizer with a vocabulary of as many words as the model has."""
    from mlx import core as mx

    def values(*shape: int) -> mx.array:
        return mx.random.normal(shape, key=mx.random.key(sum(shape))) * 0.02

    weights = {f"{name}.weight": values(*shape) for name, shape in shapes.items()}
    if biased:
        weights |= {f"{name}.bias": values(shape[0]) for name, shape in shapes.items() if name.startswith("encoder")}
    width = next(iter(shapes.values()))[1]
    for norm in norms:
        weights |= {f"{norm}.weight": values(width) + 1, f"{norm}.bias": values(width)}
    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    said = {"layer_norm_eps": 1e-12, "torch_dtype": "float32", **config}
    (folder / "config.json").write_text(json.dumps(said))
    tokenizer = json.loads((ROOT / "tests/embedders/nomic_small/tokenizer.json").read_text(encoding="utf-8"))
    words = (*SPECIAL, *(f"w{number}" for number in range(len(SPECIAL), 30_522)))
    tokenizer["model"]["vocab"] = {word: number for number, word in enumerate(words)}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))


class Side:
    """A process that embeds with one library when it is told to."""

    def __init__(self, name: str, model: str, folder: str) -> None:
        self.name = name
        command = [sys.executable, __file__, "--worker", name, "--model", model, "--folder", folder]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, lengths: Sequence[int]) -> float | list:
        """Return the seconds for texts of these lengths; without any, what runs there and its peak in bytes."""
        self._process.stdin.write(json.dumps(list(lengths)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise SystemExit(f"The {self.name} side ended early; its message is above.")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()


def serve(worker: str, model: str, folder: Path) -> None:
    """Answer questions from stdin, one a line."""
    about, forward = WORKERS[worker](model, folder)
    random = np.random.default_rng(3)

    def ids_of(lengths: Sequence[int]) -> list[list[int]]:
        return [random.integers(1_000, 30_000, length).tolist() for length in lengths]

    forward(ids_of([16]))  # the first run makes what later ones use again
    for line in sys.stdin:
        lengths = json.loads(line)
        # Kilobytes on Linux, bytes on macOS.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        ids = ids_of(lengths)
        print(json.dumps(timed(lambda ids=ids: forward(ids)) if lengths else [about, peak]), flush=True)


def on_mlx(model: str, folder: Path) -> tuple[str, Callable]:
    """Load our model."""
    from mlx import core as mx

    from jupyter_memory.embedders import BertEmbedder

    embedder = BertEmbedder(model, folder)
    added, _ = LIMITS[model]

    def forward(ids: list[list[int]]) -> None:
        embedder.embed_documents([" ".join(f"w{one}" for one in text[added:]) for text in ids])

    return f"mlx {mx.__version__} on {mx.default_device()}", forward


def on_torch(model: str, folder: Path) -> tuple[str, Callable]:
    """Load the same weights with transformers."""
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    device = "mps" if torch.backends.mps.is_available() else "cpu"
    dtype = torch.float16 if device == "mps" else torch.float32
    # Else it takes as many as the machine has, also where only some may be used.
    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    loaded = transformers.AutoModel.from_pretrained(folder, dtype=dtype).eval().to(device)

    def forward(ids: list[list[int]]) -> None:
        left = sorted(ids, key=len)
        while left:
            count = max(1, sum((place + 1) * len(one) <= BATCH for place, one in enumerate(left)))
            batch, left = left[:count], left[count:]
            width = len(batch[-1])
            padded = torch.tensor([one + [0] * (width - len(one)) for one in batch], device=device)
            shown = (torch.arange(width) < torch.tensor([[len(one)] for one in batch])).to(device)
            with torch.inference_mode():
                hidden = loaded(input_ids=padded, attention_mask=shown.long()).last_hidden_state
                weights = shown[..., None].to(hidden.dtype)
                ((hidden * weights).sum(dim=1) / weights.sum(dim=1)).float().cpu()

    return f"torch {torch.__version__} on {device}, {torch.get_num_threads()} threads", forward


MODELS = {"nomic": (make_nomic, 12), "minilm": (make_minilm, 6)}
WORKERS = {"mlx": on_mlx, "torch": on_torch}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--model", choices=list(MODELS), default="nomic")
    parser.add_argument("--rounds", type=int, default=3, help="times that each shape is measured; the best counts")
    parser.add_argument("--texts", type=int, default=48, help="cells of the sample notebooks")
    parser.add_argument("--rows", nargs="+", choices=[*SHAPES, "cells"], default=[*SHAPES, "cells"])
    parser.add_argument("--layers", type=int, help="as many as the model has, unless named")
    parser.add_argument("--worker", choices=list(WORKERS), help="for the script itself")
    parser.add_argument("--folder", type=Path, help="for the script itself")
    chosen = parser.parse_args()
    if chosen.worker:
        serve(chosen.worker, chosen.model, chosen.folder)
        return
    if lacks("'jupyter-memory[hub]'", "mlx"):
        return
    paths = sorted((ROOT / "notebooks" / "samples").rglob("*.ipynb"))
    cells = ["".join(one["source"]) for path in paths for one in json.loads(path.read_text("utf-8"))["cells"]]
    # The bundled vocabulary has about a token for four characters of a cell.
    lengths = [8 + len(cell) // 4 for cell in cells if cell]
    works = {name: [tokens] * texts for name, (texts, tokens) in SHAPES.items()}
    works["cells"] = (lengths * (1 + chosen.texts // len(lengths)))[: chosen.texts]
    make, layers = MODELS[chosen.model]
    most = min(512, LIMITS[chosen.model][1])
    with_torch = find_spec("torch") is not None and find_spec("transformers") is not None
    if not with_torch:
        print("torch and transformers are left out: they are not installed.")
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), chosen.layers or layers)
        sides = [Side(name, chosen.model, folder) for name in (WORKERS if with_torch else ["mlx"])]
        try:
            rows = [("", *(f"{side.name} texts/s" for side in sides), "mlx / torch" if with_torch else "")]
            for name in chosen.rows:
                work = [min(most, tokens) for tokens in works[name]]
                rounds = [[side.ask(work) for side in sides] for _ in range(chosen.rounds)]
                best = [min(seconds) for seconds in zip(*rounds, strict=True)]
                ratio = f"{best[1] / best[0]:.2f}x" if with_torch else ""
                rows.append((name, *(f"{len(work) / seconds:.2f}" for seconds in best), ratio))
            told = [side.ask([]) for side in sides]
            table([*rows, ("peak MiB", *(f"{peak / 2**20:,.0f}" for _, peak in told), "")])
            print("; ".join(about for about, _ in told))
        finally:
            for side in sides:
                side.close()


if __name__ == "__main__":
    main()
