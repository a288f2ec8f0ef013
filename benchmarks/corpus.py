"""Real texts and questions to measure with: functions and classes of the Python that is installed here.

    python benchmarks/corpus.py [--texts 100000] [--data FOLDER] [--sources FOLDER] [--work FOLDER]

A text is a function or a class with its docstring, cut after 40 lines or 1,500 characters; its title is its name. A
question is the first line of a docstring. Texts come in the order of their hashes, so that a smaller corpus is the
beginning of a larger one. FOLDER holds judged sets (`*/corpus.jsonl` {title, text}, `*/queries.jsonl` {text}), whose
texts and questions are mixed in. What was read is kept in --work, since reading takes a minute or two.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import sys
import sysconfig
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

WORK = Path(tempfile.gettempdir()) / "jupyter-memory-benchmarks"
_LINES, _CHARACTERS = 40, 1500
_SHORTEST_TEXT, _SHORTEST_QUESTION = 80, 30
_MOST_TEXTS, _MOST_QUESTIONS = 200_000, 2_000


@dataclass(frozen=True)
class Text:
    """What is put into a store; ``question`` is the first line of its docstring, or empty."""

    title: str
    text: str
    question: str = ""


@dataclass(frozen=True)
class Corpus:
    """Texts, and questions that some of all the texts answer."""

    texts: list[Text]
    questions: list[str]

    @property
    def records(self) -> Iterator[dict[str, str]]:
        """Yield the texts as ``MemoryStore.add_many`` takes them."""
        return ({"title": text.title, "text": text.text} for text in self.texts)


def read_corpus(
    texts: int, questions: int, data: Path | None = None, work: Path = WORK, sources: Path | None = None
) -> Corpus:
    """Return so many texts and questions, of ``sources`` or all that is installed, and say so where there are fewer."""
    folders = tuple(dict.fromkeys(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")))
    folders = (str(sources),) if sources else folders
    kept = work / f"corpus-{_hash(repr((folders, data, __doc__)))[:12]}.json"
    if not kept.exists():
        work.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(_read(folders, data)), encoding="utf-8")
    found = json.loads(kept.read_text(encoding="utf-8"))
    for name, wanted in (("texts", texts), ("questions", questions)):
        if len(found[name]) < wanted:
            print(
                f"Only {len(found[name]):,} {name} could be had, not {wanted:,}: install more packages, or name --data."
            )
    return Corpus([Text(*text) for text in found["texts"][:texts]], found["questions"][:questions])


def _read(folders: Iterable[str], data: Path | None) -> dict[str, list]:
    judged = [] if data is None else list(_judged_texts(data))
    code = chain.from_iterable(_definitions(Path(folder)) for folder in folders)
    texts = sorted({text.text: text for text in chain(judged, code)}.values(), key=lambda text: _hash(text.text))
    # Another order than that of the texts, so that a question is seldom answered word for word by a small corpus.
    asked = sorted({text.question for text in texts if len(text.question) >= _SHORTEST_QUESTION}, key=_hash)
    asked = asked[:_MOST_QUESTIONS]
    if data is not None:
        other = sorted(set(_judged_questions(data)), key=_hash)
        asked = [question for pair in zip_longest(asked, other) for question in pair if question is not None]
    return {"texts": [(text.title, text.text) for text in texts[:_MOST_TEXTS]], "questions": asked}


def _definitions(folder: Path) -> Iterator[Text]:
    """Yield the functions and classes below a folder, long enough to say something."""
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
                end = min(node.end_lineno or node.lineno, node.lineno - 1 + _LINES)
                text = "\n".join(lines[node.lineno - 1 : end])[:_CHARACTERS]
                if len(text) >= _SHORTEST_TEXT and "\0" not in text:
                    yield Text(node.name, text, (ast.get_docstring(node) or "").partition("\n")[0].strip())


def _judged_texts(data: Path) -> Iterator[Text]:
    for line in _lines(data, "corpus.jsonl"):
        if len(line["text"].strip()) >= _SHORTEST_TEXT:
            yield Text((line.get("title") or "").strip(), line["text"].strip()[:_CHARACTERS])


def _judged_questions(data: Path) -> Iterator[str]:
    return (line["text"].strip() for line in _lines(data, "queries.jsonl"))


def _lines(data: Path, name: str) -> Iterator[dict[str, str]]:
    for path in sorted(data.glob(f"*/{name}")):
        with path.open(encoding="utf-8") as file:
            yield from map(json.loads, file)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where texts come from."""
    parser.add_argument("--data", type=Path, help="a folder of judged sets, mixed in")
    parser.add_argument("--sources", type=Path, help="where to look for Python files (default: all that is installed)")
    parser.add_argument("--work", type=Path, default=WORK, help="where corpus and stores are kept (%(default)s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=100_000)
    add_options(parser)
    options = parser.parse_args()
    corpus = read_corpus(options.texts, 1000, options.data, options.work, options.sources)
    characters = sum(len(text.text) for text in corpus.texts) / max(1, len(corpus.texts))
    print(f"{len(corpus.texts):,} texts of {characters:.0f} characters on average; questions such as:")
    print(*(f"  {question}" for question in corpus.questions[:10]), sep="\n")


if __name__ == "__main__":
    sys.exit(main())
