"""The program `jupyter-memory`: its common options, and what each failure looks like."""

from __future__ import annotations

from collections.abc import Sequence

import click

from jupyter_memory.cli.app import INTERRUPTED, App, note
from jupyter_memory.cli.group import Commands
from jupyter_memory.errors import JupyterMemoryError, QueryError


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--store", "file", metavar="FILE", help="the store; else JUPYTER_MEMORY_PATH, the settings, the default")
@click.version_option(None, "-V", "--version", package_name="jupyter-memory", prog_name="jupyter-memory")
@click.pass_context
def cli(context: click.Context, file: str | None) -> None:
    """A private memory for notebooks: search what you wrote, ran or saved, by meaning and by exact words."""
    context.obj = App(file)
    context.call_on_close(context.obj.close)


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
    except QueryError as error:
        # What was typed into the query itself, such as a time that cannot be read.
        note("Error: " + " ".join(str(error).split()))
        return 2
    except (JupyterMemoryError, OSError) as error:
        note("Error: " + " ".join(str(error).split()))
        return 1
    return code if isinstance(code, int) else 0
