"""WordPiece, as BERT cuts words, and the bundled vocabulary."""

from __future__ import annotations

import hashlib
import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, chain, pairwise
from pathlib import Path
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.errors import EmbedderUnavailable
from jupyter_memory.text.identifiers import Kept
from jupyter_memory.text.unicode import storable
from jupyter_memory.types.chunk_tokens import FEW, ChunkTokens

# The characters that BERT's tokenizers take out or set apart, as Unicode 8 has them.
#
# Python's own tables change from version to version, and a text must have the same tokens everywhere.


def _bounds(ranges: str) -> tuple[int, ...]:
    found = (one.partition("-") for one in ranges.split())
    return tuple(chain.from_iterable((int(first, 16), int(last or first, 16) + 1) for first, _, last in found))


def _is_within(bounds: Sequence[int], character: str) -> bool:
    return bisect_right(bounds, ord(character)) % 2 == 1


# What is taken out: control and format characters, marks without a width, U+FFFD.
_REMOVED = _bounds(
    "0-8 b-c e-1f 7f-9f ad 300-33f 342 345-36f 483-487 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 600-605 610-61a 61c 64b-65f "
    "670 6d6-6dd 6df-6e4 6e7-6e8 6ea-6ed 70f 711 730-74a 7a6-7b0 7eb-7f3 816-819 81b-823 825-827 829-82d 859-85b "
    "8e3-902 93a 93c 941-948 94d 951-957 962-963 981 9bc 9c1-9c4 9cd 9e2-9e3 a01-a02 a3c a41-a42 a47-a48 a4b-a4d "
    "a51 a70-a71 a75 a81-a82 abc ac1-ac5 ac7-ac8 acd ae2-ae3 b01 b3c b3f b41-b44 b4d b56 b62-b63 b82 bc0 bcd c00 "
    "c3e-c40 c46-c47 c4a-c4d c55-c56 c62-c63 c81 cbc cbf cc6 ccc-ccd ce2-ce3 d01 d41-d44 d4d d62-d63 dca dd2-dd4 "
    "dd6 e31 e34-e3a e47-e4e eb1 eb4-eb9 ebb-ebc ec8-ecd f18-f19 f35 f37 f39 f71-f72 f74 f77 f79-f7e f80 f82-f84 "
    "f86-f87 f8d-f92 f94-f97 f99-f9c f9e-fa1 fa3-fa6 fa8-fab fad-fb8 fba-fbc fc6 102d-1030 1032-1037 1039-103a "
    "103d-103e 1058-1059 105e-1060 1071-1074 1082 1085-1086 108d 109d 135d-135f 1712-1714 1732-1734 1752-1753 "
    "1772-1773 17b4-17b5 17b7-17bd 17c6 17c9-17d3 17dd 180b-180e 18a9 1920-1922 1927-1928 1932 1939-193b 1a17-1a18 "
    "1a1b 1a56 1a58-1a5e 1a60 1a62 1a65-1a6c 1a73-1a7c 1a7f 1ab0-1abd 1b00-1b03 1b34 1b36-1b3a 1b3c 1b42 1b6b-1b73 "
    "1b80-1b81 1ba2-1ba5 1ba8-1ba9 1bab-1bad 1be6 1be8-1be9 1bed 1bef-1bf1 1c2c-1c33 1c36-1c37 1cd0-1cd2 1cd4-1ce0 "
    "1ce2-1ce8 1ced 1cf4 1cf8-1cf9 1dc0-1df5 1dfc-1dff 200b-200f 202a-202e 2060-2064 2066-206f 20d0-20dc 20e1 "
    "20e5-20f0 2cef-2cf1 2d7f 2de0-2dff 302a-302d 3099-309a a66f a674-a67d a69e-a69f a6f0-a6f1 a802 a806 a80b "
    "a825-a826 a8c4 a8e0-a8f1 a926-a92d a947-a951 a980-a982 a9b3 a9b6-a9b9 a9bc a9e5 aa29-aa2e aa31-aa32 aa35-aa36 "
    "aa43 aa4c aa7c aab0 aab2-aab4 aab7-aab8 aabe-aabf aac1 aaec-aaed aaf6 abe5 abe8 abed e000-f8ff fb1e fe00-fe0f "
    "fe20-fe2f feff fff9-fffb fffd 101fd 102e0 10376-1037a 10a01-10a03 10a05-10a06 10a0c-10a0f 10a38-10a3a 10a3f "
    "10ae5-10ae6 11001 11038-11046 1107f-11081 110b3-110b6 110b9-110ba 110bd 11100-11102 11127-1112b 1112d "
    "11130-11134 11173 11180-11181 111b6-111be 111ca-111cc 1122f-11231 11234 11236-11237 112df 112e3-112ea "
    "11300-11301 1133c 11340 11366-1136c 11370-11374 114b3-114b8 114ba 114bf-114c0 114c2-114c3 115b2-115b5 "
    "115bc-115bd 115bf-115c0 115dc-115dd 11633-1163a 1163d 1163f-11640 116ab 116ad 116b0-116b5 116b7 1171d-1171f "
    "11722-11725 11727-1172b 16af0-16af4 16b30-16b36 16f8f-16f92 1bc9d-1bc9e 1bca0-1bca3 1d167-1d169 1d173-1d182 "
    "1d185-1d18b 1d1aa-1d1ad 1d242-1d244 1da00-1da36 1da3b-1da6c 1da75 1da84 1da9b-1da9f 1daa1-1daaf 1e8d0-1e8d6 "
    "e0001 e0020-e007f e0100-e01ef f0000-ffffd 100000-10fffd"
)
# What is a word of its own: punctuation, and any sign of ASCII.
_PUNCTUATION = _bounds(
    "21-2f 3a-40 5b-60 7b-7e a1 a7 ab b6-b7 bb bf 55a-55f 589-58a 5be 5c0 5c3 5c6 5f3-5f4 609-60a 60c-60d 61b "
    "61e-61f 66a-66d 6d4 700-70d 7f7-7f9 830-83e 85e 964-965 970 af0 df4 e4f e5a-e5b f04-f12 f14 f3a-f3d f85 "
    "fd0-fd4 fd9-fda 104a-104f 10fb 1360-1368 1400 166d-166e 169b-169c 16eb-16ed 1735-1736 17d4-17d6 17d8-17da "
    "1800-180a 1944-1945 1a1e-1a1f 1aa0-1aa6 1aa8-1aad 1b5a-1b60 1bfc-1bff 1c3b-1c3f 1c7e-1c7f 1cc0-1cc7 1cd3 "
    "2010-2027 2030-2043 2045-2051 2053-205e 207d-207e 208d-208e 2308-230b 2768-2775 27c5-27c6 27e6-27ef 2983-2998 "
    "29d8-29db 29fc-29fd 2cf9-2cfc 2cfe-2cff 2d70 2e00-2e2e 2e30-2e42 3001-3003 3008-3011 3014-301f 3030 303d 30a0 "
    "30fb a4fe-a4ff a60d-a60f a673 a67e a6f2-a6f7 a874-a877 a8ce-a8cf a8f8-a8fa a8fc a92e-a92f a95f a9c1-a9cd "
    "a9de-a9df aa5c-aa5f aade-aadf aaf0-aaf1 abeb fd3e-fd3f fe10-fe19 fe30-fe52 fe54-fe61 fe63 fe68 fe6a-fe6b "
    "ff01-ff03 ff05-ff0a ff0c-ff0f ff1a-ff1b ff1f-ff20 ff3b-ff3d ff3f ff5b ff5d ff5f-ff65 10100-10102 1039f 103d0 "
    "1056f 10857 1091f 1093f 10a50-10a58 10a7f 10af0-10af6 10b39-10b3f 10b99-10b9c 11047-1104d 110bb-110bc "
    "110be-110c1 11140-11143 11174-11175 111c5-111c9 111cd 111db 111dd-111df 11238-1123d 112a9 114c6 115c1-115d7 "
    "11641-11643 1173c-1173e 12470-12474 16a6e-16a6f 16af5 16b37-16b3b 16b44 1bc9f 1da87-1da8b"
)

