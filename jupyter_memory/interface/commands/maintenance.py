"""The commands about the store itself and how it is used: status, config, autoload, doctor, copies."""

from __future__ import annotations

import sys
from importlib.metadata import version
from platform import platform

from jupyter_memory.config import load_config, models_folder, settings, store_path
from jupyter_memory.errors import NoStore
from jupyter_memory.interface import autoload as startup
from jupyter_memory.interface import messages
from jupyter_memory.interface.commands.command import Call, WrongUsage
from jupyter_memory.interface.commands.front import Front
from jupyter_memory.text.display import columns
from jupyter_memory.text.paths import may_exist, store_at
from jupyter_memory.text.unicode import json_text


def status(front: Front, call: Call) -> None:
    """Show what the store holds: where it is, its memories by kind, its size, its model."""
    # Imported late, here and below: a kernel that only searches need not wait for models and their downloads.
    from jupyter_memory.embedders.static import arithmetic

    stats = front.store.stats(sizes=True)
    if call.values.get("json"):
        front.say(json_text(stats, indent=2))
    else:
        front.say(front.with_commands(messages.status(stats, arithmetic())))


def config(front: Front, call: Call) -> None:
    """Show each setting, its value, and where that came from.

    Set one for this session with `%config JupyterMemory.limit = 20`. To set it for good, write
    `c.JupyterMemory.limit = 20` in jupyter_memory_config.py in the folder that `jupyter --config-dir` names.
    """
    front.say(messages.configuration(settings(front.settings)))
    for problem in front.problems:
        front.say(problem)


def autoload(front: Front, call: Call) -> None:
    """Load the extension in every new kernel, or stop doing so.

    Examples::

        %memory autoload on
        %memory autoload off
        %memory autoload status
    """
    folder = front.startup_folder
    if folder is None:
        raise WrongUsage("This shell has no IPython profile, so it has no startup folder.")
    match call.words:
        case ("on",):
            front.say(f"on: new kernels load jupyter_memory ({startup.turn_on(folder)})")
        case ("off",):
            was_on = startup.turn_off(folder)
            front.say("off: new kernels no longer load jupyter_memory" if was_on else "off, as it was")
        case () | ("status",):
            front.say(f"on ({startup.startup_file(folder)})" if startup.is_on(folder) else "off")
        case _:
            raise WrongUsage("%memory autoload is followed by on, off or status.")


def doctor(front: Front, call: Call) -> None:
    """Check the installation, the settings and the store; say what is wrong and how to fix it."""
    from jupyter_memory.embedders.download.cache import CachedModel
    from jupyter_memory.embedders.registry import MODELS
    from jupyter_memory.storage.databases import versions

    store, sqlite = front.store, versions()
    facts = (
        ("jupyter-memory", version("jupyter-memory")),
        ("Python", f"{sys.version.split()[0]} on {platform(terse=True)}"),
        ("SQLite", f"{sqlite['SQLite']}, sqlite-vec {sqlite['sqlite-vec']}"),
        ("store", str(store.path)),
    )
    front.say(columns(facts))
    models = models_folder(load_config(on_problem=lambda problem: None))
    damaged = [damage for entry in MODELS.values() if (damage := CachedModel(models, entry).damage())]
    if not (problems := [*front.problems, *store.doctor(), *damaged]):
        front.say("All is well.")
        return
    front.say("\n".join(f"- {problem}" for problem in problems))
    front.exit_with_error(f"{messages.count(len(problems), 'problem', 'problems')} found.")


def backup(front: Front, call: Call) -> None:
    """Copy the store into a new file, as it is at this moment.

    Examples::

        %memory backup ~/memory-2026-03.sqlite
    """
    front.say(f"copied to {front.store.backup(call.words[0])}")


def restore(front: Front, call: Call) -> None:
    """Restore the store from a backup."""
    from jupyter_memory.store.memory_store import MemoryStore

    path = store_path(front.settings)
    front.say(f"restored to {MemoryStore.restore(call.words[0], to=path, overwrite=call.values['overwrite'])}")


def export(front: Front, call: Call) -> None:
    """Write the store into a new folder as JSON lines, with the notes as Markdown, for `import` and other programs.

    The texts are in clear, readable by you alone. Vectors and recent searches are left out.

    Examples::

        %memory export ~/memory-export
    """
    front.say(str(front.store.export(call.words[0])))


def import_(front: Front, call: Call) -> None:
    """Take in a folder that `export` wrote; it is checked whole before anything is stored.

    A memory whose id is known stays as it is, or becomes what the folder says with `--update`. What the JSON lines say
    counts, not the Markdown of the notes.

    Examples::

        %memory import ~/memory-export
        %memory import --update ~/memory-export
    """
    report = front.store_to_fill.import_(call.words[0], update=call.values["update"], progress=front.progress)
    front.say(str(report))


def copy(front: Front, call: Call) -> None:
    """Copy a store into another one, with its vectors; each is a file or the URL of a database.

    The other store is made if it does not exist. Ids, tags, pins, the history of what you ran, files, feedback and
    recent searches come along, and nothing is embedded. If it is interrupted, the same command continues it. A memory
    whose id is known there stays as it is; with `--update`, it is overwritten.

    Examples::

        %memory copy ~/memory.sqlite postgresql://db.example/team
        %memory copy --space papers ~/memory.sqlite ~/papers.sqlite
    """
    from jupyter_memory.store.memory_store import MemoryStore

    source, target = (store_at(word) for word in call.words)
    if not may_exist(source):
        raise NoStore(f"There is no store at {source}. Check the path.")
    settings_ = front.settings
    with MemoryStore(source, settings_.embedder, space=call.values["space"], settings=settings_) as store:
        try:
            report = store.copy_to(target, update=call.values["update"], progress=front.progress)
        except KeyboardInterrupt:
            front.interrupted("Interrupted: what was copied stays. Type the same again to go on from here.")
            return
    front.say(str(report))
    if report.without_vectors:
        front.hint(
            f"{messages.count(report.without_vectors)} came without vectors. To write them, open that store and name "
            "its model: `model use NAME`"
        )
