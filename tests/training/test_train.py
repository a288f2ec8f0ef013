"""A table is trained from pairs: the start, the gradients of the losses, a few steps, and what they change."""

import zipfile

import numpy as np
import pytest

from training.characters import counted, extended, with_characters
from training.decontaminate import Decontaminated, HeldOut
from training.losses import contrast, distil
from training.pairs import Pair
from training.prepared import prepare
from training.start import start_table
from training.tables import bags, blended, load_table, save_table, unit, vectors
from training.tokens import Tokenizer
from training.train import Recipe, Student, Taught, batches, train

pytest.importorskip("scipy", reason="training needs scipy: pip install -r training/requirements.txt")


Pooling = type(Recipe().pooling)
WORDS = ["month", "meter", "read", "plot", "load", "fill", "join", "tariff", "date", "frame"]
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *(f"f{word}" for word in WORDS)]


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(VOCABULARY) + "\n")
    return path


@pytest.fixture
def pairs(vocabulary):
    """Ask for each two words by the two functions that do what they say."""
    made = [
        Pair(f"{one} {two}", f"f{one} f{two}", kind, "meters")
        for kind in ("docstring", "heading-text")
        for one in WORDS
        for two in WORDS
        if one < two
    ]
    return prepare(made, vocabulary)


def _table():
    return np.random.default_rng(0).normal(size=(len(VOCABULARY), 256)).astype(np.float32)


def _found_first(table, pairs):
    cosines = unit(vectors(table, pairs.questions)) @ unit(vectors(table, pairs.answers)).T
    nearest = cosines.argmax(axis=1)
    return np.mean(pairs.same_answer[nearest] == pairs.same_answer)


def test_a_few_steps_bring_questions_near_their_answers(pairs):
    """Before, words and functions have nothing in common; after, most questions find their own answer first."""
    start, recipe = _table(), Recipe(steps=60, batch=32, distillation=0)
    trained = train(start, pairs, None, recipe)
    assert _found_first(start, pairs) < 0.2 and _found_first(trained, pairs) > 0.8
    # The same seed gives the same table.
    assert np.array_equal(trained, train(_table(), pairs, None, recipe))


