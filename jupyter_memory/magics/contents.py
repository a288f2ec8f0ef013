"""The subcommands of `%memory` about what is in the store: index, list, explain, pin, unpin, forget."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from IPython.core.error import UsageError

from jupyter_memory.errors import InputError
from jupyter_memory.interface import messages
from jupyter_memory.interface.options import filters_of, forget_of
from jupyter_memory.magics.parsing import Line
from jupyter_memory.magics.session import Session, note, say, shown

if TYPE_CHECKING:
    import pandas as pd


def index(session: Session, line: Line) -> None:
    """Remember the files below folders, or single files; again, only what has changed.

    Notebooks are remembered by cell; Markdown, text, reStructuredText and Python files in parts. Files that are
    gone are forgotten. What .gitignore and the setting `ignore` name is left out, and secrets are redacted.

    Examples::

        %memory index ~/notebooks
        %memory index reports "C:\\My data\\notes.md"
    """
    if not line.words:
        raise UsageError("Name a folder or a file: %memory index ~/notebooks")
    wrong = []
    for path in line.arguments:
        try:
            say(messages.indexed(session.store_to_fill.index(path, progress=True)))
        except KeyboardInterrupt:
            say(messages.interrupted(session.store.stats()))
            return
        except InputError as error:
            wrong.append(str(error))  # the others are indexed all the same
    if wrong:
        raise InputError(" ".join(wrong))


def browse(session: Session, line: Line) -> pd.DataFrame:
    """Show memories without a question: pinned ones, notes, then files; the newest first.

    Examples::

        %memory list --tag decision -n 50
        %memory list --kind cell --path reports --since "last week"
    """
    filters = filters_of(line.values, datetime.now(UTC))
    return shown(session.store.browsed(limit=line.values.get("limit"), filters=filters))


browse.__name__ = "list"


def explain(session: Session, line: Line) -> None:
    """Tell why a memory is at its rank in the last search, or where it is for a query.

    Examples::

        %memory explain 3
        %memory explain "how were prices normalised" 3f2a9c1b2d4e5f60
    """
    words = line.arguments
    if len(words) == 1 and words[0].isdecimal():
        say(str(_at_rank(session, int(words[0]))))
    elif len(words) >= 2:
        # Unquoted, the query is all but the last word.
        query = words[0] if len(words) == 2 else " ".join(words[:-1])
        say(str(session.store.explain(query, words[-1], profile=session.settings.profile)))
    else:
        raise UsageError('Name a rank of the last search, or a query and an id: %memory explain "prices" ID')


def _at_rank(session: Session, rank: int) -> object:
    last = session.last
    if last is None:
        raise UsageError("There is no search to explain yet: run %memsearch first.")
    if not 1 <= rank <= len(last.hits):
        raise UsageError(f"The last search has {len(last.hits)} results; there is no rank {rank}.")
    return session.store.explain_in(last, last.hits[rank - 1].memory.id)


def pin(session: Session, line: Line) -> None:
    """Mark memories as important for good: they rank before others that answer as well.

    Examples::

        %memory pin 3f2a9c1b2d4e5f60
    """
    for memory_id in _ids(session, line, "pin"):
        say(messages.named(session.store.pin(memory_id), "pinned"))


def unpin(session: Session, line: Line) -> None:
    """Take the pin off memories.

    Examples::

        %memory unpin 3f2a9c1b2d4e5f60
    """
    for memory_id in _ids(session, line, "unpin"):
        say(messages.named(session.store.unpin(memory_id), "unpinned"))


def forget(session: Session, line: Line) -> None:
    """Remove memories for good, from every table and index of the store.

    Files stay as they are: indexed again, they are remembered again, unless a .gitignore, a .jupytermemoryignore or the
    setting `ignore` names them.

    Examples::

        %memory forget 3f2a9c1b2d4e5f60
        %memory forget --source reports/old.ipynb
        %memory forget --tag draft --until "last year"
        %memory forget --searches
        %memory forget --everything --yes
    """
    chosen = forget_of(line.arguments, line.values, datetime.now(UTC))
    if line.values["searches"]:
        say(f"forgot {messages.count(session.store.forget_recent(), 'search', 'searches')}")
        return
    if chosen["everything"] and not line.values["yes"]:
        raise UsageError(
            f"This would forget {messages.everything(session.store)}. To do it: %memory forget --everything --yes"
        )
    if line.words:
        _ids(session, line, "forget")
    forgotten = session.store.forget(**chosen)
    say(f"forgot {messages.count(forgotten)}")
    for notice in () if forgotten else messages.unforgotten(session.store, chosen):
        note(notice)
    if said := messages.still_there(forgotten, chosen["source"]):
        say(said)


def _ids(session: Session, line: Line, what: str) -> list[str]:
    """Return the ids on a line. A rank is none: the search that it is of may not be the one that somebody looks at."""
    if not line.words:
        raise UsageError(
            f"Name the memories by their ids, the column memory_id of a result; Tab gives them: %memory {what} ID"
        )
    hits = session.last.hits if session.last else ()
    for word in line.arguments:
        if word.isdecimal() and 1 <= int(word) <= len(hits):
            memory = hits[int(word) - 1].memory
            meant = messages.named(memory, f"Result {word} of the last search is")
            raise UsageError(f"{word} is a rank, and an id is needed. {meant}: %memory {what} {memory.id}")
    return line.arguments
