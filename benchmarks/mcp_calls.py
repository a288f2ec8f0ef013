"""A tool call over stdio against the same search in Python, and what a call costs before and after it.

    python benchmarks/mcp_calls.py [--texts 100000] [--questions 200] [--data FOLDER] [--work FOLDER]

A server is started as an agent starts it, and asked by the SDK's own client. Its calls and `MemoryStore.hits` with as
many hits take turns, question by question, so that whatever else the machine does meets both alike. A time is that of a
whole call: for the server from the arguments to the checked result in the client, for Python from the question to the
hits. The store and its texts are those of `benchmarks/search.py`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
import numpy as np
from corpus import add_options, read_corpus
from measure import agent_of, compare, lacks, parser_of, timed, warm

from jupyter_memory import MemoryStore
from jupyter_memory.text import estimated_tokens

LIMIT = 10


async def measure(path: Path, questions: Sequence[str], options: Sequence[str]) -> None:
    """Ask both, in turn, and print the figures."""
    spent: dict[str, list[float]] = {"Python": [], "stdio": []}
    tokens = []
    begun = time.perf_counter()
    with MemoryStore(path) as store:
        async with agent_of(path, *options) as client:
            start = time.perf_counter() - begun
            await anyio.sleep(2)  # an agent reads its instructions meanwhile
            # With its first result the client loads what checks it against the schema, which takes seconds.
            await client.call_tool("memory_status", {})
            for question in questions:
                begun = time.perf_counter()
                result = await client.call_tool("memory_search", {"query": question, "limit": LIMIT})
                spent["stdio"].append(time.perf_counter() - begun)
                spent["Python"].append(timed(lambda question=question: store.hits(question, limit=LIMIT)))
                tokens.append(estimated_tokens(str(result.content[0].text)))
    print(f"start {start * 1000:.0f} ms, first call {spent['stdio'][0] * 1000:.0f} ms; ratios to Python")
    compare(spent, "Python")
    print(f"tokens of an answer: median {np.median(warm(tokens)):.0f}, most {max(tokens):.0f}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--options", default="", help="of `jupyter-memory mcp`, such as --path=/projects")
    add_options(parser, texts=100_000, questions=200)
    options = parser.parse_args()
    if lacks("'jupyter-memory[mcp]'", "mcp"):
        return
    corpus = read_corpus(options, options.texts, options.questions)
    print(f"{len(corpus.texts):,} texts, {options.questions} questions, {os.cpu_count()} CPUs")
    anyio.run(measure, corpus.store(), corpus.questions, options.options.split())


if __name__ == "__main__":
    main()
