"""The commands about the history: on, off, status, clear, import."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_memory.config import load_config
from jupyter_memory.errors import InputError
from jupyter_memory.interface import messages
from jupyter_memory.interface.commands.command import Call, Front, WrongUsage
from jupyter_memory.interface.messages import count
from jupyter_memory.text.display import columns
from jupyter_memory.text.paths import make_private

if TYPE_CHECKING:
    from jupyter_memory.history.recorder import Recorder
    from jupyter_memory.interface.clients.plans import Setting

USAGE = "%memory history is followed by on, off, status, clear or import."


def history(front: Front, call: Call) -> None:
    """Remember what this kernel runs, also the cells that you change or delete later; off unless you turn it on.

    Each text that you run is one memory of kind history. Left out are cells with these magics, with a comment
    `# memory: off` or the tag memory-off, and with lines that fit the setting `history_ignore`. Secrets are redacted.

    `on` and `off` are for this kernel; with `--always`, for every kernel that loads the extension. `clear` forgets the
    whole history, after asking; IPython's own history stays. `import` takes in what IPython kept in its history.sqlite.

    Examples::

        %memory history on
        %memory history on --always
        %memory history status
        %memsearch kind:history how did I read the prices
        %memory history import
        %memory history clear
    """
    if call.words:
        raise WrongUsage(USAGE)
    status(front, call)


def on(front: Front, call: Call) -> None:
    """Remember what this kernel runs, from the next cell on."""
    if call.values["always"]:
        setting = _setting()
        if (change := setting.turned_on()) is not None:
            make_private(change.path.parent)
            change.apply()
        front.say(f"on for every kernel that loads the extension, from its start ({setting.file})")
        if not front.is_loaded_at_start:
            front.hint("New kernels do not load the extension by themselves: `%memory autoload on` changes that.")
    _recorder(front).start()
    front.say("on: this kernel remembers what it runs from the next cell on. `%memory history off` ends that.")


def off(front: Front, call: Call) -> None:
    """Remember no more what this kernel runs; what is remembered stays."""
    if call.values["always"]:
        setting = _setting()
        if (change := setting.turned_off()) is not None:
            change.apply()
        front.say("off for new kernels" if change is not None else f"the setting was not in {setting.file}")
    recorder = _recorder(front)
    was_on = recorder.is_on
    recorder.stop()
    front.say("off: what this kernel runs is no longer remembered" if was_on else "The history was already off.")
    if not call.values["always"] and load_config(on_problem=lambda problem: None).history:
        front.hint("New kernels begin with it on: `%memory history off --always` ends that.")


def status(front: Front, call: Call) -> None:
    """Show whether runs are recorded, how many are remembered, and what was lost."""
    held = None if (store := front.store_if_any) is None else store.history.status()
    rows = []
    if (recorder := front.recorder) is not None:
        noted, left_out = count(recorder.noted, "run", "runs"), f"{recorder.excluded:,} left out"
        rows.append(("this kernel", f"on: {noted} noted, {left_out}" if recorder.is_on else "off"))
        lost = [(why, number) for why, number in recorder.problems.lost.items() if number]
        rows += [("lost", f"{count(number, 'run', 'runs')}: {why}") for why, number in lost]
    rows += [
        ("new kernels", "on" if load_config(on_problem=lambda problem: None).history else "off"),
        ("recording now", count(0 if store is None else store.stats()["history"]["recording"], "kernel", "kernels")),
        ("remembered", "no runs" if held is None else str(held)),
    ]
    front.say(columns(rows))


def clear(front: Front, call: Call) -> None:
    """Forget the whole history for good, after asking; cells that were indexed stay."""
    store = front.store_if_any
    if store is None or not (held := store.history.status()).runs:
        front.say("There is no history to forget.")
        return
    what = f"the history of {store.path} ({held})"
    if not front.confirm(
        f"Forget {what}?", yes=call.values["yes"], command="history clear", loss=f"This would forget {what}"
    ):
        return
    front.say(f"forgot {count(held.runs, 'run', 'runs')}, {messages.count(store.history.clear())}")
    own = _of_ipython()
    if own is not None and own.is_file():
        front.hint(
            f"IPython keeps a history of its own, which may still have these lines ({own}). To clear it, stop all "
            "kernels and type in a terminal: ipython history clear"
        )


def import_(front: Front, call: Call) -> None:
    """Take in what IPython kept in its history; without PATH, in that of your default profile."""
    path = Path(call.words[0]).expanduser() if call.words else _of_ipython()
    if path is None:
        raise InputError("IPython has no default profile here. Name the file: import PATH")
    front.say(f"imported {count(front.store_to_fill.history.import_ipython(path), 'run', 'runs')} from {path}")


def _setting() -> Setting:
    # Imported late: a kernel need not wait for what edits files of settings.
    from jupyter_memory.interface.clients.plans import Setting

    return Setting("history")


def _recorder(front: Front) -> Recorder:
    recorder = front.recorder
    if recorder is None:
        raise WrongUsage("Only a kernel records what it runs: type %memory history on in a notebook.")
    return recorder


def _of_ipython() -> Path | None:
    # Imported late: a terminal that asks for something else need not wait for IPython.
    from IPython.paths import locate_profile

    try:
        return Path(locate_profile()) / "history.sqlite"
    except OSError:
        return None
