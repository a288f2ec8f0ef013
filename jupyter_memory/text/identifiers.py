"""Identifiers, file names and scripts without spaces, taken apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar
from unicodedata import is_normalized, normalize

from jupyter_memory.text.paths import pure

Value = TypeVar("Value")

# Kana, Han (with extensions), Hangul, Thai.
_CJK = re.compile(
    r"[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f\U00020000-\U0002ffff]+"
)
# Words that ask, point or join, of Chinese, and the particles that follow a Japanese noun.
_FILLER = re.compile(
    "为什么|什么时候|什么|怎么样?|怎样|如何|哪[个里些]|多少|我们|谁|吗|呢|的|是|了|和"
    "|(?<=[\u30a1-\u30ff\u4e00-\u9fff])[はがをにのでともへや]"
)
_HIRAGANA = re.compile("[\u3041-\u309f]")


def runs(text: str) -> list[str]:
    """Return the stretches of a text in scripts that are written without spaces."""
    return _CJK.findall(text)


def bigrams(text: str) -> list[str]:
    """Return overlapping pairs of the CJK runs of a text; a run of one character stands alone."""
    found: list[str] = []
    for run in runs(text):
        found += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    return found


def telling_bigrams(text: str) -> list[str]:
    """Return the pairs of a question that are about its subject; all of them where there are no others.

    Japanese writes its endings and particles in hiragana; Chinese asks with a few fixed words.

    >>> telling_bigrams("価格はどうやって測りましたか"), telling_bigrams("价格是怎么算的")
    (['価格', '測り'], ['价格'])
    """
    pairs = bigrams(_FILLER.sub(" ", text))
    return [pair for pair in pairs if len(pair) > 1 and not _HIRAGANA.match(pair)] or bigrams(text)


def without_cjk(text: str) -> str:
    """Return a text with a space for every run of a script written without spaces."""
    return _CJK.sub(" ", text)


# The columns of the keyword index, in its order.
COLUMNS = ("title", "context", "text", "tags", "ident")
# A run of word characters, joined by dots where no space follows: FileSyncService, snake_case, df.groupby, 1.0.21.
# Underscores are looked at from the first of them only: from each, a line of them would take the square of its length.
IDENTIFIER = re.compile(r"[^\W_]\w*+(?:\.\w++)*+|(?<!_)_++[^\W_]\w*+")
_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_A-Za-z]+")
_SIMPLE = re.compile(r"[A-Z]?[a-z]++|[A-Z]++|[0-9]++")
# Longer ones are data, not names.
_LONGEST = 200
# Words that are kept as they were spelled out: about 15 MB.
_MOST_SPELLED = 50_000


def parts(identifier: str) -> list[str]:
    if identifier.isascii():
        return [part.lower() for part in _PART.findall(identifier)]
    # The pattern knows ASCII letters only, so every other letter is replaced by one of its kind.
    shape = "".join(
        "A" if one.isupper() else "a" if one.islower() else "の" if one.isalpha() and not one.isascii() else one
        for one in identifier
    )
    return [identifier[match.start() : match.end()].lower() for match in _PART.finditer(shape)]


def is_compound(word: str) -> bool:
    return len(parts(word)) > 1


def plainer(text: str) -> list[str]:
    """Return the words of a text that are written with ligatures, marks, invisible letters and the like, without them.

    >>> plainer("ﬁne Łódź, ёлка; tide\u200bwaiter")
    ['fine', 'lódź', 'елка', 'tidewaiter']
    """
    if text.isascii() and "&" not in text:
        return []
    found = []
    if not is_normalized("NFKC", text):
        words = (word for word in _WORD.findall(text) if not word.isascii() and len(word) <= _LONGEST)
        found = [plain for word in words if (plain := normalize("NFKC", word)) != normalize("NFC", word)]
    if _MARKED.search(text) or ("&" in text and _SOFT.search(text)):
        for word in (word for word in _MARKED_WORD.findall(text) if _MARKED.search(word) or "&" in word):
            apart = normalize("NFD", word.lower().translate(_STROKED))
            # The index itself leaves out the marks of Latin letters.
            found.append(normalize("NFC", (_UNSEEN if _LATIN.search(apart) else _MARKS).sub("", apart)))
    return [word for word in dict.fromkeys(found) if len(word) <= _LONGEST]


# Letters that the keyword index takes for others than the same without their marks; marks of Hebrew and Arabic, and
# what nobody sees, such as a soft hyphen. The index parts a word at these.
_SOFT = re.compile("&(?:shy|zwnj|ZeroWidthSpace|NoBreak|#173|#8203);")
_INVISIBLE = "\u00ad\u034f\u200b-\u200d\u2060\ufeff"
_POINTS = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
_MARKED = re.compile(f"[{_INVISIBLE}{_POINTS}łŁđĐħĦŧŦøØıёЁΆΈ-ΐΪ-ΰϊ-ώ\u0622-\u0626\u1f00-\u1fff]")
_MARKED_WORD = re.compile(f"\\w(?:[\\w{_POINTS}]|(?:[{_INVISIBLE}]|{_SOFT.pattern})(?=\\w))*+")
_STROKED = str.maketrans("łđħŧøı", "ldhtoi")
_UNSEEN, _LATIN = re.compile(f"[{_INVISIBLE}]|{_SOFT.pattern}"), re.compile("[a-z]")
# Not the breve, which makes another letter of Cyrillic.
_MARKS = re.compile(f"{_UNSEEN.pattern}|[{_POINTS}\u0300-\u0305\u0307-\u036f]")


# Letters as LaTeX writes them: \"o, \v{C}, {\ss}, \o{}. Elsewhere, a quote behind a backslash is part of a string.
_CODES = (0x300, 0x301, 0x302, 0x303, 0x308, 0x30A, 0x307, 0x304, 0x306, 0x30C, 0x30B, 0x327, 0x323, 0x331, 0x328)
_ACCENTS = dict(zip("`'^~\"r.=uvHcdbk", map(chr, _CODES), strict=True))
_NAMED = {"ss": "ß", "aa": "å", "AA": "Å", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø"}
_NAMED |= {"l": "ł", "L": "Ł", "i": "i", "j": "j", "dj": "đ", "DJ": "Đ", "dh": "ð", "th": "þ"}
_COMMAND = (
    r"\\(?:[\"'`^~=.]\{\\?[A-Za-z]\}|[uvHcdbkr]\{\\?[A-Za-z]\}"
    r"|(?:(?<=\w\\)|(?<=\{\\)|(?=.[A-Z]))[\"'`^~=.]\\?[AEIOUYaeiouyCNZcnz](?![a-zA-Z]*\\[\"'](?![A-Za-z{]))"
    rf"|(?:{'|'.join(_NAMED)})(?:\{{\}}|(?=\}})|(?![A-Za-z]) ?))"
)
_LATEX, _LATEX_WORD = re.compile(_COMMAND), re.compile(rf"(?:\w|\{{?{_COMMAND}\}}?)++")
_LATEX_LETTER = re.compile(r"\{?\\(?:([\"'`^~=.]|[uvHcdbkr](?=\{))\{?\\?([A-Za-z])\}?|([A-Za-z]+)(?:\{\}| )?)\}?")


def _letter(found: re.Match[str]) -> str:
    return _NAMED[found[3]] if found[3] else found[2] + _ACCENTS[found[1]]


class Kept(dict[str, Value]):
    """What a function returned for words, since those of one person recur; when full, it begins anew."""

    def __init__(self, look_up: Callable[[str], Value], most: int, longest: int) -> None:
        super().__init__()
        self._look_up, self._most, self._longest = look_up, most, longest

    def __missing__(self, word: str) -> Value:
        found = self._look_up(word)
        if len(word) <= self._longest:
            if len(self) >= self._most:
                self.clear()
            self[word] = found
        return found


def _spelled(word: str) -> tuple[str, ...]:
    if _SIMPLE.fullmatch(word):
        return ()
    alone = word if word.isascii() else without_cjk(word)
    if alone == word:
        return _taken_apart(word)
    return tuple(chain.from_iterable((name, *_taken_apart(name)) for name in IDENTIFIER.findall(alone)))


_SPELLED = Kept(_spelled, _MOST_SPELLED, _LONGEST)


def _taken_apart(name: str) -> tuple[str, ...]:
    if len(name) > _LONGEST:
        return ()
    split_by_the_index = [piece.lower() for piece in re.split(r"[\W_]+", name) if piece]
    pieces = parts(name)
    if len(pieces) < 2:
        return ()
    whole = ["".join(split_by_the_index)] if len(split_by_the_index) > 1 else []
    return (name, *whole, *(pieces if split_by_the_index != pieces else []))


# The keyword index takes pictures for the gaps between words, so each is a word of its own there.
_PICTURE = re.compile("[\u2600-\u27bf\u2b50\U0001f000-\U0001faff]")


def pictures(text: str) -> list[str]:
    """Return the emoji of a text as the column ``ident`` has them.

    >>> pictures("Released 🚀")
    ['u1f680']
    """
    return [] if text.isascii() else [f"u{ord(one):x}" for one in dict.fromkeys(_PICTURE.findall(text))]


def ident_column(text: str) -> str:
    """Return what the keyword index's column ``ident`` holds for a text: identifiers whole and in parts, bigrams."""
    # The full-text index takes a camel-case name for one word, so its parts are added. It splits other names at
    # underscores and dots, so they are added in one piece. The text is composed, as a query is: decomposed Hangul would
    # not be recognised.
    text = normalize("NFC", text)
    # Words with accents of LaTeX as they are printed, too.
    words = _LATEX_WORD.findall(text) if "\\" in text and _LATEX.search(text) else []
    printed = [normalize("NFC", _LATEX_LETTER.sub(_letter, word)) for word in words if "\\" in word]
    if printed:
        text = "\n".join((text, *printed))
    found = dict.fromkeys(printed) | dict.fromkeys(
        chain.from_iterable(map(_SPELLED.__getitem__, dict.fromkeys(IDENTIFIER.findall(text))))
    )
    if not text.isascii():
        found.update(dict.fromkeys((*bigrams(text), *pictures(text))))
        # The last character of a run begins no pair. Alone, it lets a search for one character find every place.
        found.update(dict.fromkeys(run[-1] for run in runs(text)))
    for plain in plainer(text):
        found.update(dict.fromkeys((plain, *bigrams(plain))))
    return " ".join(found)


