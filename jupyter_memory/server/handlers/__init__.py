"""The routes below ``jupyter-memory/``, a file a subject."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jupyter_server.utils import url_path_join

from jupyter_memory.server.handlers import about, folders, memories, search, thumbnails

if TYPE_CHECKING:
    from jupyter_memory.server.service import Service

ROUTES = {**about.ROUTES, **search.ROUTES, **memories.ROUTES, **folders.ROUTES, **thumbnails.ROUTES}


def routes(base_url: str, service: Service) -> list[tuple[str, type, dict[str, Any]]]:
    """Return the handlers with their addresses, as tornado takes them."""
    return [
        (url_path_join(re.escape(base_url), "jupyter-memory", name), handler, {"service": service})
        for name, handler in ROUTES.items()
    ]
