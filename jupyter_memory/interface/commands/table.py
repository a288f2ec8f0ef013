"""The table of commands: `%memory NAME` and `jupyter-memory NAME` both come from these rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from jupyter_memory.interface import options
from jupyter_memory.interface.commands import history, memories, store, stores
from jupyter_memory.interface.commands.command import Argument, Call, Command, F, Front

_MODELS = ("nomic", "static", "minilm")
_NAME = Argument("NAME")
_PICK, _PICKS = Argument("RANK|ID"), Argument("RANK|ID", many=True)
_MAYBE_NAME, _MAYBE_FILE = Argument("NAME", required=False), Argument("FILE|-", required=False)
_IDS = Argument("ID", many=True, required=False)
_PATH, _MAYBE_PATHS = Argument("PATH"), Argument("PATH", many=True, required=False)
_MAYBE_TEXT = Argument("TEXT", many=True, required=False)
_DESCRIBE = 'Name an indexed folder: %memory folders describe PATH "drafts, superseded", or %memory folders hide PATH'

# The lines after \b stay as they are.
_SEARCH_HELP = """Search by meaning and by exact words; '"quoted words"' are looked for as a phrase.

\b
Examples:
  jupyter-memory search how did we scale the prices
  jupyter-memory search outcome:error merge --since "last week"
  jupyter-memory search --kind cell 'path:2025 /r2_score|mse/' --open 1
