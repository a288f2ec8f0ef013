"""The output of the magics: results, notes, and errors in one line."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from IPython.core.error import UsageError
from traitlets import TraitError

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.text.unicode import marked

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.types import Answer

# Commands that the library names in its messages are words of %memory here, but for the note that %memadd adds.
_COMMAND = re.compile(r"`(index|add|model (?:list|use|drop|remove)\b[^`]*)`")
_AS_TYPED = {"index": "%memory index FOLDER", "add": "%memadd TEXT"}


def as_typed(text: str) -> str:
    """Return a message with its commands as magics.

    >>> as_typed("add files with `index`, or a note with `add`")
    'add files with `%memory index FOLDER`, or a note with `%memadd TEXT`'
    """
    return _COMMAND.sub(lambda found: f"`{_AS_TYPED.get(found[1], f'%memory {found[1]}')}`", text)


def say(text: str) -> None:
    """Write what a magic did, where ``print`` would."""
    sys.stdout.write(marked(text) + "\n")


def note(text: str) -> None:
    """Write a note to standard error."""
    sys.stderr.write(f"jupyter-memory: {marked(as_typed(text))}\n")


def as_frame(answer: Answer, mode: Literal["full", "scan"] = "full") -> pd.DataFrame:
    """Return an answer as a DataFrame, and write its notices."""
    # Imported late: a kernel that never searches need not wait for the store.
    from jupyter_memory.store.memory_store import frame_of

    for notice in answer.notices:
        note(notice)
    return frame_of(answer, mode)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Show errors in one line without a traceback, which IPython does only for ``UsageError``."""
    try:
        yield
    except (JupyterMemoryError, TraitError) as error:
        raise UsageError(marked(as_typed(" ".join(str(error).split())))) from None
    except UsageError as error:
        raise UsageError(marked(str(error))) from None
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        raise UsageError(marked(f"{error.strerror or error}{where}")) from None
