"""A tool call over stdio against the same search in Python, and what a call costs before and after it.

    python benchmarks/mcp_calls.py [--texts 100000] [--questions 200] [--data FOLDER] [--work FOLDER]

A server is started as an agent starts it, and asked by the SDK's own client. Its calls and `MemoryStore.hits` with as
many hits take turns, question by question, so that whatever else the machine does meets both alike. A time is that of a
whole call: for the server from the arguments to the checked result in the client, for Python from the question to the
hits. The store and its texts are those of `benchmarks/search.py`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import numpy as np
from corpus import add_options, read_corpus
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from search import build_ours, made

from jupyter_memory import MemoryStore
from jupyter_memory.text import estimated_tokens

_WARM_UP = 30
_LIMIT = 10


async def measure(path: Path, questions: Sequence[str], options: Sequence[str]) -> dict[str, list[float]]:
    """Return the milliseconds of every question by way of asking; the first questions warm up and do not count."""
    command = [*("-m", "jupyter_memory", "--store", str(path), "mcp"), *options]
    server = StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))
    taken: dict[str, list[float]] = {"stdio": [], "Python": [], "tokens": [], "start": [], "first": []}
    begun = time.perf_counter()
    with MemoryStore(path) as store:
        async with Client(server) as client:
            taken["start"].append((time.perf_counter() - begun) * 1000)
            await anyio.sleep(2)  # an agent reads its instructions meanwhile
            # With its first result the client loads what checks it against the schema, which takes seconds.
            await client.call_tool("memory_status", {})
            for place, question in enumerate(questions):
                begun = time.perf_counter()
                result = await client.call_tool("memory_search", {"query": question, "limit": _LIMIT})
                spent = (time.perf_counter() - begun) * 1000
                if place == 0:
                    taken["first"].append(spent)
                begun = time.perf_counter()
                store.hits(question, limit=_LIMIT)
                searched = (time.perf_counter() - begun) * 1000
                if place >= _WARM_UP:
                    taken["stdio"].append(spent)
                    taken["Python"].append(searched)
                    taken["tokens"].append(estimated_tokens(text_of(result)))
    return taken


def text_of(result: Any) -> str:
    """Return the text of a result."""
    return str(result.content[0].text)


def report(taken: dict[str, list[float]]) -> None:
    """Print the quantiles and their ratios."""
    stdio, python = (np.quantile(taken[name], (0.5, 0.95)) for name in ("stdio", "Python"))
    print(f"start {taken['start'][0]:.0f} ms, first call {taken['first'][0]:.0f} ms")
    print(f"{'':8} {'p50 ms':>8} {'p95 ms':>8}")
    for name, (p50, p95) in (("stdio", stdio), ("Python", python)):
        print(f"{name:8} {p50:8.1f} {p95:8.1f}")
    print(f"stdio / Python: p50 {stdio[0] / python[0]:.2f}, p95 {stdio[1] / python[1]:.2f}")
    print(f"tokens of an answer: median {np.median(taken['tokens']):.0f}, most {max(taken['tokens']):.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--options", default="", help="of `jupyter-memory mcp`, such as --path=/projects")
    add_options(parser)
    options = parser.parse_args()
    corpus = read_corpus(options.texts, options.questions + _WARM_UP, options.data, options.work)
    name = f"ours-{options.texts}-{'judged' if options.data else 'code'}.sqlite"
    path = made(options.work / name, lambda path: build_ours(path, list(corpus.records)))
    print(f"{options.texts:,} texts, {options.questions} questions, {os.cpu_count()} CPUs")
    report(anyio.run(measure, path, corpus.questions, options.options.split()))


if __name__ == "__main__":
    main()
