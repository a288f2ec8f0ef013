"""The embedded model: the mean of token vectors, whatever the text and whoever stands beside it."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys

import numpy as np
import pytest

from jupyter_memory import InputError
from jupyter_memory.embedders import StaticEmbedder, static, tokens, unknown
from jupyter_memory.embedders.tokenizer.bundled import bundled_file, bundled_tokenizer, half_precision

NOTES = [
    "Monthly sales in Zürich rose by 4 % after the price cut",
    "The λ of the Poisson model is 3.2 orders an hour",
    "df.groupby('shop')['price'].transform('mean')",
    "Asked Łukasz for the warehouse extract of March",
    "x",
    "東京の売上は先月より増えた",
    "🚚 late again",
    "def load(path):\n    return pd.read_parquet(path, columns=['price', 'shop'])\n",
]
# More than one piece for the tokenizer, with some words found nowhere else.
REPORT = " ".join(f"{note} ({number} of the quarter)." for number in range(60) for note in NOTES)


@pytest.fixture(scope="module")
def embedder():
    return StaticEmbedder()


@pytest.fixture(scope="module")
def table():
    return np.array(half_precision(bundled_file("weights")).astype(np.float32))


def plain(text, table, dimensions=256):
    """Return the embedding as one would write it down: one call of the tokenizer, weighed mean, cut, length 1."""
    ids, places = np.unique(bundled_tokenizer().ids(text), return_inverse=True)
    often = np.bincount(places, 1 + np.exp(-np.arange(len(places)) / static._POOLING.lead))
    weights = often / (often / often.sum() + static._POOLING.saturation)
    mean = (weights @ table[ids])[:dimensions]
    return mean / np.linalg.norm(mean)


def fresh(code):
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=100)
    return done.stdout.strip()


@pytest.mark.parametrize("dimensions", [256, 128, 64])
def test_as_numpy_does_it(table, dimensions):
    """Each text is the mean of its tokens' vectors, cut to the dimensions, with length 1, in float32."""
    vectors = StaticEmbedder(dimensions).embed_documents(NOTES)

    assert vectors.dtype == np.float32
    assert vectors.shape == (len(NOTES), dimensions)
    assert np.allclose(vectors, [plain(note, table, dimensions) for note in NOTES], atol=1e-6)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_tokens_that_are_known(embedder):
    """Texts that were tokenised already get the vectors that they get as texts."""
    assert np.allclose(embedder.embed_tokens(tokens(NOTES)), embedder.embed_documents(NOTES), atol=1e-7)


def test_query_is_embedded_like_a_document(embedder):
    """The static model has no prefixes: a query's vector is the document's, without its row."""
    vector = embedder.embed_query(NOTES[0])

    assert vector.shape == (256,)
    assert np.allclose(vector, embedder.embed_documents([NOTES[0]])[0], atol=1e-7)


@pytest.mark.parametrize("dimensions", [256, 128, 64])
@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("average price per store", ["Mean cost of an article by shop", "The warehouse closes on Friday"]),
        ("how did our revenue grow", ["Monthly sales in Zürich rose by 4 %", "Fit a model with λ = 3.2"]),
        ("the server was too slow", ["Latency of the API went up, λ requests time out", "Lunch with Jürgen"]),
        ("missing values in the column", ["df['price'].fillna(0)  # some rows are empty", "Lunch at noon"]),
    ],
)
def test_near_in_meaning(dimensions, query, texts):
    """What means the same is nearer than what does not, and found though they share no word of weight."""
    embedder = StaticEmbedder(dimensions)

    cosines = embedder.embed_documents(texts) @ embedder.embed_query(query)

    assert cosines[0] > cosines[1]
    assert cosines[0] >= embedder.threshold


def test_company_does_not_matter(embedder):
    """A text has the same vector alone, in a batch and in another order."""
    texts = [*NOTES, REPORT, "", *(f"order {number} of Müller" for number in range(5000))]
    alone = np.stack([embedder.embed_query(text) for text in texts[:40]])
    order = random.Random(1).sample(range(len(texts)), len(texts))

    batch = embedder.embed_documents(texts)
    shuffled = embedder.embed_documents([texts[row] for row in order])

    assert np.sum(batch[:40] * alone, axis=1).min() >= 0.99999
    assert np.sum(batch[order] * shuffled, axis=1).min() >= 0.99999


def test_long_text_as_if_in_one_piece(embedder, table):
    """A text that is tokenised in pieces has the vector that it would have in one."""
    assert len(REPORT) > 2 * static._PIECE

    assert embedder.embed_query(REPORT) @ plain(REPORT, table) >= 0.999999


@pytest.mark.parametrize(
    "text",
    [
        "one two three four five",
        "onetwothreefourfive",
        "one  two",
        " one two three",
        "one two three ",
        "東京都の売上",
        "",
    ],
)
def test_pieces_lose_only_spaces(monkeypatch, text):
    """Pieces are no longer than allowed and hold every character but the spaces at which they were cut."""
    monkeypatch.setattr(static, "_PIECE", 7)

    pieces = list(static._pieces(text))

    assert max(map(len, pieces)) <= 7
    assert "".join(pieces).replace(" ", "") == text.replace(" ", "")
    assert len(text) - len("".join(pieces)) <= len(pieces) - 1


