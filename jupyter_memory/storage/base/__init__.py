"""What search and ingestion ask of a database, in their own words: no SQL, and no type of a driver.

`Storage` opens snapshots, and has one `Writer` and one `RunLog`. Both retrievers of a search read the same `Snapshot`.
Whatever database implements these, `tests/storage/contract` must pass for it.
"""

from jupyter_memory.storage.base.runs import Noted, RunFilter, RunLog
from jupyter_memory.storage.base.snapshot import Snapshot
from jupyter_memory.storage.base.storage import Forgotten, SearchStorage, Storage, Thumbnails
from jupyter_memory.storage.base.team import Level, Right, Team
from jupyter_memory.storage.base.texts import Corpus, Texts
from jupyter_memory.storage.base.transfer import (
    Arriving,
    Became,
    Contents,
    NotedFile,
    NotedFolder,
    NotedSearch,
    Stored,
    Transfer,
)
from jupyter_memory.storage.base.values import (
    Calibration,
    ChunkSpan,
    ChunkVectors,
    EmbeddedParts,
    Model,
    Passage,
    Prepared,
    QueryVector,
    mismatch,
)
from jupyter_memory.storage.base.writer import Writer

__all__ = [
    "Arriving",
    "Became",
    "Calibration",
    "ChunkSpan",
    "ChunkVectors",
    "Contents",
    "Corpus",
    "EmbeddedParts",
    "Forgotten",
    "Level",
    "Model",
    "Noted",
    "NotedFile",
    "NotedFolder",
    "NotedSearch",
    "Passage",
    "Prepared",
    "QueryVector",
    "Right",
    "RunFilter",
    "RunLog",
    "SearchStorage",
    "Snapshot",
    "Storage",
    "Stored",
    "Team",
    "Texts",
    "Thumbnails",
    "Transfer",
    "Writer",
    "mismatch",
]
