"""The embedded model: the mean of token vectors, whatever the text and whoever stands beside it."""

import hashlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from blocked import run_without
from small_models import mx

import jupyter_memory
from jupyter_memory import InputError, embedders
from jupyter_memory.embedders import MODELS, StaticEmbedder, Tokens, tokens, unknown

PROGRAMS = tomllib.loads(Path(__file__).with_name("programs.toml").read_text("utf-8"))
BUNDLED = Path(embedders.__file__).parent / "bundled"

NOTES = [
    "Monthly sales in Zürich rose by 4 % after the price cut", "The λ of the Poisson model is 3.2 orders an hour",
    "df.groupby('shop')['price'].transform('mean')", "Asked Łukasz for the warehouse extract of March", "x",
    "東京の売上は先月より増えた", "🚚 late again",
    "def load(path):\n    return pd.read_parquet(path, columns=['price', 'shop'])\n",
]  # fmt: skip
# More than one piece for the tokenizer, with some words found nowhere else.
REPORT = " ".join(f"{note} ({number} of the quarter)." for number in range(60) for note in NOTES)


@pytest.fixture(scope="module")
def embedder():
    return StaticEmbedder()


@pytest.fixture(scope="module")
def table():
    [table] = mx.load(str(BUNDLED / "weights.safetensors")).values()
    return np.array(table).astype(np.float32)


def pooled(ids, table, dimensions=256):
    """Return the vector of tokens as one would write it down: weighed by place and share, mean, cut, length 1.

    The first counts double, the excess is a third (1/e) after 32; one that is 8 % of the text counts half.
    """
    ids, places = np.unique(ids, return_inverse=True)
    often = np.bincount(places, 1 + np.exp(-np.arange(len(places)) / 32))
    weights = often / (often / often.sum() + 0.08)
    mean = (weights @ table[ids])[:dimensions]
    return mean / np.linalg.norm(mean)


def plain(text, table, dimensions=256):
    return pooled(tokens([text]).ids, table, dimensions)


@pytest.mark.parametrize("dimensions", [256, 128, 64])
def test_as_numpy_does_it(table, dimensions):
    """Each text is the mean of its tokens' vectors, cut to the dimensions, with length 1, in float32."""
    vectors = StaticEmbedder(dimensions).embed_documents(NOTES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(NOTES), dimensions)
    assert np.allclose(vectors, [plain(note, table, dimensions) for note in NOTES], atol=1e-6)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_tokens_that_are_known(embedder, table):
    rng = np.random.default_rng(6)
    texts = [rng.integers(0, 30_522, rng.integers(1, 60)) for _ in range(300)]
    texts = [*texts, rng.integers(0, 30_522, 9_000), np.full(70, 2_000), np.array([], np.int64), np.array([9])]
    found = Tokens(np.concatenate(texts).astype(np.int32), np.cumsum([len(ids) for ids in texts]))
    expected = [pooled(ids if len(ids) else [unknown()], table) for ids in texts]
    assert np.allclose(embedder.embed_tokens(found), expected, atol=1e-5)
    assert np.allclose(embedder.embed_tokens(tokens(NOTES)), embedder.embed_documents(NOTES), atol=1e-7)
    vector = embedder.embed_query(NOTES[0])
    assert vector.shape == (256,) and np.allclose(vector, embedder.embed_documents([NOTES[0]])[0], atol=1e-7)
    assert embedder.embed_documents([]).shape == (0, 256)


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
    embedder = StaticEmbedder(dimensions)
    cosines = embedder.embed_documents(texts) @ embedder.embed_query(query)
    assert cosines[0] > cosines[1] and cosines[0] >= embedder.threshold


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        (REPORT, 0.999999), (f"  {REPORT}  ", 0.999999), (REPORT.replace(" ", "   "), 0.999999),
        (REPORT.replace(" ", ""), 0.999), ("東京都の売上" * 5_000, 0.999),
        (REPORT * 5, 0.999),
    ],
    ids=["text", "spaces around", "many spaces", "no spaces", "ideographs", "more than one call"],
)  # fmt: skip
def test_long_text_as_if_in_one_piece(embedder, table, text, alike):
    """A text that is tokenised in pieces has the vector that it would have in one; pieces are cut at spaces."""
    assert len(text) > 20_000
    found = embedder.embed_documents(["x", text, "price", text])
    assert min(found[1] @ plain(text, table), found[3] @ found[1]) >= alike
    assert found[[0, 2]] == pytest.approx(embedder.embed_documents(["x", "price"]), abs=1e-6)


