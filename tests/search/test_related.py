"""More like this: what a memory, or a text that is not stored, has in common with others by words and meaning."""

from contextlib import closing

import apsw
import numpy as np
import pytest
from small_notebooks import write

from jupyter_memory import UnknownMemory
from jupyter_memory.embedders import StaticEmbedder

TOPICS = {
    "prices": ["We scaled the prices to zero mean.", "Prices are net of tax before scaling.", "Scaling prices by shop"],
    "orders": ["Orders at night follow a Poisson law with λ.", "The λ of Poisson orders is 3.2",
               "Night orders: λ falls"],
    "files": ["FileSyncService drops events of Łukasz.", "Events are lost when FileSyncService is slow",
              "Lost events: sync"],
}  # fmt: skip


class Deaf:
    """The static model, which cannot be asked anything: only what is stored has vectors."""

    name, dimensions, fingerprint, threshold = "deaf", 64, "deaf/64", 0.1

    def embed_documents(self, texts, /):
        return StaticEmbedder(64).embed_documents(texts)

    def embed_query(self, _text, /):
        raise AssertionError("asked")


def filled(memory):
    return memory, {name: [memory.add(text).id for text in texts] for name, texts in TOPICS.items()}


@pytest.fixture
def topics(store):
    return filled(store())


def ids_of(answer):
    return [hit.memory.id for hit in answer.hits]


@pytest.mark.parametrize("profile", ["auto", "covalence", "memini"])
@pytest.mark.parametrize("subject", TOPICS)
def test_what_is_on_the_same_subject(topics, profile, subject):
    memory, ids = topics
    answer = memory.related(ids[subject][0], profile=profile)
    assert set(ids_of(answer)[:2]) == set(ids[subject][1:]) and ids[subject][0] not in ids_of(answer)
    assert 1 in {hit.kw_rank for hit in answer.hits} and 1 in {hit.sem_rank for hit in answer.hits}
    assert answer.counts["fused"] == len(answer.hits) <= 8


def test_what_says_the_same_is_left_out(store):
    text = "The zeros function creates an array of zeros."
    memory = store()
    first = memory.add(text, title="numpy", source="/week/numpy.md")
    copy = memory.add(text.upper(), title="numpy", source="/week/numpy-Copy1.md")
    other = memory.add("The ones function creates an array of ones.", title="numpy", source="/week/ones.md")
    answer = memory.related(first.id)
    assert copy.id != first.id and [(hit.rank, hit.memory.id) for hit in answer.hits] == [(1, other.id)]
    assert answer.notices == ("1 memory with the same text is not shown.",)


def test_options_and_verdict(topics):
    """Limit and filters hold as in a search; nobody asked, so nothing is said of how well it was answered."""
    memory, (first, second, _) = topics[0], topics[1]["prices"]
    memory.update(second, tags=["decision"])
    answer = memory.related(first)
    assert len(memory.related(first, limit=1).hits) == 1
    assert ids_of(memory.related(first, filters={"tag": "decision"})) == [second]
    assert answer.verdict is None and np.isnan(answer.strength) and answer.notices == ()
    assert memory.explain_in(answer, answer.hits[0].memory.id).rank == 1


def test_no_model_is_asked(store):
    memory, ids = filled(store(embedder=Deaf()))
    assert memory.related(ids["files"][0]).counts["vector"] > 0


@pytest.mark.parametrize(
    ("texts", "others"),
    [
        (("The λ of Poisson", "Poisson at night", "Prices in Zürich"), 1),
        # What is written without spaces is compared by pairs of characters.
        (("東京の売上が増えた", "大阪と東京の売上", "価格の正規化"), 1),
        # A memory that is alone has nothing like it.
        (("The λ of Poisson",), 0),
    ],
)
def test_by_words_alone(store, texts, others):
    """A store without a model finds what shares the telling words; a memory that is not there is said so."""
    memory = store(embedder=None)
    first, *rest = [memory.add(text).id for text in texts]
    assert ids_of(memory.related(first))[:1] == rest[:others]
    with pytest.raises(UnknownMemory):
        memory.related("0" * 16)


@pytest.mark.parametrize(
    "text", ['"', "tag:x -kind:cell", "the", "東京の売上", "last week", "x" * 20_000, "a:b:c " * 3_000]
)
def test_whatever_it_holds(topics, text):
    memory, _ = topics
    one = memory.add(text)
    assert one.id not in ids_of(memory.related(one.id))


# A text that is not stored: what stands out is alike, and so is its section; what a dozen cells share is not.
WORDS = ("tariff", "meter", "customer", "invoice", "forecast", "weather", "holiday", "outlier", "firmware", "schema")
ASKED = "lags = demand.shift(48).rolling(24).mean()\nfeatures['demand_lag'] = lags.reindex(features.index)"


@pytest.fixture
def work(store, tmp_path):
    """A store of notebooks that begin alike, and of one that computes lags of the demand."""
    for place, word in enumerate(WORDS):
        cells = ["import numpy as np\nimport pandas as pd", *(f"{word}_{other} = load('{other}')" for other in WORDS)]
        write(tmp_path / f"{place}.ipynb", f"# {word}", *cells)
    old = ASKED.replace("48", "72").replace("demand_lag", "lag_of_demand")
    write(tmp_path / "lags.ipynb", "# Lags", old, "features.plot()")
    memory = store()
    memory.index(tmp_path, progress=False)
    return memory


def test_what_is_about_the_same_is_found(work, tmp_path):
    """The cell that does nearly the same is the answer, limit and filters hold, and no vector of the text is kept."""
    answer = work.related_to(ASKED)
    assert answer.hits[0].memory.text.startswith("lags = demand.shift(72)")
    # What stands beside it in its section may be of use as well, nothing of other notebooks is.
    assert {hit.memory.source for hit in answer.hits} == {str(tmp_path / "lags.ipynb")}
    assert (answer.hits[0].rank, answer.verdict) == (1, None)
    assert work.related_to(ASKED, filters={"not_path": [str(tmp_path / "lags.ipynb")]}).hits == ()
    assert len(work.related_to(ASKED, limit=1).hits) == 1
    with closing(apsw.Connection(str(work.path), flags=apsw.SQLITE_OPEN_READONLY)) as file:
        assert file.execute("select count(*) from query_vectors").get == 0


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nimport pandas as pd",
        "The committee met and adopted the report of its chairman without a vote.",
        "tariff",
        "",
    ],
)
def test_what_is_like_everything_or_nothing_has_no_answer(work, text):
    """The imports of every notebook, a text about something else, a word, and nothing."""
    assert work.related_to(text).hits == ()
