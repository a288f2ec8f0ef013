"""The commands about models: model list, model use, model drop, model remove."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from jupyter_memory.cli.app import INTERRUPTED, App, app_of, note
from jupyter_memory.config import models_folder, store_path


@click.group()
def model() -> None:
    """List the models, make the store search with one (fetched after asking), drop old vectors, or remove a model."""


@model.command("list")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@app_of
def list_(app: App, /, as_json: bool) -> None:
    """Show the models: name, size, dimensions, licence, languages, whether it is here; and what the store uses."""
    from jupyter_memory.interface import models

    stats = app.store.stats() if store_path(app.settings).exists() else None
    rows = models.listed(models_folder(app.settings), stats)
    click.echo(json.dumps(rows, ensure_ascii=False, indent=2) if as_json else models.table(rows, stats))


@model.command()
@click.argument("name")
@click.option("--from", "path", metavar="PATH", help="a folder that has the model's files; nothing is fetched")
@click.option("--dims", type=click.IntRange(min=1), metavar="N", help="length of the vectors, such as 256")
@click.option("-y", "--yes", is_flag=True, help="do not ask before the model is fetched")
@app_of
def use(app: App, /, name: str, path: str | None, dims: int | None, yes: bool) -> None:
    """Make the store search with a model; one that is not here is fetched, after asking."""
    from jupyter_memory.interface import models

    folder = models_folder(app.settings)
    wanted = models.Wanted.of(name, dims, folder)
    bar = sys.stderr.isatty()
    if path is not None and wanted.shelf is None:
        raise click.UsageError(f"{name} names its folder itself: leave --from out.")
    if wanted.shelf is not None and (path is not None or not wanted.is_here):
        if path is None:
            note(models.plan(wanted.shelf))
            _ask("Fetch it?", yes)
        click.echo(_going_on(lambda: models.get(wanted.shelf, path, progress=bar, dimensions=wanted.dimensions)))
    app.greets = False
    click.echo(_going_on(lambda: models.switch(app.store_to_fill, wanted, folder, progress=bar)))
    if app.settings.embedder not in ("auto", name, wanted.name):
        origin = app.settings.origin("embedder")
        note(f"The setting embedder is still {app.settings.embedder!r} ({origin}): make it 'auto' or {name!r}.")


@model.command()
@click.argument("name", required=False)
@app_of
def drop(app: App, /, name: str | None) -> None:
    """Drop the vectors of models that the store does not search with, of all of them or of NAME, to free their room."""
    from jupyter_memory.interface import models

    click.echo(models.drop(app.store, name))


@model.command()
@click.argument("name")
@click.option("-y", "--yes", is_flag=True, help="do not ask, not even when the store searches with it")
@app_of
def remove(app: App, /, name: str, yes: bool) -> None:
    """Remove a fetched model from this machine, after asking."""
    from jupyter_memory.interface import models

    wanted = models.Wanted.of(name, None, models_folder(app.settings))
    if wanted.shelf is None:
        raise click.UsageError(f"{name} is not a model that was fetched here: remove its folder yourself.")
    models.check_removable(wanted.shelf)
    used = store_path(app.settings).exists() and models.is_used(app.store, wanted.shelf.entry)
    if used and not yes:
        raise click.ClickException(
            f"The store searches with {wanted.name}. Change it first: jupyter-memory model use static; or say --yes, "
            "and it is searched by words alone."
        )
    _ask(f"Remove {wanted.shelf.folder}?", yes)
    click.echo(models.remove(wanted.shelf))


def _ask(question: str, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError("Nobody is here to ask, so nothing was done: say --yes to do it.")
    click.confirm(question, abort=True, err=True)


def _going_on(act: Any) -> str:
    """Return what an action says; one that is interrupted says how to go on."""
    try:
        return str(act())
    except KeyboardInterrupt:
        note("Interrupted: the store searches as before. Type the same again to go on from here.")
        raise click.exceptions.Exit(INTERRUPTED) from None