@pytest.mark.parametrize("text", ["", " ", "\n\t \u3000", "\u200b\u0301"])
def test_nothing_to_embed(embedder, table, text):
    row = table[unknown()]
    assert np.allclose(embedder.embed_query(text), row / np.linalg.norm(row), atol=1e-6)
    assert np.allclose(embedder.embed_documents(["price", text])[1], row / np.linalg.norm(row), atol=1e-6)


@pytest.mark.parametrize(
    ("text", "known"),
    [("価格 🚚", False), ('"価格"', False), ("価格 der Preis", True), ("上月的价格", False), ("데이터", False),
     ("", True), ("x" * 200, False)],
)  # fmt: skip
def test_texts_that_it_cannot_read(embedder, text, known):
    """A text of which the model knows no word is told from others, as its vector means nothing."""
    assert embedder.reads(text) == known


@pytest.mark.parametrize(
    "text",
    ["price\0list", "half \ud83d of a pair", "\udfff", "\u202eמחיר", "e\u0301" * 40, "\ufeff", "[CLS][PAD]",
     "a" * 50_000],
    ids=["nul", "lone high", "lone low", "right to left", "combining", "byte order mark", "special", "no space"],
)  # fmt: skip
def test_strange_text(embedder, text):
    assert np.linalg.norm(embedder.embed_query(text)) == pytest.approx(1, abs=1e-6)
    for one, other in (("Z\ud800rich", "Z\ufffdrich"), ("\ud83d\ude9a late", "🚚 late")):
        assert np.allclose(embedder.embed_query(one), embedder.embed_query(other), atol=1e-7)


def test_megabytes_in_little_memory():
    """Four million characters, a third of them in one text, take less than 100 MB beyond the model."""
    grown = run_without(
        [],
        "import resource\nfrom jupyter_memory.embedders import StaticEmbedder\nembedder = StaticEmbedder()\n"
        "embedder.embed_query('warm')\nbefore = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "line = 'Der Umsatz in Zürich grew by 4.2 %, see df.groupby(month); λ = 3\\n'\n"
        "embedder.embed_documents([line * 23000, *[line * 23] * 2000])\n"
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "print(grown // (2**20 if sys.platform == 'darwin' else 2**10))",
    )
    assert int(grown) < 100


def test_first_used_by_many_threads():
    said = run_without(
        [],
        "import threading, numpy as np\nfrom jupyter_memory.embedders import StaticEmbedder\n"
        "found, start = [], threading.Barrier(8)\n"
        "def embed():\n"
        "    start.wait(100)\n"
        "    found.append(StaticEmbedder().embed_query('Umsatz in Zürich'))\n"
        "threads = [threading.Thread(target=embed) for _ in range(8)]\n"
        "[thread.start() for thread in threads], [thread.join(100) for thread in threads]\n"
        "found.append(StaticEmbedder(256).embed_query('Umsatz in Zürich'))\n"
        "print(len(found), np.ptp(found, axis=0).max() < 1e-6)",
    )
    assert said == "9 True"


@pytest.mark.parametrize("dimensions", [0, 32, 255, 512])
def test_other_dimensions(dimensions):
    with pytest.raises(InputError, match=rf"256, 128, 64 dimensions, not {dimensions}"):
        StaticEmbedder(dimensions)


def test_fingerprint(table):
    """The fingerprint names weights, dimensions, pooling and recipe; each token has a row, and names are parted."""
    weights = hashlib.sha256((BUNDLED / "weights.safetensors").read_bytes()).hexdigest()[:8]
    assert StaticEmbedder().fingerprint == f"static-wordpiece-{weights}/d256/pooled-0.08-32/ctx1"
    assert StaticEmbedder().name == StaticEmbedder(64).name == "static"
    assert len({StaticEmbedder(dimensions).fingerprint for dimensions in (256, 128, 64)}) == 3
    assert table.shape == (30_522, 256)
    assert (np.abs(table[:, :64]).max(axis=1) > 0).mean() > 0.9
    assert tokens(["parseJson of Zürich"]).ids.tolist() == tokens(["parse json of zurich"]).ids.tolist()
    assert unknown() == 100


