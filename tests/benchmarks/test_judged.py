"""The judged sets that come with the project, and what those beside it say of the thresholds that ship."""

import os
from collections import Counter
from pathlib import Path

import nbformat
import numpy as np
import pytest

from jupyter_memory.embedders import StaticEmbedder
from jupyter_memory.evaluation import answerability, read_set

HERE = Path(__file__).parents[2]
LANGUAGES = HERE / "benchmarks" / "languages"
VERDICTS = HERE / "benchmarks" / "verdicts"
SAMPLES = HERE / "notebooks" / "samples"
DATA = Path(os.environ.get("JUPYTER_MEMORY_TEST_DATA", HERE.parent / "shared" / "data"))
ABSENT = "is not there: JUPYTER_MEMORY_TEST_DATA names the folder that has it"


@pytest.mark.parametrize("name", ["german", "french", "spanish", "chinese", "japanese"])
def test_notes_and_questions(name: str) -> None:
    """Each language has thirty notes or more, all different, and twenty questions that one or two of them answer."""
    judged = read_set(LANGUAGES / name)
    assert len({document.text for document in judged.documents}) == len(judged.documents) >= 30
    assert len({question.text for question in judged.questions}) == 20 and judged.unjudged == 0
    assert all(1 <= len(question.grades) <= 2 for question in judged.questions)
    assert 5 <= sum(question.half == "tuning" for question in judged.questions) <= 15


@pytest.mark.parametrize("name", ["german_over_english", "french_over_english"])
def test_translated_questions(name: str) -> None:
    english = {one.id: one.grades for one in read_set(VERDICTS / "samples", SAMPLES).questions}
    questions = read_set(LANGUAGES / name, SAMPLES).questions
    assert len(questions) == 20
    assert all(question.grades == english[question.id] for question in questions)


def test_four_hundred_questions() -> None:
    """Half are answerable, of every type, and half are not; none is asked twice, and halves are about equally large."""
    sets = [read_set(VERDICTS / name, SAMPLES) for name in ("book", "samples")]
    answerable = [one for judged in sets for one in judged.questions]
    unanswerable = [one for judged in sets for one in judged.unanswerable]
    assert (len(answerable), len(unanswerable)) == (200, 200)
    assert len({one.text for one in (*answerable, *unanswerable)}) == 400
    assert sum(judged.unjudged for judged in sets) == 0
    for sort, least in ((answerable, 15), (unanswerable, 10)):
        assert min(Counter(one.type for one in sort).values()) >= least
        assert all(abs(sum(one.half == half for one in sort) - 100) < 10 for half in ("tuning", "held out"))


@pytest.mark.parametrize(("name", "notebooks"), [("book", DATA / "notebooks"), ("samples", SAMPLES)])
def test_judged_cells_exist(name: str, notebooks: Path) -> None:
    if not notebooks.is_dir():
        pytest.skip(f"{notebooks} {ABSENT}")
    cells = {}
    for document in {one for question in read_set(VERDICTS / name, notebooks).questions for one in question.grades}:
        file, _, place = document.rpartition("#")
        if file not in cells:
            (path,) = notebooks.rglob(file)
            cells[file] = [""] if path.suffix == ".md" else nbformat.read(path, as_version=4).cells
        assert int(place) < len(cells[file]), document
        assert file.endswith(".md") or cells[file][int(place)].source.strip(), document


def test_verdicts_about_the_samples(tmp_path: Path) -> None:
    """What the samples cannot answer is not called strong, and what is found first is seldom called none."""
    rows = answerability([VERDICTS / "samples"], "static", notebooks=[SAMPLES], work=tmp_path)
    assert sum(len(row.right) for row in rows) == 63
    assert sum(row.figures["unanswerable_strong"] * len(row.other) for row in rows) <= 0.03 * 60
    assert sum(row.figures["found_none"] * len(row.answers) for row in rows) <= 0.05 * 60
    assert min(row.figures["found_strong"] for row in rows) > 0.6
    assert min(row.figures["auroc"] for row in rows) > 0.9


@pytest.mark.parametrize(
    ("name", "lost_by_minilm"), [("locomo", 0.1142), ("scifact", 0.054), ("cosqa", 0.004), ("docs", 0.068)]
)
def test_thresholds_that_ship(name: str, lost_by_minilm: float) -> None:
    """On each judged set, a threshold of the static model loses no more relevant pairs than 0.3 does with MiniLM."""
    folder = DATA / "judged" / name
    if not folder.is_dir():
        pytest.skip(f"{folder} {ABSENT}")
    judged = read_set(folder)
    texts = {one.id: f"{one.title}\n{one.text}".strip() for one in judged.documents}
    rights = [(one.text, right) for one in judged.questions for right, grade in one.grades.items() if grade]
    asked, told = [text for text, _ in rights], [texts[right] for _, right in rights]
    for dimensions in (256, 128, 64):
        embedder = StaticEmbedder(dimensions)
        cosines = np.sum(embedder.embed_documents(asked) * embedder.embed_documents(told), axis=1)
        assert np.mean(cosines < embedder.threshold) <= lost_by_minilm, dimensions
