"""What a kernel runs, recorded through IPython's events, with the errors that ended runs in plain text."""

from __future__ import annotations

import atexit
import builtins
import getpass
import os
import re
import sys
from ast import AST, Import, ImportFrom, Name, walk
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial, wraps
from itertools import chain, count, islice
from pathlib import Path
from secrets import token_hex
from stat import S_ISREG
from time import monotonic, perf_counter
from traceback import FrameSummary, StackSummary, TracebackException, walk_tb
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, TypeVar

from IPython.core.compilerop import CachingCompiler
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell
from traitlets import Bunch

from jupyter_memory.config import JupyterMemory, store_path
from jupyter_memory.errors import InputError
from jupyter_memory.history.writer import Absorber, Place, Record, RecordingProblems, Writer
from jupyter_memory.storage.journal import refusal
from jupyter_memory.text.code import PYTHON, syntax_tree
from jupyter_memory.types import Run, RunError

# Frames kept of a deep stack: where the cell called, and where it failed.
_FIRST, _LAST = 5, 40
_SHORT = 200  # characters of what a cell shows
_FILE = re.compile(r'^(?P<indent>[ |]*)File "(?P<name>[^"\n]+)", line (?P<line>\d+)', re.MULTILINE)


def last_shown() -> BaseException | None:
    """Return the exception whose traceback was shown last: `%run` and `%%capture` show the error of what they run."""
    # Python has it from the first one on.
    return vars(sys).get("last_value")


@dataclass(frozen=True, eq=False)
class Running:
    """A cell that runs, and the exception that was shown last when it began."""

    info: ExecutionInfo
    shown: BaseException | None


Cell = TypeVar("Cell", bound=Running)


def ended(running: Sequence[Cell], result: ExecutionResult | None) -> Cell | None:
    """Return which of the running cells a result is of; without one, the last that began."""
    if result is None or result.info is None:
        return next(reversed(running), None)
    same = [one for one in running if one.info is result.info]
    # After a fault outside of the cell's code, IPython makes up another description of the cell.
    told = result.info.store_history, result.info.raw_cell
    alike = [one for one in running if (one.info.store_history, one.info.raw_cell) == told]
    return next(reversed(same or alike), None)


def _failure(error: BaseException, compiler: CachingCompiler, shown: Callable[[str], bool], *, ran: bool) -> RunError:
    # ``ran`` is False where the cell could not even begin, as with a syntax error. Cells are named as IPython names
    # them: Cell In[3]. Of files that may not be shown, the lines are left out.
    frames = error.__traceback__ if ran else None
    # IPython's own frames, in which it runs a cell, or a magic such as %run a script.
    while frames is not None and str(frames.tb_frame.f_globals.get("__name__")).startswith("IPython."):
        frames = frames.tb_next
    found = TracebackException(type(error), error, frames, limit=-_LAST, max_group_width=_LAST, compact=True)
    if frames is not None and len(found.stack) == _LAST:
        found.stack[:0] = StackSummary.extract(walk_tb(frames), limit=_FIRST)
    _hide(found, shown)

    def named(file: re.Match[str]) -> str:
        cell = compiler.format_code_name(file["name"])
        return file[0] if cell is None else f"{file['indent']}{' '.join(cell)}, line {file['line']}"

    text = _FILE.sub(named, "".join(found.format()))
    try:
        message = str(error)
    except Exception as wrong:  # noqa: BLE001  the class of the error is the user's own, and may do anything
        message = f"<no message: {type(wrong).__name__}>"
    return RunError(type(error).__name__, message, text)


def _hide(told: TracebackException, shown: Callable[[str], bool]) -> None:
    told.stack[:] = [
        one if shown(one.filename) else FrameSummary(one.filename, one.lineno, one.name, line="") for one in told.stack
    ]
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _hide(other, shown)


# Characters of a typed value from which on it is masked: a shorter one is in words, too.
_TYPED = 6


# What a person typed into input() and getpass(), which messages and tracebacks quote. It stays in this process.
class _TypedValues:
    def __init__(self, shell: InteractiveShell) -> None:
        kernel = getattr(shell, "kernel", None)
        # All references to a kernel's two functions lead to one method.
        ways: list[tuple[Any, str]] = [(builtins, "input"), (getpass, "getpass")]
        self._ways = ways if kernel is None else [(kernel, "_input_request")]
        self._asked: list[tuple[Any, str, Any, Any]] = []
        self._values: set[str] = set()

    def start(self) -> None:
        for place, name in self._ways:
            asked = getattr(place, name, None)
            if asked is not None:
                noted = self._noting(asked)
                setattr(place, name, noted)
                self._asked.append((place, name, asked, noted))

    def stop(self) -> None:
        while self._asked:
            place, name, asked, noted = self._asked.pop()
            if getattr(place, name) is noted:  # else another one was put in front of it
                setattr(place, name, asked)

    def _noting(self, asked: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(asked)
        def ask(*given: Any, **named: Any) -> Any:
            value = asked(*given, **named)
            forms = (value, value.strip(), repr(value)[1:-1]) if isinstance(value, str) else ()
            self._values.update(form for form in forms if len(form) >= _TYPED)
            return value

        return ask

    def masked(self, text: str) -> str:
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, "[redacted: typed value]")
        return text


