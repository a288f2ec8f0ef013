"""In which language a memory is written: code in Python is about Python, though it hardly ever says so."""

from __future__ import annotations

import re

# Where nobody says it, this much of a text is looked at.
_READ = 2_400
_PYTHON = re.compile(
    r"^[ \t]*+(?:(?:async )?def \w++\(|class \w++(?:\([^\n]*\))?:"
    r"|from [\w.]++ import \w|import [\w.]++(?: as \w++)?[ \t]*+$)",
    re.MULTILINE,
)
# A language that is told by its look.
PYTHON = "python"
# Who writes one of these words in a question does not ask for all prose.
PROSE = frozenset({"text", "markdown", "rst"})
# Other names of what is written for people.
_FOR_PEOPLE = PROSE | {"", "md", "txt", "plain", "restructuredtext", "html", "latex", "org"}


def language(lang: str, text: str) -> str:
    """Return the language of a text in lower case: what its notebook or file says (``lang``), or what it looks like.

    The empty string is for what is neither labelled nor looks like Python.
    """
    if lang:
        return lang.lower()
    return PYTHON if _PYTHON.search(text, 0, _READ) else ""


def is_code(kind: str, lang: str) -> bool:
    """Return whether a memory of this kind and language is known to be code; what was typed at a prompt always is."""
    return kind == "history" or lang.lower() not in _FOR_PEOPLE
