"""The command line: the same memory from a terminal or a script."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import click
from traitlets import TraitError

from jupyter_memory import listing, report
from jupyter_memory.config import load_config, store_path
from jupyter_memory.errors import JupyterMemoryError, QueryError
from jupyter_memory.options import ADD, BROWSE, FORGET, SEARCH, Option, filters_of, forget_of, memory_of, search_of
from jupyter_memory.plain import columns

if TYPE_CHECKING:
    from jupyter_memory.store import MemoryStore

INTERRUPTED = 130


class App:
    """What the commands share: the settings, and the store, opened by the first command that needs it."""

    def __init__(self, file: str | None) -> None:
        self.problems: list[str] = []
        self.settings = load_config(on_problem=self.problems.append)
        for problem in self.problems:
            note(problem)
        if file is not None:
            try:
                self.settings.path = file
            except TraitError as error:
                raise click.BadParameter(str(error), param_hint="--store") from None

    @cached_property
    def store(self) -> MemoryStore:
        """Return the open store that the settings name."""
        # Imported late: help, completion and wrong usage need not wait for it.
        from jupyter_memory.store import MemoryStore

        settings = self.settings
        store = MemoryStore(
            store_path(settings), settings.embedder, settings.profile, settings.space or None, settings=settings
        )
        for notice in store.notices:
            note(notice)
        return store

    def close(self) -> None:
        """Close the store if it was opened."""
        if "store" in self.__dict__:
            self.store.close()


def note(text: str) -> None:
    """Write something worth knowing beside the output."""
    click.echo(text, err=True)


def _options(table: Sequence[Option]) -> Callable[[Any], Any]:
    """Give a command the options of a table."""

    def decorate(command: Any) -> Any:
        for option in reversed(table):
            kind: Any = (
                click.Choice(option.choices) if option.choices else click.IntRange(min=1) if option.whole else None
            )
            settings = (
                {"type": kind, "metavar": option.metavar, "multiple": option.many}
                if option.metavar
                else {"is_flag": True}
            )
            command = click.option(*option.flags, option.name, help=option.help, **settings)(command)
        return command

    return decorate


def _words(words: Sequence[str], what: str) -> str:
    if not words:
        raise click.UsageError(f"{what} is missing.")
    return " ".join(words)


@contextmanager
def _usage() -> Iterator[None]:
    """Take an option that cannot be read for wrong usage."""
    try:
        yield
    except QueryError as error:
        raise click.UsageError(str(error)) from None


def _columns() -> int:
    """Return the width of the terminal, within what reads well."""
    return max(60, min(120, shutil.get_terminal_size((100, 24)).columns))


class _Commands(click.Group):
    """A group whose reader may stop reading, such as `head`: nobody is left to be told."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # Python flushes once more at exit, and would complain there.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return None
        return result


app_of = click.make_pass_decorator(App)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--store", "file", metavar="FILE", help="the store; else JUPYTER_MEMORY_PATH, the settings, the default")
@click.version_option(version("jupyter-memory"), "--version", prog_name="jupyter-memory")
@click.pass_context
def cli(context: click.Context, file: str | None) -> None:
    """A private memory for notebooks: search what you wrote, ran or saved, by meaning and by exact words."""
    context.obj = App(file)
    context.call_on_close(context.obj.close)


@cli.command()
@click.argument("words", nargs=-1, metavar="TEXT|-")
@_options(ADD)
@app_of
def add(app: App, /, words: Sequence[str], **values: Any) -> None:
    """Remember a text, or with - what comes on standard input; secrets in it are redacted."""
    text = sys.stdin.read() if tuple(words) == ("-",) else _words(words, "The text")
    with _usage():
        about = memory_of(values, datetime.now(UTC))
    memory = app.store.add(text, **about)
    if values["pin"]:
        memory = app.store.pin(memory.id)
    click.echo(report.named(memory, "remembered"))


@cli.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@app_of
def index(app: App, /, paths: Sequence[str]) -> None:
    """Remember the files below folders, or single files; again, only what has changed."""
    try:
        for path in paths:
            click.echo(report.indexed(app.store.index(path, progress=sys.stderr.isatty())))
    except KeyboardInterrupt:
        note(report.interrupted(app.store.stats()))
        raise click.exceptions.Exit(INTERRUPTED) from None


