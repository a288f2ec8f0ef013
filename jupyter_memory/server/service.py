"""What the handlers share: the settings, the door to the store, the threads, the root of Lab's files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jupyter_memory.config import JupyterMemory
from jupyter_memory.server.door import Door
from jupyter_memory.server.places import Root
from jupyter_memory.server.pool import Pool

if TYPE_CHECKING:
    from jupyter_memory.server.panel_config import JupyterMemoryServer

# Raised when an older front end would misunderstand the server.
API = 1


class Service:
    """One a server."""

    def __init__(
        self, settings: JupyterMemory, limits: JupyterMemoryServer, root: Root, problems: Sequence[str]
    ) -> None:
        self.settings = settings
        self.only_user = limits.only_user
        self.root = root
        self.problems = tuple(problems)
        self.door = Door(settings)
        self.pool = Pool(limits.threads)

    def close(self) -> None:
        """Stop the threads and close the store."""
        self.pool.close()
        self.door.close()