def test_distillation_brings_together_what_the_teacher_finds_alike(vocabulary, pairs):
    """A teacher for whom each word has one synonym is followed, without any pair."""
    texts = [f"{one} {two}" for one in WORDS for two in WORDS]
    tokens = Tokenizer(vocabulary)(texts)
    meanings = np.repeat(np.eye(len(WORDS) // 2, dtype=np.float32), 2, axis=0)
    seen = unit(np.array([meanings[[WORDS.index(word) for word in text.split()]].sum(axis=0) for text in texts]))
    recipe = Recipe(steps=60, batch=32, taught_batch=64, contrast=0)
    trained = train(_table(), pairs, Taught(tokens, seen), recipe)

    def agreement(table):
        one = unit(vectors(table, tokens))
        return np.corrcoef((one @ one.T).ravel(), (seen @ seen.T).ravel())[0, 1]

    assert agreement(trained) > agreement(_table()) + 0.2


def test_a_batch_holds_pairs_of_one_group(pairs):
    plan = batches(pairs, Recipe(batch=16), np.random.default_rng(0))
    assert all(len(set(pairs.groups[rows])) == 1 for rows in (next(plan) for _ in range(20)))


def test_a_first_step_goes_against_the_gradient():
    student = Student(np.ones((3, 4), np.float32))
    gradient = np.zeros((3, 4), np.float32)
    gradient[1] = 1
    student.learn(gradient, 0.1)
    assert (student.table[1] < 1).all()
    assert (student.table[[0, 2]] == 1).all()


def test_the_start_keeps_what_is_alike_and_lets_rare_tokens_weigh_more():
    """Hidden states of single tokens: equal ones stay equal but for their weight, which grows with the rank."""
    hidden = np.random.default_rng(0).normal(size=(40, 12)).astype(np.float32)
    hidden[39] = hidden[3]
    table = start_table(hidden, 6)
    assert table.shape == (40, 6)
    assert unit(table)[39] @ unit(table)[3] == pytest.approx(1, abs=1e-5)
    assert np.linalg.norm(table[39]) > np.linalg.norm(table[3])


def test_how_tokens_are_weighed(vocabulary):
    """A token counts less the more of a text it is, and more at the beginning: double, then by a third (1/e)."""
    tokens = Tokenizer(vocabulary)(["plot read plot plot plot", "load"])
    ids = tokens.ids.copy()
    table = _table()
    read, plot, load = (table[VOCABULARY.index(word)] for word in ("read", "plot", "load"))
    found = vectors(table, tokens, Pooling(saturation=0.2))
    assert found[0] == pytest.approx(4 * plot / 5 + read / 2, abs=1e-5)
    assert found[1] == pytest.approx(load / 6, abs=1e-5)
    assert np.array_equal(tokens.ids, ids)
    tokens = Tokenizer(vocabulary)(["read plot load plot", "load"])
    found = vectors(table, tokens, Pooling(lead=2))
    wanted = 2 * read + (2 + np.exp(-0.5) + np.exp(-1.5)) * plot + (1 + np.exp(-1)) * load
    assert found[0] == pytest.approx(wanted, abs=1e-5)
    assert found[1] == pytest.approx(2 * load, abs=1e-5)


def test_a_recipe_trains_with_the_pooling_it_names(vocabulary):
    """Nine times one word, and one word that tells the answers apart: learnt sooner where the first counts less."""
    made = [Pair(one, f"{'frame ' * 9}f{one}", "docstring", "meters") for one in WORDS if one != "frame"]
    pairs = prepare(made, vocabulary)
    found = {}
    for saturation in (0.0, 0.02):
        pooling = Pooling(saturation)
        trained = train(_table(), pairs, None, Recipe(steps=20, batch=16, distillation=0, pooling=pooling))
        asked, answered = (unit(vectors(trained, side, pooling)) for side in (pairs.questions, pairs.answers))
        margins = asked @ answered.T
        found[saturation] = np.diag(margins).mean() - margins.mean()
    assert found[0.02] > 2 * found[0.0]


def test_texts_are_sums_of_rows_and_tables_are_kept_in_half_precision(vocabulary, tmp_path):
    """camelCase is parted before the vocabulary is looked up; a blend lies between its parts."""
    tokens = Tokenizer(vocabulary)(["readMeter", "plot load"])
    table = _table()
    read, meter = VOCABULARY.index("read"), VOCABULARY.index("meter")
    assert vectors(table, tokens)[0] == pytest.approx(table[read] + table[meter], abs=1e-5)
    assert bags(tokens, len(table)).sum() == 4
    save_table(table, tmp_path / "table.safetensors")
    assert load_table(tmp_path / "table.safetensors") == pytest.approx(table, abs=1e-2)
    assert blended([(table, 3), (np.zeros_like(table), 1)]) == pytest.approx(table * 0.75, abs=1e-6)


STEP = 1e-3


def _slope(loss, values, place):
    higher, lower = values.copy(), values.copy()
    higher[place] += STEP
    lower[place] -= STEP
    return (loss(higher) - loss(lower)) / (2 * STEP)


@pytest.mark.parametrize("width", [6, 4])
def test_the_gradient_of_the_contrast_is_its_slope(width):
    """Checked by difference quotients, at the whole length and at a cut one, with a pair that is no negative."""
    questions, answers = np.random.default_rng(0).normal(size=(2, 5, 6))
    same = np.zeros((5, 5), bool)
    same[0, 1] = same[1, 0] = True
    _, of_questions, of_answers = contrast(questions, answers, same, width)
    for place in [(0, 0), (3, 2), (4, width - 1)]:
        found = _slope(lambda values: contrast(values, answers, same, width)[0], questions, place)
        assert of_questions[place] == pytest.approx(found, abs=1e-3)
        found = _slope(lambda values: contrast(questions, values, same, width)[0], answers, place)
        assert of_answers[place] == pytest.approx(found, abs=1e-3)


def test_the_gradient_of_distillation_is_its_slope():
    """Checked by difference quotients at a cut length; a student that agrees with the teacher has nothing to learn."""
    random = np.random.default_rng(1)
    texts, taught = random.normal(size=(6, 5)), unit(random.normal(size=(6, 8)))
    _, gradient = distil(texts, taught, 4)
    for place in [(0, 0), (2, 3), (5, 1)]:
        found = _slope(lambda values: distil(values, taught, 4)[0], texts, place)
        assert gradient[place] == pytest.approx(found, abs=1e-3)
    loss, gradient = distil(texts, unit(texts), 5)
    assert loss == pytest.approx(0, abs=1e-6) and np.abs(gradient).max() < 1e-6


OF_CHARACTERS = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused2]", "中", "plot"]


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
    assert extended(OF_CHARACTERS, counts) == [
        "[PAD]", "据", "数", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "表", "中", "plot",
    ]  # fmt: skip
    # A free token without a character stays.
    assert extended(OF_CHARACTERS, {"据": 1})[:3] == ["[PAD]", "据", "[unused1]"]


def test_texts_are_told_apart_by_characters_that_were_unknown(packages, tmp_path):
    """Two notes of unknown characters had one vector; now a question finds the note that shares its characters."""
    table = np.random.default_rng(1).normal(size=(len(OF_CHARACTERS), 256)).astype(np.float32)
    after = extended(OF_CHARACTERS, counted(packages))

    def cosines(vocabulary, rows):
        path = tmp_path / "vocabulary.txt"
        path.write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
        found = unit(vectors(rows, Tokenizer(path)(["数据", "数据表", "表表"])))
        return found[0] @ found[1:].T

    assert cosines(OF_CHARACTERS, table) == pytest.approx([1, 1])
    near, far = cosines(after, with_characters(table, OF_CHARACTERS, after))
    assert near > 0.7
    assert abs(far) < 0.3


def test_other_rows_stay_as_they_are():
    table = np.random.default_rng(1).normal(size=(len(OF_CHARACTERS), 8)).astype(np.float32)
    placed = with_characters(table, OF_CHARACTERS, extended(OF_CHARACTERS, {"据": 1}))
    assert np.array_equal(np.delete(placed, 1, axis=0), np.delete(table, 1, axis=0))
    assert np.linalg.norm(placed[1]) == pytest.approx(np.median(np.linalg.norm(table, axis=1)))


JUDGED = "def read_meters(path, year): return pd.read_csv(path, sep=';').query('year == @year').dropna()"
UNLIKE = Pair("Draw the load curve.", "axes.plot(load.index, load.values)", "docstring", "meters")


def test_what_a_judged_set_has_is_left_out():
    """A pair with twelve words in a row of a judged set is dropped, eleven stay; so is a judged first sentence."""
    copied = Pair(
        "Read the year's meters.", "x = 1\n" + JUDGED.replace("read_meters", "readMeters"), "docstring", "meters"
    )
    found = Decontaminated([copied, UNLIKE], HeldOut([JUDGED]))
    assert list(found) == [UNLIKE]
    assert found.dropped == {("twelve words of a judged set", "meters"): 1}
    held_out = "one two three four five six seven eight nine ten eleven twelve"
    shared = Pair("Count.", held_out.replace("twelve", "dozen"), "docstring", "meters")
    assert list(Decontaminated([shared], HeldOut([held_out]))) == [shared]
    asked = Pair("Reads the meters of a year.", "completely_rewritten()", "docstring", "meters")
    found = Decontaminated([asked, UNLIKE], HeldOut([], ["reads the meters of a year"]))
    assert list(found) == [UNLIKE]