# The tokens of several texts in one array.


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some texts: those of text ``i`` are ``ids[ends[i - 1]:ends[i]]``."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return how many tokens each text has."""
        return np.diff(self.ends, prepend=0)


# A text is normalised and parted into words, and each word into the longest pieces that the vocabulary has, from left
# to right (https://github.com/google-research/bert, tokenization.py). All of this can be done word by word, and the
# words of one person's work come back in cell after cell. A cache of whole lines was measured too: it makes indexing
# slower.

UNKNOWN = "[UNK]"
# A longer word is unknown.
_LONGEST = 100
# Characters of such a word for each place where it may be cut.
_STRIDE = 4
# Strings that a cache has at most, and characters of one that is kept: all caches together some 30 MB.
_MOST, _KEPT = 60_000, 120
_BYTES = 4

# Where `TCPConnector` and `parseJson` are parted.
_CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"\S+")
# Python parts words at these, and BERT takes them out, as it does with the null character.
_JOINING = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_TO_NULL = dict.fromkeys(map(ord, _JOINING), "\0")
# Ideographs, each of which is a word. Extension E, from U+2B820, begins 256 characters late, as in the library
# `tokenizers`, with which most models were trained.
_IDEOGRAPHS = _bounds("3400-4dbf 4e00-9fff f900-faff 20000-2a6df 2a700-2b73f 2b740-2b81f 2b920-2ceaf 2f800-2fa1f")


