"""The pictures of memories, one at a time, for the panel and for the results that it shows in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_memory.server.client_errors import ClientError, invalid
from jupyter_memory.server.handlers.base import MemoryHandler, read
from jupyter_memory.types.memory import MOST_THUMBNAILS

if TYPE_CHECKING:
    from jupyter_memory.types.memory import Thumbnail

# Whatever a store says: a browser must never take a picture for a page.
_MEDIA_TYPES = ("image/webp", "image/png")
_LONGEST_ID = 64


class Picture(MemoryHandler):
    """GET: a picture of a memory, ``thumbnail?memory_id=…&place=0``."""

    # A list of results asks for many of them: that is no sign of somebody at work.
    _track_activity = False

    @read
    async def get(self) -> None:
        """Answer with the bytes of a thumbnail, or 404."""
        memory_id = self.get_query_argument("memory_id", "")
        place = self.get_query_argument("place", "0")
        if not 0 < len(memory_id) <= _LONGEST_ID:
            raise invalid("memory_id", "it must be the id of a memory")
        if place not in map(str, range(MOST_THUMBNAILS)):
            raise invalid("place", f"it must be a whole number from 0 to {MOST_THUMBNAILS - 1}")
        found = await self.result(lambda: self._found(memory_id, int(place)))
        if found is not None:
            # No cache keeps what may be forgotten in the store.
            self.set_header("Cache-Control", "private, no-store")
            self.set_header("X-Content-Type-Options", "nosniff")
            self.set_header("Cross-Origin-Resource-Policy", "same-origin")
            self.finish(found.image, set_content_type=found.media_type)

    def _found(self, memory_id: str, place: int) -> Thumbnail:
        found = self.service.provider.store().thumbnail(memory_id, place)
        if found is None or found.media_type not in _MEDIA_TYPES:
            raise ClientError(404, "This memory has no such picture: it may have been forgotten.", "NoPicture")
        return found


ROUTES = {"thumbnail": Picture}
