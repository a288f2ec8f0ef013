"""Pairs as token ids, ready for training."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from training.pairs import GROUPS, Pair
from training.tokens import Tokenizer, Tokens

LONGEST_QUESTION = 64
LONGEST_ANSWER = 160
_GROUP = {kind: number for number, kinds in enumerate(GROUPS.values()) for kind in kinds}


@dataclass(frozen=True)
class Prepared:
    """Questions and answers as tokens; pairs of which one side is the same text are no negatives of each other."""

    questions: Tokens
    answers: Tokens
    groups: NDArray[np.integer]
    sources: NDArray[np.integer]
    same_question: NDArray[np.uint32]
    same_answer: NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.groups)


def prepare(pairs: Sequence[Pair], vocabulary: Path) -> Prepared:
    names = sorted({pair.source for pair in pairs})
    numbers = {name: number for number, name in enumerate(names)}
    return Prepared(
        Tokenizer(vocabulary, LONGEST_QUESTION)([pair.question for pair in pairs]),
        Tokenizer(vocabulary, LONGEST_ANSWER)([pair.answer for pair in pairs]),
        np.array([_GROUP[pair.kind] for pair in pairs], np.int8),
        np.array([numbers[pair.source] for pair in pairs], np.int16),
        np.array([zlib.crc32(pair.question.lower().encode()) for pair in pairs], np.uint32),
        np.array([zlib.crc32(pair.answer[:300].encode()) for pair in pairs], np.uint32),
    )


def save_prepared(found: Prepared, file: BinaryIO) -> None:
    np.savez(
        file,
        question_ids=found.questions.ids,
        question_ends=found.questions.ends,
        answer_ids=found.answers.ids,
        answer_ends=found.answers.ends,
        groups=found.groups,
        sources=found.sources,
        same_question=found.same_question,
        same_answer=found.same_answer,
    )


def load_prepared(path: Path) -> Prepared:
    with np.load(path) as held:
        return Prepared(
            Tokens(held["question_ids"], held["question_ends"]),
            Tokens(held["answer_ids"], held["answer_ends"]),
            held["groups"],
            held["sources"],
            held["same_question"],
            held["same_answer"],
        )