class WordPiece:
    """Splits texts into the tokens of a vocabulary; safe to share between threads.

    ``part_camel`` parts names such as ``parseJson`` before anything else.

    >>> WordPiece(["[UNK]", "parse", "json", "##s", "."], part_camel=True).ids("parseJsons. Umsätze")
    [1, 2, 3, 4, 0]
    """

    def __init__(self, vocabulary: Sequence[str], *, part_camel: bool = False) -> None:
        self._numbers = {token: number for number, token in enumerate(vocabulary)}
        self._unknown = self._numbers[UNKNOWN]
        self._longest = max(map(len, vocabulary))
        self._vocabulary = vocabulary
        self._part_camel = part_camel
        self._pieces = Kept(self._of_piece, _MOST, _KEPT)
        self._words = Kept(self._of_word, _MOST, _KEPT)
        self._word_starts = Kept(self._starts_in_word, _MOST, _KEPT)

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text, without any that mark its beginning and end."""
        ids: list[int] = self.tokens([text]).ids.tolist()
        return ids

    def tokens(self, texts: Iterable[str]) -> Tokens:
        """Return the tokens of texts; one that has no words has none."""
        found: list[bytes] = []
        last_words = []
        for text in texts:
            found += map(self._words.__getitem__, _plain(text).split())
            last_words.append(len(found))
        ids, ends = _joined(found)
        return Tokens(ids, ends[np.array(last_words, np.int64)])

    def starts(self, text: str) -> NDArray[np.int64]:
        """Return the offset at which each token of a text begins; a word that is too long for one has several."""
        words = [(match.start(), match.group()) for match in _WORD.finditer(_plain(text))]
        found = [self._word_starts[word] for _, word in words]
        begins = np.array([begin for begin, _ in words], np.int64)
        offsets, ends = _joined(found)
        return np.repeat(begins, np.diff(ends)) + offsets

    @cached_property
    def _lengths(self) -> list[int]:
        return [len(token.removeprefix("##")) for token in self._vocabulary]

    def _of_word(self, word: str) -> bytes:
        if self._part_camel:
            word = _CAMEL.sub(" ", word)
        return b"".join(map(self._pieces.__getitem__, word.translate(_NORMAL).split()))

    def _of_piece(self, piece: str) -> bytes:
        # Of what is left of it, always the longest that begins there.
        if len(piece) > _LONGEST:
            return _bytes([self._unknown])
        found, start, prefix = [], 0, ""
        while start < len(piece):
            end = min(len(piece), start + self._longest)
            while (number := self._numbers.get(prefix + piece[start:end])) is None:
                end -= 1
                if end == start:
                    return _bytes([self._unknown])
            found.append(number)
            start, prefix = end, "##"
        return _bytes(found)

    def _starts_in_word(self, word: str) -> bytes:
        ids = _array(self._words[word])
        if word.isascii() and word.isprintable() and self._unknown not in ids:
            # Nothing was taken out of it or put into it.
            return _bytes(self._sums(ids))
        cuts = {match.start() for match in _CAMEL.finditer(word)} if self._part_camel else set()
        normal = [" " * (place in cuts) + word[place].translate(_NORMAL) for place in range(len(word))]
        origins = [place for place, characters in enumerate(normal) for _ in characters]
        pieces = ((match.start(), match.group()) for match in _WORD.finditer("".join(normal)))
        return _bytes([origins[begin + offset] for begin, piece in pieces for offset in self._starts_in_piece(piece)])

    def _starts_in_piece(self, piece: str) -> Iterable[int]:
        if len(piece) > _LONGEST:
            return range(0, len(piece), _STRIDE)
        return self._sums(_array(self._pieces[piece]))

    def _sums(self, ids: array[int]) -> Iterable[int]:
        return accumulate([self._lengths[number] for number in ids[:-1]], initial=0) if ids else ()


def _bytes(numbers: Iterable[int]) -> bytes:
    return array("i", numbers).tobytes()


def _array(numbers: bytes) -> array[int]:
    return array("i", numbers)


def _joined(found: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    # The numbers of all words, and where each word begins and the last one ends.
    ends = np.fromiter(accumulate(map(len, found), initial=0), np.int64, len(found) + 1) // _BYTES
    return np.frombuffer(b"".join(found), np.int32), ends


class _Normal(dict[int, str]):
    # Lower case without accents, a space for any space, words set apart by spaces.

    def __missing__(self, code: int) -> str:
        character, normal = chr(code), ""
        if character.isspace() and not _is_within(_REMOVED, character):
            normal = " "
        elif not _is_within(_REMOVED, character):
            for part in normalize("NFD", character):
                if not _is_within(_REMOVED, part):
                    normal += f" {part} " if _is_within(_PUNCTUATION, part) else part.lower()
            if _is_within(_IDEOGRAPHS, character):
                normal = f" {normal} "
        # Ideographs alone are some ten thousands.
        if code < 0x3000:
            self[code] = normal
        return normal


_NORMAL = _Normal()


def _plain(text: str) -> str:
    return text.translate(_TO_NULL) if any(map(text.__contains__, _JOINING)) else text


# The bundled static model's files: found in this package, checked; and its tokenizer.

_FOLDER = Path(__file__).parent / "bundled"
# (name, sha256)
_FILES = {
    "weights": ("weights.safetensors", "6b3a92efaa7ca9620b977558a112802d69ec6d03b3d9709480bbdb0c6acf3e6e"),
    "vocabulary": ("vocabulary.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
}
# The first digits of the weights' sha256, for the fingerprint of vectors.
WEIGHTS = _FILES["weights"][1][:8]


@cache
def bundled_file(which: str) -> Path:
    """Return the path of ``"weights"`` or ``"vocabulary"``, its content checked."""
    name, sha256 = _FILES[which]
    path = _FOLDER / name
    try:
        if hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            return path
        problem, size = "is not the expected one: its content differs (sha256)", path.stat().st_size
        with suppress(ValueError, KeyError, TypeError):
            begin, tensor = _header(path)
            if size < (whole := begin + tensor["data_offsets"][1]):
                problem = f"is cut short: it has {size:,} of {whole:,} bytes"
    except OSError as error:
        problem = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
    raise EmbedderUnavailable(
        f"The static model's file {path.name} {problem}. Install it again with: "
        "pip install --force-reinstall --no-deps jupyter-memory"
    )


def _header(path: Path) -> tuple[int, dict[str, list[int]]]:
    with path.open("rb") as file:
        # The length of a JSON header, the header, the tensors (https://github.com/huggingface/safetensors).
        size = int.from_bytes(file.read(8), "little")
        if size > path.stat().st_size:
            raise ValueError("the header is cut short")
        [tensor] = (one for name, one in json.loads(file.read(size)).items() if name != "__metadata__")
    return 8 + size, tensor


def half_precision(path: Path) -> NDArray[np.float16]:
    """Return the table of a checked file in half precision; rows are read from the disk as they are asked for."""
    begin, tensor = _header(path)
    rows, width = tensor["shape"]
    return np.memmap(path, np.float16, "r", begin + tensor["data_offsets"][0], (rows, width))


@cache
def bundled_tokenizer() -> WordPiece:
    """Return the static model's tokenizer; chunks are counted in its tokens whatever the embedding model."""
    return WordPiece(_vocabulary(), part_camel=True)


