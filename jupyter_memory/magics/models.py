"""`%memory model`: the models, which one the store searches with, and another one after asking."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from IPython.core.error import StdinNotImplementedError, UsageError

from jupyter_memory.config import models_folder
from jupyter_memory.magics.golden_watch import watched
from jupyter_memory.magics.parsing import Line
from jupyter_memory.magics.session import Session, note, say
from jupyter_memory.magics.wording import as_typed

if TYPE_CHECKING:
    from jupyter_memory.interface.models import Wanted

_USAGE = "%memory model is followed by nothing, list, use NAME, drop, drop NAME or remove NAME."


def model(session: Session, line: Line) -> None:
    """List the models, make the store search with one (fetched after asking), drop old vectors, or remove a model.

    Examples::

        %memory model
        %memory model use nomic
        %memory model use nomic --dims 512 --yes
        %memory model use nomic --from ~/nomic-embed-text-v1.5
        %memory model drop
        %memory model remove nomic
    """
    match line.arguments:
        case [] | ["list"]:
            _list(session, bool(line.values["json"]))
        case ["use", name]:
            _use(session, name, line)
        case ["drop", *names] if len(names) <= 1:
            _drop(session, *names)
        case ["remove", name]:
            _remove(session, name, bool(line.values["yes"]))
        case ["use" | "remove" as what]:
            raise UsageError(f"Name the model: %memory model {what} nomic")
        case _:
            raise UsageError(_USAGE)


def _list(session: Session, as_json: bool) -> None:
    from jupyter_memory.interface import models

    stats = session.store.stats()
    rows = models.listed(models_folder(session.settings), stats)
    say(json.dumps(rows, ensure_ascii=False, indent=2) if as_json else as_typed(models.table(rows, stats)))


def _use(session: Session, name: str, line: Line) -> None:
    from jupyter_memory.interface import models

    folder = models_folder(session.settings)
    wanted, path = models.Wanted.of(name, line.values["dims"], folder), line.values["from"]
    if path is not None and wanted.shelf is None:
        raise UsageError(f"{name} names its folder itself: leave --from out.")
    shelf = wanted.shelf
    if shelf is not None and (path is not None or not wanted.is_here):
        if path is None:
            say(models.plan(shelf))
            if not _agreed("Fetch it?", f"%memory model {line.source.strip()}", line):
                return
        said = _going_on(lambda: models.get(shelf, path, progress=True, dimensions=wanted.dimensions))
        if not said:
            return
    session.greets = False
    with watched(session, f"the model {wanted.name}", "%memory model use NAME, with the one before"):
        switched = _going_on(lambda: models.switch(session.store_to_fill, wanted, folder, progress=True))
        if switched:
            _settle(session, wanted)


def _settle(session: Session, wanted: Wanted) -> None:
    """Follow the store where a setting still names another model."""
    said, origin = session.settings.embedder, session.settings.origin("embedder")
    if said in ("auto", wanted.name):
        return
    session.settings.embedder = "auto"
    note(f"The setting embedder was {said!r} ({origin}): for this session it is 'auto'; change it there to keep that.")


def _drop(session: Session, name: str | None = None) -> None:
    from jupyter_memory.interface import models

    say(models.drop(session.store, name))


def _remove(session: Session, name: str, yes: bool) -> None:
    from jupyter_memory.interface import models

    shelf = models.Wanted.of(name, None, models_folder(session.settings)).shelf
    if shelf is None:
        raise UsageError(f"{name} is not a model that was fetched here: remove its folder yourself.")
    models.check_removable(shelf)
    if not yes and models.is_used(session.store, shelf.entry):
        raise UsageError(
            f"The store searches with {shelf.entry.name}. Change it first: %memory model use static; or say --yes, and "
            "it is searched by words alone."
        )
    if yes or _answered(f"Remove {shelf.folder}?", f"%memory model remove {name}"):
        say(models.remove(shelf))


def _agreed(question: str, command: str, line: Line) -> bool:
    return bool(line.values["yes"]) or _answered(question, command)


def _answered(question: str, command: str) -> bool:
    """Ask the person at the notebook; where nobody can be asked, say how to agree beforehand."""
    try:
        answer = input(f"{question} [y/N] ")
    except (StdinNotImplementedError, EOFError, OSError):
        say(f"Nobody can be asked here, so nothing was done. To do it: {command} --yes")
        return False
    if answer.strip().lower() in ("y", "yes"):
        return True
    say("Nothing was done.")
    return False


def _going_on(act: Callable[[], str]) -> str:
    """Say what an action did and return it; one that is interrupted says how to go on."""
    try:
        said = act()
    except KeyboardInterrupt:
        note("Interrupted: the store searches as before. Type the same again to go on from here.")
        return ""
    say(as_typed(said))
    return said
