"""Characters that the vocabulary lacks get tokens that it does not use, and rows that tell them apart."""

import zipfile

import numpy as np
import pytest

pytest.importorskip("scipy", reason="training needs scipy: pip install -r training/requirements.txt")

from training.characters import counted, extended, with_characters
from training.tables import unit, vectors
from training.tokens import Tokenizer

VOCABULARY = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused2]", "中", "plot"]


@pytest.fixture
def packages(tmp_path):
    """A wheel of translations, and a package of pages: 据 five times, 数 and 中 twice, 表 once."""
    wheel = tmp_path / "pack.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("locale/zh_CN/lab.json", '{"Table": ["数据表"], "Data": ["数据"]}')
        file.writestr("locale/zh_CN/lab.mo", "图图图图")
    page = tmp_path / "pages" / "zh-cn" / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>中据据据中 plot</p>", encoding="utf-8")
    return [wheel, tmp_path / "pages"]


def test_free_tokens_go_to_the_most_frequent_characters_that_are_missing(packages):
    """A character that the vocabulary has needs none; equally frequent ones come in the order of Unicode."""
    counts = counted(packages)
    assert counts == {"据": 5, "数": 2, "中": 2, "表": 1}
    assert extended(VOCABULARY, counts) == [
        "[PAD]", "据", "数", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "表", "中", "plot",
    ]  # fmt: skip
    # A free token without a character stays.
    assert extended(VOCABULARY, {"据": 1})[:3] == ["[PAD]", "据", "[unused1]"]


def test_texts_are_told_apart_by_characters_that_were_unknown(packages, tmp_path):
    """Two notes of unknown characters had one vector; now a question finds the note that shares its characters."""
    table = np.random.default_rng(1).normal(size=(len(VOCABULARY), 256)).astype(np.float32)
    after = extended(VOCABULARY, counted(packages))

    def cosines(vocabulary, rows):
        path = tmp_path / "vocabulary.txt"
        path.write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
        found = unit(vectors(rows, Tokenizer(path)(["数据", "数据表", "表表"])))
        return found[0] @ found[1:].T

    assert cosines(VOCABULARY, table) == pytest.approx([1, 1])
    near, far = cosines(after, with_characters(table, VOCABULARY, after))
    assert near > 0.7
    assert abs(far) < 0.3


def test_other_rows_stay_as_they_are():
    table = np.random.default_rng(1).normal(size=(len(VOCABULARY), 8)).astype(np.float32)
    placed = with_characters(table, VOCABULARY, extended(VOCABULARY, {"据": 1}))
    assert np.array_equal(np.delete(placed, 1, axis=0), np.delete(table, 1, axis=0))
    assert np.linalg.norm(placed[1]) == pytest.approx(np.median(np.linalg.norm(table, axis=1)))
