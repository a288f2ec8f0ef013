"""The settings, as one traitlets class that kernel, server and command line read alike."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_core.paths import jupyter_config_path, jupyter_data_dir
from traitlets import All, Bool, Bunch, Dict, Float, Int, List, TraitError, Unicode, observe, validate
from traitlets.config import Config, Configurable
from traitlets.config.loader import JSONFileConfigLoader, LazyConfigValue, PyFileConfigLoader

from jupyter_memory.errors import InputError, JupyterMemoryError, NoStore
from jupyter_memory.stores import ListedStore
from jupyter_memory.text.paths import DatabaseAddress, StorePath, absolute, database_address, is_address, may_exist

FILE_NAME = "jupyter_memory_config"
ENVIRONMENT_VARIABLE = "JUPYTER_MEMORY_PATH"
DEFAULT, ENVIRONMENT, SESSION = "default", f"environment: {ENVIRONMENT_VARIABLE}", "this session"

_MONTH = 43_200.0  # minutes; a timer that should wait for centuries fails


class JupyterMemory(Configurable):  # type: ignore[misc,unused-ignore]
    """The settings of jupyter-memory, from ``jupyter_memory_config.{json,py}`` in Jupyter's config path."""

    path = Unicode("", help="A file, or postgresql://HOST/DATABASE; empty: memory.sqlite in Jupyter's data folder.")
    stores = List(Dict(), help="Other stores that can be searched with yours: see `%memory store`.")
    stores_seconds = Float(1.0, min=0, max=3600, help="Seconds to wait for other stores once one has answered.")
    space = Unicode("", help="The space to search and to add to; empty: all of them.")
    profile = Unicode("auto", help="How results are ranked: see `%memory profile`.")
    embedder = Unicode("auto", help="What turns text into vectors: see `%memory model`.")
    dimensions = Int(None, allow_none=True, min=1, help="Length of the vectors.")
    models = Unicode("", help="Folder of fetched models; empty: memory/models in Jupyter's data folder.")
    threshold = Float(None, allow_none=True, min=-1, max=1, help="Results with a cosine below this are dropped.")
    idle_minutes = Float(15.0, min=0, max=_MONTH, help="Minutes after which an unused model is unloaded; 0: never.")
    cache_queries = Bool(True, help="Keep the vectors of your last 1,000 questions.")
    log_searches = Bool(True, help="Keep your last 200 searches, to find them again.")
    history = Bool(False, help="Remember what every kernel runs: see `%memory history`.")
    history_days = Float(0.0, min=0, help="Days that the history is kept; 0: for ever.")
    history_runs = Int(100_000, min=0, help="How many runs the history keeps; 0: all of them.")
    history_outputs = Bool(False, help="Keep the numbers and short texts that a run showed: see `%memory runs`.")
    history_ignore = List(Unicode(), help="Lines whose cells stay out of the history, such as '%sql *'.")
    fix_hint = Bool(None, allow_none=True, help="Say after an error that a fix is known; None: if the history is on.")
    jupyter_mcp = Bool(False, help="Let agents in Jupyter read this memory: `jupyter-memory connect jupyter`.")
    limit = Int(10, min=1, max=10_000, help="How many results a search gives.")
    redact = Bool(True, help="Replace passwords, tokens and keys before storing.")
    ignore = List(Unicode(), help="Files never to index: patterns as in .gitignore.")
    thumbnails = Bool(True, help="Keep the pictures in notebooks as thumbnails; off: the next `index` removes them.")
    thumbnails_max_mb = Float(200.0, min=0, help="What all thumbnails of a store may take; more are left out.")
    max_store_mb = Float(0.0, min=0, help="The size that the store should not exceed, with a notice at 90%; 0: any.")
    chunk_tokens = Int(448, min=64, max=2048, help="Most tokens of a chunk; stored ones stay until `index --anew`.")
    max_file_mb = Float(20.0, min=0.001, help="Larger files are not indexed. Pictures of a notebook do not count.")
    undo_minutes = Float(
        0.0, min=0, max=_MONTH, help="Minutes in which `%memory undo` restores what was forgotten; 0: it cannot."
    )
    busy_seconds = Float(30.0, min=0, help="How long to wait for another writer.")

    def __init__(self, **values: Any) -> None:
        # Raises if there is no profile of a name: this module may not import the profiles.
        self.check_profile: Callable[[str], object] | None = None
        # The names of settings whose values could not be taken.
        self.refused: set[str] = set()
        self._origins: dict[str, str] = {}
        self._taking: str | None = None
        super().__init__(**values)

    @validate("path")
    def _a_file(self, proposal: Bunch) -> str:
        path = str(proposal.value)
        if is_address(path):
            try:
                return str(database_address(path))
            except InputError as error:
                raise TraitError(f"path: {error}") from None
        # A folder that cannot be read is reported when the store is opened; until then it does no harm.
        if path and os.path.isdir(Path(path).expanduser()):  # noqa: PTH112
            raise TraitError(f"path: {path} is a folder. Name a file in it, such as {Path(path) / 'memory.sqlite'}")
        return path

    @validate("stores")
    def _named_stores(self, proposal: Bunch) -> list[dict[str, Any]]:
        try:
            read = [ListedStore.of(row) for row in proposal.value]
        except InputError as error:
            raise TraitError(f"stores: {error}") from None
        names = [one.name for one in read]
        if twice := next((name for name in names if names.count(name) > 1), ""):
            raise TraitError(f"stores: two of them are called {twice}.")
        return [one.row() for one in read]

    @validate("profile", "embedder")
    def _a_name(self, proposal: Bunch) -> str:
        if not proposal.value.strip():
            raise TraitError(f"{proposal.trait.name}: a name is needed, such as 'auto'.")
        if proposal.trait.name == "profile" and self.check_profile is not None:
            try:
                self.check_profile(proposal.value)
            except JupyterMemoryError as error:
                raise TraitError(f"profile: {error}") from None
        return str(proposal.value)

    @observe(All)
    def _note_origin(self, change: Bunch) -> None:
        self._origins[change.name] = self._taking or SESSION

    def origin(self, name: str) -> str:
        """Return where a value came from: a file, the environment, this session, or ``default``."""
        return self._origins.get(name, DEFAULT)

    def take(self, values: Mapping[str, Any], origin: str) -> list[str]:
        """Set these values, and return what was wrong with those that could not be set."""
        self._taking, problems, known = origin, list[str](), self.trait_names(config=True)
        for name, value in values.items():
            if name not in known:
                near = get_close_matches(name, known, n=1)
                problems.append(f"{name} is not a setting" + (f"; did you mean {near[0]}?" if near else ""))
                continue
            # A lazy value is what `c.JupyterMemory.ignore.append("*.csv")` leaves in the file's configuration.
            chosen = value.get_value(getattr(self, name)) if isinstance(value, LazyConfigValue) else value
            try:
                setattr(self, name, chosen)
            except TraitError as error:
                self.refused.add(name)
                info = self.traits()[name].info().replace("unicode string", "string")
                why = f"{name} must be {info}, not {chosen!r:.80}." if " expected " in str(error) else error
                problems.append(f"{str(why).removesuffix('.')}. The value stays {getattr(self, name)!r}")
            else:
                # A value equal to the default changes nothing, yet it was asked for.
                self._origins[name] = origin
        self._taking = None
        return problems


