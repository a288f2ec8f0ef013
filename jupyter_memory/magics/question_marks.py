"""Keeps IPython from reading the question mark of a query as a request for help."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_MAGIC = r"%mem(?:search|add|ory|eval)\s+\S"
_QUESTION = re.compile(rf"^(\s*+(?:[\w.,\s]++=\s*+)?{_MAGIC}.*?)(\?{{1,2}}\s*)$", re.DOTALL)
_SILENCED_ASSIGNMENT = re.compile(rf"^([\w.,\s]++=\s*+{_MAGIC}.*?)(?<!\s)\s*+;\s*+$", re.DOTALL)


def keep_questions(lines: list[str]) -> list[str]:
    """Put a space before a trailing ``?`` of our magics, so that only ``%memsearch?`` itself shows help.

    A ``;`` at the end of an assignment is removed: it would only replace the value by None.
    """
    if lines and lines[0].lstrip().startswith("%%"):
        return lines
    return [_SILENCED_ASSIGNMENT.sub(r"\1\n", _QUESTION.sub(r"\1 \2", line)) for line in lines]


def install(shell: InteractiveShell) -> None:
    """Add the transformation to a shell, once."""
    remove(shell)
    shell.input_transformers_cleanup.append(keep_questions)


def remove(shell: InteractiveShell) -> None:
    """Remove the transformation from a shell."""
    transforms = shell.input_transformers_cleanup
    while keep_questions in transforms:
        transforms.remove(keep_questions)
