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
_PROSE = frozenset({"text", "markdown", "rst"})
# Who writes one of these words in a question does not ask for all prose, nor for all files of data.
EVERYDAY = _PROSE | {"data"}
_DOCUMENTS = frozenset({"pdf", "docx", "pptx"})
# Other names of what is written for people.
_FOR_PEOPLE = _PROSE | _DOCUMENTS | {"", "md", "txt", "plain", "restructuredtext", "html", "latex", "org", "asciidoc"}
# Languages by other names that kernels, magics and chunks give them.
_ALIASES = {
    "ipython": PYTHON, "ipython3": PYTHON, "python3": PYTHON, "python2": PYTHON, "py": PYTHON, "cython": PYTHON,
    "c++": "cpp", "c++11": "cpp", "c++14": "cpp", "c++17": "cpp", "c++20": "cpp", "c++23": "cpp", "xcpp": "cpp",
    "js": "javascript", "node": "javascript", "ojs": "javascript", "ts": "typescript", "rs": "rust",
    "sh": "bash", "shell": "bash", "zsh": "bash", "bigquery": "sql", "sqlite": "sql", "jl": "julia", "ir": "r",
    "md": "markdown", "tex": "latex", "svg": "html",
}  # fmt: skip
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


def known_language(name: str) -> str:
    """Return a language by the one name that it has here.

    >>> known_language("C++17"), known_language("ipython3"), known_language("R")
    ('cpp', 'python', 'r')
    """
    plain = name.strip().lower()
    return _ALIASES.get(plain, plain)


def kernel_language(name: str) -> str:
    """Return the language of a kernel by its name, where its notebook says nothing else.

    >>> kernel_language("ir"), kernel_language("julia-1.11"), kernel_language("sas")
    ('r', 'julia', 'sas')
    """
    return known_language(re.split(r"[-_ ]\d", name.strip().lower(), maxsplit=1)[0])


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