for _trait in JupyterMemory.class_own_traits().values():
    _trait.tag(config=True)


class Setting(NamedTuple):
    """One setting as `%memory config` shows it."""

    name: str
    value: Any
    origin: str
    help: str


_warn = partial(warnings.warn, stacklevel=3)


def load_config(
    *,
    more: Mapping[str, Config] | None = None,
    on_problem: Callable[[str], object] = _warn,
    check_profile: Callable[[str], object] | None = None,
) -> JupyterMemory:
    """Read the settings: config files, then ``more`` by origin, then the environment; problems go to ``on_problem``."""
    loaded, read = JupyterMemory(), list[tuple[str, Config]]()
    for folder in reversed(jupyter_config_path()):
        # In the order in which traitlets lets one override the other.
        for ending, loader in ((".py", PyFileConfigLoader), (".json", JSONFileConfigLoader)):
            file = Path(folder) / f"{FILE_NAME}{ending}"
            try:
                if file.is_file():
                    read.append((str(file), loader(file.name, path=folder).load_config()))
            except Exception as error:  # noqa: BLE001  a config file may be a program, and raise what it likes
                reason = f"{type(error).__name__}: {error}".splitlines()[0]
                loaded.refused |= {*loaded.trait_names(config=True)}  # any of them may have stood in it
                on_problem(f"{file} cannot be read and is ignored: {reason}")
    loaded.check_profile = check_profile
    for origin, config in (*read, *(more or {}).items()):
        section = config.get("JupyterMemory", {})
        if not isinstance(section, Mapping):
            on_problem(f"{origin}: JupyterMemory must map names to values, but is {section!r}")
            continue
        for problem in loaded.take(section, origin):
            on_problem(f"{origin}: {problem}")
    if path := os.environ.get(ENVIRONMENT_VARIABLE):
        for problem in loaded.take({"path": path}, ENVIRONMENT):
            on_problem(f"{ENVIRONMENT}: {problem}")
    return loaded