@cache
def unknown() -> int:
    """Return the token that stands for a text without words."""
    return _vocabulary().index(UNKNOWN)


def _vocabulary() -> list[str]:
    return bundled_file("vocabulary").read_text("utf-8").splitlines()


def tokens(texts: Iterable[str]) -> Tokens:
    """Return the tokens of texts; one without words has none."""
    return bundled_tokenizer().tokens(texts)


def starts(text: str) -> NDArray[np.int64]:
    """Return the offset at which each token of a text begins."""
    return bundled_tokenizer().starts(text)


# The tokens of what is embedded of chunks, as vectors are computed from them and as a store keeps them.

# Bits of a token, and of its place in a chunk; the rest of 64 are its chunk's.
_TOKEN, _PLACE = 16, 24


def chunk_tokens(chunks: Iterable[tuple[str, str]]) -> tuple[Tokens, list[ChunkTokens]]:
    """Return the tokens of chunks and what a store keeps of them, given the head and the text of each."""
    parts = tokens(map(storable, chain.from_iterable(chunks)))
    # A head ends where a line ends, and so does a token.
    whole = Tokens(parts.ids, parts.ends[1::2])

    heads = parts.counts[::2]
    ids, ends, counts = whole.ids, whole.ends, whole.counts
    begins = ends - counts
    chunk = np.repeat(np.arange(ends.size, dtype=np.int64), counts)
    place = np.arange(len(ids), dtype=np.int64)
    # What `unique` does, which goes by hashes and takes ten times as long.
    keys = np.sort((chunk << _TOKEN | ids) << _PLACE | place - begins[chunk])
    key = keys >> _PLACE
    first = np.diff(key, prepend=-1) != 0
    firsts = np.cumsum(first) - 1
    different = key[first]
    bounds = np.searchsorted(different, np.arange(ends.size + 1, dtype=np.int64) << _TOKEN)
    # Sorted, the tokens of a chunk are still those between its bounds.
    order = np.empty(len(ids), np.uint16)
    order[begins[chunk] + (keys & (1 << _PLACE) - 1)] = firsts - bounds[chunk]
    narrow, different = order.astype(np.uint8), different.astype(np.uint16)
    texts = zip((begins + heads).tolist(), ends.tolist(), strict=True)
    return whole, [
        ChunkTokens(different[begin:end], (narrow if end - begin <= FEW else order)[text:stop].tobytes())
        for (begin, end), (text, stop) in zip(pairwise(bounds.tolist()), texts, strict=True)
    ]


