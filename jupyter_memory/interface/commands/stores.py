"""Commands about the list of stores that are searched together, and memories that go from one to another."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from jupyter_memory import stores
from jupyter_memory.config import JupyterMemory, load_config, store_path
from jupyter_memory.errors import InputError
from jupyter_memory.interface.commands.command import Call, Front, Halted, WrongUsage, usage
from jupyter_memory.interface.commands.memories import hint_ranks, hint_undo, of_one_store, picked
from jupyter_memory.interface.options import filters_of
from jupyter_memory.stores import PROJECT, ListedStore, listed_stores
from jupyter_memory.text.display import columns, count_of, fit
from jupyter_memory.text.paths import may_exist
from jupyter_memory.types.search import OWN, address


def list_(front: Front, call: Call) -> None:
    """List the stores that can be searched together, or change the list, which is kept in your settings.

    `own` is the store of your settings, `project` the one in a folder `.jupyter-memory` here or above. The store of a
    project is opened only after `store trust`, and only while it is the same file. If several stores hold a text, the
    copy of the first is shown. With `--read-only`, nothing is ever written to the added store.

    Examples::

        %memory store
        %memory store add team postgresql://db.example/team
        %memory store add papers ~/papers.sqlite --read-only
        %memory store order team own
        %memory store remove papers
    """
    rows = []
    for one in listed_stores(front.settings.stores):
        place = {OWN: store_path(front.settings), PROJECT: stores.project_store()}.get(one.name, one.place)
        if place is not None:
            state = "" if may_exist(place) else "missing"
            if isinstance(place, Path) and one.name == PROJECT and not stores.is_trusted(place):
                state = "not trusted"
            rows.append((one.name, str(place), "read only" if one.read_only else "", state))
    front.say(columns(rows))


def add(front: Front, call: Call) -> None:
    """Add a store to the list: its name, and its file or the URL of its database, without a password."""
    # Imported late: a kernel that never searches need not wait for the store.
    from jupyter_memory.store.store import opened

    name, written = call.words
    added = ListedStore.of({"name": name, "path": written, "read_only": call.values["read_only"]})
    kept = _kept()
    if known := next((one for one in listed_stores(kept.stores) if one.name == name), None):
        raise InputError(f"{name} is on the list already ({known.place}): remove it first, or choose another name.")
    if added.place == store_path(front.settings):
        raise InputError(f"{added.place} is your own store, which is on the list as {OWN}: name another one.")
    # A store that is missing, damaged or newer is refused here, and not at the first search.
    opened(added, front.settings).close()
    _keep(front, [*kept.stores, added.row()])
    front.say(f"added {name}: {added.place}")


def remove(front: Front, call: Call) -> None:
    """Remove a store from the list, or no longer trust that of a project; the store itself is unchanged."""
    [name] = call.words
    if name == PROJECT:
        stores.trust(file := stores.needed_project(), trusted=False)
        front.say(f"no longer trusted: {file}")
        return
    if name == OWN:
        raise InputError("'own' is the store of your settings, and always on the list; `store order` moves it.")
    kept = _kept().stores
    stores.refuse_unknown([name], [row["name"] for row in kept])
    _keep(front, [row for row in kept if row["name"] != name])
    front.say(f"removed {name} from the list; the store itself is unchanged")


def order(front: Front, call: Call) -> None:
    """Say which stores come first: of a text that several hold, the copy of the first is shown."""
    listed = {one.name: one for one in listed_stores(_kept().stores)}
    stores.refuse_unknown(call.words, listed)
    _keep(front, [listed[name].row() for name in dict.fromkeys([*call.words, *listed])])
    list_(front, call)


def trust_(front: Front, call: Call) -> None:
    """Trust the store of this project: it can be searched until its file is moved or replaced."""
    stores.trust(file := stores.needed_project())
    front.say(f"trusted: {file}")


def move(front: Front, call: Call) -> None:
    """Move memories into another store of the list: copy them there, then forget them here.

    It shows what will leave, and asks. Tags, pins and dates go along; what you ran stays here unless you add
    `--history`, and so does what differs there unless you add `--update`. Secrets are redacted again. `undo` takes back
    a move out of a file; what was changed in the other store since stays there. After an interruption, type the same
    again.

    Examples::

        %memory move 3f2a9c1b2d4e5f60 --to team
        %memory move --in team --tag decision --to own
    """
    hand_over(front, call, "move")


def hand_over(front: Front, call: Call, verb: str) -> None:
    """Copy or move memories from a store to another one, after a question."""
    values, moves = call.values, verb == "move"
    with usage():
        filters = filters_of(values, datetime.now(UTC))
    if call.words and values["in"]:
        raise WrongUsage(f"--in goes with filters. An id names its store itself: {values['in']}:ID")
    if not values["to"] or bool(call.words) == bool(filters):
        typed = front.command(f"{verb} ID --to team")
        raise WrongUsage(f"Name memories, by ids or by filters, and the store that gets them: {typed}")
    of, ids = of_one_store((one.of, one.memory.id) for one in picked(front, call.words))
    of = of or values["in"] or ""
    source, target = front.stores.named(of), front.stores.named(values["to"])
    selection = source.selection(ids or None, filters=filters)
    options = {"move": moves, "history": values["history"]}
    count, titles, masked = source.transfer.leaving(selection.ids, target.transfer, **options)
    ran = 0 if values["history"] else selection.kinds.get("history", 0)
    left = f"stays here without --history: {count_of(ran, 'text')} that you ran"
    if not count:
        raise InputError(f"There is nothing to {verb}{f'; {left}' if ran else ''}.")
    number, undoes = count_of(count, "memory", "memories"), source.forgetting.can_undo
    said = [
        (True, f"{number} from {source.path} to {target.path}:"),
        *((True, f"  {fit(one, 70)}") for one in titles),
        (count > len(titles), f"  and {count - len(titles):,} more"),
        (ran, f"  {left}"),
        (masked, f"Secrets in {masked:,} of them will be redacted."),
        (moves and selection.kinds.keys() & {"cell", "file"}, "Indexing their files again remembers them here again."),
        (moves and not undoes, "`undo` cannot take this back; to do that, move them back."),
    ]
    plan = "\n".join(line for holds, line in said if holds)
    if not front.confirm(f"{verb.title()} {number}?", yes=values["yes"], command=f"{verb} {call.source}", plan=plan):
        return
    shown = front.shown if moves else None
    try:
        report = source.give(selection, target, update=values["update"], progress=front.progress, **options)
    except KeyboardInterrupt:
        raise Halted("Interrupted: nothing is lost. Type the same again to go on from here.") from None
    front.say(str(report))
    if report.removed and undoes:
        hint_undo(front, source, of)
    if moves:
        stayed = {memory.id for memory in source.among(selection.ids)}
        gone = [one for one in selection.ids if one not in stayed]
        front.stores.forgot(of, gone)
        front.drop_answers({address(of, one) for one in gone})
        hint_ranks(front, shown)


def _kept() -> JupyterMemory:
    kept = load_config(on_problem=lambda problem: None)
    # Written anew, the list would lose what could not be read.
    if "stores" in kept.refused:
        raise InputError("The list in your settings cannot be read, so it stays as it is; `doctor` says what is wrong.")
    return kept


def _keep(front: Front, rows: Sequence[object]) -> None:
    # Imported late: a kernel need not wait for what edits files of settings.
    from jupyter_memory.interface.clients.client import keep_setting

    front.settings.take({"stores": list(rows)}, str(keep_setting("stores", list(rows))))
