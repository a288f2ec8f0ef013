"""Commands about the store: its upkeep, profiles, models, team and watched folders."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from platform import platform
from typing import TYPE_CHECKING, get_args

from jupyter_memory.config import models_folder, settings, store_path
from jupyter_memory.errors import InputError, JupyterMemoryError, MissingExtra, NoStore, UnknownProfile
from jupyter_memory.interface.commands.command import Call, Front, Halted, WrongUsage, usage
from jupyter_memory.interface.commands.memories import indexed
from jupyter_memory.interface.commands.stores import hand_over
from jupyter_memory.interface.options import COPY, refuse_empty
from jupyter_memory.interface.running import FolderWatch
from jupyter_memory.text.display import columns, count_of, size
from jupyter_memory.text.paths import StorePath, make_private, may_exist, store_at
from jupyter_memory.text.unicode import json_text
from jupyter_memory.types.report import StoreSize

if TYPE_CHECKING:
    from jupyter_memory.search.profiles import Profile
    from jupyter_memory.storage.postgres.storage import Team


def status(front: Front, call: Call) -> None:
    """Show what the store holds: where it is, its memories by kind, its size, its model."""
    from jupyter_memory.embedders.static import arithmetic

    stats = front.store.stats(sizes=True)
    if call.values.get("json"):
        front.say(json_text(stats, indent=2))
        return
    held, pictures = StoreSize(stats["sizes"], stats["budget"]), stats["thumbnails"]
    share = "" if held.budget is None else f"{held.held / held.budget:.0%} of max_store_mb ({size(held.budget)})"
    kept = "until then their texts are in the file (`forget --now` removes them)"
    others = stats["other_chunks"]
    uncut = count_of(others, "memory has chunks", "memories have chunks")
    runs, kernels = stats["history"]["runs"], stats["history"]["recording"]
    recording = f"{count_of(kernels, 'kernel')} record{'s what it runs' if kernels == 1 else ' what they run'}"
    history = [count_of(runs, "run")] if runs or kernels else []
    history += [f"on: {recording}"] if kernels else []
    spaces = [f"{name} {number:,}" for name, number in stats["spaces"].items() if name]
    if spaces and stats["spaces"].get(""):
        spaces.append(f"in none {stats['spaces']['']:,}")
    models = [
        f"{model['name']} ({model['dimensions']} dimensions, {model['vectors']:,} vectors"
        f"{'' if model['active'] else ', not in use'})"
        for model in sorted(stats["models"], key=lambda model: not model["active"])
    ]
    kinds = ", ".join(f"{number:,} {name}" for name, number in stats["kinds"].items())
    traces = "of forgotten text may remain; the next `forget` removes them, and so does opening the store"
    rows = [
        ("store", stats["store"] + (" (read-only)" if stats["read_only"] else "")),
        ("size", size(held.bytes)),
        ("of which", str(held)),
        ("budget", share),
        ("traces", traces if stats["scrub_pending"] else ""),
        ("undo", f"brings back {undoes}; {kept}" if (undoes := front.store.undoable()) else ""),
        (
            "memories",
            f"{stats['memories']:,} ({kinds})" if kinds else "none yet: add files with `index`, or a note with `add`",
        ),
        ("files", f"{stats['files']:,}"),
        ("chunks", f"{uncut} of another size than chunk_tokens; `update --anew` cuts files anew" if others else ""),
        ("pictures", f"{pictures['number']:,} ({size(pictures['bytes'])})" if pictures["number"] else ""),
        ("pinned", f"{stats['pinned']:,}"),
        ("history", "; ".join(history)),
        ("spaces", ", ".join(spaces)),
        ("model", ", ".join(models) or "none yet: it is chosen when the first memory is stored"),
        ("arithmetic", arithmetic()),
    ]
    front.say(front.with_commands(columns([row for row in rows if row[1]])))


def config(front: Front, call: Call) -> None:
    """Show each setting, its value, and where that came from.

    Set one for this session with `%config JupyterMemory.limit = 20`. To set it for good, write
    `c.JupyterMemory.limit = 20` in jupyter_memory_config.py in the folder that `jupyter --config-dir` names.
    """
    rows = columns([(row.name, str(row.value), row.origin) for row in settings(front.settings)])
    front.say("\n".join([rows, *front.problems]))


STARTUP_FILE = "90-jupyter-memory.py"

# The profile may serve kernels of environments without the package, where the file must stay silent. It removes the
# names that it defines, which the user would see otherwise.
_STARTUP = """\
# Loads jupyter_memory in every new kernel; written by `%memory autoload on`, removed by `%memory autoload off`.
def _load_jupyter_memory(shell):
    from importlib.util import find_spec

    if find_spec("jupyter_memory") is not None:
        shell.extension_manager.load_extension("jupyter_memory")


