"""The output of the magics: results, notes, and errors in one line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from IPython.core.error import UsageError
from traitlets import TraitError

from jupyter_memory.errors import JupyterMemoryError
from jupyter_memory.interface.messages import as_typed
from jupyter_memory.text.display import html
from jupyter_memory.text.unicode import marked
from jupyter_memory.types.search import UNANSWERED

if TYPE_CHECKING:
    import pandas as pd

    from jupyter_memory.types import Answer, Memory


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


class Links(list[str]):
    """The files of memories; a notebook shows links, which the panel in JupyterLab opens at the cell."""

    def __init__(self, memories: Sequence[Memory], locations: Mapping[str, str]) -> None:
        # Imported late: it loads pandas.
        from jupyter_memory.dataframe.html import open_link
        from jupyter_memory.dataframe.places import Place

        places = [(one.id, Place(one.source, locations.get(one.id) or one.place(), one.kind)) for one in memories]
        super().__init__(repr(place) for _, place in places)
        self._html = [open_link(html(repr(place)), place.href, place.source, id_) for id_, place in places]

    def __repr__(self) -> str:
        return "\n".join(self)

    def _repr_html_(self) -> str:
        return "<br>".join(self._html)


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