# The files of notebooks, which a kernel knows by the names that they had when it began. Jupyter writes a notebook in
# place, so its device and inode stay when it is saved and renamed. One that was moved to another folder keeps its name.
class _NotebookFiles:
    def __init__(self) -> None:
        # The files by the names that kernels give them, and the names now by all earlier ones.
        self._known: dict[str, tuple[int, int] | None] = {}
        self._names: dict[str, str] = {}

    def file_of(self, notebook: str) -> str:
        # Empty for a console. The disk is asked once for each: it may be slow, and cells wait for the answer.
        if notebook not in self._known:
            self._known[notebook] = _identity(notebook)
        return self.current(notebook) if self._known[notebook] is not None else ""

    def follow(self) -> None:
        # This asks the disk, so it is for a thread that may wait.
        for notebook, known in list(self._known.items()):
            name = self.current(notebook)
            if known is None:
                continue
            if (now := _identity(name)) is not None:
                self._known[notebook] = now
                continue

            try:
                with os.scandir(Path(name).parent) as entries:
                    # The inode of an entry is known without asking for each.
                    found = [one.path for one in entries if one.name.endswith(".ipynb") and one.inode() == known[1]]
            except OSError:
                continue
            renamed = next((path for path in found if _identity(path) == known), None)
            if renamed is not None:
                earlier = [one for one, last in self._names.items() if last == name]
                self._names.update(dict.fromkeys((notebook, name, renamed, *earlier), renamed))

    def current(self, file: str) -> str:
        return self._names.get(file, file)


def _identity(file: str) -> tuple[int, int] | None:
    try:
        found = Path(file).stat() if file else None
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if found is not None and S_ISREG(found.st_mode) else None


def _environment() -> str:
    # The name of the environment that Python runs in, empty for that of the system. The folder of a virtual one is
    # often called .venv: then the name of its project comes first.
    prefix = Path(sys.prefix)
    if (prefix / "conda-meta").is_dir():
        return prefix.name if prefix.parent.name == "envs" else "base"
    if sys.prefix == sys.base_prefix:
        return ""
    is_named = prefix.name.lstrip(".") not in ("venv", "env", "virtualenv")
    return prefix.name if is_named else f"{prefix.parent.name}/{prefix.name}"


# The packages that code uses, by its imports and by the names that the kernel has. Each has the version that it had
# when it was first asked for: one that is updated later stays loaded as it is.
class _Packages:
    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._known = {"__main__": ""} | dict.fromkeys(sys.stdlib_module_names, "")

    def of(self, source: str) -> str:
        nodes = () if (tree := syntax_tree(source)) is None else walk(tree)
        try:
            modules = {module.partition(".")[0] for node in nodes for module in self._modules(node)}
            return ", ".join(sorted(filter(None, map(self._found, modules)), key=str.casefold))
        except Exception:  # noqa: BLE001  a class or a package may be anything, and its run is stored all the same
            return ""

    def _modules(self, node: AST) -> Sequence[str]:
        if isinstance(node, Import):
            return [one.name for one in node.names]
        if isinstance(node, ImportFrom):
            return [node.module or ""] if not node.level else ()
        value = self._names.get(node.id) if isinstance(node, Name) else None
        # By its type, since anything else may run code of the user's.
        if issubclass(type(value), ModuleType):
            return [str(vars(value).get("__name__"))]
        return [str(value.__module__)] if issubclass(type(value), (type, FunctionType, BuiltinFunctionType)) else ()

    def _found(self, module: str) -> str:
        if module not in self._known:
            from importlib.metadata import PackageNotFoundError, packages_distributions, version

            try:
                self._known[module] = f"{module} {version(module)}"
            except (PackageNotFoundError, ValueError):
                # A package of another name, as scikit-learn, is looked for only if there is one: that takes a while.
                file = getattr(sys.modules.get(module), "__file__", None) or ""
                names = packages_distributions().get(module, ()) if "-packages" in file else ()
                self._known[module] = next((f"{name} {version(name)}" for name in names), "")
        return self._known[module]


# Seconds that turning it on, a search and the end of the kernel wait for threads and disks.
_START, _FLUSH, _STOP = 2.0, 5.0, 2.0
_RETAIN = 3_600.0  # seconds between two looks for runs that are older, or more, than the settings keep


