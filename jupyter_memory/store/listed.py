"""The stores that are searched together, as a process opens them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, Any

from jupyter_memory.config import JupyterMemory
from jupyter_memory.errors import EmbedderError, MissingExtra, StoreError, StoreLocked, UnknownStore
from jupyter_memory.search.prompt import PromptText, prompt_text
from jupyter_memory.stores import ALL, PROJECT, ListedStore, chosen_stores, listed_stores, trusted_project
from jupyter_memory.types import Answer
from jupyter_memory.types.search import OWN, address, parted

if TYPE_CHECKING:
    from jupyter_memory.store.federation import Vaults
    from jupyter_memory.store.store import MemoryStore


class Stores:
    """The stores of the list as one process uses them; each is opened when it is first needed, and kept.

    ``own`` opens the store of the settings, or raises ``StoreError``. Relative paths begin at ``here``, and from there
    upwards a project's store is looked for; without ``projects``, it is opened only if the list names it: a server does
    not run where a person works.
    """

    def __init__(
        self, settings: JupyterMemory, own: Callable[[], MemoryStore], *, projects: bool = True, here: str | None = None
    ) -> None:
        self._settings, self._own, self._projects, self._here = settings, own, projects, here
        # Each with the space that it was opened for.
        self._opened: dict[tuple[ListedStore, str], MemoryStore] = {}
        # One that hangs must not keep the others from being opened.
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)

    def vaults(self, names: Sequence[str]) -> Vaults:
        """Return the stores of these names, or ``all``, to be searched together; the order is that of the list."""
        from jupyter_memory.store.federation import Opened, Vaults  # imported late, as below

        stores: dict[str, tuple[Opened, float]] = {}
        for one in self._chosen(names):
            store: Opened = partial(self._store, one)
            if one.name == OWN:
                # In this thread: a notebook has its last runs stored first.
                try:
                    store = self._own()
                except StoreError as error:
                    store = partial(_raise, error)
            stores[one.name] = store, 1.0
        return Vaults(**stores)

    def hits(self, names: Sequence[str], query: str | None, **asked: Any) -> Answer:
        """Return what stores of these names answer together, as the settings say where ``asked`` does not."""
        usual = {name: getattr(self._settings, name) for name in ("profile", "limit")}
        given = {name: value for name, value in asked.items() if value is not None}
        return self.vaults(names).hits(query, deadline=self._settings.stores_seconds, **(usual | given)).answer

    def named(self, name: str) -> MemoryStore:
        """Return the open store of a name, your own for an empty one."""
        if name == ALL:
            raise UnknownStore(f"{ALL} is every store: name one of them.")
        return self._store(self._chosen([name or OWN])[0])

    def forget(self, addresses: Sequence[str]) -> int:
        """Forget memories by their addresses, your own first: another may refuse; return the number removed."""
        forgotten = 0
        for name in sorted({parted(one)[0] for one in addresses}):
            ids = [id_ for of, id_ in map(parted, addresses) if of == name]
            forgotten += self.named(name).forget(ids)
            self.forgot(name, ids)
        return forgotten

    def forgot(self, name: str, ids: Sequence[str]) -> None:
        """Forget the searches that found what was forgotten in another store: your own keeps them."""
        if name:
            with suppress(StoreError):
                self._own().activity.forget_found([address(name, id_) for id_ in ids])

    def context(self, answer: Answer, max_tokens: int) -> PromptText:
        """Return an answer of several stores as a text for a prompt; see ``MemoryStore.context``."""
        present = []
        for name in dict.fromkeys(hit.store for hit in answer.hits):
            with suppress(StoreError):
                present += self.named(name).searching.present([hit for hit in answer.hits if hit.store == name])
        return prompt_text(replace(answer, hits=tuple(sorted(present, key=attrgetter("rank")))), max_tokens)

    def problems(self, command: Callable[[str], str] = "jupyter-memory {}".format) -> Iterator[str]:
        """Yield what is wrong with the stores of the list; ``command`` writes one of the package's as it is typed."""
        for one in listed_stores(self._settings.stores):
            if one.place is None:
                continue  # your own is the caller's, and that of a project need not be here
            try:
                store = self._store(one)
            except (StoreError, EmbedderError, MissingExtra, OSError) as error:
                off = command(f"store remove {one.name}")
                yield f"The store {one.name} cannot be opened; `{off}` takes it off the list. {error}"
                continue
            try:
                yield from (f"The store {one.name}: {problem}" for problem in store.doctor())
            except (StoreError, OSError) as error:
                yield f"The store {one.name}: {error}"

    def interrupt(self, thread: int) -> None:
        """Stop what a thread is doing in one of the stores of the list."""
        for store in [*self._opened.values()]:
            store.interrupt(thread)

    def close(self) -> None:
        """Close the stores of the list; your own belongs to someone else."""
        while self._opened:  # a search that is left behind may add another meanwhile
            self._opened.popitem()[1].close()

    def _chosen(self, names: Sequence[str]) -> list[ListedStore]:
        return chosen_stores(self._settings.stores, names, projects=self._projects, here=self._here)

    def _store(self, one: ListedStore) -> MemoryStore:
        if one.name == OWN:
            return self._own()
        if one.name == PROJECT:
            one = one._replace(place=trusted_project(self._here))
        lock, key = self._locks[one.name], (one, self._settings.space)
        # Where a disk or a server never answers, each search would leave a thread that waits.
        if not lock.acquire(timeout=self._settings.busy_seconds):
            raise StoreLocked(f"{one.name} is still being opened: its disk or server has not answered yet.")
        try:
            known = self._opened.get(key)
            if known is not None and known.replaced:
                known.close()
            if known is None or known.closed:
                # Imported late: help, completion and wrong usage need not wait for it.
                from jupyter_memory.store.store import opened

                known = self._opened[key] = opened(one, self._settings, self._here)
            return known
        finally:
            lock.release()


def _raise(error: StoreError) -> MemoryStore:
    raise error
