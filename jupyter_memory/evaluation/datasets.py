"""Judged sets: documents, questions, and which documents answer which question how well."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError


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


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A set by name; ``unanswerable`` are questions that nothing in it answers, as its author has checked.

    ``unjudged`` counts other questions without a judgement, which are left out.
    """

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    unanswerable: tuple[Question, ...] = ()
    unjudged: int = 0

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the groups that questions are about, in their order."""
        return tuple(dict.fromkeys(question.group for question in self.questions))

    def of_group(self, group: str) -> tuple[Document, ...]:
        """Return the documents that a question of a group ranks; a question without a group ranks all."""
        return tuple(one for one in self.documents if not group or one.group == group)


def read_judged(folder: Path) -> JudgedSet:
    """Read ``corpus.jsonl`` (_id, title, text, date?, group?, session?), ``queries.jsonl`` (_id, text, date?, group?,
    type?, answerable?) and ``qrels.tsv`` (query-id, corpus-id, score).

    Raises:
        InputError: a file is missing, a line cannot be read, or a judgement names a document that is not there.
    """
    documents = tuple(
        Document(
            str(line["_id"]),
            str(line["text"]),
            str(line.get("title") or ""),
            line.get("date"),
            str(line.get("group") or ""),
            line.get("session"),
        )
        for line in _lines(folder / "corpus.jsonl")
    )
    known = {document.id for document in documents}
    grades = _grades(folder / "qrels.tsv", ("corpus-id",))
    for judged in grades.values():
        if missing := sorted(set(judged) - known):
            raise InputError(f"{folder / 'qrels.tsv'} judges {missing[0]!r}, which is not in corpus.jsonl.")
    return _with_questions(folder, documents, grades)


def read_judged_cells(folder: Path) -> JudgedSet:
    """Read a set that judges notebook cells: ``queries.jsonl`` and ``qrels.tsv`` (query-id, notebook, cell, grade).

    Document ids are ``notebook#cell``; the documents are the notebooks themselves, which the caller indexes.

    Raises:
        InputError: a file is missing, or a line cannot be read.
    """
    return _with_questions(folder, (), _grades(folder / "qrels.tsv", ("notebook", "cell")))


def _with_questions(
    folder: Path, documents: tuple[Document, ...], grades: Mapping[str, Mapping[str, float]]
) -> JudgedSet:
    lines = list(_lines(folder / "queries.jsonl"))
    read = [_question(line, grades.get(str(line["_id"]), {})) for line in lines]
    refused = tuple(one for one, line in zip(read, lines, strict=True) if line.get("answerable") is False)
    judged = tuple(question for question in read if question.grades)
    if not judged:
        raise InputError(f"No question of {folder} has a judgement: do the ids of queries.jsonl and qrels.tsv agree?")
    if both := next((one for one in refused if one.grades), None):
        raise InputError(f"{folder} calls {both.id!r} not answerable, but qrels.tsv judges it: remove one of the two.")
    return JudgedSet(folder.resolve().name, documents, judged, refused, len(read) - len(judged) - len(refused))


def _question(line: Mapping[str, Any], grades: Mapping[str, float]) -> Question:
    return Question(
        str(line["_id"]),
        str(line["text"]),
        grades,
        line.get("date"),
        str(line.get("group") or ""),
        str(line.get("type") or ""),
    )


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
    """Return grades above 0 by question and document; ids of several columns are joined by ``#``."""
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
            "one that judges notebook cells has no corpus and needs --notebooks FOLDER."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error.__class__.__name__}.") from error
