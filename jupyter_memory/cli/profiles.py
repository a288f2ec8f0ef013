"""The commands about profiles: profile list, profile show."""

from __future__ import annotations

import json

import click

from jupyter_memory.cli.app import App, app_of
from jupyter_memory.cli.arguments import usage
from jupyter_memory.text.layout import columns


@click.group()
def profile() -> None:
    """List the ways of ranking, or show every number of one."""


@profile.command("list")
@app_of
def list_(app: App, /) -> None:
    """Show the profiles; a star marks the one that the settings choose."""
    from jupyter_memory.search.profiles.builtin import PROFILES

    chosen = app.settings.profile
    rows = [("*" if name == chosen else " ", name, one.summary) for name, one in PROFILES.items()]
    click.echo(columns(rows if chosen in PROFILES else [*rows, ("*", chosen, "")]))


@profile.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="as JSON")
@click.option("--toml", "as_toml", is_flag=True, help="as a file to change and to search with: -p ./mine.toml")
def show(name: str, as_json: bool, as_toml: bool) -> None:
    """Show a profile by name, or one in a TOML file: its formula and every constant."""
    from jupyter_memory.search.profiles.builtin import PROFILES, profile_named
    from jupyter_memory.search.profiles.constants import constants

    with usage():
        chosen = profile_named(name)
    if as_toml:
        # A file may not have the name of one that comes with the package.
        named = chosen.replace(name=f"my-{chosen.name}") if chosen.name in PROFILES else chosen
        click.echo(named.to_toml(), nl=False)
        return
    found = constants(chosen)
    if as_json:
        rows = [
            {"part": c.part, "name": c.name, "form": c.form, "constant": c.constant, "value": c.value} for c in found
        ]
        whole = {"name": chosen.name, "summary": chosen.summary, "formula": chosen.formula, "constants": rows}
        click.echo(json.dumps(whole, ensure_ascii=False, indent=2))
        return
    click.echo(f"{chosen.name}: {chosen.summary}\nscore = {chosen.formula}\n")
    head = ("part", "name", "form", "constant", "value")
    click.echo(columns([head, *((c.part, c.name, c.form, c.constant, _text(c.value)) for c in found)]))


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