_load_jupyter_memory(get_ipython())
del _load_jupyter_memory
"""


def autoload(front: Front, call: Call) -> None:
    """Load the extension in every new kernel, or stop doing so.

    Examples::

        %memory autoload on
        %memory autoload off
    """
    folder = front.startup_folder
    if folder is None:
        raise WrongUsage("This shell has no IPython profile, so it has no startup folder.")
    file = folder / STARTUP_FILE
    match call.words:
        case ("on",):
            make_private(folder)
            file.write_text(_STARTUP, encoding="utf-8")
            front.say(f"on: new kernels load jupyter_memory ({file})")
        case ("off",):
            was_on = file.is_file()
            file.unlink(missing_ok=True)
            front.say("off: new kernels no longer load jupyter_memory" if was_on else "off, as it was")
        case () | ("status",):
            front.say(f"on ({file})" if file.is_file() else "off")
        case _:
            raise WrongUsage("%memory autoload is followed by on, off or status.")


def doctor(front: Front, call: Call) -> None:
    """Check the installation, the settings and the store; say what is wrong and how to fix it."""
    from importlib.metadata import version

    from jupyter_memory.embedders import damage
    from jupyter_memory.embedders.registry import MODELS
    from jupyter_memory.interface.clients.client import check_sdk
    from jupyter_memory.storage.databases import versions

    store, sqlite = front.store, versions()
    python = f"{sys.version.split()[0]} on {platform(terse=True)}"
    databases = f"{sqlite['SQLite']}, sqlite-vec {sqlite['sqlite-vec']}"
    facts = [("Python", python), ("SQLite", databases), ("store", str(store.path))]
    front.say(columns([("jupyter-memory", version("jupyter-memory")), *facts]))
    problems = [
        *front.problems,
        *store.doctor(),
        *(found for name in MODELS if (found := damage(name))),
    ]
    with suppress(WrongUsage):  # one store alone was named
        problems += front.stores.problems(front.command)
    try:
        check_sdk()
    except MissingExtra:
        pass  # not everybody has an agent
    except JupyterMemoryError as error:
        problems.append(str(error))
    front.say("\n".join(f"- {problem}" for problem in problems) or "All is well.")
    if problems:
        front.exit_with_error(f"{count_of(len(problems), 'problem')} found.")


def backup(front: Front, call: Call) -> None:
    """Copy the store into a new file, as it is at this moment."""
    front.say(f"copied to {front.store.backup(call.words[0])}")


def restore(front: Front, call: Call) -> None:
    """Restore the store from a backup."""
    from jupyter_memory.store.store import MemoryStore

    path = MemoryStore.restore(call.words[0], to=store_path(front.settings), overwrite=call.values["overwrite"])
    front.say(f"restored to {path}")


def export(front: Front, call: Call) -> None:
    """Write the store into a new folder as JSON lines, with the notes as Markdown, for `import` and other programs.

    The texts are in clear, readable by you alone. Vectors and recent searches are left out.
    """
    front.say(str(front.store.export(call.words[0])))


def import_(front: Front, call: Call) -> None:
    """Take in a folder that `export` wrote; it is checked whole before anything is stored.

    A memory whose id is known stays as it is, or becomes what the folder says with `--update`. What the JSON lines say
    counts, not the Markdown of the notes.

    Examples::

        %memory import --update ~/memory-export
    """
    report = front.store_to_fill.import_(call.words[0], update=call.values["update"], progress=front.progress)
    front.say(str(report))


def copy(front: Front, call: Call) -> None:
    """Copy a store into another one, with its vectors, or memories into a store of the list.

    FROM and TO are files or URLs of databases; TO is created if it does not exist. Ids, tags, pins, the history of what
    you ran, files, feedback and recent searches come along, and nothing is embedded. If it is interrupted, the same
    command continues it. A memory whose id is known there stays as it is; with `--update`, it is overwritten.

    With `--to`, it shows the memories that ids or filters name, asks, and copies them with tags, pins and dates. What
    you ran is left out unless you add `--history`, and secrets are redacted again.

    Examples::

        %memory copy ~/memory.sqlite postgresql://db.example/team
        %memory copy --space papers ~/memory.sqlite ~/papers.sqlite
        %memory copy --tag decision --to team
    """
    from jupyter_memory.store.store import MemoryStore

    values, spaces = call.values, call.values["space"] or ()
    if values["to"] is not None:
        hand_over(front, call, "copy")
        return
    with usage():
        refuse_empty(values, COPY)
    given = {one.name for one in COPY if values[one.name]}
    if len(call.words) != 2 or len(spaces) > 1 or given - {"space", "update", "yes"}:
        typed = front.command("copy ID --to team"), front.command("copy ~/memory.sqlite ~/papers.sqlite")
        raise WrongUsage("Name memories and a store of the list, or two whole stores: {}, {}".format(*typed))
    source, target = (store_at(word) for word in call.words)
    if not may_exist(source):
        raise NoStore(f"There is no store at {source}. Check the path.")
    chosen = front.settings
    with MemoryStore(source, chosen.embedder, space=next(iter(spaces), None), settings=chosen) as store:
        try:
            report = store.copy_to(target, update=values["update"], progress=front.progress)
        except KeyboardInterrupt:
            raise Halted("Interrupted: what was copied stays. Type the same again to go on from here.") from None
    front.say(str(report))
    if report.without_vectors:
        front.hint(
            f"{count_of(report.without_vectors, 'memory has', 'memories have')} no vectors yet. To create them, open "
            "that store and run `model use NAME`"
        )


def profile(front: Front, call: Call) -> None:
    """Show the ranking profiles or every number of one, or choose one for this session: by name or as a TOML file.

    Examples::

        %memory profile
        %memory profile show covalence
        %memory profile save mine.toml
        %memory profile ./mine.toml
    """
    from jupyter_memory.search.profiles import PROFILES, profile_named

    for name in call.words:
        profile_named(name)  # a mistake in it is reported before it is chosen
        front.settings.profile = name
    active = front.settings.profile
    rows = [("*" if name == active else " ", name, one.summary) for name, one in PROFILES.items()]
    if active not in PROFILES:
        try:
            summary = profile_named(active).summary
        except (UnknownProfile, InputError) as error:
            summary = str(error)
        rows.append(("*", active, summary))
    front.say(columns(rows))


def show(front: Front, call: Call) -> object:
    """Show a profile by name, or one in a TOML file: its formula and every constant."""
    from jupyter_memory.search.profiles import PROFILES, profile_named

    if len(call.words) > 1:
        raise WrongUsage("Name one profile: %memory profile auto, or %memory profile show auto")
    with usage():
        chosen = profile_named(call.words[0] if call.words else front.settings.profile)
    if call.values.get("toml"):
        # A file may not have the name of a profile that comes with the package.
        name = f"my-{chosen.name}" if chosen.name in PROFILES else chosen.name
        front.say(_with_threshold(front, chosen).replace(name=name).to_toml().rstrip("\n"))
    elif call.values.get("json"):
        from jupyter_memory.search.profiles.profile import constants

        rows = list(map(asdict, constants(chosen)))
        about = {"name": chosen.name, "summary": chosen.summary, "formula": chosen.formula, "constants": rows}
        front.say(json_text(about, indent=2))
    else:
        return front.show_profile(chosen)
    return None


def _with_threshold(front: Front, chosen: Profile) -> Profile:
    # That which the settings choose: elsewhere, they may choose another.
    own = front.settings.threshold if chosen.threshold is True else None
    return chosen if own is None else chosen.replace(threshold=own)


def save(front: Front, call: Call) -> None:
    """Write the profile in use into a file that can be changed; the name of the file becomes its own."""
    from jupyter_memory.search.profiles import profile_named

    chosen = _with_threshold(front, profile_named(front.settings.profile))
    file = chosen.save(call.words[0])
    profile_named(str(file))
    front.say(f"{chosen.name} is written to {file}. Change it, and search with it: %memory profile {file}")


def model(front: Front, call: Call) -> None:
    """List the models, make the store search with one (fetched after asking), drop old vectors, or remove a model.

    Examples::

        %memory model
        %memory model use nomic --dims 512 --yes
        %memory model use nomic --from ~/nomic-embed-text-v1.5
        %memory model drop
        %memory model remove nomic
    """
    from jupyter_memory.interface import models

    stats = None if (store := front.store_if_any) is None else store.stats()
    rows = models.listed(models_folder(front.settings), stats)
    if call.values["json"]:
        front.say(json_text(rows, indent=2))
    else:
        front.say(front.with_commands(models.table(rows, stats)))


def use(front: Front, call: Call) -> None:
    """Make the store search with a model; one that is not here is fetched, after asking."""
    from jupyter_memory.embedders.download import install_extra
    from jupyter_memory.interface import models

    name, path, folder = call.words[0], call.values["from"], models_folder(front.settings)
    base, dims, cached = models.wanted(name, call.values["dims"], folder)
    if path is not None and cached is None:
        raise WrongUsage(f"{name} names its folder itself: leave --from out.")
    if cached is not None:
        to_fetch = path is None and cached.entry.is_fetched and not cached.is_here
        lacking = models.lacking(cached.entry, to_fetch=to_fetch)
        if lacking or to_fetch:
            question = "Install and fetch?" if lacking and to_fetch else "Install?" if lacking else "Fetch it?"
            plan = models.plan(cached) if to_fetch else columns(lacking)
            if not front.confirm(question, yes=call.values["yes"], command=f"model {call.source}", plan=plan):
                return
        if lacking:
            _say(front, lambda: install_extra(cached.entry, to_fetch=to_fetch))
        if path is not None or to_fetch:
            _say(front, lambda: models.get(cached, path, progress=front.progress, dimensions=dims))
    front.greets = False
    with front.comparing(f"the model {base}", "%memory model use NAME, with the one before"):
        _say(front, lambda: models.switch(front.store_to_fill, base, dims, folder, progress=front.progress))
        if front.settings.embedder not in ("auto", name, base):
            front.embedder_differs(name)


def drop(front: Front, call: Call) -> None:
    """Drop the vectors of NAME, or of all models that the store does not search with, to free their space."""
    store, name = front.store, call.words[0] if call.words else None
    unused = [one for one in store.stats()["models"] if not one["active"]]
    gone = [one for one in unused if name in (None, one["name"], one["fingerprint"])]
    dropped = store.drop_vectors(name)
    if gone:
        which = ", ".join(f"{one['name']} ({one['dimensions']} dimensions)" for one in gone)
        front.say(f"Dropped: {count_of(dropped, 'vector')} of {which}.")
    else:
        front.say("There is nothing to drop: the store has only the vectors that it searches with.")


def remove(front: Front, call: Call) -> None:
    """Remove a fetched model from this machine, after asking."""
    from jupyter_memory.embedders.download import disk_explained
    from jupyter_memory.interface import models

    name, yes = call.words[0], call.values["yes"]
    cached = models.wanted(name, None, models_folder(front.settings))[2]
    if cached is None:
        raise WrongUsage(f"{name} is not a model that was fetched here: remove its folder yourself.")
    entry = cached.entry
    if not cached.bytes:
        if package := entry.package or (entry.wheel and cached.is_here and entry.wheel.package):
            raise InputError(f"{entry.name} is part of the package {package}: pip removes it.")
        raise InputError(f"{entry.name} is not installed, so there is nothing to remove.")
    if not yes and (store := front.store_if_any) is not None and store.stats()["model"] == entry.name:
        raise InputError(
            f"The store searches with {entry.name}. Change it first: {front.command('model use static')}; "
            "or add --yes, and it will be searched by words alone."
        )
    if front.confirm(f"Remove {cached.folder}?", yes=yes, command=f"model remove {name}"):
        with disk_explained(str(cached.models)):
            freed = size(cached.remove())
        front.say(f"{entry.name} is removed: {freed} are free again.")


def _say(front: Front, act: Callable[[], str]) -> None:
    try:
        front.say(front.with_commands(act()))
    except KeyboardInterrupt:
        raise Halted("Interrupted: the store searches as before. Type the same again to go on from here.") from None


def grant(front: Front, call: Call) -> None:
    """Let roles of the database read, write or own the store, or read or write one space of it."""
    from jupyter_memory.storage.base import Level

    right, *roles = call.words
    level = next((one for one in get_args(Level) if one == right), None)
    if level is None:
        raise WrongUsage(f"A right is one of {', '.join(get_args(Level))}, not {right!r}.")
    space = call.values["space"]
    _check_names(*roles, space)
    with _opened(front) as opened:
        for role in roles:
            opened.grant(role, level, space)
            front.say(f"{role} is {level} of {_of(space)}")


def revoke(front: Front, call: Call) -> None:
    """Take away the rights of a role of the database, in one space or all of them."""
    [role] = call.words
    _check_names(role, call.values["space"])
    with _opened(front) as opened:
        taken = opened.revoke(role, call.values["space"])
    front.say(f"removed {count_of(taken, 'right')} of {role}")


def _check_names(*names: str | None) -> None:
    # The database would take the name without such characters, which is that of another role.
    if not all(name is None or name.isprintable() for name in names):
        raise InputError("The name of a role or space holds a character that cannot be printed. Type it again.")


def list_team(front: Front, call: Call) -> None:
    """List who may read and write the store, as far as you may know."""
    with _opened(front) as opened:
        rights = opened.rights()
    front.say(columns([("role", "right", "space"), *((one.role, one.level, _of(one.space)) for one in rights)]))


def distribute(front: Front, call: Call) -> None:
    """Spread the tables of the store over the machines of Citus, by space; what was spread before stays."""
    with _opened(front) as opened:
        made = opened.distribute()
    front.say(f"spread {count_of(len(made), 'table')} by space" if made else "All tables are spread already.")


def _opened(front: Front) -> closing[Team]:
    from jupyter_memory.storage.databases import open_team

    return closing(open_team(store_at(store_path(front.settings)), busy_seconds=front.settings.busy_seconds))


def _of(space: str | None) -> str:
    return "every space" if space is None else f"the space {space!r}" if space else "what is in no space"


def folders(front: Front, call: Call) -> None:
    """List the indexed folders, describe one for its hits, or hide one from searches.

    A description is one line, which every hit in the folder shows, to agents too. A hidden folder stays indexed, but is
    searched only if its path is named; an answer that may have missed something there says how much was left out.

    Examples::

        %memory folders describe ~/experiments/2025 "experiments of 2025, superseded"
        %memory folders hide ~/experiments/2025
        %memory folders hide --off ~/experiments/2025
    """
    held = {one.path: count_of(one.memories, "memory", "memories") for one in front.store.folders()}
    told = {one.path: ("hidden" * one.hidden, one.description) for one in front.store.described_folders()}
    rows = [(path, held.get(path, ""), *told.get(path, ("", ""))) for path in sorted({**held, **told})]
    front.say(columns(rows) if rows else f"No folder is indexed yet: {front.command('index FOLDER')}")


def describe(front: Front, call: Call) -> None:
    """Describe an indexed folder in one line, which every hit in it shows, to agents too."""
    path, *words = call.words
    said = " ".join(words).strip()
    if bool(said) == call.values["off"]:
        raise WrongUsage("Say what is in the folder, or remove that with --off.")
    where = front.store.describe_folder(path, said)
    front.say(f"described {where}" if said else f"{where} has no description")


def hide(front: Front, call: Call) -> None:
    """Leave a folder out of searches, unless they name its path; it stays indexed."""
    where = front.store.describe_folder(call.words[0], hidden=not call.values["off"])
    front.say(f"{where} is {'searched again' if call.values['off'] else 'hidden from searches that do not name it'}")


# What follows the folders of each store in this process, by the store's path.
_watches: dict[StorePath, FolderWatch] = {}


def in_terminal(front: Front, call: Call) -> None:
    """Index folders and keep them up to date until Ctrl-C; without PATH, the folders that are watched already.

    What any program adds, changes, renames or deletes there is remembered within seconds. One process at a time does so
    for a store; another one waits for it. With `--off` the folders are no longer watched.
    """
    if (folders := _watched(front, call)) is None:
        return
    if not folders:
        raise WrongUsage("Name a folder to watch: jupyter-memory watch ~/notebooks")
    front.note(f"watching {count_of(len(folders), 'folder')}; Ctrl-C ends it")
    try:
        FolderWatch(
            lambda: front.store,
            ignore=front.settings.ignore,
            applied=lambda made: front.say(
                f"{datetime.now().astimezone():%H:%M:%S}  {count_of(made, 'change')} remembered"
            ),
            say=front.note,
            problem=lambda error: front.note(str(error)),
        ).run()
    except KeyboardInterrupt:
        front.note("stopped; the folders stay on the list of watched ones")


def in_notebook(front: Front, call: Call) -> None:
    """Index folders and keep them up to date while this kernel runs; without PATH, show what is watched.

    What any program adds, changes, renames or deletes there is remembered within seconds. JupyterLab's server does so
    too, for all folders that are watched. With `--off` the folders are no longer watched.

    Examples::

        %memory watch ~/notebooks
        %memory watch --off ~/notebooks
    """
    if (folders := _watched(front, call)) is None:
        return
    store = front.store
    watch = _watches.get(store.path)
    if call.words and (watch is None or not watch.runs):
        watch = _watches[store.path] = FolderWatch(lambda: front.store, ignore=front.settings.ignore).start()
        atexit.register(watch.close)
    if not folders:
        front.say("No folder is watched. `%memory watch ~/notebooks` indexes one and keeps it up to date.")
        return
    if watch is None:
        state = "This kernel does not follow them; JupyterLab's server does while it runs."
    elif watch.error is not None:
        state = f"This kernel no longer follows them: {watch.error}"
    elif watch.waits:
        state = "Another process follows them; this kernel takes over when that ends."
    else:
        state = "This kernel follows them until it ends."
    front.say("\n".join([*folders, state]))


# The folders that are watched after those of a call were added; None after they were taken off.
def _watched(front: Front, call: Call) -> list[str] | None:
    if call.values["off"]:
        if not call.words:
            raise WrongUsage("Name the folder that is no longer to be watched: watch --off ~/notebooks")
        for path in call.words:
            front.store.watch(path, False)
        front.say(f"no longer watched: {', '.join(call.words)}; what was indexed stays")
        return None
    for path in call.words:
        if not Path(path).expanduser().is_dir():
            raise InputError(f"{path} is not a folder. A folder can be watched; a single file can be indexed.")
    for path in call.words:
        front.say(indexed(front.store_to_fill.index(path, progress=front.progress)))
        front.store_to_fill.watch(path)
    return [folder.path for folder in front.store.folders() if folder.watched]