# Without a limit, a store grows with the length of a heading times the number of chunks below it.
# Characters of a title, a heading, a tag or a language.
LONGEST_NAME = 200
# Tags of a file, and tags of a memory that somebody adds.
MOST_OF_FILE, MOST_TAGS = 100, 1_000
# Characters of all headings above a place: six short ones always fit, as deep as Markdown goes.
_LONGEST_PATH = 2_000
_INNERMOST = 5
_BELOW = " > "
CUT = "…"


def short(name: str) -> str:
    """Return a name of at most 200 characters; an ellipsis marks that its end is left out."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + CUT


def short_path(path: str) -> str:
    """Return the end of a file's path: the folders around a file say less than its name."""
    return path if len(path) <= LONGEST_NAME else CUT + path[1 - LONGEST_NAME :]


def without_file(title: str, source: str) -> str:
    """Return a title without the name of its file, for those who show the path beside it.

    >>> without_file("λ.ipynb – Net of tax", "/work/λ.ipynb"), without_file("Net of tax", "")
    ('Net of tax', 'Net of tax')
    """
    return title.removeprefix(f"{pure(source).name} – ") if source else title


def heading_path(headings: Sequence[str]) -> str:
    """Return the headings that lead down to a place, in at most 2,000 characters: shortened, or the first and last."""
    # Counted, not joined: a heading may be as long as its file, and stand above thousands of chunks.
    if sum(map(len, headings)) + len(_BELOW) * len(headings) <= _LONGEST_PATH:
        return _BELOW.join(headings)
    names = list(map(short, headings))
    path = _BELOW.join(names)
    return path if len(path) <= _LONGEST_PATH else _BELOW.join([names[0], CUT, *names[-_INNERMOST:]])


def words_within(text: str, length: int) -> str:
    """Return the words at the beginning of a text that fit into a length; none is cut in two."""
    return text if len(text) <= length else f"{text[:length].rpartition(' ')[0]} {CUT}".strip()
