"""Names that are stored again with every chunk: titles, headings, tags. They are kept short, whatever a file holds.

Without a limit, a store grows with the length of a heading times the number of chunks below it.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_memory.text.paths import pure

# Characters of a title, a heading, a tag or a language.
LONGEST = 200
# Tags of a file, and tags of a memory that somebody adds.
MOST_OF_FILE, MOST_TAGS = 100, 1_000
# Characters of all headings above a place: six short ones always fit, as deep as Markdown goes.
_LONGEST_PATH = 2_000
_INNERMOST = 5
_BELOW = " > "
CUT = "…"


def short(name: str) -> str:
    """Return a name of at most 200 characters; an ellipsis marks that its end is left out.

    >>> short("Prices"), len(short("Prices " * 1_000)), short("Prices " * 1_000)[-8:]
    ('Prices', 200, 'ces Pri…')
    """
    return name if len(name) <= LONGEST else name[: LONGEST - 1].rstrip() + CUT


def short_path(path: str) -> str:
    """Return the end of a file's path: the folders around a file say less than its name.

    >>> short_path("2026/" * 100 + "prices.ipynb")[:9], short_path("2026/prices.ipynb")
    ('…6/2026/2', '2026/prices.ipynb')
    """
    return path if len(path) <= LONGEST else CUT + path[1 - LONGEST :]


def without_file(title: str, source: str) -> str:
    """Return a title without the name of its file, for those who show the path beside it.

    >>> without_file("λ.ipynb – Net of tax", "/work/λ.ipynb"), without_file("Net of tax", "")
    ('Net of tax', 'Net of tax')
    """
    return title.removeprefix(f"{pure(source).name} – ") if source else title


def heading_path(headings: Sequence[str]) -> str:
    """Return the headings that lead down to a place, in at most 2,000 characters.

    Where they are longer, each is shortened; of very many, the first and the last five are left.

    >>> heading_path(["Prices", "Cleaning"])
    'Prices > Cleaning'
    """
    # Counted, not joined: a heading may be as long as its file, and stand above thousands of chunks.
    if sum(map(len, headings)) + len(_BELOW) * len(headings) <= _LONGEST_PATH:
        return _BELOW.join(headings)
    names = list(map(short, headings))
    path = _BELOW.join(names)
    return path if len(path) <= _LONGEST_PATH else _BELOW.join([names[0], CUT, *names[-_INNERMOST:]])


def words_within(text: str, length: int) -> str:
    """Return the words at the beginning of a text that fit into a length; none is cut in two.

    >>> words_within("net of tax", 8), words_within("net of tax", 10)
    ('net of …', 'net of tax')
    """
    return text if len(text) <= length else f"{text[:length].rpartition(' ')[0]} {CUT}".strip()
