"""Does what answers a question reach an agent with few tokens? The MCP tools against grep; no language model is asked.

    python benchmarks/agent.py FOLDER... [--notebooks FOLDER] [--work FOLDER] [--limit 4]

Each FOLDER is a judged set. For every question, two simple agents read until the answer has come:

- **memory** calls `memory_search` with the question, through the SDK's own client. It reads the hits of a page, the
  best first: short texts are in the page, of the others `memory_get` gives the part around the question's words. Then
  it asks for the next page, until 2,000 tokens are used up.
- **grep** reads whole files, those with the most of the question's words first, then those with the most matches,
  until 200,000 tokens are used up. Words are looked for without their case, also within other words; stop words are
  left out. A file is a notebook (the sources and text outputs of its cells, without the JSON around them), the sections
  of one page, or a document of the set. Python counts the matches, since ripgrep is not on every machine.

An answer has come when a judged document has been read whole. Where the set tells the answer (the field `answer` of
`queries.jsonl`), a part of a document suffices if it has as many words of the answer as the ``PASSAGE`` successive
words of the document that have the most. Words of the question and stop words do not count.

Tokens are those of `estimated_tokens`, of what the tools return or the files hold; those of a question without an
answer are all that the agent spent. Printed by set, for both agents: the share of questions whose answer came, and the
median of the tokens.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import anyio
from corpus import WORK
from measure import lacks, parser_of, table

from jupyter_memory.evaluation import Bed, JudgedSet, Question, beds, read_set
from jupyter_memory.text import STOP_WORDS, estimated_tokens
from jupyter_memory.types import Memory

BUDGET, GREP_BUDGET = 2_000, 200_000
LEAST = 200
PASSAGE = 150
WORD = re.compile(r"\w+")
BORDER = re.compile(r"</?stored-\w+>")

# Whether an agent read the answer, and the tokens that it spent.
Reading = tuple[bool, float]


@dataclass(frozen=True)
class Wanted:
    """What answers a question: the texts of its judged documents by id, and the words of the answer if it is told."""

    texts: Mapping[str, str]
    answer: frozenset[str]

    def is_in(self, read: Mapping[str, Sequence[tuple[int, int]]]) -> bool:
        """Return whether it has been read, given which stretches of which documents were."""
        for name, text in self.texts.items():
            stretches = read.get(name, ())
            seen = {place for start, end in stretches for place in range(start, end)}
            if len(seen) >= len(text):
                return True
            said = WORD.findall(text.lower())
            last = max(1, len(said) - PASSAGE + 1)
            most = max(len(self.answer & set(said[at : at + PASSAGE])) for at in range(0, last, 10))
            shown = self.answer & words(" ".join(text[start:end] for start, end in stretches))
            if shown and len(shown) >= most:
                return True
        return False


@dataclass(frozen=True)
class Corpus:
    """The memories of a store by the judged document that each is, and the files that grep reads, by name."""

    bed: Bed
    memories: Mapping[str, Memory]
    files: Mapping[str, Sequence[str]]

    def wanted(self, question: Question, answer: str) -> Wanted:
        """Return what answers a question."""
        texts = {name: self.memories[name].text for name in question.grades if name in self.memories}
        return Wanted(texts, words(answer) - words(question.text))


def words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without those that say nothing."""
    return frozenset(WORD.findall(text.lower())) - STOP_WORDS


def corpus_of(bed: Bed) -> Corpus:
    """Return what a store holds; a file is a notebook, or the sections of a page, in their order."""
    memories: dict[str, Memory] = {}
    files: dict[str, list[str]] = {}
    held = [hit.memory for hit in bed.store.browsed(limit=10**9).hits]
    for memory in sorted(held, key=lambda one: (one.source, one.metadata.get("index", 0))):
        name = bed.documents[memory.id]
        memories[name] = memory
        files.setdefault(memory.source.partition("#")[0], []).append(name)
    return Corpus(bed, memories, files)


def by_grep(corpus: Corpus, question: Question, wanted: Wanted) -> Reading:
    """Read the files that hold words of the question whole, until the answer has come."""
    asked = words(question.text)
    found = []
    for file, names in corpus.files.items():
        text = "\n".join(corpus.memories[name].text for name in names)
        counts = [text.lower().count(word) for word in asked]
        if any(counts):
            found.append((-sum(map(bool, counts)), -sum(counts), file, text))
    spent = 0
    for _, _, file, text in sorted(found):
        spent += estimated_tokens(text)
        if spent > GREP_BUDGET:
            return False, GREP_BUDGET
        if not wanted.texts.keys().isdisjoint(corpus.files[file]):
            return True, spent
    return False, spent


