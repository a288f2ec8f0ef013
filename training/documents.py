"""Pairs from documents: heading and section, sentence and the rest of its paragraph, text and the code below it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from training.markup import Block
from training.pairs import LONGEST_CODE, LONGEST_PROSE, Pair, sampled
from training.python_code import comment_pairs
from training.text import asks, first_sentence

# Of a sentence and the paragraph before it, so many become pairs.
_NEIGHBOURS = 0.5
_CODES_OF_A_HEADING = 2


def document_pairs(blocks: Iterable[Block]) -> Iterator[Pair]:
    heading, shown = "", 0
    before: Block | None = None
    for block in blocks:
        if not block.text.strip():
            continue
        if block.kind == "heading":
            heading, shown = re.sub(r"^[\d. ]+", "", block.text), 0
        elif block.kind == "text":
            yield from _prose(block.text, heading, before)
        elif block.kind == "code":
            yield from _code(block.text, before)
            if asks(heading) and shown < _CODES_OF_A_HEADING:
                shown += 1
                yield Pair(heading, block.text[:LONGEST_CODE], "heading-code")
        before = block


def _prose(text: str, heading: str, before: Block | None) -> Iterator[Pair]:
    if before and before.kind == "term" and asks(first_sentence(text), 3):
        yield Pair(first_sentence(text), before.text[:LONGEST_PROSE], "option")
    if before and before.kind == "heading" and asks(heading) and len(text) > 60:
        yield Pair(heading, text[:LONGEST_PROSE], "heading-text")
    sentence = first_sentence(text)
    if len(text) - len(sentence) > 100 and asks(sentence, 4):
        yield Pair(sentence, text[len(sentence) :].strip()[:LONGEST_PROSE], "first-rest")
    if before and before.kind == "text" and len(text) > 60 and asks(sentence, 5) and sampled(sentence, _NEIGHBOURS):
        yield Pair(sentence, before.text[:LONGEST_PROSE], "next")


def _code(code: str, before: Block | None) -> Iterator[Pair]:
    if before and before.kind == "text":
        sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])", before.text)
        last = sentences[-1] if len(sentences[-1]) > 40 else before.text[-250:]
        if asks(last, 3):
            yield Pair(last.rstrip(": "), code[:LONGEST_CODE], "text-code")
        if len(sentences) > 1 and asks(sentences[0], 4):
            yield Pair(sentences[0], code[:LONGEST_CODE], "text-code")
    yield from comment_pairs(code)
