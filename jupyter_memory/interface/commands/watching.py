"""The command watch: folders that the store follows while other programs change them."""

from __future__ import annotations

import atexit
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from jupyter_memory.errors import InputError
from jupyter_memory.interface import messages
from jupyter_memory.interface.commands.command import Call, WrongUsage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.watching.folder_watch import FolderWatch, WatchThread
from jupyter_memory.text.display import count_of
from jupyter_memory.text.paths import StorePath

if TYPE_CHECKING:
    from jupyter_memory.store.memory_store import MemoryStore

# The thread of each store that this process follows, by the store's path.
_threads: dict[StorePath, WatchThread] = {}


def in_terminal(front: Front, call: Call) -> None:
    """Index folders and keep them up to date until Ctrl-C; without PATH, the folders that are watched already.

    What any program adds, changes, renames or deletes there is remembered within seconds. One process at a time does so
    for a store; another one waits for it. With `--off` the folders are no longer watched.
    """
    if call.values["off"]:
        _unwatch(front, call)
        return
    _begin(front, call)
    if not (folders := _watched(front.store)):
        raise WrongUsage("Name a folder to watch: jupyter-memory watch ~/notebooks")
    front.note(f"watching {count_of(len(folders), 'folder')}; Ctrl-C ends it")
    try:
        FolderWatch(
            lambda: front.store,
            ignore=front.settings.ignore,
            applied=lambda made: _report(front, made),
            say=front.note,
            problem=lambda error: front.note(str(error)),
        ).run(Event())
    except KeyboardInterrupt:
        front.note("stopped; the folders stay on the list of watched ones")


def in_notebook(front: Front, call: Call) -> None:
    """Index folders and keep them up to date while this kernel runs; without PATH, show what is watched.

    What any program adds, changes, renames or deletes there is remembered within seconds. JupyterLab's server does so
    too, for all folders that are watched. With `--off` the folders are no longer watched.

    Examples::

        %memory watch ~/notebooks
        %memory watch
        %memory watch --off ~/notebooks
    """
    if call.values["off"]:
        _unwatch(front, call)
        return
    _begin(front, call)
    store = front.store
    if call.words:
        _start(front, store.path)
    folders = _watched(store)
    thread = _threads.get(store.path)
    if not folders:
        front.say("No folder is watched. `%memory watch ~/notebooks` indexes one and keeps it up to date.")
        return
    front.say("\n".join([*folders, _state(thread)]))


def _begin(front: Front, call: Call) -> None:
    """Index the folders that were named, and note that they are watched."""
    for path in call.words:
        if not Path(path).expanduser().is_dir():
            raise InputError(f"{path} is no folder. A folder can be watched; a single file can be indexed.")
    for path in call.words:
        front.say(messages.indexed(front.store_to_fill.index(path, progress=front.progress)))
        front.store_to_fill.watch(path)


def _unwatch(front: Front, call: Call) -> None:
    if not call.words:
        raise WrongUsage("Name the folder that is no longer to be watched: watch --off ~/notebooks")
    for path in call.words:
        front.store.watch(path, False)
    front.say(f"no longer watched: {', '.join(call.words)}; what was indexed stays")


def _start(front: Front, path: StorePath) -> None:
    """Follow the folders of a store in a thread of this kernel, unless one does."""
    if (thread := _threads.get(path)) is None or not thread.runs:
        _threads[path] = WatchThread(FolderWatch(lambda: front.store, ignore=front.settings.ignore))
        atexit.register(_threads[path].close)


def _report(front: Front, made: int) -> None:
    front.say(f"{datetime.now().astimezone():%H:%M:%S}  {count_of(made, 'change')} remembered")


def _watched(store: MemoryStore) -> list[str]:
    return [folder.path for folder in store.folders() if folder.watched]


def _state(thread: WatchThread | None) -> str:
    if thread is None:
        return "This kernel does not follow them; JupyterLab's server does while it runs."
    if thread.error is not None:
        return f"This kernel no longer follows them: {thread.error}"
    if thread.watch.waits:
        return "Another process follows them; this kernel takes over when that ends."
    return "This kernel follows them until it ends."