@cli.command()
@click.argument("words", nargs=-1, metavar="QUERY")
@_options(SEARCH)
@click.option("--json", "as_json", is_flag=True, help="the whole answer as JSON")
@app_of
def search(app: App, /, words: Sequence[str], as_json: bool, **values: Any) -> None:
    """Search by meaning and by exact words; '"quoted words"' are looked for as a phrase."""
    with _usage():
        query, asked = _words(words, "The query"), search_of(values, datetime.now(UTC))
    answer = app.store.hits(query, **asked)
    if as_json:
        click.echo(json.dumps(answer.to_json(), ensure_ascii=False, indent=2))
        return
    for notice in answer.notices:
        note(notice)
    if not answer.hits:
        note("Nothing found.")
    elif values["scan"]:
        click.echo(listing.scan(answer, _columns()))
    else:
        click.echo(listing.results(answer, _columns()))


@cli.command("list")
@_options(BROWSE)
@app_of
def browse(app: App, /, **values: Any) -> None:
    """Show memories without a question: pinned ones, notes, then files; the newest first."""
    with _usage():
        filters = filters_of(values, datetime.now(UTC))
    answer = app.store.browsed(limit=values["limit"], filters=filters)
    if answer.hits:
        click.echo(listing.table(answer, _columns()))
    else:
        note("There is nothing to show.")


@cli.command()
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@app_of
def status(app: App, /, as_json: bool) -> None:
    """Show what the store holds: where it is, its memories by kind, its size, its model."""
    stats = app.store.stats()
    click.echo(json.dumps(stats, ensure_ascii=False, indent=2) if as_json else report.status(stats))


@cli.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@_options(FORGET)
@click.option("-y", "--yes", is_flag=True, help="do not ask before everything is forgotten")
@app_of
def forget(app: App, /, ids: Sequence[str], yes: bool, **values: Any) -> None:
    """Remove memories for good: by id, --source, filters or --everything; files stay as they are."""
    with _usage():
        chosen = forget_of(ids, values, datetime.now(UTC))
    if chosen["everything"] and not yes:
        held = report.count(app.store.stats()["memories"])
        click.confirm(f"Forget all {held} in {app.store.path}?", abort=True, err=True)
    forgotten = app.store.forget(**chosen)
    click.echo(f"forgot {report.count(forgotten)}")


@cli.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@app_of
def pin(app: App, /, ids: Sequence[str]) -> None:
    """Mark memories as important for good: they rank before others that answer as well."""
    for memory_id in ids:
        click.echo(report.named(app.store.pin(memory_id), "pinned"))


@cli.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@app_of
def unpin(app: App, /, ids: Sequence[str]) -> None:
    """Take the pin off memories."""
    for memory_id in ids:
        click.echo(report.named(app.store.unpin(memory_id), "unpinned"))


@cli.command()
@click.argument("query")
@click.argument("memory_id", metavar="ID")
@click.option("-p", "--profile", metavar="NAME", help="how to rank: a profile's name")
@app_of
def explain(app: App, /, query: str, memory_id: str, profile: str | None) -> None:
    """Tell why a memory is where it is for a query, or why it is not found."""
    click.echo(str(app.store.explain(query, memory_id, profile=profile)))


@cli.command()
@click.argument("path")
@app_of
def backup(app: App, /, path: str) -> None:
    """Copy the store into a new file, as it is at this moment."""
    click.echo(f"copied to {app.store.backup(path)}")


@cli.command()
@click.argument("path")
@click.option("--overwrite", is_flag=True, help="put it in the place of the store that is there")
@app_of
def restore(app: App, /, path: str, overwrite: bool) -> None:
    """Make the store out of a backup."""
    from jupyter_memory.store import MemoryStore

    restored = MemoryStore.restore(path, to=store_path(app.settings), overwrite=overwrite)
    click.echo(f"restored to {restored}")


@cli.command()
@app_of
def doctor(app: App, /) -> None:
    """Check the installation, the settings and the store; tell what is wrong and what to do."""
    from jupyter_memory.doctor import examine

    found = examine(app.store, app.problems)
    click.echo(columns(found.facts))
    for problem in found.problems:
        click.echo(f"- {problem}")
    if found.problems:
        raise click.ClickException(f"{report.count(len(found.problems), 'problem', 'problems')} found.")
    click.echo("All is well.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 after a failure, 2 after wrong usage, 130 after Ctrl-C."""
    try:
        code = cli.main(arguments, prog_name="jupyter-memory", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as help_:
        help_.show()
        return 2
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.exceptions.Abort as stopped:
        asked = not isinstance(stopped.__cause__, KeyboardInterrupt)
        note("Nothing was done." if asked else "Interrupted.")
        return 1 if asked else INTERRUPTED
    except KeyboardInterrupt:
        note("Interrupted.")
        return INTERRUPTED
    except (JupyterMemoryError, OSError) as error:
        note("Error: " + " ".join(str(error).split()))
        return 1
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    sys.exit(main())