async def by_memory(client: Any, corpus: Corpus, question: Question, wanted: Wanted, limit: int) -> Reading:
    """Search and read page by page, the best first, until the answer has come or the budget is used up."""
    read: dict[str, list[tuple[int, int]]] = {}
    asked: dict[str, object] = {"query": question.text}
    spent = 0
    while BUDGET - spent >= LEAST:
        page = await called(client, "memory_search", **asked, limit=limit, max_tokens=BUDGET - spent)
        spent += page["tokens"]
        for hit in page["hits"]:
            if "text" in hit:
                name = corpus.bed.documents[hit["id"]]
                read[name] = [(0, len(corpus.memories[name].text))]
        for hit in page["hits"]:
            if wanted.is_in(read) or BUDGET - spent < LEAST:
                break
            if "text" not in hit:
                room = BUDGET - spent
                got = await called(client, "memory_get", ids=[hit["id"]], around=question.text, max_tokens=room)
                spent += got["tokens"]
                for one in got["memories"]:
                    name = corpus.bed.documents[one["id"]]
                    read.setdefault(name, []).extend(stretches_of(corpus.memories[name].text, one))
        if wanted.is_in(read):
            return True, spent
        if "next" not in page:
            break
        asked = {"cursor": page["next"]}
    return False, spent


async def called(client: Any, tool: str, **arguments: object) -> dict[str, Any]:
    """Return the typed values that a tool answers with."""
    result = await client.call_tool(tool, arguments)
    if result.is_error:  # the tokens that are left are too few for any text
        return {"tokens": estimated_tokens(str(result.content)), "hits": [], "memories": []}
    return dict(result.structured_content or {})


def stretches_of(text: str, got: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield which stretches of a text an agent was told."""
    if "length" not in got:
        yield 0, len(text)
        return
    at = got["start"]
    for part in BORDER.sub("", got["text"]).split("\n[…]\n"):
        at = text.index(part, at)
        yield at, at + len(part)


async def measured(
    judged: JudgedSet, answers: Mapping[str, str], filled: Mapping[str, Bed], limit: int
) -> list[tuple[Reading, Reading]]:
    """Answer every question of a set with both agents."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    rows = []
    for group, bed in filled.items():
        corpus = corpus_of(bed)
        command = ["-m", "jupyter_memory", "--store", str(bed.store.path), "mcp", "--read-only"]
        async with Client(StdioServerParameters(command=sys.executable, args=command, env=dict(os.environ))) as client:
            for question in (one for one in judged.questions if one.group == group):
                wanted = corpus.wanted(question, answers.get(question.id, ""))
                mine = await by_memory(client, corpus, question, wanted, limit)
                rows.append((mine, by_grep(corpus, question, wanted)))
    return rows


def answers_in(folder: Path) -> dict[str, str]:
    """Return the answers that a set tells in words, by question."""
    lines = map(json.loads, (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines())
    return {str(line["_id"]): str(line.get("answer") or "") for line in lines}


def report(name: str, rows: Sequence[tuple[Reading, Reading]]) -> tuple[str, ...]:
    """Return the row of a set."""
    cells, tokens = [], []
    for side in zip(*rows, strict=True):
        answered, spent = zip(*side, strict=True)
        tokens.append(median(spent))
        cells += [f"{sum(answered) / len(side):.3f}", f"{tokens[-1]:.0f}"]
    return (name, str(len(rows)), *cells, f"{tokens[0] / max(tokens[1], 1):.1%}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--notebooks", type=Path, help="the notebooks whose cells a set judges")
    parser.add_argument("--work", type=Path, default=WORK, help="where stores are kept")
    parser.add_argument("--limit", type=int, default=4, help="hits of a page")
    options = parser.parse_args()
    if lacks("'jupyter-memory[mcp]'", "mcp"):
        return
    options.work.mkdir(parents=True, exist_ok=True)
    rows = [("set", "questions", "memory", "tokens", "grep", "tokens", "quotient")]
    for folder in options.folders:
        judged = read_set(folder, options.notebooks)
        with beds(judged, "static", notebooks=options.notebooks, work=options.work) as filled:
            found = anyio.run(measured, judged, answers_in(folder), filled, options.limit)
        rows.append(report(judged.name, found))
    table(rows)


if __name__ == "__main__":
    main()
