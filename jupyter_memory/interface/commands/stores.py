"""Commands about the list of stores that are searched together."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.config import ListedStore, listed_stores, load_config, store_path
from jupyter_memory.errors import InputError, guess
from jupyter_memory.interface.commands.command import Call, Front
from jupyter_memory.interface.stores import opened
from jupyter_memory.text.display import columns
from jupyter_memory.text.paths import make_private, may_exist
from jupyter_memory.types.search import OWN


def list_(front: Front, call: Call) -> None:
    """List the stores that can be searched together, or change the list, which is kept in your settings.

    `own` is the store of your settings. The one that comes first counts most, and of a text that several hold, its copy
    is shown. With `--read-only`, nothing is ever written into the store that is added.

    Examples::

        %memory store
        %memory store add team postgresql://db.example/team
        %memory store add papers ~/papers.sqlite --read-only
        %memory store order team own
        %memory store remove papers
    """
    rows = []
    for one in listed_stores(front.settings):
        place = store_path(front.settings) if one.name == OWN else one.place
        if place is not None:
            state = "" if may_exist(place) else "not there now"
            rows.append((one.name, str(place), "read only" if one.read_only else "", state))
    front.say(columns(rows))


def add(front: Front, call: Call) -> None:
    """Add a store to the list: its name, and its file or the URL of its database, without a password."""
    name, written = call.words
    added = ListedStore.of({"name": name, "path": written, "read_only": call.values["read_only"]})
    listed = listed_stores(load_config())
    if known := next((one for one in listed if one.name == name), None):
        raise InputError(f"{name} is on the list already ({known.place}): remove it first, or choose another name.")
    # A store that is missing, damaged or newer is refused here, and not at the first search.
    opened(added, front.settings).close()
    _keep(front, [*load_config().stores, added.row()])
    front.say(f"added {name}: {added.place}")


def remove(front: Front, call: Call) -> None:
    """Take a store off the list; the store itself stays as it is."""
    [name] = call.words
    kept = load_config().stores
    if not any(row["name"] == name and "path" in row for row in kept):
        raise _unknown(name, [row["name"] for row in kept])
    _keep(front, [row for row in kept if row["name"] != name])
    front.say(f"removed {name} from the list; the store stays as it is")


def order(front: Front, call: Call) -> None:
    """Say which stores come first, as those that count most; the others follow as they were."""
    listed = {one.name: one for one in listed_stores(load_config())}
    for name in call.words:
        if name not in listed:
            raise _unknown(name, list(listed))
    names = dict.fromkeys([*call.words, *listed])
    _keep(front, [listed[name].row() for name in names])
    list_(front, call)


def _unknown(name: str, known: Sequence[str]) -> InputError:
    return InputError(f"No store on the list is called {name!r}.{guess(name, known)} `store list` shows them.")


def _keep(front: Front, rows: Sequence[object]) -> None:
    # Imported late: a kernel need not wait for what edits files of settings.
    from jupyter_memory.interface.clients.client import setting

    entry = setting("stores", list(rows))
    if (change := entry.added()) is not None:
        make_private(change.path.parent)
        change.apply()
    front.settings.take({"stores": list(rows)}, str(entry.file))