def store_path(config: JupyterMemory) -> StorePath:
    """Return where this session, else JUPYTER_MEMORY_PATH, else the files, else the default say that the store is."""
    from_environment = None if config.origin("path") == SESSION else os.environ.get(ENVIRONMENT_VARIABLE)
    written = from_environment or config.path
    if not written:
        return default_path()
    return database_address(written) if is_address(written) else Path(written).expanduser()


def default_path() -> Path:
    """Return the file of the store where nothing names another."""
    return Path(jupyter_data_dir()) / "memory" / "memory.sqlite"


def has_store(config: JupyterMemory) -> bool:
    """Return whether there may be a store where the settings name one."""
    return may_exist(store_path(config))


def existing_path(config: JupyterMemory, make: str) -> StorePath:
    """Return where the store is, for reading only; ``make`` is what to type to create one."""
    path, origin = store_path(config), config.origin("path")
    # The default store need not exist: it cannot be misspelt.
    if path != default_path() and not has_store(config):
        named = ENVIRONMENT_VARIABLE if os.environ.get(ENVIRONMENT_VARIABLE) else origin
        where = "" if origin == SESSION else f" ({named})"
        raise NoStore(f"There is no store at {path}. Check the path{where}, or make a store: {make}")
    return path


def companion(store: StorePath) -> Path:
    """Return the file beside which this machine keeps what belongs to a store: journals, locks, the golden set."""
    if isinstance(store, DatabaseAddress):  # such a file is never made
        return Path(jupyter_data_dir()) / "memory" / f"server-{store.digest}"
    return store


def models_folder(config: JupyterMemory) -> Path:
    """Return the folder of the models that were fetched, whether it is there or not."""
    return absolute(config.models) if config.models else Path(jupyter_data_dir()) / "memory" / "models"


def budget(config: JupyterMemory) -> int | None:
    """Return how many bytes the store should not grow beyond, None where it may have any size."""
    return int(config.max_store_mb * 1_000_000) or None


def settings(config: JupyterMemory) -> list[Setting]:
    """Return every setting with its value, where that came from, and what it is for."""
    traits = config.traits(config=True)
    rows = [Setting(name, getattr(config, name), config.origin(name), traits[name].help) for name in traits]
    places = {"path": store_path(config), "models": models_folder(config)}
    return [row._replace(value=str(places.get(row.name, row.value))) if row.name in places else row for row in rows]
