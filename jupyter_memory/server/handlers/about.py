"""Information about the memory itself: status, profiles, models, doctor."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from jupyter_memory.config import models_folder
from jupyter_memory.errors import JupyterMemoryError, NoStore
from jupyter_memory.server import runs, serializers
from jupyter_memory.server.handlers.base import MemoryHandler, read
from jupyter_memory.server.service import API, Service

if TYPE_CHECKING:
    from jupyter_memory.store.memory_store import MemoryStore


class Status(MemoryHandler):
    """GET: what the store holds and what is going on; polled, so it neither loads a model nor looks at folders."""

    _track_activity = False

    @read
    async def get(self) -> None:
        """Answer with ``IStatus``, also where the store cannot be opened."""
        await self.reply_with(lambda: status(self.service))
        # Not before: the panel waits for its status, not for what other programs do.
        self.service.follow_folders()


class Profiles(MemoryHandler):
    """GET: the ways of ranking."""

    @read
    async def get(self) -> None:
        """Answer with the profiles, including the one that the settings name."""
        await self.reply_with(lambda: {"profiles": profiles(self.service.settings.profile)})


class Models(MemoryHandler):
    """GET: the models that have a name."""

    @read
    async def get(self) -> None:
        """Answer with the models, whether they are here, and which is in use."""
        await self.reply_with(lambda: {"models": models(self.service)})


class Doctor(MemoryHandler):
    """GET: what is wrong with the store."""

    @read
    async def get(self) -> None:
        """Answer with sentences about problems and their cures; none if all is well."""
        # The whole file is read: that may take long.
        await self.reply(lambda store: {"problems": store.doctor()}, pool=self.service.scan_pool)


class Sizes(MemoryHandler):
    """GET: what the bytes of the store are for."""

    @read
    async def get(self) -> None:
        """Answer with the bytes by kind, which add up to ``bytes``, and with the budget."""
        # The whole file is looked at.
        await self.reply(sizes, pool=self.service.scan_pool)


ROUTES = {"sizes": Sizes, "status": Status, "profiles": Profiles, "models": Models, "doctor": Doctor}


def status(service: Service) -> dict[str, Any]:
    """Return ``IStatus``; the notices say why a store cannot be opened."""
    store, notices = None, list(service.problems)
    try:
        store = service.provider.store()
        said = _of_store(store)
    except NoStore:
        said = {}
    except JupyterMemoryError as error:
        said = {}
        notices.append(str(error))
    # Another model may be in use since.
    offered = [service.offer] if service.offer and said.get("model") == "static" else []
    path = service.provider.path
    empty = {
        "path": str(path),
        "exists": service.provider.exists,
        "memories": 0,
        "files": 0,
        "bytes": 0,
        "read_only": False,
    }
    return {
        "version": version("jupyter-memory"),
        "api": API,
        "store": {**empty, **said.get("store", {})},
        "model": said.get("model"),
        "folders": said.get("folders", []),
        "jobs": service.jobs.listed(),
        "notices": [*notices, *(store.notices if store is not None else ()), *offered],
        "log_searches": service.settings.log_searches,
        "history": runs.history(path, said.get("history")),
        "root": service.root.folder or "",
    }


def profiles(chosen: str) -> list[dict[str, Any]]:
    """Return the profiles that come with the package, and the one that the settings name if it is in a file."""
    from jupyter_memory.search.profiles import PROFILES, profile_named

    known = list(PROFILES.values())
    default = profile_named(chosen)
    if default.name not in PROFILES:
        known.append(default)
    return [serializers.profile(one, default.name) for one in known]


def models(service: Service) -> list[dict[str, Any]]:
    """Return the models that have a name."""
    from jupyter_memory.interface.models import listed

    try:
        stats = service.provider.store().stats()
    except JupyterMemoryError:
        stats = None
    return [serializers.model(one) for one in listed(models_folder(service.settings), stats)]


def sizes(store: MemoryStore) -> dict[str, Any]:
    """Return ``ISizes``."""
    stats = store.stats(sizes=True)
    return {name: stats[name] for name in ("bytes", "held", "budget", "sizes")}


def _of_store(store: MemoryStore) -> dict[str, Any]:
    stats = store.stats()
    return {
        "store": {name: stats[name] for name in ("memories", "files", "bytes", "read_only")},
        "model": stats["model"],
        "folders": serializers.folders(store),
        "history": store.history.status(),
    }
