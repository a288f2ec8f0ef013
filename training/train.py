"""Training a table: InfoNCE on pairs at two lengths of three, and distillation of MiniLM's similarities."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from training.losses import contrast, distil
from training.prepared import Prepared
from training.tables import DIMENSIONS, MEAN, Floats, Pooling, bags
from training.tokens import Tokens

_log = logging.getLogger(__name__)

# The cut vectors count for so much beside the whole ones.
_CUT_PAIRS = np.float32(0.7)
_CUT_TAUGHT = np.float32(0.5)
_WARM_UP = 50
_BLOCKS = 4


@dataclass(frozen=True)
class Recipe:
    """What decides a run besides its data; ``distillation`` 0 trains without the teacher."""

    steps: int = 900
    batch: int = 1_536
    taught_batch: int = 640
    rate: float = 0.02
    distillation: float = 1.0
    contrast: float = 1.0
    # How many times the pairs of each group come: dictionary, command, code, prose.
    weights: tuple[int, ...] = (1, 1, 1, 1)
    # What embeds with the table must weigh tokens as the training did.
    pooling: Pooling = MEAN
    seed: int = 0
    # Tables of so many seeds, from the first on, are averaged: Wortsman et al., ICML 2022.
    seeds: int = 3
    # Whether tokens without a use go to Chinese and Japanese characters.
    characters: bool = False


@dataclass(frozen=True)
class Taught:
    """Texts with the teacher's vectors; it has read so many tokens of each."""

    LONGEST: ClassVar[int] = 64

    tokens: Tokens
    vectors: NDArray[np.floating]


class Student:
    """A table whose rows carry a weight each, and Adam's memory of both."""

    def __init__(self, table: Floats) -> None:
        self.rows = table.copy()
        self.weights = np.zeros((len(table), 1), np.float32)
        self._moments = [(np.zeros_like(one), np.zeros_like(one)) for one in (self.rows, self.weights)]
        self._steps = 0

    @property
    def table(self) -> Floats:
        """Return the table with the weights folded into the rows."""
        return self.rows * np.exp(self.weights)

    def learn(self, gradient: Floats, rate: float) -> None:
        """Take one step of Adam (Kingma and Ba, 2015) against the gradient of the folded table."""
        self._steps += 1
        scale = np.exp(self.weights)
        of_weights = (gradient * self.rows).sum(axis=1, keepdims=True) * scale
        gradient *= scale
        for value, slope, (mean, square) in zip(
            (self.rows, self.weights), (gradient, of_weights), self._moments, strict=True
        ):
            _adam(value, slope, mean, square, rate, self._steps)


def train(start: Floats, pairs: Prepared, taught: Taught | None, recipe: Recipe) -> Floats:
    """Return the table that training makes of a start."""
    size = np.sqrt(np.mean(start**2))
    student = Student(start / size)
    random = np.random.default_rng(recipe.seed)
    plan = batches(pairs, recipe, random)
    losses: list[tuple[float, float]] = []
    for step in range(recipe.steps):
        table = student.table
        loss, gradient = _pairs_step(table, pairs, next(plan), DIMENSIONS[1 + step % 2], recipe)
        missed = 0.0
        if taught is not None and recipe.distillation:
            rows = random.choice(len(taught.tokens), min(recipe.taught_batch, len(taught.tokens)), replace=False)
            missed, more = _taught_step(table, taught, rows, recipe)
            gradient += more
        student.learn(gradient, recipe.rate * min(1.0, (step + 1) / _WARM_UP) * (1 - step / recipe.steps))
        losses.append((loss, missed))
        if step % 25 == 24:
            late = np.mean(losses[-25:], axis=0)
            _log.info("step %d of %d: contrast %.3f, distillation %.3f", step + 1, recipe.steps, *late)
    return student.table * size


def batches(pairs: Prepared, recipe: Recipe, random: np.random.Generator) -> Iterator[NDArray[np.integer]]:
    """Yield the rows of batches without end: each of one group, in blocks from one package, whose pairs are alike."""
    while True:
        plan = []
        for group, weight in enumerate(recipe.weights):
            rows = np.flatnonzero(pairs.groups == group)
            random.shuffle(rows)
            rows = rows[np.argsort(pairs.sources[rows], kind="stable")]
            size = max(recipe.batch // _BLOCKS, 1)
            blocks = [rows[first : first + size] for first in range(0, len(rows), size)]
            random.shuffle(blocks)
            whole = np.concatenate([np.zeros(0, np.int64), *blocks])
            cut = [whole[first : first + recipe.batch] for first in range(0, len(whole), recipe.batch)]
            plan += [one for one in cut if len(one) > recipe.batch // 2 or (len(cut) == 1 and len(one) > 1)] * weight
        yield from (plan[place] for place in random.permutation(len(plan)))


def _pairs_step(
    table: Floats, pairs: Prepared, rows: NDArray[np.integer], cut: int, recipe: Recipe
) -> tuple[float, Floats]:
    asked = bags(pairs.questions.chosen(rows), len(table), recipe.pooling)
    answered = bags(pairs.answers.chosen(rows), len(table), recipe.pooling)
    questions, answers = asked @ table, answered @ table
    same = _same(pairs.same_question[rows]) | _same(pairs.same_answer[rows])
    np.fill_diagonal(same, False)
    loss, of_questions, of_answers = contrast(questions, answers, same, table.shape[1])
    cut_loss, cut_questions, cut_answers = contrast(questions, answers, same, cut)
    of_questions[:, :cut] += _CUT_PAIRS * cut_questions
    of_answers[:, :cut] += _CUT_PAIRS * cut_answers
    gradient = asked.T @ of_questions + answered.T @ of_answers
    return loss + float(_CUT_PAIRS) * cut_loss, gradient * np.float32(recipe.contrast)


def _taught_step(table: Floats, taught: Taught, rows: NDArray[np.integer], recipe: Recipe) -> tuple[float, Floats]:
    read = bags(taught.tokens.chosen(rows), len(table), recipe.pooling)
    texts, wanted = read @ table, taught.vectors[rows].astype(np.float32)
    cut = DIMENSIONS[-1]
    loss, gradient = distil(texts, wanted, table.shape[1])
    cut_loss, of_cut = distil(texts, wanted, cut)
    gradient[:, :cut] += _CUT_TAUGHT * of_cut
    return loss + float(_CUT_TAUGHT) * cut_loss, (read.T @ gradient) * np.float32(recipe.distillation)


def _same(hashes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    return hashes[:, None] == hashes


def _adam(value: Floats, slope: Floats, mean: Floats, square: Floats, rate: float, step: int) -> None:
    """Change a value in place, in blocks that stay in the processor's cache."""
    first, second = np.float32(0.9), np.float32(0.98)
    size = np.float32(rate / (1 - 0.9**step))
    correction = np.float32(1 / np.sqrt(1 - 0.98**step))
    for start in range(0, len(value), 512):
        block = slice(start, start + 512)
        mean[block] += (1 - first) * (slope[block] - mean[block])
        square[block] += (1 - second) * (slope[block] ** 2 - square[block])
        value[block] -= size * mean[block] / (np.sqrt(square[block]) * correction + np.float32(1e-8))
