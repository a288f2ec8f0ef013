"""Judged sets: documents, questions, and which documents answer which question how well."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from jupyter_memory.errors import InputError

# The halves of a set with its own unanswerable questions: constants may be fitted on the first only.
HALVES = ("tuning", "held out")


@dataclass(frozen=True, slots=True)
class Document:
    """A text to be found; ``group`` is the collection it belongs to, ``date`` (ISO) when it happened."""

    id: str
    text: str
    title: str = ""
    date: str | None = None
    group: str = ""
    session: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question about the documents of one group; ``date`` is its now, ``grades`` are by document id and above 0."""

    id: str
    text: str
    grades: Mapping[str, float]
    date: str | None = None
    group: str = ""
    type: str = ""

    @property
    def half(self) -> str:
        """Return the half of a set that it belongs to, one of ``HALVES``, by the hash of its words: no one chose it."""
        return HALVES[blake2b(self.text.encode(), digest_size=1).digest()[0] % 2]


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A set by name; ``unanswerable`` are questions that nothing in it answers, as its author has checked.

    ``unjudged`` counts other questions without a judgement, which are left out. ``unit`` is what is judged: documents
    that come with the set, or cells of notebooks or whole files, which the caller has.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    unanswerable: tuple[Question, ...] = ()
    unjudged: int = 0
    unit: Literal["document", "cell", "file"] = "document"

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(question.group for question in self.questions))

    def of_group(self, group: str) -> tuple[Document, ...]:
        """Return the documents that a question of a group ranks; a question without a group ranks all."""
        return tuple(one for one in self.documents if not group or one.group == group)


def read_set(folder: Path, notebooks: Path | None = None) -> JudgedSet:
    """Read a judged set: documents of its own, or without a corpus the cells of notebooks or whole files.

    ``corpus.jsonl`` has _id, title, text, date?, group?, session?; ``queries.jsonl`` _id, text, date?, group?, type?,
    answerable?; ``qrels.tsv`` query-id, corpus-id, score, or for cells query-id, notebook, cell, grade. For files,
    ``NAME.json`` has the questions about the files in the folder ``NAME``: objects with ``query``, ``relevant`` and
    perhaps ``secondary`` (ends of paths, which count alike, and are the document ids), and ``category``.
    """
    if folder.is_dir() and not (folder / "corpus.jsonl").exists():
        if (folder / "queries.jsonl").exists() and notebooks is not None:
            # The documents are the notebooks themselves, which the caller indexes: ``notebook#cell``.
            cells = _with_questions(folder, (), _grades(folder / "qrels.tsv", ("notebook", "cell")))
            return replace(cells, unit="cell")
        if not (folder / "queries.jsonl").exists() and any(folder.glob("*.json")):
            read = [question for path in sorted(folder.glob("*.json")) for question in _questions_about_files(path)]
            answered = tuple(question for question in read if question.grades)
            if not answered:
                raise InputError(f'No question of {folder} names a file that answers it, in a list "relevant".')
            return JudgedSet(folder.resolve().name, (), answered, unjudged=len(read) - len(answered), unit="file")
    documents = tuple(
        Document(**_texts(line, "text", "title", "group"), date=line.get("date"), session=line.get("session"))
        for line in _lines(folder / "corpus.jsonl")
    )
    known = {document.id for document in documents}
    grades = _grades(folder / "qrels.tsv", ("corpus-id",))
    for judged in grades.values():
        if missing := sorted(set(judged) - known):
            raise InputError(f"{folder / 'qrels.tsv'} judges {missing[0]!r}, which is not in corpus.jsonl.")
    return _with_questions(folder, documents, grades)


def _questions_about_files(path: Path) -> Iterator[Question]:
    try:
        listed = json.loads(_text(path))
    except ValueError as error:
        raise InputError(f"{path} is not JSON.") from error
    if not isinstance(listed, list):
        raise InputError(f"{path} is not a list of questions.")
    for number, one in enumerate(listed, start=1):
        given = one if isinstance(one, dict) else {}
        relevant, secondary = given.get("relevant", []), given.get("secondary", [])
        listed_well = isinstance(relevant, list) and isinstance(secondary, list)
        files: list[Any] = [*relevant, *secondary] if listed_well else [None]
        if not isinstance(given.get("query"), str) or not all(isinstance(file, str) and file for file in files):
            raise InputError(
                f'{path}, question {number}, is not an object with "query", a text, and "relevant", a list of files.'
            )
        category = str(one.get("category") or "")
        yield Question(f"{path.stem}/{number}", one["query"], dict.fromkeys(files, 1.0), None, path.stem, category)


def _with_questions(
    folder: Path, documents: tuple[Document, ...], grades: Mapping[str, Mapping[str, float]]
) -> JudgedSet:
    lines, read = list(_lines(folder / "queries.jsonl")), []
    for line in lines:
        texts = _texts(line, "text", "group", "type")
        read.append(Question(**texts, grades=grades.get(texts["id"], {}), date=line.get("date")))
    refused = tuple(one for one, line in zip(read, lines, strict=True) if line.get("answerable") is False)
    judged = tuple(question for question in read if question.grades)
    if not judged:
        raise InputError(f"No question of {folder} has a judgement: do the ids of queries.jsonl and qrels.tsv agree?")
    if both := next((one for one in refused if one.grades), None):
        raise InputError(f"{folder} calls {both.id!r} not answerable, but qrels.tsv judges it: remove one of the two.")
    return JudgedSet(folder.resolve().name, documents, judged, refused, len(read) - len(judged) - len(refused))


def _texts(line: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {"id": str(line["_id"])} | {name: str(line.get(name) or "") for name in names}


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number}, is not JSON.") from error
        if not isinstance(value, dict) or not {"_id", "text"} <= value.keys():
            raise InputError(f'{path}, line {number}, is not an object with "_id" and "text".')
        yield value


def _grades(path: Path, columns: Sequence[str]) -> dict[str, dict[str, float]]:
    grades: dict[str, dict[str, float]] = defaultdict(dict)
    rows = csv.reader(_text(path).splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    for number, row in enumerate(rows, start=1):
        if not row or (number == 1 and row[0] == "query-id"):
            continue
        try:
            question, *names, grade = row
            if len(names) != len(columns):
                raise ValueError
            score = float(grade)
        except ValueError as error:
            wanted = ", ".join(("query-id", *columns, "grade"))
            raise InputError(f"{path}, line {number}, is not: {wanted}, separated by tabs.") from error
        if score > 0:
            grades[question]["#".join(names)] = score
    return grades


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(
            f"{path} is not there. A judged set is a folder with corpus.jsonl, queries.jsonl and qrels.tsv; "
            "one that judges notebook cells has no corpus and needs --notebooks FOLDER; one that judges files has "
            "NAME.json and needs --files FOLDER."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error.__class__.__name__}.") from error
