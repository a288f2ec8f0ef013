"""Runs of cells for the history: which stay out, texts in bounds and without secrets, the draft of what was run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC
from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import get_args

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.preparation import clean
from jupyter_memory.ingest.readers.outputs import clip
from jupyter_memory.ingest.redaction.redactor import redact
from jupyter_memory.text.code import cell_language, telling_line, uses_memory
from jupyter_memory.text.identifiers import short, words_within
from jupyter_memory.text.markdown import context
from jupyter_memory.text.unicode import clean as readable
from jupyter_memory.text.unicode import uncoloured, without_data
from jupyter_memory.types import Draft, Outcome, Run, RunError

# Characters kept of a source, as of a cell in a notebook; of an error's message and its traceback.
_SOURCE, _MESSAGE, _TRACEBACK = 200_000, 4_000, 20_000
_PACKAGES, _RESULT = 2_000, 200
# Characters that are read of a longer text, and those at its end that are then left out: they may be half a secret.
_READ, _DOUBTFUL = 500_000, 20_000
# Characters of a title.
_TITLE = 80


# In a comment of Python, R, Julia, C, SQL, Lisp or MATLAB.
_OFF = re.compile(r"(?:#|//|--|;|%)[ \t]*memory[ \t]*:[ \t]*off\b", re.IGNORECASE)
# "memory: off" as a tag: people write tags with hyphens.
_PARTS_OF_TAG = re.compile(r"[\W_]+")
_OFF_TAG = "memoryoff"


def is_excluded(source: str, patterns: Sequence[str] = (), tags: Iterable[str] = ()) -> bool:
    """Return whether a cell stays out of the history: blank, using this memory, saying so, or with an excluded line."""
    return (
        not source.strip()
        or uses_memory(source)
        or _OFF.search(source) is not None
        or any(_PARTS_OF_TAG.sub("", tag).casefold() == _OFF_TAG for tag in tags)
        or any(fnmatchcase(line.strip(), pattern) for line in source.splitlines() for pattern in patterns)
    )


def drafted(run: Run, *, space: str, redacting: bool) -> tuple[Run, Draft] | None:
    """Return a run as it is stored, and the draft of its text; None where the text is blank."""
    if run.outcome not in get_args(Outcome):
        raise InputError(f"outcome is {run.outcome!r}; it must be one of {', '.join(get_args(Outcome))}.")
    stored = in_bounds(run, redacting=redacting)
    text = stored.source
    if not text:
        return None
    draft = Draft(
        text=text,
        title=words_within(telling_line(text), _TITLE),
        kind="history",
        tier="file",
        space=space,
        source=stored.notebook,
        location=stored.cell_id,
        lang=stored.language,
        session=stored.session,
        event_at=stored.started,
        # The day is left out: the text may run again on any day.
        context=context(PurePath(stored.notebook).name, ()) or stored.language,
        metadata={"characters": stored.characters} if stored.characters else {},
    )
    return stored, clean(draft, redacting=False)


def in_bounds(run: Run, *, redacting: bool) -> Run:
    """Return a run without secrets, and without the middle of what is too long in it."""
    source = without_data(readable(run.source))
    error = run.error
    if error is not None:
        message, traceback = (uncoloured(readable(text)) for text in (error.message, error.traceback))
        error = RunError(
            short(readable(error.name)),
            _bounded(message, _MESSAGE, redacting),
            _bounded(traceback, _TRACEBACK, redacting),
        )
    return replace(
        run,
        source=_bounded(source, _SOURCE, redacting).strip("\n").rstrip(),
        characters=run.characters or (len(source) if len(source) > _SOURCE else 0),
        started=run.started.astimezone(UTC),
        error=error,
        session=_name(run.session, redacting),
        # A URL may have a password in it; a path is just the name of a file.
        notebook=_hidden(readable(run.notebook), redacting and "://" in run.notebook),
        cell_id=short(readable(run.cell_id)),
        language=short(cell_language(readable(run.language).lower(), source)),
        environment=_name(run.environment, redacting),
        packages=_bounded(readable(run.packages), _PACKAGES, redacting),
        result=_bounded(uncoloured(readable(run.result)), _RESULT, redacting),
    )


def _bounded(text: str, length: int, redacting: bool) -> str:
    whole = text if len(text) <= _READ else text[:_READ]
    hidden = _hidden(whole, redacting)
    return clip(hidden if len(text) <= _READ else hidden[:-_DOUBTFUL], length)


def _name(text: str, redacting: bool) -> str:
    return short(_hidden(readable(text[:_READ]), redacting))


def _hidden(text: str, redacting: bool) -> str:
    return redact(text)[0] if redacting else text
