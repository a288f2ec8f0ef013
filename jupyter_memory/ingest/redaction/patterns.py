"""What secrets look like, all kinds in the order in which they are looked for."""

from __future__ import annotations

from jupyter_memory.ingest.redaction.commands import COMMANDS
from jupyter_memory.ingest.redaction.files import FILES
from jupyter_memory.ingest.redaction.prose import IN_PROSE
from jupyter_memory.ingest.redaction.services import SERVICES

SHAPES = (*SERVICES, *COMMANDS, *FILES, *IN_PROSE)