# The bundled static model's vectors, one a token, read from its file as they are asked for.

# The model was trained to be cut here too, and token by token half of it tells them apart as well (docs/quality.md).
DIMENSIONS = 128
# A copy of all vectors of a search leaves the processor's cache, and takes several times as long as their sums.
_ROWS = 64
_SIGN_AND_VALUE = np.array(0x8FFFE000, np.uint32).view(np.int32)
# The exponent of 0 is written as 15 in 16 bits and as 127 in 32.
_BIAS = np.float32(2.0 ** (127 - 15))


class TokenVectors:
    """Unit vectors by token: ``vectors[ids]`` is float32 ``(n, 128)``, a token without a direction all zeros.

    Those that were asked for are kept, 16 MB if ever all were: the texts of a store share most of their tokens.
    """

    def __init__(self, table: NDArray[np.float16]) -> None:
        # Each slice of a memory map is one again, which takes longer than to read it.
        self._halves = np.asarray(table)[:, :DIMENSIONS]
        self._units = np.empty(self._halves.shape, np.float32)
        self._lengths = np.empty((len(self._halves), 1), np.float32)
        self._known = np.zeros(len(self._halves), bool)

    def __len__(self) -> int:
        return len(self._halves)

    def __getitem__(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        self._read(ids)
        units: NDArray[np.float32] = self._units[ids]
        return units

    def sums(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the sum of the vectors of each row of tokens, with their lengths, ``(rows, 128)``; -1 is no token."""
        held, ids = ids >= 0, np.maximum(ids, 0)
        self._read(ids)
        lengths = self._lengths[ids, 0] * held
        sums = np.empty((len(ids), DIMENSIONS), np.float32)
        for first in range(0, len(ids), _ROWS):
            part = slice(first, first + _ROWS)
            np.matmul(lengths[part, None], self._units[ids[part]], out=sums[part, None])
        return sums

    def _read(self, ids: NDArray[np.integer]) -> None:
        unknown = ids[~self._known[ids]]
        if unknown.size:
            # Two threads may write the same; a row is known only once it is there.
            numbers = self._halves[unknown]
            # Exponent and fraction move to where 32 bits have them; the sign, which fills what the shift leaves, stays
            # on top.
            bits = numbers.view(np.int16).astype(np.int32)
            bits <<= 13
            bits &= _SIGN_AND_VALUE
            singles = bits.view(np.float32)
            singles *= _BIAS
            rows = singles

            lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-9)[:, None]
            self._units[unknown] = rows / lengths
            self._lengths[unknown] = lengths
            self._known[unknown] = True


@cache
def token_vectors() -> TokenVectors:
    """Return the vectors of all tokens; rows are read from the disk as they are asked for."""
    return TokenVectors(half_precision(bundled_file("weights")))