@pytest.mark.parametrize(
    ("name", "fault", "said"),
    [
        ("weights.safetensors", "flip", "is not the expected one"),
        ("vocabulary.txt", "flip", "is not the expected one"),
        ("weights.safetensors", 5, "is not the expected one"),
        ("weights.safetensors", 4_000, "is cut short: it has 4,000 of"),
        ("weights.safetensors", 15_000_000, "is cut short: it has 15,000,000 of"),
        ("weights.safetensors", None, "is missing"),
        ("vocabulary.txt", None, "is missing"),
        ("vocabulary.txt", "folder", "cannot be read"),
    ],
)
def test_damaged_files(tmp_path, name, fault, said):
    # A package whose files are those of ours, but for the bundled ones.
    here, package = tmp_path / "jupyter_memory", Path(jupyter_memory.__file__).parent
    (here / "embedders" / "bundled").mkdir(parents=True)
    for source, target in ((package, here), (package / "embedders", here / "embedders"), (BUNDLED, None)):
        for file in source.iterdir():
            place = (target or here / "embedders" / "bundled") / file.name
            if not place.exists() and file.name != name:
                place.symlink_to(file)
    damaged, content = here / "embedders" / "bundled" / name, bytearray((BUNDLED / name).read_bytes())
    if fault == "folder":
        damaged.mkdir()
    elif fault is not None:
        content[len(content) // 2] ^= fault == "flip"
        damaged.write_bytes(content if fault == "flip" else content[:fault])

    code = (
        "from jupyter_memory import EmbedderUnavailable\nfrom jupyter_memory.embedders import StaticEmbedder\n"
        "try:\n    StaticEmbedder().embed_query('λ')\nexcept EmbedderUnavailable as error:\n    print(error)"
    )
    options = {"env": os.environ | {"PYTHONPATH": str(tmp_path)}, "cwd": tmp_path, "timeout": 100, "check": True}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, **options).stdout

    assert f"{name} {said}" in found
    assert "pip install --force-reinstall --no-deps jupyter-memory" in found


def test_a_store_works(tmp_path):
    """Files and notes are taken in and found by meaning, the store is well, and its status names the arithmetic."""
    said = run_without(["mlx"], PROGRAMS["store"], str(tmp_path)).splitlines()
    assert said[:2] == ["['Cat'] True False", "[]"]
    assert any(line.split()[:2] == ["arithmetic", "NumPy,"] for line in said)


def test_everything_is_imported():
    """No name of any room needs MLX or tokenizers, but for those of the models that run on them."""
    assert run_without(["mlx", "tokenizers"], PROGRAMS["imports"]) == "all"


@pytest.mark.parametrize("name", ["minilm", "nomic"])
def test_nothing_is_copied(name, tmp_path):
    """A model that is given in a folder or as a wheel is not copied where it cannot run, and the error says why."""
    wheel = tmp_path / MODELS["minilm"].wheel.file
    wheel.write_bytes(b"not looked at")
    source = {"minilm": wheel, "nomic": Path(__file__).parent / "nomic_small"}[name]
    said = run_without(["mlx"], PROGRAMS["take"], name, str(source), str(tmp_path / "models"))
    assert said.startswith(f"{name} needs mlx, which this Python environment does not have, so nothing was fetched")
    assert "pip install 'jupyter-memory[hub]'" in said and said.endswith("False")


def test_what_an_uninstall_leaves_is_not_mlx(tmp_path):
    """An empty folder of its name does not count as MLX: it is a package of many parts, and the part is missing."""
    (tmp_path / "mlx").mkdir()
    code = (
        "from importlib.util import find_spec\nfrom jupyter_memory.embedders import MINILM, missing\n"
        "sys.path[:] = [sys.argv[1]]\n"
        "print(find_spec('mlx') is not None, missing(MINILM))\n"
    )
    assert run_without([], code, str(tmp_path)) == "True ('mlx',)"
