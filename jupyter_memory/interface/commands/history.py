"""The commands about what was run: the history, and how errors were mended before."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path, PurePath
from textwrap import indent

from jupyter_memory.config import load_config, store_path
from jupyter_memory.errors import InputError
from jupyter_memory.interface.commands.command import Call, Front
from jupyter_memory.interface.commands.memories import one_picked
from jupyter_memory.storage.journal import refusal
from jupyter_memory.text.display import columns, count_of, fit
from jupyter_memory.text.paths import DatabaseAddress
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types import Answer, Fix, Run

NOTHING_ALIKE = "No earlier error is like this one."
_LONGEST_SHOWN = 3_000
_OUTPUTS = (
    "Do you want to keep what runs show, too: numbers and texts of up to 200 characters, secrets redacted? It is off "
    "unless you type: %config JupyterMemory.history_outputs = True (this is asked only once)"
)
_TOLD = 3  # hits of which it is said with which packages they ran
# What a terminal pastes or a log holds; the reader looks at both ends of longer texts.
_MOST_READ = 10_000_000


def history(front: Front, call: Call) -> None:
    """Remember what this kernel runs, also the cells that you change or delete later; off unless you turn it on.

    Each text that you run is one memory of kind history. Left out are cells with these magics, with a comment
    `# memory: off` or the tag memory-off, and with lines that fit the setting `history_ignore`. Secrets are redacted.

    `on` and `off` are for this kernel; with `--always`, for every kernel that loads the extension. `clear` forgets the
    whole history, after asking; IPython's own history stays. `import` takes in what IPython kept in its history.sqlite.

    Examples::

        %memory history on
        %memory history on --always
        %memsearch kind:history how did I read the prices
        %memory history import
        %memory history clear
    """
    held = None if (store := front.store_if_any) is None else store.history.status()
    rows = []
    if (recorder := front.recorder) is not None:
        noted, left_out = count_of(recorder.noted, "run"), f"{recorder.excluded:,} left out"
        rows.append(("this kernel", f"on: {noted} noted, {left_out}" if recorder.is_on else "off"))
        lost = [(why, number) for why, number in list(recorder.problems.lost.items()) if number]
        rows += [("lost", f"{count_of(number, 'run')}: {why}") for why, number in lost]
    rows += [
        ("new kernels", "on" if load_config(on_problem=lambda problem: None).history else "off"),
        ("recording now", count_of(0 if store is None else store.stats()["history"]["recording"], "kernel")),
        ("remembered", "no runs" if held is None else str(held)),
    ]
    front.say(columns(rows))
    if why := refusal(store_path(front.settings)):
        front.hint(why)


def on(front: Front, call: Call) -> None:
    """Remember what this kernel runs, from the next cell on."""
    recorder = front.recorder
    assert recorder is not None  # only a notebook has this command
    if why := refusal(store_path(front.settings)):
        raise InputError(why)
    if call.values["always"]:
        from jupyter_memory.interface.clients.client import keep_setting

        front.say(f"on for every kernel that loads the extension, from its start ({keep_setting('history')})")
        if not front.is_loaded_at_start:
            front.hint("New kernels do not load the extension by themselves: `%memory autoload on` changes that.")
    recorder.start()
    front.say("History is on, starting with the next cell. Turn it off with `%memory history off`.")


def off(front: Front, call: Call) -> None:
    """Remember no more what this kernel runs; what is remembered stays."""
    recorder = front.recorder
    assert recorder is not None  # only a notebook has this command
    if call.values["always"]:
        from jupyter_memory.interface.clients.client import setting

        entry = setting("history")
        if (change := entry.removed()) is not None:
            change.apply()
        front.say("off for new kernels" if change is not None else f"the setting was not in {entry.file}")
    was_off = "" if recorder.is_on else refusal(store_path(front.settings)) or "The history was already off."
    recorder.stop()
    front.say(was_off or "off: what this kernel runs is no longer remembered")
    if not call.values["always"] and load_config(on_problem=lambda problem: None).history:
        front.hint("New kernels begin with it on: `%memory history off --always` ends that.")


def clear(front: Front, call: Call) -> None:
    """Forget the whole history for good, after asking; cells that were indexed stay."""
    store = front.store_if_any
    if store is None or not (held := store.history.status()).runs:
        front.say(f"There is no history to forget. {refusal(store_path(front.settings))}".rstrip())
        return
    what = f"the history of {store.path} ({held})"
    loss, yes = f"This would forget {what}", call.values["yes"]
    if not front.confirm(f"Forget {what}?", yes=yes, command="history clear", loss=loss):
        return
    front.say(f"forgot {count_of(held.runs, 'run')}, {count_of(store.history.clear(), 'memory', 'memories')}")
    own = _of_ipython()
    if own is not None and own.is_file():
        front.hint(
            f"IPython keeps a history of its own, which may still have these lines ({own}). To clear it, stop all "
            "kernels and type in a terminal: ipython history clear"
        )


def import_(front: Front, call: Call) -> None:
    """Take in what IPython kept in its history; without PATH, in that of your default profile."""
    path = Path(call.words[0]).expanduser() if call.words else _of_ipython()
    if isinstance(store := store_path(front.settings), DatabaseAddress):
        raise InputError(refusal(store))
    if path is None:
        raise InputError("IPython has no default profile here. Name the file: import PATH")
    front.say(f"imported {count_of(front.store_to_fill.history.import_ipython(path), 'run')} from {path}")


def _of_ipython() -> Path | None:
    from IPython.paths import locate_profile

    try:
        return Path(locate_profile()) / "history.sqlite"
    except OSError:
        return None


def versions(front: Front, call: Call) -> object:
    """Show every text that ran in the cell of a hit, with what it changed, how it ended and how long it took.

    The newest is first, also of cells that were deleted. What ran in no notebook is known by its text. `text` shows and
    `insert` brings back a version by its id.

    Examples::

        %memory versions 1
        %memory insert 3f2a9c1b2d4e5f60
    """
    return _versions(front, call, every_run=False)


def runs(front: Front, call: Call) -> object:
    """Show every run of the cell of a hit: when, how long, how it ended, and what changed since the run before.

    `elsewhere` is what other cells of the notebook changed in between, and `result` what it showed: numbers and short
    texts, kept only where the setting history_outputs is on.

    Examples::

        %memory runs 1
        runs = %memory runs 1
    """
    return _versions(front, call, every_run=True)


def _versions(front: Front, call: Call, *, every_run: bool) -> object:
    memory, _, store, _ = one_picked(front, call, "this shows what ran in one cell")
    history = store.history
    found = history.versions(memory.id, every_run=every_run)
    if call.values.get("json"):
        front.say(json_text([one.to_json() for one in found], indent=2))
    elif not found:
        front.note(history.nothing_ran)
    elif front.recorder is None:
        front.say("\n\n".join(f"{one.number}  {one.told}\n\n{_cut(one.code)}" for one in found))
    else:
        from jupyter_memory.dataframe.frame import versions_frame

        asks = every_run and front.recorder.is_on and not front.settings.history_outputs
        if asks and history.offered("history_outputs"):
            front.hint(_OUTPUTS)
        return versions_frame(found, every_run=every_run)
    return None


def _cut(code: str) -> str:
    return indent(code if len(code) <= _LONGEST_SHOWN else code[:_LONGEST_SHOWN] + "\n…", "    ")


def fix(front: Front, call: Call) -> None:
    """Show how an error was mended before: the one of a traceback in a file, or on standard input with - or nothing."""
    name = call.words[0] if call.words else "-"
    try:
        path = Path(name).expanduser()
        with nullcontext(sys.stdin) if name == "-" else path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_READ)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror}. Name a file that holds a traceback.") from None
    fixes = front.store.fixes
    run = fixes.run_of(text)
    found = fixes.of_run(run, limit=call.values["limit"] or 3)
    if call.values["json"]:
        front.say(json_text([one.to_json() for one in found], indent=2))
    elif found:
        said = (f"{rank}. {_told(one)}:\n\n{_cut(one.diff or one.mended.source)}" for rank, one in enumerate(found, 1))
        front.say("\n\n".join(said))
    else:
        front.note(nothing_found(run, fixes.similar(run)))


def ran_with(packages: str) -> str:
    """Return which packages a run had in other versions than this Python has now; empty if in none.

    >>> ran_with("nowhere 1.0")
    'ran with nowhere 1.0; here is none'
    """
    if not packages:
        return ""  # before the import, which takes a while
    from importlib.metadata import PackageNotFoundError, version

    told = {}
    for name, _, had in (one.partition(" ") for one in packages.split(", ") if one):
        try:
            here = version(name)
        except PackageNotFoundError:
            here = "none"
        if here != had:
            told[f"{name} {had}"] = here
    return f"ran with {', '.join(told)}; here is {', '.join(told.values())}" if told else ""


def other_versions(answer: Answer) -> list[str]:
    """Return sentences about the first hits that ran with other versions of packages than this Python has now."""
    told = ((hit.rank, ran_with(hit.memory.packages)) for hit in answer.hits)
    return [f"Rank {rank} {said}." for rank, said in told if said][:_TOLD]


def nothing_found(run: Run, similar: Sequence[Run]) -> str:
    """Return why no fix is shown for a run: it was interrupted, nothing is like its error, or what is had no fix."""
    if run.error is not None and run.error.is_interruption:
        how = "it ended itself" if run.error.name == "SystemExit" else "it was interrupted"
        return f"This run did not fail: {how} ({run.error.name}), so there is nothing to fix."
    if not similar:
        return NOTHING_ALIKE
    met = similar[0]
    return f"No fix was found. A similar error happened{_day(met)}{_place(met)}, and no later run fixed it."


def headline(fixes: Sequence[Fix]) -> str:
    """Return a line above fixes that are shown: which error was like this one, when and where; and how many others."""
    others = len(fixes) - 1
    more = f" ({others} other {'fix' if others == 1 else 'fixes'} below)" if others else ""
    return f"{_told(fixes[0])}{more}:"


def _told(fix: Fix) -> str:
    # A colon follows the error.
    error = fit(fix.error, 120).rstrip(" .:")
    if fix.kind == "note":
        return f"A note{_day(fix.mended, 'of')} mentions {error}"
    other = ran_with(fix.mended.packages)
    how = f"like this (it {other})" if other else "like this"
    return f"{error}: a similar error{_day(fix.failed)}{_place(fix.failed)} was fixed {how}"


def _day(run: Run, word: str = "on") -> str:
    return f" {word} {run.dated.astimezone():%Y-%m-%d %H:%M}" if run.dated else ""


def _place(run: Run) -> str:
    return f" in {PurePath(run.notebook).name}" if run.notebook else ""