def test_pieces_are_cut_at_words(monkeypatch):
    """A piece ends where a word ends, if there is a space at all."""
    monkeypatch.setattr(static, "_PIECE", 9)

    assert list(static._pieces("one two three fourteenfifteen")) == ["one two", "three", "fourteenf", "ifteen"]


def test_calls_are_bounded(monkeypatch):
    """The tokenizer is called often enough that no call takes much more than allowed, in the order of the texts."""
    monkeypatch.setattr(static, "_PIECE", 10)
    monkeypatch.setattr(static, "_CALL", 25)

    calls = list(static._calls(["a" * 32, "b", "c" * 9, "d" * 9]))

    assert calls == [
        ([0, 0, 0], ["a" * 10, "a" * 10, "a" * 10]),
        ([0, 1, 2, 3], ["aa", "b", "c" * 9, "d" * 9]),
    ]


def test_more_texts_than_a_block(monkeypatch, embedder):
    """Texts beyond one block get their own vectors, in their places."""
    whole = embedder.embed_documents(NOTES)
    monkeypatch.setattr(static, "_BLOCK", 3)

    assert np.allclose(embedder.embed_documents(NOTES), whole, atol=1e-7)


@pytest.mark.parametrize("text", ["", " ", "\n\t \u3000", "\u200b\u0301"])
def test_nothing_to_embed(embedder, table, text):
    """A text without words has the vector of the unknown token, so that nothing fails."""
    row = table[unknown()]

    assert np.allclose(embedder.embed_query(text), row / np.linalg.norm(row), atol=1e-6)
    assert np.allclose(embedder.embed_documents(["price", text])[1], row / np.linalg.norm(row), atol=1e-6)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("価格 🚚", False),
        ('"価格"', False),
        ("価格 der Preis", True),
        ("上月的价格", False),
        ("데이터", False),
        ("", True),
        ("x" * 200, False),
    ],
)
def test_texts_that_it_cannot_read(embedder, text, known):
    """A text of which the model knows no word is told from others, as its vector means nothing."""
    assert embedder.reads(text) == known


def test_no_texts(embedder):
    """No texts have no vectors, in the right shape."""
    assert embedder.embed_documents([]).shape == (0, 256)


@pytest.mark.parametrize(
    "text",
    [
        "price\0list",
        "half \ud83d of a pair",
        "\udfff",
        "\u202eמחיר",
        "e\u0301" * 40,
        "\ufeff",
        "[CLS][PAD]",
        "a" * 50_000,
    ],
    ids=["nul", "lone high", "lone low", "right to left", "combining", "byte order mark", "special", "no space"],
)
def test_strange_text(embedder, text):
    """Text that is unusual or broken still has a vector of length 1."""
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1, abs=1e-6)


def test_surrogates(embedder):
    """Half a surrogate pair counts as a replacement character; two halves are the character that they mean."""
    assert np.allclose(embedder.embed_query("Z\ud800rich"), embedder.embed_query("Z\ufffdrich"), atol=1e-7)
    assert np.allclose(embedder.embed_query("\ud83d\ude9a late"), embedder.embed_query("🚚 late"), atol=1e-7)


def test_megabytes_in_little_memory():
    """Four million characters, a third of them in one text, take less than 100 MB beyond the model."""
    grown = fresh(
        "import resource, sys\n"
        "from jupyter_memory.embedders.static import StaticEmbedder\n"
        "embedder = StaticEmbedder()\n"
        "embedder.embed_query('warm')\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "line = 'Der Umsatz in Zürich grew by 4.2 %, see df.groupby(month); λ = 3\\n'\n"
        "embedder.embed_documents([line * 23000, *[line * 23] * 2000])\n"
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "print(grown // (2**20 if sys.platform == 'darwin' else 2**10))"
    )

    assert int(grown) < 100


def test_first_used_by_many_threads():
    """Threads that all want the first vector get it, from one loading, and the main thread goes on with it."""
    said = fresh(
        "import threading\n"
        "import numpy as np\n"
        "from jupyter_memory.embedders import static\n"
        "found, start = [], threading.Barrier(8)\n"
        "def embed():\n"
        "    start.wait(100)\n"
        "    found.append(static.StaticEmbedder().embed_query('Umsatz in Zürich'))\n"
        "threads = [threading.Thread(target=embed) for _ in range(8)]\n"
        "[thread.start() for thread in threads]\n"
        "[thread.join(100) for thread in threads]\n"
        "found.append(static.StaticEmbedder(256).embed_query('Umsatz in Zürich'))\n"
        "print(len(found), np.ptp(found, axis=0).max() < 1e-6, static._load.cache_info().misses)"
    )

    assert said == "9 True 1"


@pytest.mark.parametrize("dimensions", [0, 32, 255, 512])
def test_other_dimensions(dimensions):
    """Dimensions that the model was not trained for are refused, and the allowed ones named."""
    with pytest.raises(InputError, match=rf"256, 128, 64 dimensions, not {dimensions}"):
        StaticEmbedder(dimensions)


def test_fingerprint():
    """The fingerprint names the weights by their hash, the dimensions, the pooling and the recipe."""
    weights = hashlib.sha256(bundled_file("weights").read_bytes()).hexdigest()[:8]

    assert StaticEmbedder().fingerprint == f"static-wordpiece-{weights}/d256/pooled-0.08-32/ctx1"
    assert StaticEmbedder().name == StaticEmbedder(64).name == "static"
    assert len({StaticEmbedder(dimensions).fingerprint for dimensions in (256, 128, 64)}) == 3
