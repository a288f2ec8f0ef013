"""Commands of the command line alone: connect, eval, mcp."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from jupyter_memory.config import default_path, store_path
from jupyter_memory.errors import ClientConfigError, JupyterMemoryError
from jupyter_memory.interface.commands.command import Argument, Call, Command, Front, SeveralErrors, WrongUsage, usage
from jupyter_memory.interface.options import BOUNDS, VERDICTS, Option, yes
from jupyter_memory.stores import chosen_stores
from jupyter_memory.text.display import columns
from jupyter_memory.text.paths import absolute, is_missing
from jupyter_memory.text.unicode import json_text, marked

if TYPE_CHECKING:
    from jupyter_memory.interface.clients.client import Target

_LEAVES = (
    "A client may send what it reads from the memory to the service that runs its model, so it may leave this machine. "
    "{history} It sees no store other than {stores}. --path, --space and --read-only bound it further."
)


def connect(front: Front, call: Call) -> None:
    """Connect the clients of agents (Claude, Copilot, Cursor, Codex, Gemini, Jupyter AI) to the memory.

    Without a CLIENT, list those that are found here, and ask about each that is not connected. The change of each file
    is shown before it is made, and a copy of the file stays beside it.
    """
    from jupyter_memory.interface.clients.client import CLIENTS, Target, check_sdk

    values, remove = call.values, call.values["remove"]
    every = _targets(front, call)
    chosen = [target for name in call.words for target in every if target.name == name]
    if values["skill_to"] is not None:
        chosen.append(Target.of_skill(absolute(values["skill_to"])))
    chosen = chosen or _found(front, every, values)
    if not remove and any(target.reads for target in chosen):
        withheld = "The history of what you ran is withheld: --history allows it."
        history = "Because of --history, what you ran is among it." if values["history"] else withheld
        stores = ", ".join(values["in"]) or "yours"
        front.note(_LEAVES.format(history=history, stores=stores) + "\n")
    errors, written = [], []
    for target in chosen:
        try:
            written += [target.name] if _carry_out(front, target, values) else []
        except ClientConfigError as error:
            errors.append(str(error))
    if not remove and any(client.name in written for client in CLIENTS):
        try:
            check_sdk()
        except JupyterMemoryError as error:
            front.note(str(error))
    if errors:
        raise SeveralErrors(errors)


def _targets(front: Front, call: Call) -> list[Target]:
    # All that can be connected; what was typed is checked before anything is done.
    from jupyter_memory.interface.clients.client import CLIENTS, Places, Target, command_of, full

    values = call.values
    project = None if values["project"] is None else absolute(values["project"])
    file = store_path(front.settings)
    # By their names: what is listed later stays closed to the agent.
    stores = [one.name for one in chosen_stores(front.settings.stores, values["in"], projects=False)]
    command = command_of(None if file == default_path() else file, {**values, "in": stores})
    every = [Target.of_client(client, Places(), project, command, values["skill"]) for client in CLIENTS]
    jupyter = Target.of_jupyter()
    every.append(jupyter)

    known = [target.name for target in every]
    if unknown := next((name for name in call.words if name not in known), None):
        raise WrongUsage(f"There is no client {unknown!r}. There are: {', '.join(known)}.")
    if jupyter.name in call.words and any(values[one.name] for one in (*BOUNDS, *_OF_CLIENTS)):
        raise WrongUsage(f"{jupyter.name} is a setting, which takes none of the options for clients.")
    if any(not given.strip() for given in (values["space"], *values["path"]) if given is not None):
        raise WrongUsage("--space and --path need a name: the server would not start with an empty one.")
    missing = [path for path in values["path"] if is_missing(full(path))]
    if missing and not values["remove"]:
        raise WrongUsage(f"--path: there is no file or folder {missing[0]!r}. Check its name.")
    if values["yes"] and not (call.words or values["skill_to"] is not None or values["remove"]):
        raise WrongUsage("With --yes, name the clients: each of them can read the memory afterwards.")
    return every


def _found(front: Front, every: Sequence[Target], values: Mapping[str, Any]) -> list[Target]:
    here = [target for target in every if target.is_here()]
    connected = {target.name for target in here if target.is_connected}
    if here:
        rows = [(one.name, one.title, "connected" if one.name in connected else "-", str(one.file)) for one in here]
        front.say(columns([("client", "", "memory", "file"), *rows]))
    else:
        front.note(f"No client is found here. These can be named: {', '.join(one.name for one in every)}.")
    remove = values["remove"]
    asked_about_all = values["skill"] and not remove
    left = [target for target in here if asked_about_all or (target.name in connected) == remove]
    if values["dry_run"] or remove or sys.stdin.isatty():
        return left
    if left:
        front.note("Name the clients to connect: jupyter-memory connect " + " ".join(target.name for target in left))
    return []


def _carry_out(front: Front, target: Target, values: Mapping[str, Any]) -> bool:
    remove = values["remove"]
    changes = target.changes(remove=remove)
    if not changes:
        front.say(f"{target.title}: nothing to {'remove' if remove else 'change'}.")
        return False
    for change in changes:
        front.say(change.diff())
    if target.caution and not remove:
        front.note(target.caution)
    if values["dry_run"]:
        front.say(f"{target.title}: nothing was written (--dry-run).")
        return False
    if not values["yes"]:
        if not sys.stdin.isatty():
            raise click.UsageError("There is nobody to ask, so nothing was written. Add --yes to do it.")
        if not click.confirm(marked("Remove this?" if remove else "Write this?"), err=True):
            front.note(f"{target.title}: left as it is.")
            return False
    from jupyter_memory.interface.clients.config_files import backup_of

    for change in changes:
        change.apply()
        copy = backup_of(change.path)
        before = f" (before: {copy})" if copy.exists() else ""
        front.say(f"removed {change.path}" if change.after is None else f"wrote {change.path}{before}")
    front.say(f"{target.title}: {target.removed if remove else target.done}")
    return True


_OF_CLIENTS = (
    Option(("--project",), "write the configuration of this project instead of the user's", "FOLDER", path="folder"),
    Option(("--skill",), "also write a skill that tells the agent when to search"),
)
_CONNECT = (
    *BOUNDS,
    *_OF_CLIENTS,
    Option(("--skill-to",), "write the skill into this folder of skills", "FOLDER"),
    Option(("--remove",), "end the connection: take out the entry and the skill"),
    Option(("--dry-run",), "show the changes, and write nothing"),
    yes("do not ask before files are changed"),
)


def eval_(front: Front, call: Call) -> None:
    """Measure profiles on judged sets: folders with corpus.jsonl, queries.jsonl and qrels.tsv.

    Of your own questions: `eval pool` lists what nobody judged, and `eval tune` proposes weights.
    """
    names = ("json", "profile", "by", "baseline", "notebooks", "files", "embedder")
    out, profiles, by, baseline, notebooks, files, embedder = (call.values[name] for name in names)
    work = None if call.values["work"] is None else Path(call.values["work"])
    folders = list(map(Path, call.words))
    if call.words[0] == "add" and not folders[0].exists():
        raise WrongUsage(f"To judge a hit, type {front.command('good 1')}, or in a notebook %memeval add 1.")
    _check_out(out)
    if call.values["strength"]:
        if profiles or by or baseline:
            raise WrongUsage("--strength measures the profile auto: leave out --profile, --by and --baseline.")
        from jupyter_memory.evaluation.answerability import answerability
        from jupyter_memory.evaluation.answerability import table as judged_table

        judged = answerability(folders, embedder, notebooks=notebooks, files=files, work=work, progress=True)
        front.say(judged_table(judged))
        _write(front, out, [row.to_json() for row in judged], "rows")
        return
    if len(notebooks) > 1:
        raise WrongUsage("Without --strength, --notebooks names one folder: measure the sets of another one by one.")
    from jupyter_memory.evaluation.runner import arms, evaluate, table

    chosen = arms(profiles)
    if baseline is None:
        baseline = "covalence" if "covalence" in chosen else next(iter(chosen))
    elif baseline not in chosen:
        chosen |= arms([baseline])
    found = []
    for folder in folders:
        rows, notices = evaluate(
            folder,
            chosen,
            embedder,
            notebooks=next(iter(notebooks), None),
            files=files,
            work=work,
            by_type=by == "type",
            folds=call.values["folds"],
            baseline=baseline,
            progress=True,
        )
        for notice in notices:
            front.note(notice)
        front.say(table(rows) + "\n")
        found += rows
    _write(front, out, [row.to_json() for row in found], "rows")


def pool(front: Front, call: Call) -> None:
    """List what profiles show first for the questions that you judged before; judge what is new, row by row."""
    from jupyter_memory.evaluation import golden

    profiles = golden.named_profiles(front.settings.profile, call.values["profile"])[0]
    front.say(golden.pool(front.store, golden.golden_file(front.settings), profiles, call.values))


def tune(front: Front, call: Call) -> None:
    """Propose changes of weights that lift right answers of the golden set and lower none; FILE saves them."""
    from jupyter_memory.evaluation import golden

    profile = golden.named_profiles(front.settings.profile)[1]
    tuned, said = golden.tune(front.store, golden.load(golden.golden_file(front.settings)), profile, call.words)
    front.say(said)
    if call.words:
        saved = shlex.quote(str(tuned.save(call.words[0])))
        front.say(f"saved; search with it: --profile {saved}. To go back, leave that out.")


def bench(front: Front, call: Call) -> None:
    """Run thirty checks on a small corpus that comes with the package; the last lines count them by profile."""
    out, profiles = call.values["json"], call.values["profile"]
    _check_out(out)
    from jupyter_memory.evaluation.bench import bench as run
    from jupyter_memory.evaluation.bench import table
    from jupyter_memory.evaluation.runner import arms
    from jupyter_memory.search.profiles import PROFILES

    with usage():
        chosen = arms(profiles) if profiles else PROFILES
    outcomes = run(chosen, call.values["embedder"])
    front.say(table(outcomes))
    rows = [
        {
            "profile": one.profile,
            "category": one.check.category,
            "query": one.check.query,
            "passed": not one.failed,
            "failed": one.failed,
            "found": list(one.found),
        }
        for one in outcomes
    ]
    _write(front, out, rows, "outcomes")


def _check_out(out: Path | None) -> None:
    if out is not None and not out.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {out.absolute().parent}", param_hint="--json")


def _write(front: Front, out: Path | None, rows: Sequence[Mapping[str, object]], things: str) -> None:
    if out is None:
        return
    out.write_text(json_text(rows, indent=1) + "\n", encoding="utf-8")
    front.note(f"Wrote {len(rows)} {things} to {out}.")


_PROFILES = Option(
    ("-p", "--profile"), "profile, TOML file, keyword, vector or auto-TERM, repeatable; default: all", "NAME", many=True
)
_EMBEDDER = Option(("--embedder",), "the model", "NAME", default="static")
_EVAL = (
    Option(
        ("--notebooks",), "notebooks that DIR judges; with --strength, one for each", "FOLDER", many=True, path="folder"
    ),
    Option(("--files",), "the folders whose files DIR judges, a question file each", "FOLDER", path="folder"),
    _PROFILES,
    _EMBEDDER,
    Option(("--by",), "a row for each type of question too", "[type]", choices=("type",)),
    Option(
        ("--folds",),
        "what is drawn for the intervals: whole groups or single questions",
        "[group|query]",
        choices=("group", "query"),
        default="query",
    ),
    Option(
        ("--baseline",), "what differences are counted from  [default: covalence if measured, else the first]", "NAME"
    ),
    Option(("--strength",), "measure instead how far strength and verdict can be believed"),
    Option(("--work",), "keep the stores here for the next time", "FOLDER"),
    Option(("--json",), "write all numbers to a file", "OUT", path="file"),
)
_BENCH = (_PROFILES, _EMBEDDER, Option(("--json",), "write every outcome to a file", "OUT", path="file"))


def mcp(front: Front, call: Call) -> None:
    """Serve the memory to an agent over standard input and output (MCP); the agent's configuration names this command.

    What an agent reads may leave this machine, with what it sends to its model. It sees no history and may store notes,
    unless options say otherwise.
    """
    from jupyter_memory.interface.clients.client import check_sdk

    check_sdk()
    # Doors do not import each other: like `python -m`, a command names the module that it starts.
    options = {name: value for name, value in call.values.items() if name != "in"}
    import_module("jupyter_memory.mcp.server").run(front.settings, stores=call.values["in"], **options)


COMMANDS: tuple[Command[Front], ...] = (
    Command("connect", connect, (Argument("CLIENT", many=True, required=False),), _CONNECT),
    Command("mcp", mcp, options=BOUNDS),
    Command("eval", eval_, (Argument("DIR", many=True),), _EVAL),
    Command("eval pool", pool, options=(_PROFILES, *VERDICTS)),
    Command("eval tune", tune, (Argument("FILE", required=False),)),
    Command("bench", bench, options=_BENCH),
)
