"""Real texts and questions to measure with: functions and classes of the Python that is installed here.

A text is a function or a class with its docstring, cut after 40 lines or 1,500 characters; its title is its name. A
question is the first line of a docstring. Texts come in the order of their hashes, so that a smaller corpus is the
beginning of a larger one. --data holds judged sets (`*/corpus.jsonl` {title, text}, `*/queries.jsonl` {text}), whose
texts and questions are mixed in; --code names another folder of Python. What was read is kept in --work, since reading
takes a minute or two, and so are the stores that are built of it. Where more texts are wanted than there are, each
further one takes its lines in turn from two of them, and has its long words renamed: frequent words stay as frequent,
and rare ones as rare.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import shutil
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice, zip_longest
from pathlib import Path

import numpy as np
from measure import WARM_UP, timed

from jupyter_memory import MemoryStore
from jupyter_memory.embedders import StaticEmbedder

WORK = Path(tempfile.gettempdir()) / "jupyter-memory-benchmarks"
LINES, CHARACTERS = 40, 1500
SHORTEST_TEXT, SHORTEST_QUESTION = 80, 30
MOST_TEXTS, MOST_QUESTIONS = 200_000, 2_000

_LONG_WORD = re.compile(r"[a-zA-Z]{12,}")


@dataclass(frozen=True)
class Text:
    """What is put into a store; ``question`` is the first line of its docstring, or empty."""

    title: str
    text: str
    question: str = ""


@dataclass(frozen=True)
class Corpus:
    """Texts, questions that some of all the texts answer, and where stores of these texts are kept."""

    texts: list[Text]
    questions: list[str]
    work: Path
    name: str

    @property
    def records(self) -> list[dict[str, str]]:
        """Return the texts as ``MemoryStore.add_many`` takes them."""
        return [{"title": text.title, "text": text.text} for text in self.texts]

    def store(self) -> Path:
        """Return the file of a store of these texts with the static model's vectors."""

        def build(path: Path) -> None:
            with MemoryStore(path, embedder=StaticEmbedder()) as store:
                store.add_many(self.records, progress=False)

        return made(self.work / f"ours-{self.name}.sqlite", build)


class Prepared:
    """The static model, with the vectors of the questions at hand."""

    # As the model itself: its vectors are not written into the store's cache of questions.
    quick = StaticEmbedder.quick

    def __init__(self, questions: Sequence[str], threshold: float | None = None) -> None:
        self._model = StaticEmbedder()
        self.vectors = dict(zip(questions, self._model.embed_documents(questions), strict=True))
        self.name, self.dimensions, self.fingerprint = self._model.name, self._model.dimensions, self._model.fingerprint
        self.threshold = self._model.threshold if threshold is None else threshold

    def embed_documents(self, texts: Sequence[str], /) -> np.ndarray:
        return self._model.embed_documents(texts)

    def embed_query(self, text: str, /) -> np.ndarray:
        # What is searched for may be shorter than the question: a word such as -arch is left out.
        return self.vectors[text] if text in self.vectors else self._model.embed_documents([text])[0]


def add_options(parser: argparse.ArgumentParser, **numbers: int) -> None:
    """Add the options that say where texts come from, and one for each number, such as how many texts."""
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help="(%(default)s)")
    parser.add_argument("--data", type=Path, help="a folder of judged sets, mixed in")
    parser.add_argument("--code", type=Path, help="a folder of Python, instead of what is installed")
    parser.add_argument("--work", type=Path, default=WORK, help="where corpus and stores are kept (%(default)s)")


def read_corpus(options: argparse.Namespace, texts: int, questions: int = 0) -> Corpus:
    """Return so many texts, and questions with those that warm up; say so if there are fewer."""
    asked = questions + min(WARM_UP, questions)
    installed = dict.fromkeys(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib"))
    folders = [options.code] if options.code else [Path(name) for name in installed]
    source = hashed(repr(([*map(str, folders)], options.data, __doc__)))[:12]
    kept = options.work / f"corpus-{source}.json"
    if not kept.exists():
        options.work.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(_read(folders, options.data)), encoding="utf-8")
    found = json.loads(kept.read_text(encoding="utf-8"))
    if len(found["questions"]) < asked:
        print(f"Only {len(found['questions']):,} questions could be had, not {asked:,}.")
    held = [Text(*text) for text in found["texts"][:texts]]
    held += islice(_mixed(held), texts - len(held))
    return Corpus(held, found["questions"][:asked], options.work, f"{len(held)}-{source}")


def made(path: Path, build: Callable[[Path], object]) -> Path:
    """Return a path that ``build`` has filled, now or in an earlier run."""
    if not path.exists():
        part = path.with_name("part-" + path.name)
        for left in part.parent.glob(part.name + "*"):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        seconds = timed(lambda: build(part))
        part.rename(path)
        print(f"built {path.name} in {seconds:.0f} s", file=sys.stderr)
    return path


def hashed(text: str) -> str:
    """Return a hash of a text as letters and digits."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _read(folders: Iterable[Path], data: Path | None) -> dict[str, list]:
    judged, other = [], []
    if data is not None:
        lines = {
            name: [json.loads(line) for path in sorted(data.glob(f"*/{name}.jsonl")) for line in path.open("rb")]
            for name in ("corpus", "queries")
        }
        judged = [Text((one.get("title") or "").strip(), one["text"].strip()[:CHARACTERS]) for one in lines["corpus"]]
        judged = [text for text in judged if len(text.text) >= SHORTEST_TEXT]
        other = sorted({one["text"].strip() for one in lines["queries"]}, key=hashed)
    code = chain.from_iterable(map(_definitions, folders))
    texts = sorted({text.text: text for text in chain(judged, code)}.values(), key=lambda text: hashed(text.text))
    # Another order than that of the texts, so that a question is seldom answered word for word by a small corpus.
    asked = sorted({text.question for text in texts if len(text.question) >= SHORTEST_QUESTION}, key=hashed)
    mixed = chain.from_iterable(zip_longest(asked[:MOST_QUESTIONS], other))
    return {
        "texts": [(text.title, text.text) for text in texts[:MOST_TEXTS]],
        "questions": [one for one in mixed if one is not None],
    }


def _mixed(texts: Sequence[Text]) -> Iterator[Text]:
    for turn in count(1):
        for number, one in enumerate(texts):
            other = texts[(number * 7 + turn) % len(texts)]
            pairs = zip_longest(one.text.splitlines(), other.text.splitlines(), fillvalue="")
            mixed = "\n".join(pair[(turn + line) % 2] for line, pair in enumerate(pairs))
            yield Text(one.title, _LONG_WORD.sub(rf"\g<0>z{turn}", mixed))


def _definitions(folder: Path) -> Iterator[Text]:
    for path in sorted(folder.rglob("*.py")):
        if "site-packages" in path.relative_to(folder).parts:
            continue  # a folder of its own, or one of another environment
        try:
            source = path.read_text(encoding="utf-8")
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(source)
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue  # templates, and files that test parsers
        lines = source.splitlines()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                end = min(node.end_lineno or node.lineno, node.lineno - 1 + LINES)
                text = "\n".join(lines[node.lineno - 1 : end])[:CHARACTERS]
                if len(text) >= SHORTEST_TEXT and "\0" not in text:
                    yield Text(node.name, text, (ast.get_docstring(node) or "").partition("\n")[0].strip())
