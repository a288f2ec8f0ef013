"""The simulated agents: what counts as an answer, what they spend, and that they call the real tools."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
import pytest

from jupyter_memory.evaluation.datasets import read_judged
from jupyter_memory.evaluation.runner import beds
from jupyter_memory.text import estimated_tokens

pytest.importorskip("mcp")

FILLER = "Electricity prices are traded every hour, and the exchange publishes them in the evening. "
ANSWER = "The forecast subtracts the yearly mean and divides by the standard deviation."
TEXTS = {
    "short": "We normalised the invoices: VAT was removed from every amount.",
    "long": FILLER * 60 + "How the electricity prices were normalised. " + ANSWER + FILLER * 60,
    "other": FILLER * 30,
}
QUESTIONS = {
    "q1": ("how were the invoices normalised", "short", ""),
    "q2": ("how were the electricity prices normalised in the forecast", "long", ANSWER),
}


@pytest.fixture(scope="module")
def agent():
    """Import the script."""
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        import agent
    finally:
        sys.path.remove(folder)
    return agent


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Write a judged set of three documents and two questions."""
    folder = tmp_path_factory.mktemp("judged")
    documents = [{"_id": name, "title": "", "text": text} for name, text in TEXTS.items()]
    questions = [{"_id": name, "text": text, "answer": answer} for name, (text, _, answer) in QUESTIONS.items()]
    judged = ["query-id\tcorpus-id\tscore", *(f"{name}\t{right}\t1" for name, (_, right, _) in QUESTIONS.items())]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, documents)))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, questions)))
    (folder / "qrels.tsv").write_text("\n".join(judged))
    return folder


def test_the_memory_agent_finds_answers_in_short_and_long_texts_within_its_budget(agent, folder, tmp_path) -> None:
    """Of the long text only the part with the answer is read; grep reads all of it."""
    judged = read_judged(folder)
    with beds(judged, "static", work=tmp_path) as filled:
        rows = anyio.run(agent.measured, judged, agent.answers_in(folder), filled, 3)

    assert [(mine.answered, grep.answered) for mine, grep in rows] == [(True, True), (True, True)]
    assert all(0 < mine.tokens <= agent.BUDGET for mine, _ in rows)
    assert rows[1][1].tokens >= estimated_tokens(TEXTS["long"]) > rows[1][0].tokens


def test_a_part_is_an_answer_only_with_its_words(agent) -> None:
    """A part of a long text counts if it has the answer's words; without a told answer, only the whole text does."""
    start = TEXTS["long"].index(ANSWER)
    told = agent.Wanted({"long": TEXTS["long"]}, agent.words(ANSWER))
    untold = agent.Wanted({"long": TEXTS["long"]}, frozenset())

    assert told.is_in({"long": [(start, start + len(ANSWER))]})
    assert not told.is_in({"long": [(0, 1000)]})
    assert not told.is_in({"other": [(0, 1000)]})
    assert not untold.is_in({"long": [(start, start + len(ANSWER))]})
    assert untold.is_in({"long": [(0, 3000), (3000, len(TEXTS["long"]))]})


def test_the_report_compares_the_medians(agent) -> None:
    """Shares of answered questions, medians of tokens, and their quotient."""
    rows = [
        (agent.Reading(True, 100), agent.Reading(True, 1000)),
        (agent.Reading(False, 300), agent.Reading(True, 3000)),
    ]

    assert agent.report("docs", rows).split() == ["docs", "2", "0.500", "200", "1.000", "2000", "10.0%"]
