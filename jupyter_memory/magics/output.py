"""The output of the magics: results, notes, and errors in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

from IPython.core.error import UsageError
from traitlets import TraitError

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.interface.messages import as_typed
from jupyter_memory.text.unicode import marked
from jupyter_memory.types.answer import UNANSWERED

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.types import Answer


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
        # The DataFrame says above its rows that they may be no answer.
        if notice != UNANSWERED:
            note(notice)
    return frame_of(answer, mode)


class Links(list[Any]):
    """Places of memories; a notebook shows them as links."""

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))

    def _repr_html_(self) -> str:
        return "<br>".join(place._repr_html_() for place in self)


def links(places: Sequence[tuple[str, str, str]]) -> Links:
    """Return links to places, each a source, a location and the kind of the memory."""
    # Imported late: it loads pandas.
    from jupyter_memory.dataframe.places import Place

    return Links(Place(*place) for place in places)


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
