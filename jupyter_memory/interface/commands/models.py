"""The commands about models: model list, model use, model drop, model remove."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jupyter_memory.config import models_folder
from jupyter_memory.errors import InputError
from jupyter_memory.interface.commands.command import Call, WrongUsage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.text.unicode import json_text

if TYPE_CHECKING:
    from jupyter_memory.embedders.download.cache import CachedModel
    from jupyter_memory.interface.models import Wanted

USAGE = "%memory model is followed by nothing, list, use NAME, drop, drop NAME or remove NAME."


def model(front: Front, call: Call) -> None:
    """List the models, make the store search with one (fetched after asking), drop old vectors, or remove a model.

    Examples::

        %memory model
        %memory model use nomic
        %memory model use nomic --dims 512 --yes
        %memory model use nomic --from ~/nomic-embed-text-v1.5
        %memory model drop
        %memory model remove nomic
    """
    if call.words:
        raise WrongUsage(USAGE)
    list_(front, call)


def list_(front: Front, call: Call) -> None:
    """Show the models: name, size, dimensions, licence, languages, whether it is here; and what the store uses."""
    # Imported late, here and below: a kernel that only searches need not wait for models and their downloads.
    from jupyter_memory.interface import models

    stats = None if (store := front.store_if_any) is None else store.stats()
    rows = models.listed(models_folder(front.settings), stats)
    if call.values["json"]:
        front.say(json_text(rows, indent=2))
    else:
        front.say(front.with_commands(models.table(rows, stats)))


def use(front: Front, call: Call) -> None:
    """Make the store search with a model; one that is not here is fetched, after asking."""
    from jupyter_memory.interface import models

    name, path, folder = call.words[0], call.values["from"], models_folder(front.settings)
    wanted = models.Wanted.of(name, call.values["dims"], folder)
    cached = wanted.cached
    if path is not None and cached is None:
        raise WrongUsage(f"{name} names its folder itself: leave --from out.")
    if cached is not None and not _brought(front, call, wanted, cached):
        return
    front.greets = False
    with front.comparing(f"the model {wanted.name}", "%memory model use NAME, with the one before"):
        switched = _said(front, lambda: models.switch(front.store_to_fill, wanted, folder, progress=front.progress))
        if switched and front.settings.embedder not in ("auto", name, wanted.name):
            front.embedder_differs(name)


def _brought(front: Front, call: Call, wanted: Wanted, cached: CachedModel) -> bool:
    """Install what a model needs and fetch it, as far as either is missing, after asking; return whether it is here."""
    from jupyter_memory.interface import models

    path = call.values["from"]
    to_fetch = path is None and not wanted.is_here
    lacking = models.lacking(cached, to_fetch=to_fetch)
    if lacking or to_fetch:
        question = "Install and fetch?" if lacking and to_fetch else "Install?" if lacking else "Fetch it?"
        plan = models.plan(cached) if to_fetch else lacking
        if not front.confirm(question, yes=call.values["yes"], command=f"model {call.source}", plan=plan):
            return False
    if lacking and not _said(front, lambda: models.install(cached, to_fetch=to_fetch)):
        return False
    if path is None and not to_fetch:
        return True
    return _said(front, lambda: models.get(cached, path, progress=front.progress, dimensions=wanted.dimensions))


def drop(front: Front, call: Call) -> None:
    """Drop the vectors of NAME, or of all models that the store does not search with, to free their space."""
    from jupyter_memory.interface import models

    front.say(models.drop(front.store, call.words[0] if call.words else None))


def remove(front: Front, call: Call) -> None:
    """Remove a fetched model from this machine, after asking."""
    from jupyter_memory.interface import models

    name, yes = call.words[0], call.values["yes"]
    cached = models.Wanted.of(name, None, models_folder(front.settings)).cached
    if cached is None:
        raise WrongUsage(f"{name} is not a model that was fetched here: remove its folder yourself.")
    models.check_removable(cached)
    if not yes and (store := front.store_if_any) is not None and models.is_used(store, cached.entry):
        raise InputError(
            f"The store searches with {cached.entry.name}. Change it first: {front.command('model use static')}; "
            "or add --yes, and it will be searched by words alone."
        )
    if front.confirm(f"Remove {cached.folder}?", yes=yes, command=f"model remove {name}"):
        front.say(models.remove(cached))


def _said(front: Front, act: Callable[[], str]) -> bool:
    """Do something and say what it did; if it is interrupted, say how to go on and return False."""
    try:
        front.say(front.with_commands(act()))
    except KeyboardInterrupt:
        front.interrupted("Interrupted: the store searches as before. Type the same again to go on from here.")
        return False
    return True
