"""How fast our models run on MLX, against transformers on torch with the same random weights, in the same run.

    pip install torch==2.13.0 'transformers>=5'
    python benchmarks/embed.py [--model nomic|minilm] [--rounds 3] [--texts 48] [--rows 8x128 cells] [--without-torch]

Each side is a process of its own (so its peak memory is its own), and they take turns: one shape, then the other side
with the same shape. The last two rows embed the cells of the sample notebooks: sorted into batches of one shape as
the embedders do it, and in the order in which they come, each batch padded to its longest text. Both sides use as many
threads as there are processors: `taskset -c 0 python benchmarks/embed.py` compares one thread with one.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SHAPES = {"1x16": (1, 16), "8x128": (8, 128), "4x512": (4, 512)}
UNSORTED_BATCH = 16
ROOT = Path(__file__).parents[1]


def main() -> None:
    """Print a table of texts a second, ratios, padding and peak memory."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", choices=list(MODELS), default="nomic")
    options.add_argument("--rounds", type=int, default=3, help="times that each shape is measured; the best counts")
    options.add_argument("--texts", type=int, default=48, help="cells of the sample notebooks")
    options.add_argument("--rows", nargs="+", choices=[*SHAPES, "cells"], default=[*SHAPES, "cells"])
    options.add_argument("--without-torch", action="store_true", help="measure only our side")
    options.add_argument("--worker", choices=list(WORKERS), help=argparse.SUPPRESS)
    options.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.worker:
        serve(chosen.worker, chosen.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        MODELS[chosen.model](Path(folder))
        sides = [Side("mlx", folder)] + ([] if chosen.without_torch else [Side("torch", folder)])
        try:
            measure(sides, chosen.rounds, cell_lengths(chosen.texts), chosen.rows)
        finally:
            for side in sides:
                side.close()


def measure(sides: list[Side], rounds: int, cells: list[int], rows: list[str]) -> None:
    """Measure these rows on every side, in turns, and print the table."""
    in_order = [cells[start : start + UNSORTED_BATCH] for start in range(0, len(cells), UNSORTED_BATCH)]
    unsorted = [(some, max(some)) for some in in_order]
    shapes = [SHAPES[row] for row in rows if row in SHAPES]
    works = [(f"{texts} x {tokens} tokens", [tokens] * texts, None) for texts, tokens in shapes]
    if "cells" in rows:
        works += [(f"{len(cells)} cells, bucketed", cells, None), (f"{len(cells)} cells, unsorted", cells, unsorted)]
    print(f"{'; '.join(side.about() for side in sides)}\n")
    head = f"{'':24s}{'padding':>8s}" + "".join(f"{side.name + ' texts/s':>16s}" for side in sides)
    print(head + (f"{'mlx / torch':>13s}" if len(sides) > 1 else ""))
    speeds = []
    for name, lengths, given in works:
        batches = [given or side.bucketed(lengths) for side in sides]
        padding = 1 - sum(lengths) / sum(len(some) * tokens for some, tokens in batches[0])
        turns = ([side.run(some) for side, some in zip(sides, batches, strict=True)] for _ in range(rounds))
        best = [min(seconds) for seconds in zip(*turns, strict=True)]
        speeds.append(len(lengths) / best[0])
        line = f"{name:24s}{padding:8.1%}" + "".join(f"{len(lengths) / seconds:16.2f}" for seconds in best)
        print(line + (f"{best[1] / best[0]:12.2f}x" if len(best) > 1 else ""), flush=True)
    if "cells" in rows:
        print(f"\nbucketed / unsorted: {speeds[-2] / speeds[-1]:.2f}x")
    print("peak memory: " + ", ".join(f"{side.name} {side.peak() / 2**20:,.0f} MiB" for side in sides))


def cell_lengths(count: int) -> list[int]:
    """Return the tokens of cells of the sample notebooks, with the prefix, in their order, at most 512."""
    from jupyter_memory.embedders.tokenizer.bundled import bundled_tokenizer

    cells = []
    for path in sorted((ROOT / "notebooks" / "samples").rglob("*.ipynb")):
        cells += ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["source"]]
    tokenizer = bundled_tokenizer()
    chosen = (cells * (1 + count // len(cells)))[:count]
    return [min(512, 6 + len(tokenizer.ids(cell))) for cell in chosen]


def make_nomic(folder: Path) -> None:
    """Write a model of nomic's size with seeded weights, under the hub's names."""
    weights = {
        "embeddings.word_embeddings.weight": values(30_528, 768),
        "embeddings.token_type_embeddings.weight": values(2, 768),
        "emb_ln.weight": values(768) + 1,
        "emb_ln.bias": values(768),
    }
    for number in range(12):
        layer = f"encoder.layers.{number}"
        for name, shape in (
            ("attn.Wqkv", (2304, 768)),
            ("attn.out_proj", (768, 768)),
            ("mlp.fc11", (3072, 768)),
            ("mlp.fc12", (3072, 768)),
            ("mlp.fc2", (768, 3072)),
        ):
            weights[f"{layer}.{name}.weight"] = values(*shape)
        for norm in ("norm1", "norm2"):
            weights |= {f"{layer}.{norm}.weight": values(768) + 1, f"{layer}.{norm}.bias": values(768)}
    save(folder, weights, {"model_type": "nomic_bert", "torch_dtype": "float32"})


def make_minilm(folder: Path) -> None:
    """Write a model of all-MiniLM-L6-v2's size with seeded weights, under transformers' names."""
    weights = {
        "embeddings.word_embeddings.weight": values(30_522, 384),
        "embeddings.position_embeddings.weight": values(512, 384),
        "embeddings.token_type_embeddings.weight": values(2, 384),
    }
    norms = ["embeddings"]
    for number in range(6):
        layer = f"encoder.layer.{number}"
        norms += [f"{layer}.attention.output", f"{layer}.output"]
        for name, shape in (
            *((f"attention.self.{part}", (384, 384)) for part in ("query", "key", "value")),
            ("attention.output.dense", (384, 384)),
            ("intermediate.dense", (1536, 384)),
            ("output.dense", (384, 1536)),
        ):
            weights |= {f"{layer}.{name}.weight": values(*shape), f"{layer}.{name}.bias": values(shape[0])}
    for norm in norms:
        weights |= {f"{norm}.LayerNorm.weight": values(384) + 1, f"{norm}.LayerNorm.bias": values(384)}
    sizes = {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536, "hidden_act": "gelu"}
    save(folder, weights, {"model_type": "bert", "torch_dtype": "float32", "vocab_size": 30_522, **sizes})


def values(*shape: int):
    """Return seeded values."""
    from jupyter_memory.embedders.runtime.mlx import mx

    return mx.random.normal(shape, key=mx.random.key(sum(shape))) * 0.02


def save(folder: Path, weights, config: dict[str, object]) -> None:
    """Write a model's files."""
    from jupyter_memory.embedders.runtime.mlx import mx

    mx.save_safetensors(str(folder / "model.safetensors"), weights)
    (folder / "config.json").write_text(json.dumps({"layer_norm_eps": 1e-12, **config}))


class Side:
    """A process that embeds with one library when it is told to."""

    def __init__(self, name: str, folder: str) -> None:
        self.name = name
        command = [sys.executable, __file__, "--worker", name, "--folder", folder]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def about(self) -> str:
        """Return what runs there."""
        return self._ask({"about": True})

    def run(self, batches: list[tuple[list[int], int]]) -> float:
        """Return the seconds for these batches: the lengths of their texts, and the padded length."""
        return float(self._ask({"batches": batches}))

    def bucketed(self, lengths: list[int]) -> list[tuple[list[int], int]]:
        """Return the batches that the embedder makes of texts of these lengths."""
        return [(lengths, tokens) for lengths, tokens in json.loads(self._ask({"bucket": lengths}))]

    def peak(self) -> float:
        """Return the largest resident size in bytes."""
        return float(self._ask({"peak": True}))

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.wait()

    def _ask(self, question: dict[str, object]) -> str:
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if not answer:
            raise SystemExit(f"The {self.name} side ended early; its message is above.")
        return json.loads(answer)


def serve(name: str, folder: Path) -> None:
    """Answer questions from stdin, one a line."""
    about, forward = WORKERS[name](folder)
    random = np.random.default_rng(3)
    # The first run makes what later ones use again.
    forward([random.integers(1_000, 30_000, 16).tolist()], [((0,), 16)])
    for line in sys.stdin:
        question = json.loads(line)
        if "about" in question:
            answer: str | float = about
        elif "bucket" in question:
            answer = json.dumps(bucket(question["bucket"], name))
        elif "peak" in question:
            # Kilobytes on Linux, bytes on macOS.
            answer = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        else:
            batches, token_ids = [], []
            for lengths, tokens in question["batches"]:
                batches.append((range(len(token_ids), len(token_ids) + len(lengths)), tokens))
                token_ids += [random.integers(1_000, 30_000, length).tolist() for length in lengths]
            start = time.perf_counter()
            forward(token_ids, batches)
            answer = time.perf_counter() - start
        print(json.dumps(answer), flush=True)


def bucket(lengths: list[int], name: str) -> list[tuple[list[int], int]]:
    """Return lengths and padded length of the embedder's batches; torch likes larger ones than MLX's CPU backend."""
    from jupyter_memory.embedders.runtime.batching import batches, slots

    budget = max(2_048, slots()) if name == "torch" else slots()
    return [([lengths[row] for row in batch.rows], batch.tokens) for batch in batches(lengths, budget)]


def on_mlx(folder: Path):
    """Load our model."""
    from jupyter_memory.embedders.bert.pooling import mean_vectors
    from jupyter_memory.embedders.minilm.folder import load_bert
    from jupyter_memory.embedders.nomic.folder import load_nomic_bert
    from jupyter_memory.embedders.runtime.batching import Batch
    from jupyter_memory.embedders.runtime.mlx import BLAS, mx

    kind = json.loads((folder / "config.json").read_text())["model_type"]
    model = (load_bert if kind == "bert" else load_nomic_bert)(folder)
    about = f"mlx {mx.__version__} on {mx.default_device()}, BLAS: {BLAS.name}{BLAS.notice}"

    def forward(token_ids: list[list[int]], batches: list[tuple[range, int]]) -> None:
        grouped = [Batch(tuple(rows), tokens) for rows, tokens in batches]
        for _ in mean_vectors(model, token_ids, grouped, lambda means: means):
            pass

    return about, forward


def on_torch(folder: Path):
    """Load the same weights with transformers."""
    import torch
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    device = "mps" if torch.backends.mps.is_available() else "cpu"
    dtype = torch.float16 if device == "mps" else torch.float32
    # Else it takes as many as the machine has, also where only some may be used.
    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())
    model = transformers.AutoModel.from_pretrained(folder, dtype=dtype).eval().to(device)

    def forward(token_ids: list[list[int]], batches: list[tuple[range, int]]) -> None:
        for rows, tokens in batches:
            ids = torch.tensor([token_ids[row] + [0] * (tokens - len(token_ids[row])) for row in rows], device=device)
            shown = (torch.arange(tokens) < torch.tensor([[len(token_ids[row])] for row in rows])).to(device)
            with torch.inference_mode():
                hidden = model(input_ids=ids, attention_mask=shown.long()).last_hidden_state
                weights = shown[..., None].to(hidden.dtype)
                ((hidden * weights).sum(dim=1) / weights.sum(dim=1)).float().cpu()

    return f"torch {torch.__version__} on {device}, {torch.get_num_threads()} threads", forward


MODELS = {"nomic": make_nomic, "minilm": make_minilm}
WORKERS = {"mlx": on_mlx, "torch": on_torch}

if __name__ == "__main__":
    main()