"""


# A command about hits, or about one of them.
def _of(name: str, run: Callable[[Front, Call], object], argument: Argument = _PICKS, **more: Any) -> Command[Front]:
    missing = f"Name a rank of the last results, or an id: %memory {name} 1"
    return Command(name, run, (argument,), values="id", missing=missing, **more)


COMMANDS: tuple[Command[Front], ...] = (
    Command("status", store.status, terminal_options=(options.JSON,)),
    Command("add", memories.add, (Argument("TEXT|-", kind="text"),), options.ADD, offered="terminal"),
    Command(
        "index",
        memories.index,
        (Argument("PATH", many=True),),
        (options.RETRY, options.ANEW, options.DETAILS),
        values="path",
        missing="Name a folder or a file: %memory index ~/notebooks",
    ),
    Command("update", memories.update, options=(options.RETRY, options.ANEW, options.DETAILS)),
    Command("watch", store.in_terminal, (_MAYBE_PATHS,), (options.OFF,), values="path", offered="terminal"),
    Command("watch", store.in_notebook, (_MAYBE_PATHS,), (options.OFF,), values="path", offered="notebook"),
    Command(
        "folders",
        store.folders,
        options=(options.UNTOLD,),
        below=(
            Command(
                "list",
                store.folders,
                terminal_help="List the indexed folders, with descriptions; say which are hidden.",
            ),
            Command(
                "describe", store.describe, (_PATH, _MAYBE_TEXT), (options.UNTOLD,), values="path", missing=_DESCRIBE
            ),
            Command("hide", store.hide, (_PATH,), (options.UNTOLD,), values="path", missing=_DESCRIBE),
        ),
        missing="%memory folders is followed by list, describe PATH TEXT or hide PATH",
        notebook_words="[list | describe PATH TEXT | hide PATH]",
        terminal_help="List the indexed folders, describe one for its hits, or hide one: list, describe, hide.",
    ),
    Command(
        "search",
        memories.search,
        (Argument("QUERY", kind="query"),),
        options.TYPED_SEARCH,
        offered="terminal",
        terminal_help=_SEARCH_HELP,
    ),
    Command("fix", history.fix, (_MAYBE_FILE,), (options.LIMIT, options.JSON), offered="terminal"),
    Command("list", memories.list_, options=options.BROWSE, terminal_options=(options.JSON,)),
    Command(
        "explain",
        memories.explain,
        (Argument("RANK|QUERY"), Argument("RANK|ID", required=False)),
        (options.EVERY_REASON,),
        missing="Name a rank of the last search: %memory explain 1",
        notebook_words="RANK | QUERY ID",
        terminal_options=(options.PROFILE, options.IGNORE_TIME, options.JSON),
    ),
    _of("open", memories.open_),
    _of("text", memories.text, options=(options.RUNNABLE, options.EFFECTS)),
    _of("insert", memories.insert, _PICK, options=(options.EFFECTS,), offered="notebook"),
    Command(
        "tag",
        memories.tag,
        (_PICKS, Argument("TAG")),
        (options.UNTAG,),
        values="id",
        missing="Name the hits, and then the tag: %memory tag 3 decision",
    ),
    _of("versions", history.versions, _PICK, offered="notebook"),
    _of("runs", history.runs, _PICK, offered="notebook"),
    _of("good", memories.good, options=(options.UNRATE,)),
    _of("bad", memories.bad, options=(options.UNRATE,)),
    _of("related", memories.related, _PICK, options=(options.LIMIT,)),
    Command("context", memories.context, (Argument("TOKENS", required=False),), offered="notebook"),
    Command("verify", memories.verify, (Argument("FILE"),), values="path", missing="Name a file: %memory verify FILE"),
    _of("pin", memories.pin),
    _of("unpin", memories.unpin),
    Command("forget", memories.forget, (_IDS,), options.FORGET, values="id", destroys=True),
    Command("undo", memories.undo, options=(options.IN,)),
    Command(
        "profile",
        store.profile,
        (_MAYBE_NAME,),
        values="profile",
        below=(
            Command(
                "list",
                store.profile,
                offered="terminal",
                terminal_help="Show the profiles; a star marks the one that the settings choose.",
            ),
            Command(
                "show",
                store.show,
                (_NAME,),
                values="profile",
                notebook_words="[NAME]",
                terminal_options=(options.JSON, options.TOML),
            ),
            Command(
                "save",
                store.save,
                (Argument("FILE"),),
                values="path",
                offered="notebook",
                missing="Name the file to write: %memory profile save mine.toml",
            ),
        ),
        missing="Name one profile: %memory profile auto, or %memory profile show auto",
        notebook_words="[NAME | show NAME | save FILE]",
        terminal_help="List the ranking profiles, or show every number of one.",
    ),
    Command(
        "model",
        store.model,
        options=options.MODEL,
        below=(
            Command(
                "list",
                store.model,
                options=(options.JSON,),
                terminal_help="Show the models: name, size, dimensions, licence, languages, whether it is here; "
                "and what the store uses.",
            ),
            Command(
                "use",
                store.use,
                (_NAME,),
                (options.FROM, options.DIMS, options.yes("do not ask before the model is fetched")),
                values=_MODELS,
                missing="Name the model: %memory model use nomic",
            ),
            Command("drop", store.drop, (_MAYBE_NAME,), values=_MODELS, destroys=True),
            Command(
                "remove",
                store.remove,
                (_NAME,),
                (options.yes("do not ask, not even when the store searches with it"),),
                values=_MODELS,
                missing="Name the model: %memory model remove nomic",
                destroys=True,
            ),
        ),
        missing="%memory model is followed by nothing, list, use NAME, drop, drop NAME or remove NAME.",
        notebook_words="[list | use NAME | drop [NAME] | remove NAME]",
    ),
    Command(
        "history",
        history.history,
        options=options.HISTORY,
        below=(
            Command("on", history.on, offered="notebook"),
            Command("off", history.off, offered="notebook"),
            Command(
                "status",
                history.history,
                terminal_help="Show whether runs are recorded, how many are remembered, and what was lost.",
            ),
            Command("clear", history.clear, options=(options.CLEAR,), destroys=True),
            Command("import", history.import_, (Argument("PATH", required=False),), values="path"),
            _of("versions", history.versions, _PICK, options=(options.JSON,), offered="terminal"),
            _of("runs", history.runs, _PICK, options=(options.JSON,), offered="terminal"),
        ),
        missing="%memory history is followed by on, off, status, clear or import.",
        notebook_words="[on | off | status | clear | import [PATH]]",
        terminal_help="Show, clear or import what you ran; %memory history on, in a notebook, turns it on.",
    ),
    Command("config", store.config, offered="notebook"),
    Command(
        "autoload", store.autoload, values=("on", "off", "status"), offered="notebook", notebook_words="on|off|status"
    ),
    Command("doctor", store.doctor),
    Command(
        "backup",
        store.backup,
        (Argument("PATH"),),
        values="path",
        missing="Name the file to write: %memory backup ~/memory-backup.sqlite",
    ),
    Command(
        "export",
        store.export,
        (Argument("FOLDER"),),
        values="path",
        missing="Name a new folder: %memory export ~/memory-export",
    ),
    Command(
        "import",
        store.import_,
        (Argument("FOLDER"),),
        (options.UPDATE,),
        values="path",
        missing="Name the folder that `export` wrote: %memory import ~/memory-export",
    ),
    Command(
        "copy",
        store.copy,
        (Argument("FROM TO|ID", many=True, required=False),),
        options.COPY,
        values="path",
        notebook_words="FROM TO | ID… --to NAME",
    ),
    Command("move", stores.move, (_IDS,), options.COPY, values="id", notebook_words="ID… --to NAME", destroys=True),
    Command(
        "store",
        stores.list_,
        options=(options.STORE_READ_ONLY,),
        below=(
            Command(
                "add",
                stores.add,
                (_NAME, Argument("PATH|URL")),
                (options.STORE_READ_ONLY,),
                values="path",
                missing="Name the store and its place: %memory store add team postgresql://HOST/DATABASE",
            ),
            Command("list", stores.list_),
            Command("remove", stores.remove, (_NAME,), missing="Name the store: %memory store remove team"),
            Command(
                "order",
                stores.order,
                (Argument("NAME", many=True),),
                missing="Name the stores: %memory store order team own",
            ),
            Command("trust", stores.trust_),
        ),
        missing="%memory store is followed by list, add NAME PATH|URL, remove NAME, order NAME… or trust",
        notebook_words="[list | add NAME PATH|URL | remove NAME | order NAME… | trust]",
        terminal_help="List stores to search together, or change the list: add, remove, order, trust.",
    ),
    Command(
        "team",
        store.list_team,
        below=(
            Command("grant", store.grant, (Argument("RIGHT"), Argument("ROLE", many=True)), (options.IN_SPACE,)),
            Command("revoke", store.revoke, (Argument("ROLE"),), (options.IN_SPACE,)),
            Command("list", store.list_team),
            Command("distribute", store.distribute),
        ),
        offered="terminal",
        terminal_help="Say who may read and write a store on a server: grant, revoke, list; the database enforces it.",
    ),
    Command("restore", store.restore, (Argument("PATH"),), (options.OVERWRITE,), offered="terminal", destroys=True),
)


# As a person meets them in help: the first group is all that a newcomer needs.
_GROUPS = {
    "First steps": ("index", "search", "add", "open", "status"),
    "Search": ("list", "text", "insert", "explain", "related", "context", "fix", "tag", "good", "bad", "profile"),
    "Keep": ("update", "watch", "folders", "history", "versions", "runs", "pin", "unpin", "verify", "forget", "undo"),
    "The store": (
        "model", "config", "doctor", "autoload", "store", "backup", "restore", "export", "import", "copy", "move",
    ),
    "Agents and teams": ("connect", "mcp", "team"),
    "Measure": ("eval", "eval pool", "eval tune", "bench"),
}  # fmt: skip


def grouped(commands: Mapping[str, Command[F]]) -> dict[str, list[Command[F]]]:
    """Return commands by the titles of their groups, in the order of help; those of no group have an empty title."""
    if "index" not in commands:  # those of `%memeval` share names with a store's
        return {"": list(commands.values())}
    rest = commands.keys() - {name for names in _GROUPS.values() for name in names}
    groups = {title: [commands[name] for name in names if name in commands] for title, names in _GROUPS.items()}
    groups[""] = [command for name, command in commands.items() if name in rest]
    return {title: of_it for title, of_it in groups.items() if of_it}


def nearest_command(name: str, commands: Mapping[str, Command[F]]) -> str | None:
    """Return the command that a misspelt name may mean, None if there is none, or if it destroys something."""
    near = next(iter(get_close_matches(name, commands, n=1)), None)
    return None if near is None or commands[near].destroys else near
