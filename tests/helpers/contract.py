"""What the tests of the storage contract share: three drafts, and how a snapshot names them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hashing import Hashing

from jupyter_memory.text import embedding_text
from jupyter_memory.types import Draft, Filters

NOW = datetime(2026, 3, 6, 18, 0, tzinfo=UTC)
EVERYTHING = Filters()
WEIGHTS = {"title": 2.0, "text": 1.0, "tags": 1.0}
NOTEBOOK = "/week/λ.ipynb"
RATE = Draft(
    text="The arrival rate λ in Zürich is 3.2 orders an hour.",
    title="Rate",
    tags=("queue", "zürich"),
    event_at=NOW - timedelta(days=2),
    session="monday",
)
PRICES = Draft(text="Prices fell in Genève.", tags=("queue",), event_at=NOW, session="friday", pinned=True)
CELL = Draft(
    text="orders.groupby('city').mean()",
    kind="cell",
    tier="file",
    source=NOTEBOOK,
    location="#0",
    lang="python",
    event_at=NOW - timedelta(days=1),
)
DRAFTS = (RATE, PRICES, CELL)


def keys_of(snapshot, *drafts):
    """Return the keys of the memories of these drafts, in their order."""
    return snapshot.same_content(drafts)


def vector_of(draft):
    """Return the vector of a draft of one chunk."""
    return Hashing().vector(embedding_text(draft.kind, draft.title, "", draft.text))
