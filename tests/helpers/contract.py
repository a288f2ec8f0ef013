"""What the tests of the storage contract share: drafts, files of cells, and what a new snapshot shows."""

from datetime import timedelta

from hashing import Hashing
from week import NOW

from jupyter_memory import FileState
from jupyter_memory.ingest import prepare
from jupyter_memory.text import embedding_text
from jupyter_memory.types import Draft, Filters

EVERYTHING = Filters()
WEIGHTS = {"title": 2.0, "text": 1.0, "tags": 1.0}
NOTEBOOK = "/week/λ.ipynb"
NOTE = Draft(text="The λ of Zürich is 3.2.", title="λ", tags=("decision",))
RATE = Draft(
    text="The arrival rate λ in Zürich is 3.2 orders an hour.", title="Rate", tags=("queue", "zürich"),
    event_at=NOW - timedelta(days=2), session="monday",
)  # fmt: skip
PRICES = Draft(text="Prices fell in Genève.", tags=("queue",), event_at=NOW, session="friday", pinned=True)


def cells(*texts, source=NOTEBOOK, **values):
    given = {"kind": "cell", "tier": "file", "source": source, "lang": "python", **values}
    return [Draft(text=text, location=f"#{place}", **given) for place, text in enumerate(texts)]


[CELL] = cells("orders.groupby('city').mean()", event_at=NOW - timedelta(days=1))
DRAFTS = (RATE, PRICES, CELL)


def keys_of(snapshot, *drafts):
    return snapshot.same_content(drafts)


def vector_of(draft):
    return Hashing().vector(embedding_text(draft.kind, draft.title, "", draft.text))


def add(storage, *drafts, embedder=None):
    return storage.writer.add(prepare(drafts, embedder), embedder)


def read_file(storage, *texts, path=NOTEBOOK, embedder=None):
    state = FileState(path, 1, len(texts), "-".join(texts))
    storage.writer.replace_files([(state, prepare(cells(*texts, source=path), embedder))], embedder, "")
    return sorted(everything(storage, kind=("cell",), path=(path,)), key=lambda memory: memory.location)


def everything(storage, **filters):
    return list(seen(storage, lambda snapshot: snapshot.memories(snapshot.keys(Filters(**filters)))).values())


def seen(storage, read):
    with storage.snapshot() as snapshot:
        return read(snapshot)
