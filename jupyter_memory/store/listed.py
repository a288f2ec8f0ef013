"""The stores that are searched together, as a process opens them."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from jupyter_core.paths import jupyter_data_dir

from jupyter_memory.config import ALL, PROJECT, JupyterMemory, ListedStore, listed_stores
from jupyter_memory.errors import InputError, NoStore, StoreError, guess
from jupyter_memory.search.prompt import PromptText, prompt_text
from jupyter_memory.text.paths import absolute, make_private, may_exist
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Answer
from jupyter_memory.types.search import OWN

if TYPE_CHECKING:
    from jupyter_memory.store.federation import Vaults
    from jupyter_memory.store.store import MemoryStore

PROJECT_FOLDER = ".jupyter-memory"


class Stores:
    """The stores of the list as one process uses them; each is opened when it is first needed, and kept.

    ``own`` opens the store of the settings, or raises ``StoreError``. Without ``projects``, that of a project is never
    opened: an agent or a server is not where a person works.
    """

    def __init__(self, settings: JupyterMemory, own: Callable[[], MemoryStore], *, projects: bool = True) -> None:
        self._settings, self._own, self._projects = settings, own, projects
        self._opened: dict[ListedStore, MemoryStore] = {}
        # One that hangs must not keep the others from being opened.
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)

    def vaults(self, names: Sequence[str]) -> Vaults:
        """Return the stores of these names, or ``all``, to be searched together; the order is that of the list."""
        # Imported late: help, completion and wrong usage need not wait for it.
        from jupyter_memory.store.federation import Vaults

        stores: dict[str, tuple[MemoryStore | Callable[[], MemoryStore], float]] = {}
        for one in self.chosen(names):
            store: MemoryStore | Callable[[], MemoryStore] = partial(self._store, one)
            if one.name == OWN:
                # In this thread: a notebook has its last runs stored first.
                try:
                    store = self._own()
                except StoreError as error:
                    store = partial(_raise, error)
            stores[one.name] = store, 1.0
        return Vaults(**stores)

    def hits(self, names: Sequence[str], query: str, **asked: Any) -> Answer:
        """Return the answer of these stores together, by the settings where ``asked`` says nothing else."""
        chosen = self._settings
        usual = {"profile": chosen.profile, "limit": chosen.limit, "deadline": chosen.stores_seconds}
        return self.vaults(names).hits(query, **{**usual, **asked}).answer

    def chosen(self, names: Sequence[str]) -> list[ListedStore]:
        """Return what the list says of these names, in its order; ``InputError`` if one is not on it."""
        listed = listed_stores(self._settings)
        if not self._projects:
            listed = [one for one in listed if one.name != PROJECT]
        for name in names:
            if name != ALL and name not in {one.name for one in listed}:
                raise unknown_store(name, [one.name for one in listed])
        there = [one for one in listed if one.name != PROJECT or project_store() is not None]
        return there if ALL in names else [one for one in listed if one.name in names]

    def named(self, name: str) -> MemoryStore:
        """Return the open store of a name, your own for an empty one."""
        return self._store(self.chosen([name or OWN])[0])

    def context(self, answer: Answer, max_tokens: int) -> PromptText:
        """Return an answer of several stores as a text for a prompt; see ``MemoryStore.context``."""
        present = []
        for name in dict.fromkeys(hit.store for hit in answer.hits):
            with suppress(StoreError):
                present += self.named(name).searching.present([hit for hit in answer.hits if hit.store == name])
        return prompt_text(replace(answer, hits=tuple(sorted(present, key=attrgetter("rank")))), max_tokens)

    def close(self) -> None:
        """Close those of the list; your own is not this object's."""
        for store in self._opened.values():
            store.close()
        self._opened.clear()

    def _store(self, one: ListedStore) -> MemoryStore:
        if one.name == OWN:
            return self._own()
        if one.name == PROJECT:
            one = one._replace(place=_trusted_store())
        with self._locks[one.name]:
            known = self._opened.get(one)
            if known is not None and known.replaced:
                known.close()
            if known is None or known.closed:
                known = self._opened[one] = opened(one, self._settings)
            return known


def agents_stores(settings: JupyterMemory, names: Sequence[str]) -> list[str]:
    """Return the stores of an agent that is given these names, in their order; ``all`` are those of the list now."""
    chosen = [one.name for one in Stores(settings, partial(_raise, StoreError()), projects=False).chosen(names)]
    return chosen if ALL in names else list(dict.fromkeys(names))


def opened(listed: ListedStore, settings: JupyterMemory) -> MemoryStore:
    """Open a store of the list; by its own model, whatever the settings choose for yours."""
    from jupyter_memory.store.store import MemoryStore

    if listed.place is None or not may_exist(listed.place):
        raise NoStore(f"There is no store at {listed.place}. Check the path, or make it: --store PATH index FOLDER")
    space = settings.space or None
    return MemoryStore(listed.place, space=space, settings=settings, read_only=listed.read_only)


def project_store() -> Path | None:
    """Return the store of the project here: `.jupyter-memory/memory.sqlite` in the notebook's folder, or above it."""
    notebook = os.environ.get("JPY_SESSION_NAME", "")
    for folder in (*([absolute(notebook).parent] if notebook else []), Path.cwd()):
        for above in (folder, *folder.parents):
            file = above / PROJECT_FOLDER / "memory.sqlite"
            with suppress(OSError):
                if file.is_file():
                    return file
    return None


def is_trusted(file: Path) -> bool:
    """Return whether a person trusted this file, by its path, and it still is that file."""
    with suppress(OSError):
        return _trusted().get(str(file)) == _identity(file)
    return False


def trust(file: Path, trusted: bool = True) -> None:
    """Note that a person trusts the store of a project, or no longer; where no project can write it."""
    kept = {path: identity for path, identity in _trusted().items() if path != str(file)}
    if trusted:
        kept[str(file)] = _identity(file)
    make_private(_trust_file().parent)
    _trust_file().write_text(json_text(kept, indent=1) + "\n", encoding="utf-8")


def _trusted_store() -> Path:
    if (file := project_store()) is None:
        raise NoStore(f"No folder here or above has a file {PROJECT_FOLDER}/memory.sqlite, the store of a project.")
    if not is_trusted(file):
        raise StoreError(
            f"{file} came with the project, or was replaced. If you trust what it holds: `store trust` opens it from "
            "now on."
        )
    return file


def _identity(file: Path) -> list[int]:
    found = file.stat()
    return [found.st_dev, found.st_ino]


def _trust_file() -> Path:
    return Path(jupyter_data_dir()) / "memory" / "trusted.json"


def _trusted() -> dict[str, list[int]]:
    # What cannot be read is trusted no more.
    with suppress(OSError, ValueError):
        found = json.loads(_trust_file().read_text(encoding="utf-8"))
        return found if isinstance(found, dict) else {}
    return {}


def unknown_store(name: str, known: Sequence[str]) -> InputError:
    """Return what to say of a name that is not on the list."""
    return InputError(f"No store on the list is called {name!r}.{guess(name, known)} `store list` shows them.")


def _raise(error: StoreError) -> MemoryStore:
    raise error