@dataclass(frozen=True, eq=False)
class _Running(Running):
    run: Run
    begun: float
    known: Mapping[int, int]  # how many parts of its output IPython had before it began


class Recorder:
    """Records what one shell runs, while it is on."""

    def __init__(self, shell: InteractiveShell, settings: JupyterMemory, say: Callable[[str], None]) -> None:
        self.problems = RecordingProblems()
        self._shell, self._settings, self._say = shell, settings, say
        self._notebooks, self._typed = _NotebookFiles(), _TypedValues(shell)
        # The number of the run by the name of its code, and the numbers of the runs that are in the history.
        self._codes: dict[str, int] = {}
        self._kept: set[int] = set()
        self._session = token_hex(16)
        self._numbers = count(1)
        self._environment = _environment()
        self._packages = _Packages(shell.user_ns)
        self._running: list[_Running] = []
        self._quiet_since = monotonic()
        self._retained = monotonic() - _RETAIN
        self._writer: Writer | None = None
        self._absorber: Absorber | None = None

    @property
    def is_on(self) -> bool:
        """Return whether what runs is recorded; a forked child of the kernel does not."""
        return self._writer is not None and self._writer.is_alive

    @property
    def noted(self) -> int:
        return self._writer.noted if self._writer is not None else 0

    @property
    def excluded(self) -> int:
        """Return how many runs were left out on purpose since it was turned on."""
        return self._writer.excluded if self._writer is not None else 0

    def follow_setting(self) -> None:
        """Record if the setting ``history`` says so, now and whenever it changes."""

        def changed(_: Bunch | None = None) -> None:
            if not self._settings.history:
                self.stop()
                return
            try:
                self.start()
            except InputError as error:
                self._say(str(error))

        self._settings.observe(changed, names=["history"])
        changed()

    def start(self) -> None:
        """Record from the next cell on; refuse a system without file locks, and a store that others would read."""
        if self.is_on:
            return
        if why := refusal(store_path(self._settings)):
            raise InputError(why)
        self._writer = Writer(
            lambda: Place(store_path(self._settings), self._settings.space), self._checked, self.problems
        )
        self._absorber = Absorber(
            self._writer, self._opened, lambda: 0.0 if self._running else monotonic() - self._quiet_since, self.problems
        )
        self._shell.events.register("pre_run_cell", self._before)
        self._shell.events.register("post_run_cell", self._after)
        self._typed.start()
        atexit.register(self.stop)
        self._settings.observe(self._moved, names=["path", "space"])
        self._writer.open(_START)

    def stop(self) -> None:
        """Record no more, and take into the store what the journal holds."""
        writer, absorber = self._writer, self._absorber
        if writer is None or absorber is None:
            return
        self._writer = self._absorber = None
        self._settings.unobserve(self._moved, names=["path", "space"])
        self._running.clear()
        self._shell.events.unregister("pre_run_cell", self._before)
        self._shell.events.unregister("post_run_cell", self._after)
        self._typed.stop()
        atexit.unregister(self.stop)
        if writer.is_alive and writer.stop(_STOP):
            absorber.stop(_STOP)

    def flush(self) -> None:
        """Take into the store what has ended by now, so that a search finds it."""
        if self._absorber is not None and self.is_on:
            self._absorber.absorb(_FLUSH)

    def _moved(self, _: Bunch) -> None:
        if self._writer is None or not self.is_on:
            return
        if why := refusal(store_path(self._settings)):
            self.stop()
            self._say(why)
        else:
            self._writer.catch_up(_START, self._writer.journals.rotate)

    def _before(self, info: ExecutionInfo) -> None:
        writer = self._writer
        if writer is None or not self.is_on or info.silent:
            return
        try:
            if info.store_history:
                # VS Code names it in a variable of the kernel; Jupyter once, as the kernel begins, in its environment.
                notebook = self._shell.user_ns.get("__vsc_ipynb_file__")
                run = Run(
                    source=info.raw_cell or "",
                    started=datetime.now(UTC),
                    session=self._session,
                    number=next(self._numbers),
                    notebook=notebook if isinstance(notebook, str) else os.environ.get("JPY_SESSION_NAME", ""),
                    cell_id=info.cell_id if isinstance(info.cell_id, str) else "",
                    environment=self._environment,
                    space=self._settings.space,
                )
                self._name_code(info, run.number)
                # JupyterLab and Notebook send the tags of the cell that runs; other front ends may not.
                request = getattr(self._shell, "parent_header", None) or {}
                metadata = request.get("metadata")
                tags = metadata.get("tags") if isinstance(metadata, Mapping) else None
                writer.begin(run, [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else ())
                # What %%capture took, IPython counts to the cell after it.
                last = self._shell.execution_count
                known = {number: sum(map(len, self._shown(number))) for number in (last - 1, last)}
                # Without the time of the note.
                self._running.append(_Running(info, last_shown(), run, perf_counter(), known))
            elif self._running:
                # The body of %%capture, say: it belongs to the cell that runs it.
                self._name_code(info, self._running[-1].run.number)
        except Exception as error:  # noqa: BLE001  IPython would print a traceback of ours in the person's cell
            self.problems.lose(f"noting a run failed with {type(error).__name__}")

    def _name_code(self, info: ExecutionInfo, number: int) -> None:
        raw = info.raw_cell or ""
        transformed = vars(info).get("transformed_cell")  # IPython 9.0 does not tell it
        if not transformed:
            try:
                transformed = str(self._shell.transform_cell(raw))  # type: ignore[no-untyped-call]
            except Exception:  # noqa: BLE001  a transformer may raise anything: IPython says it, and the cell never runs
                transformed = raw
        # Versions differ in whether the shell has counted the cell by now. The name holds a hash of the text as well.
        for executed in (self._shell.execution_count - 1, self._shell.execution_count):
            self._codes[self._shell.compile.get_code_name(raw, transformed, executed)] = number

    def _after(self, result: ExecutionResult | None) -> None:
        if not self.is_on:
            return
        try:
            self._end(result)
        except Exception as error:  # noqa: BLE001  as above
            self.problems.lose(f"noting how a run ended failed with {type(error).__name__}", 0)
        for news in self.problems.news():
            self._say(news)

    def _end(self, result: ExecutionResult | None) -> None:
        cell = ended(self._running, result)
        if cell is None or self._writer is None:
            return
        self._running.remove(cell)
        self._quiet_since = monotonic()
        before = None if result is None else result.error_before_exec
        # Without a result, the shell is about to pass on an error of the event loop.
        error = sys.exc_info()[1] if result is None else before or result.error_in_exec
        if error is None and (found := last_shown()) is not cell.shown:
            error = found
        run = replace(cell.run, seconds=perf_counter() - cell.begun, outcome="unknown" if result is None else "ok")
        masked = self._typed.masked if self._settings.redact else str
        if self._settings.history_outputs and result is not None:
            run = replace(run, result=masked(self._result(result.execution_count or 0, cell.known)))
        if error is not None:
            shown = partial(self._may_show, running=run.number)
            told = _failure(error, self._shell.compile, shown, ran=before is None)
            told = replace(told, message=masked(told.message), traceback=masked(told.traceback))
            run = replace(run, outcome="error", error=told)
        self._writer.end(run)
        # The error of this cell is none of the cell that ran it.
        self._running = [replace(one, shown=last_shown()) for one in self._running]

    def _result(self, number: int, known: Mapping[int, int]) -> str:
        said = ""
        for part in islice(chain.from_iterable(self._shown(number)), known.get(number, 0), None):
            said += part
            if len(said) > _SHORT:
                return ""
        # The address of an object says nothing, and differs each time.
        return "" if " at 0x" in said else said.strip()

    def _shown(self, number: int) -> list[Sequence[str]]:
        # IPython has what the cell of this number printed, and the text of its value.
        outputs: Mapping[int, Sequence[Any]] = getattr(self._shell.history_manager, "outputs", {})  # 9.0 has none
        return [
            one.bundle.get("stream") or (one.bundle.get("text/plain") or "", "\n")
            for one in outputs.get(number, ())
            if one.output_type in ("out_stream", "execute_result")
        ]

    def _may_show(self, file: str, running: int) -> bool:
        # Tracebacks hold lines of any cell that defined a function: only those of cells in the history may be shown.
        number = self._codes.get(file)
        if number is None:
            return self._shell.compile.format_code_name(file) is None
        return number == running or number in self._kept

    def _checked(self, run: Run, tags: Sequence[str]) -> Run | None:
        from jupyter_memory.ingest.runs import in_bounds, is_excluded

        if is_excluded(run.source, self._settings.history_ignore, tags):
            return None
        self._kept.add(run.number)
        return in_bounds(replace(run, notebook=self._notebooks.file_of(run.notebook)), redacting=self._settings.redact)

    @contextmanager
    def _opened(self, place: Place) -> Iterator[Record]:
        from jupyter_memory.store.store import MemoryStore

        settings = self._settings
        with MemoryStore(place.store, settings.embedder, space=place.space or None, settings=settings) as store:
            self._notebooks.follow()
            yield lambda runs: store.history.record(
                [
                    replace(
                        run,
                        notebook=self._notebooks.current(run.notebook),
                        packages=self._packages.of(run.source) if run.language == PYTHON else "",
                    )
                    for run in runs
                ]
            )
            if monotonic() - self._retained > _RETAIN:
                self._retained = monotonic()
                store.history.retain()
