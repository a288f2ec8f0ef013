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
# Magics of IPython and its extensions whose cell is in another language than the kernel's, with its name.
_MAGICS = {
    "bash": "bash",
    "sh": "bash",
    "zsh": "bash",
    "cmd": "batch",
    "powershell": "powershell",
    "perl": "perl",
    "ruby": "ruby",
    "r": "r",
    "julia": "julia",
    "octave": "octave",
    "cython": "cython",
    "sql": "sql",
    "bigquery": "sql",
    "html": "html",
    "svg": "html",
    "javascript": "javascript",
    "js": "javascript",
    "latex": "latex",
    "markdown": "markdown",
}
# A magic in the first line of a cell; `%%script bash` names its program.
_CELL_MAGIC = re.compile(r"%%(?:script[ \t]+(?:--?\S+[ \t]+)*+(?:\S*/)?)?(\w+)")
# Those that run the rest of the cell as it is written there.
_AROUND = frozenset({"capture", "time", "timeit", "prun"})


def language(lang: str, text: str) -> str:
    """Return the language of a text in lower case: what its notebook or file says (``lang``), or what it looks like.

    The empty string is for what is neither labelled nor looks like Python.
    """
    if lang:
        return lang.lower()
    return PYTHON if _PYTHON.search(text, 0, _READ) else ""


def cell_language(kernel: str, source: str) -> str:
    """Return the language of a code cell: that of its magic, such as `%%bash`, else that of its kernel.

    >>> cell_language("python", "%%time\\n%%bash\\nls"), cell_language("python", "%%script /bin/sh\\nls")
    ('bash', 'bash')
    >>> cell_language("python", "%%timeit\\nsum(rates)")
    'python'
    """
    for line in source.splitlines():
        if not line.strip():
            continue
        magic = _CELL_MAGIC.match(line)
        if magic is None:
            break
        if magic[1].lower() not in _AROUND:
            return _MAGICS.get(magic[1].lower(), kernel)
    return kernel


def is_code(kind: str, lang: str) -> bool:
    """Return whether a memory of this kind and language is known to be code; what was typed at a prompt always is."""
    return kind == "history" or lang.lower() not in _FOR_PEOPLE
