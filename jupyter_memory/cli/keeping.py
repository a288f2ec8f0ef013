"""The commands that change what is remembered: add, index, pin, unpin, forget."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from jupyter_memory.cli.app import INTERRUPTED, App, app_of, note
from jupyter_memory.cli.arguments import joined, options, usage
from jupyter_memory.errors import InputError
from jupyter_memory.interface import messages
from jupyter_memory.interface.options import ADD, FORGET, forget_of, memory_of


@click.command()
@click.argument("words", nargs=-1, metavar="TEXT|-")
@options(ADD)
@app_of
def add(app: App, /, words: Sequence[str], **values: Any) -> None:
    """Remember a text, or with - what comes on standard input; secrets in it are redacted."""
    text = sys.stdin.read() if tuple(words) == ("-",) else joined(words, "The text")
    with usage():
        about = memory_of(values, datetime.now(UTC))
    memory = app.store_to_fill.add(text, **about)
    if values["pin"]:
        memory = app.store_to_fill.pin(memory.id)
    click.echo(messages.named(memory, "remembered"))


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@app_of
def index(app: App, /, paths: Sequence[str]) -> None:
    """Remember the files below folders, or single files; again, only what has changed."""
    wrong = 0
    try:
        for path in paths:
            try:
                click.echo(messages.indexed(app.store_to_fill.index(path, progress=sys.stderr.isatty())))
            except InputError as error:
                # The others are indexed all the same: `index *` names what else lies there, too.
                note("Error: " + " ".join(str(error).split()))
                wrong += 1
    except KeyboardInterrupt:
        note(messages.interrupted(app.store_to_fill.stats()))
        raise click.exceptions.Exit(INTERRUPTED) from None
    if wrong:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@options(FORGET)
@app_of
def forget(app: App, /, ids: Sequence[str], **values: Any) -> None:
    """Remove memories for good: by id, --source, filters or --everything; files stay as they are."""
    with usage():
        chosen = forget_of(ids, values, datetime.now(UTC))
    if values["searches"]:
        click.echo(f"forgot {messages.count(app.store.forget_recent(), 'search', 'searches')}")
        return
    if chosen["everything"] and not values["yes"]:
        _ask(messages.everything(app.store))
    forgotten = app.store.forget(**chosen)
    click.echo(f"forgot {messages.count(forgotten)}")
    for notice in () if forgotten else messages.unforgotten(app.store, chosen):
        note(notice)
    if said := messages.still_there(forgotten, chosen["source"]):
        note(said)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@app_of
def pin(app: App, /, ids: Sequence[str]) -> None:
    """Mark memories as important for good: they rank before others that answer as well."""
    for memory_id in ids:
        click.echo(messages.named(app.store.pin(memory_id), "pinned"))


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@app_of
def unpin(app: App, /, ids: Sequence[str]) -> None:
    """Take the pin off memories."""
    for memory_id in ids:
        click.echo(messages.named(app.store.unpin(memory_id), "unpinned"))


def _ask(what: str) -> None:
    """Ask a person before everything goes; a program has to say --yes."""
    if not sys.stdin.isatty():
        raise click.UsageError(f"This would forget {what}, and nobody is here to ask: say --yes to do it.")
    click.confirm(f"Forget {what}?", abort=True, err=True)
