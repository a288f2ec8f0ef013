"""The commands forget and undo: memories go for good, or come back within a time."""

from __future__ import annotations

from datetime import UTC, datetime

from jupyter_memory.interface import messages
from jupyter_memory.interface.commands.command import Call, usage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.interface.commands.picks import typed_ids
from jupyter_memory.interface.options import forget_of
from jupyter_memory.types import Selection

_ALL = 1_000_000  # more searches than a store keeps


def forget(front: Front, call: Call) -> object:
    """Remove memories for good, from every table and index of the store.

    With the setting `undo_minutes` above 0, `undo` brings them back for that time. Until then their texts are still in
    the file; with `--now` they go at once, with all that could be brought back.

    Before several memories go that were not named by their ids, it says what they are and asks; `--yes` answers
    beforehand, and `--dry-run` lists them and removes nothing.

    Files are not changed: the next indexing remembers them again, unless a .gitignore, a .jupytermemoryignore or the
    setting `ignore` names them.

    Examples::

        %memory forget 3f2a9c1b2d4e5f60
        %memory forget --source reports/old.ipynb
        %memory forget --tag draft --until "last year" --dry-run
        %memory forget --searches
        %memory forget --now
        %memory forget --everything --yes
    """
    if call.values["now"] and not call.words and not any(value for name, value in call.values.items() if name != "now"):
        gone = front.store.forgetting.finish()
        nothing = "There was nothing that `undo` could bring back."
        front.say(f"removed for good what `undo` could bring back: {messages.count(gone)}" if gone else nothing)
        return None
    with usage():
        chosen = forget_of(call.words, call.values, datetime.now(UTC))
    if call.values["searches"]:
        _forget_searches(front, only_counted=call.values["dry_run"])
        return None
    typed_ids(front, call, "forget")
    selection = front.store.selection(**chosen)
    if call.values["dry_run"]:
        return _show_selection(front, selection)
    if (len(selection) > 1 and not chosen["ids"]) or chosen["everything"]:
        what = messages.selected(front.store, selection)
        loss, command = f"This would forget {what}", f"forget {call.source}"
        if not front.confirm(f"Forget {what}?", yes=call.values["yes"], command=command, loss=loss):
            return None
    # What was counted, and not what fits by now: nobody was asked about the rest.
    forgotten = front.store.forget(selection, now=call.values["now"])
    front.say(f"forgot {messages.count(forgotten)}")
    if forgotten and not call.values["now"] and (pending := front.store.undoable()):
        front.hint(messages.taking_back(front.command, pending))
    for notice in () if forgotten else messages.unforgotten(front.store, chosen):
        front.note(notice)
    for said in messages.still_there(forgotten, chosen["source"] or ()):
        front.hint(said)
    return None


def _forget_searches(front: Front, *, only_counted: bool) -> None:
    number = len(front.store.recent(_ALL)) if only_counted else front.store.forget_recent()
    said = "would forget" if only_counted else "forgot"
    front.say(f"{said} {messages.count(number, 'search', 'searches')}")


def _show_selection(front: Front, selection: Selection) -> object:
    """List what would be forgotten; those named by ids in the words of the other commands."""
    front.hint(f"Nothing was forgotten. Without --dry-run these would go: {messages.selected(front.store, selection)}.")
    if not selection.filters and not selection.everything:
        front.say("\n".join(messages.named(front.store.get(one), "would forget") for one in selection.ids))
        return None
    return front.show_list(front.store.browsed(limit=len(selection) or 1, filters=selection.filters))


def undo(front: Front, call: Call) -> None:
    """Bring back what the last `forget` removed, within the minutes of the setting `undo_minutes`.

    The setting is 0 unless you change it: what is forgotten is gone at once. While something can be brought back, its
    texts are still in the store's file.

    Examples::

        %config JupyterMemory.undo_minutes = 10
        %memory undo
    """
    front.say(f"brought back {messages.count(front.store.undo())}")
    if pending := front.store.undoable():
        front.hint(f"To bring back {pending} as well: {front.command('undo')}")
