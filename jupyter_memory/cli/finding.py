"""The commands that show what is remembered: search, list, explain."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import click

from jupyter_memory.cli.app import App, app_of, note
from jupyter_memory.cli.arguments import Query, joined, options, usage
from jupyter_memory.interface import tables
from jupyter_memory.interface.options import BROWSE, SEARCH, filters_of, search_of, switch_among


def _columns() -> int:
    """Return the width of the terminal, within what reads well."""
    return max(60, min(120, shutil.get_terminal_size((100, 24)).columns))


@click.command(cls=Query)
@click.argument("words", nargs=-1, metavar="QUERY")
@options(SEARCH)
@click.option("--json", "as_json", is_flag=True, help="the whole answer as JSON")
@app_of
def search(app: App, /, words: Sequence[str], as_json: bool, **values: Any) -> None:
    """Search by meaning and by exact words; '"quoted words"' are looked for as a phrase."""
    with usage():
        query, asked = joined(words, "The query"), search_of(values, datetime.now(UTC))
        _check_profile(values["profile"])
    if said := switch_among(words, SEARCH):
        note(said)
    answer = app.store.hits(query, **asked)
    app.store.note_search(answer, "command line")
    if as_json:
        click.echo(json.dumps(answer.to_json(), ensure_ascii=False, indent=2))
        return
    for notice in answer.notices:
        note(notice)
    if not answer.hits:
        note("Nothing found.")
    elif values["scan"]:
        click.echo(tables.scan(answer, _columns()))
    else:
        click.echo(tables.results(answer, _columns()))


@click.command("list")
@options(BROWSE)
@app_of
def list_(app: App, /, **values: Any) -> None:
    """Show memories without a question: pinned ones, notes, then files; the newest first."""
    with usage():
        filters = filters_of(values, datetime.now(UTC))
    answer = app.store.browsed(limit=values["limit"], filters=filters)
    for notice in answer.notices:
        note(notice)
    if answer.hits:
        click.echo(tables.table(answer, _columns()))
    elif not answer.notices:
        note("There is nothing to show.")


@click.command()
@click.argument("query")
@click.argument("memory_id", metavar="ID")
@click.option("-p", "--profile", metavar="NAME", help="how to rank: a profile's name")
@app_of
def explain(app: App, /, query: str, memory_id: str, profile: str | None) -> None:
    """Tell why a memory is where it is for a query, or why it is not found."""
    with usage():
        _check_profile(profile)
    click.echo(str(app.store.explain(query, memory_id, profile=profile)))


def _check_profile(name: str | None) -> None:
    """Raise UnknownProfile before a store is opened for nothing."""
    from jupyter_memory.search.profiles.builtin import profile_named

    if name is not None:
        profile_named(name)
