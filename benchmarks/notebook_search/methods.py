"""The searches that are compared. Each is given the same cells, and yields what answers a question.

One of your own: a context manager like these, and a line in `METHODS`.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import which
from subprocess import run

import nbformat

from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.evaluation import JudgedSet, beds

LIMIT = 10
# What nobody would type into grep.
FILLER = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be but by can could did do does for from had has have how i if in into is it its me my "
        "no not of on one only or our out so some something than that the their them then there these thing this those "
        "to was we were what when where which while who whose why will with without would you",
    )
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell under the name that judgements give it, `notebook#index`, with its source and the text of its outputs."""

    name: str
    notebook: str
    code: bool
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a method may read; ``scratch`` is a folder for its index."""

    judged: JudgedSet
    notebooks: Path
    cells: Sequence[Cell]
    scratch: Path


@dataclass(frozen=True, slots=True)
class Found:
    """The names of cells, best first, and what the search says of them: strong, weak or none.

    Most say nothing of what they show, so all of it counts as strong.
    """

    names: Sequence[str]
    doubt: str | None = None

    @property
    def verdict(self) -> str:
        return self.doubt or ("strong" if self.names else "none")


Search = Callable[[str], Found]
Method = Callable[[Corpus], AbstractContextManager[Search]]


class Unavailable(Exception):
    """Why a method cannot be measured here."""


def read_cells(notebooks: Path) -> list[Cell]:
    """Return the cells of a folder's notebooks, without empty ones."""
    found = []
    for path in sorted(notebooks.glob("*.ipynb")):
        for place, cell in enumerate(nbformat.reader.reads(path.read_text(encoding="utf-8"))["cells"]):
            outputs = [text_of(output) for output in cell.get("outputs", ())]
            text = "\n".join(part for part in ("".join(cell["source"]), *outputs) if part.strip())
            if text:
                found.append(Cell(f"{path.name}#{place}", path.stem, cell["cell_type"] == "code", text))
    return found


def text_of(output: dict) -> str:
    """Return what an output says as text."""
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    text = output["text"] if output["output_type"] == "stream" else output.get("data", {}).get("text/plain", "")
    return "".join(text)


@contextmanager
def ours(corpus: Corpus, profile: str) -> Iterator[Search]:
    """A profile of jupyter-memory with the bundled model; `auto` says itself when nothing was found."""
    with beds(corpus.judged, "static", notebooks=corpus.notebooks, work=corpus.scratch) as opened:
        [bed] = opened.values()

        def search(question: str) -> Found:
            answer = bed.store.hits(question, limit=LIMIT, profile=profile)
            names = (bed.documents.get(hit.memory.id, hit.memory.id) for hit in answer.hits)
            return Found(list(dict.fromkeys(names)), answer.verdict)

        yield search


@contextmanager
def ripgrep(corpus: Corpus) -> Iterator[Search]:
    """The cells that hold most of the question's words, as ripgrep finds them, or grep where there is no ripgrep."""
    folder, names = corpus.scratch / "texts", [cell.name for cell in corpus.cells]
    folder.mkdir(exist_ok=True)
    for number, cell in enumerate(corpus.cells):
        (folder / f"{number}.txt").write_text(cell.text, encoding="utf-8")
    options = ["--only-matching", "--ignore-case", "--fixed-strings", "--with-filename", "--color=never"]
    command = ["rg", "--no-heading", "--no-line-number"] if which("rg") else ["grep", "--recursive"]

    def search(question: str) -> Found:
        words = dict.fromkeys(word for word in re.findall(r"\w+", question.lower()) if word not in FILLER)
        if not words:
            return Found(())
        asked = [part for word in words for part in ("-e", word)]
        lines = run([*command, *options, *asked, "."], cwd=folder, capture_output=True, text=True).stdout.splitlines()
        matches: dict[int, Counter[str]] = {}
        for line in lines:
            path, _, word = line.partition(":")
            matches.setdefault(int(Path(path).stem), Counter())[word.lower()] += 1
        best = sorted(matches, key=lambda one: (-len(matches[one]), -matches[one].total(), one))[:LIMIT]
        return Found([names[one] for one in best])

    yield search


@contextmanager
def fts5(corpus: Corpus) -> Iterator[Search]:
    """SQLite's full-text index alone: any of the words, ranked by BM25."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("create virtual table cells using fts5(notebook, text, tokenize = 'porter unicode61')")
    except sqlite3.OperationalError as error:
        raise Unavailable(str(error)) from error
    connection.executemany("insert into cells values (?, ?)", [(cell.notebook, cell.text) for cell in corpus.cells])

    def search(question: str) -> Found:
        asked = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question.lower()))
        found = connection.execute("select rowid from cells where cells match ? order by rank limit ?", (asked, LIMIT))
        return Found([corpus.cells[row - 1].name for (row,) in found])

    yield search
    connection.close()


@contextmanager
def lancedb(corpus: Corpus) -> Iterator[Search]:
    """LanceDB's hybrid search with RRFReranker, every vector compared; the vectors are those of our bundled model."""
    try:
        import lancedb
        import pyarrow
        from lancedb.index import FTS
        from lancedb.query import MatchQuery
        from lancedb.rerankers import RRFReranker
    except ImportError as error:
        raise Unavailable(f"{error}: pip install -r benchmarks/requirements.txt") from error
    embedder = StaticEmbedder()
    texts = [f"{cell.notebook}\n{cell.text}" for cell in corpus.cells]
    vectors = embedder.embed_documents(texts)
    columns = {
        "name": [cell.name for cell in corpus.cells],
        "text": texts,
        "vector": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.reshape(-1)), vectors.shape[1]),
    }
    table = lancedb.connect(corpus.scratch / "lance").create_table("cells", pyarrow.table(columns), mode="overwrite")
    table.create_index("text", config=FTS())
    table.wait_for_index(["text_idx"])
    reranker = RRFReranker()

    def search(question: str) -> Found:
        asked = table.search(query_type="hybrid").vector(embedder.embed_query(question).reshape(-1))
        rows = asked.text(MatchQuery(question, "text")).distance_type("cosine").rerank(reranker).limit(LIMIT).to_list()
        return Found([row["name"] for row in rows])

    yield search


@contextmanager
def semble(corpus: Corpus, model: str | None = None) -> Iterator[Search]:
    """semble with its own model, each cell a file of Python or Markdown."""
    try:
        from semble import ContentType, SembleIndex
    except ImportError as error:
        raise Unavailable(f"{error}: pip install semble") from error
    folder = corpus.scratch / "files"
    folder.mkdir(exist_ok=True)
    names = {}
    for number, cell in enumerate(corpus.cells):
        path = folder / f"{number}.{'py' if cell.code else 'md'}"
        path.write_text(cell.text, encoding="utf-8")
        names[path.name] = cell.name
    try:
        index = SembleIndex.from_path(folder, content=(ContentType.CODE, ContentType.DOCS), model_path=model)
    # What fails without a network differs between versions of huggingface_hub.
    except Exception as error:
        raise Unavailable(f"its model cannot be loaded ({type(error).__name__})") from error

    def search(question: str) -> Found:
        # A long cell has several chunks.
        found = index.search(question, top_k=3 * LIMIT)
        return Found(list(dict.fromkeys(names[Path(one.chunk.file_path).name] for one in found))[:LIMIT])

    yield search


METHODS: dict[str, Method] = {
    "ripgrep" if which("rg") else "grep": ripgrep,
    "SQLite FTS5": fts5,
    "LanceDB": lancedb,
    "semble": semble,
    "covalence": partial(ours, profile="covalence"),
    "auto": partial(ours, profile="auto"),
}
