"""The commands about the store itself: status, backup, restore, doctor."""

from __future__ import annotations

import json

import click

from jupyter_memory.cli.app import App, app_of
from jupyter_memory.config import store_path
from jupyter_memory.interface import messages
from jupyter_memory.text.layout import columns


@click.command()
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@app_of
def status(app: App, /, as_json: bool) -> None:
    """Show what the store holds: where it is, its memories by kind, its size, its model."""
    from jupyter_memory.interface.models import arithmetic

    stats = app.store.stats()
    click.echo(json.dumps(stats, ensure_ascii=False, indent=2) if as_json else messages.status(stats, arithmetic()))


@click.command()
@click.argument("path")
@app_of
def backup(app: App, /, path: str) -> None:
    """Copy the store into a new file, as it is at this moment."""
    click.echo(f"copied to {app.store.backup(path)}")


@click.command()
@click.argument("path")
@click.option("--overwrite", is_flag=True, help="put it in the place of the store that is there")
@app_of
def restore(app: App, /, path: str, overwrite: bool) -> None:
    """Make the store out of a backup."""
    from jupyter_memory.store.memory_store import MemoryStore

    restored = MemoryStore.restore(path, to=store_path(app.settings), overwrite=overwrite)
    click.echo(f"restored to {restored}")


@click.command()
@app_of
def doctor(app: App, /) -> None:
    """Check the installation, the settings and the store; tell what is wrong and what to do."""
    from jupyter_memory.interface.doctor import examine

    found = examine(app.store, app.problems)
    click.echo(columns(found.facts))
    for problem in found.problems:
        click.echo(f"- {problem}")
    if found.problems:
        raise click.ClickException(f"{messages.count(len(found.problems), 'problem', 'problems')} found.")
    click.echo("All is well.")
