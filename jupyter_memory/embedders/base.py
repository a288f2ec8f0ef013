"""What all embedders share: tokens of WordPiece, with the bundled vocabulary, and vectors checked before their use."""

from __future__ import annotations

import hashlib
import json
import mmap  # noqa: F401 - NumPy imports it at the first map of a file, when a fork may come between
import re
import tomllib
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from jupyter_memory.errors import EmbedderError, EmbedderUnavailable
from jupyter_memory.text.identifiers import Kept
from jupyter_memory.text.unicode import storable
from jupyter_memory.types import ChunkTokens
from jupyter_memory.types.memory import FEW
from jupyter_memory.types.protocols import Embedder, Vectors

# The bounds of ranges of characters: an index among them is odd inside a range.
_REMOVED, _PUNCTUATION, _IDEOGRAPHS = (
    [bound for one in ranges.split() for bound in (int(one.partition("-")[0], 16), int(one.rpartition("-")[2], 16) + 1)]
    for ranges in tomllib.loads((Path(__file__).parent / "unicode8.toml").read_text("utf-8")).values()
)


def _is_within(bounds: Sequence[int], code: int) -> bool:
    return bisect_right(bounds, code) % 2 == 1


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some texts: those of text ``i`` are ``ids[ends[i - 1]:ends[i]]``."""

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """Return how many tokens each text has."""
        return np.diff(self.ends, prepend=0)


# A text is normalised and split into words, and each word into the longest pieces that the vocabulary has, from left
# to right (https://github.com/google-research/bert, tokenization.py). Words come back in cell after cell, so they are
# cached; a cache of whole lines makes indexing slower.

UNKNOWN = "[UNK]"
# A longer word is unknown.
_LONGEST = 100
# Characters of such a word for each place where it may be cut.
_STRIDE = 4
# Strings that a cache has at most, and characters of one that is kept: all caches together some 30 MB.
_MOST, _KEPT = 60_000, 120
_BYTES = 4

# Where `TCPConnector` and `parseJson` are split.
_CAMEL = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"\S+")
# Python splits words at these; BERT removes them, as it does the null character.
_JOINING = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_TO_NULL = dict.fromkeys(map(ord, _JOINING), "\0")


class WordPiece:
    """Splits texts into the tokens of a vocabulary; safe to share between threads.

    ``part_camel`` parts names such as ``parseJson`` before anything else.

    >>> WordPiece(["[UNK]", "parse", "json", "##s", "."], part_camel=True).tokens(["parseJsons. Umsätze"]).ids.tolist()
    [1, 2, 3, 4, 0]
    """

    def __init__(self, vocabulary: Sequence[str], *, part_camel: bool = False) -> None:
        self._numbers = {token: number for number, token in enumerate(vocabulary)}
        self.unknown = self._numbers[UNKNOWN]
        self._longest = max(map(len, vocabulary))
        self._vocabulary = vocabulary
        self._part_camel = part_camel
        self._pieces = Kept(self._of_piece, _MOST, _KEPT)
        self._words = Kept(self._of_word, _MOST, _KEPT)
        self._word_starts = Kept(self._starts_in_word, _MOST, _KEPT)

    def tokens(self, texts: Iterable[str]) -> Tokens:
        """Return the tokens of texts, without any that mark beginning and end."""
        found: list[bytes] = []
        last_words = []
        for text in texts:
            found += map(self._words.__getitem__, _plain(text).split())
            last_words.append(len(found))
        ids, ends = _joined(found)
        return Tokens(ids, ends[np.array(last_words, np.int64)])

    def starts(self, text: str) -> NDArray[np.int64]:
        """Return the offset at which each token of a text begins; a word that is too long for one has several."""
        begins, found = array("q"), []
        for match in _WORD.finditer(_plain(text)):
            begins.append(match.start())
            found.append(self._word_starts[match[0]])
        offsets, ends = _joined(found)
        return np.repeat(np.frombuffer(begins, np.int64), np.diff(ends)) + offsets

    @cached_property
    def _lengths(self) -> list[int]:
        return [len(token.removeprefix("##")) for token in self._vocabulary]

    def _of_word(self, word: str) -> bytes:
        if self._part_camel:
            word = _CAMEL.sub(" ", word)
        return b"".join(map(self._pieces.__getitem__, word.translate(_NORMAL).split()))

    def _of_piece(self, piece: str) -> bytes:
        if len(piece) > _LONGEST:
            return array("i", [self.unknown]).tobytes()
        found, start, prefix = [], 0, ""
        while start < len(piece):
            end = min(len(piece), start + self._longest)
            while (number := self._numbers.get(prefix + piece[start:end])) is None:
                end -= 1
                if end == start:
                    return array("i", [self.unknown]).tobytes()
            found.append(number)
            start, prefix = end, "##"
        return array("i", found).tobytes()

    def _starts_in_word(self, word: str) -> bytes:
        ids = array("i", self._words[word])
        if word.isascii() and word.isprintable() and self.unknown not in ids:
            return array("i", self._sums(ids)).tobytes()
        cuts = {match.start() for match in _CAMEL.finditer(word)} if self._part_camel else set()
        normal = [" " * (place in cuts) + word[place].translate(_NORMAL) for place in range(len(word))]
        origins = [place for place, characters in enumerate(normal) for _ in characters]
        found: list[int] = []
        for match in _WORD.finditer("".join(normal)):
            piece = match[0]
            is_long = len(piece) > _LONGEST
            offsets = range(0, len(piece), _STRIDE) if is_long else self._sums(array("i", self._pieces[piece]))
            found += [origins[match.start() + offset] for offset in offsets]
        return array("i", found).tobytes()

    def _sums(self, ids: array[int]) -> Iterable[int]:
        return accumulate([self._lengths[number] for number in ids[:-1]], initial=0) if ids else ()


def _joined(found: Sequence[bytes]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    # The numbers of all words, and where each word begins and the last one ends.
    ends = np.fromiter(accumulate(map(len, found), initial=0), np.int64, len(found) + 1) // _BYTES
    return np.frombuffer(b"".join(found), np.int32), ends


class _Normal(dict[int, str]):
    # Lower case without accents, a space for any space, words set apart by spaces.

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if _is_within(_REMOVED, code):
            normal = ""
        elif character.isspace():
            normal = " "
        else:
            normal = ""
            for one in normalize("NFD", character):
                if not _is_within(_REMOVED, ord(one)):
                    normal += f" {one} " if _is_within(_PUNCTUATION, ord(one)) else one.lower()
            if _is_within(_IDEOGRAPHS, code):
                normal = f" {normal} "
        # Ideographs alone are some ten thousands.
        if code < 0x3000:
            self[code] = normal
        return normal


_NORMAL = _Normal()


def _plain(text: str) -> str:
    return text.translate(_TO_NULL) if any(map(text.__contains__, _JOINING)) else text


_FOLDER = Path(__file__).parent / "bundled"
# The name and the sha256 of each file of the static model.
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
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() == sha256:
                return path
        problem, size = "is not the expected one: its content differs (sha256)", path.stat().st_size
        with suppress(ValueError, KeyError, TypeError):
            begin, tensors = safetensors_header(path)
            [tensor] = tensors.values()
            if size < (whole := begin + tensor["data_offsets"][1]):
                problem = f"is cut short: it has {size:,} of {whole:,} bytes"
    except OSError as error:
        problem = "is missing" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
    raise EmbedderUnavailable(
        f"The static model's file {path.name} {problem}. Install it again with: "
        "pip install --force-reinstall --no-deps jupyter-memory"
    )


def safetensors_header(path: Path) -> tuple[int, dict[str, dict[str, list[int]]]]:
    """Return where the tensors of a safetensors file begin, and the description of each."""
    with path.open("rb") as file:
        # The length of a JSON header, the header, the tensors (https://github.com/huggingface/safetensors).
        size = int.from_bytes(file.read(8), "little")
        if size > path.stat().st_size:
            raise ValueError("the header is cut short")
        tensors = json.loads(file.read(size))
    return 8 + size, {name: one for name, one in tensors.items() if name != "__metadata__"}


@cache
def bundled_tokenizer() -> WordPiece:
    """Return the static model's tokenizer; chunks are counted in its tokens whatever the embedding model."""
    return WordPiece(bundled_file("vocabulary").read_text("utf-8").splitlines(), part_camel=True)


def unknown() -> int:
    """Return the token that stands for a text without words."""
    return bundled_tokenizer().unknown


def tokens(texts: Iterable[str]) -> Tokens:
    """Return the tokens of texts; one without words has none."""
    return bundled_tokenizer().tokens(texts)


def starts(text: str) -> NDArray[np.int64]:
    """Return the offset at which each token of a text begins."""
    return bundled_tokenizer().starts(text)


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
    # As `unique` does, which uses hashes and takes ten times as long.
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
        ChunkTokens.of(different[begin:end], (narrow if end - begin <= FEW else order)[text:stop].tobytes())
        for (begin, end), (text, stop) in zip(pairwise(bounds.tolist()), texts, strict=True)
    ]


# The model was trained to be cut here too, and token by token half of it tells them apart as well (docs/quality.md).
DIMENSIONS = 128
# A copy of all vectors of a search exceeds the processor's cache, and takes several times as long as their sums.
_ROWS = 64


class TokenVectors:
    """Unit vectors by token: ``vectors[ids]`` is float32 ``(n, 128)``, a token without a direction all zeros.

    A row of the table is read when it is first asked for, as reading all takes longer than a search.
    """

    def __init__(self, table: NDArray[np.float16]) -> None:
        # Each slice of a memory map is another map, which takes longer to make than to read.
        self._halves = np.asarray(table)
        count, self.width = self._halves.shape
        self._rows = np.empty((count, self.width), np.float32)
        self._units = np.empty((count, DIMENSIONS), np.float32)
        self._lengths = np.empty((count, 1), np.float32)
        self._known = np.zeros(count, bool)

    def __len__(self) -> int:
        return len(self._halves)

    def __getitem__(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        self._read(ids)
        units: NDArray[np.float32] = self._units[ids]
        return units

    def rows(self, ids: NDArray[np.integer]) -> NDArray[np.float32]:
        """Return the rows of the table, float32 ``(n, width)``."""
        self._read(ids)
        rows: NDArray[np.float32] = self._rows[ids]
        return rows

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
            self._rows[unknown] = rows = self._halves[unknown].astype(np.float32)
            rows = np.ascontiguousarray(rows[:, :DIMENSIONS])
            lengths = np.maximum(np.sqrt(np.einsum("ij,ij->i", rows, rows)), 1e-9)[:, None]
            self._units[unknown] = rows / lengths
            self._lengths[unknown] = lengths
            self._known[unknown] = True


@cache
def token_vectors() -> TokenVectors:
    begin, tensors = safetensors_header(path := bundled_file("weights"))
    [tensor] = tensors.values()
    return TokenVectors(np.memmap(path, np.float16, "r", begin + tensor["data_offsets"][0], tuple(tensor["shape"])))


# Part of every fingerprint: counts up when the text that an embedder receives is composed in another way.
RECIPE = "ctx1"
NO_DIRECTION = (
    "A vector has no direction (all zeros, or not a number), so it cannot be compared with others. "
    "The model's files may be damaged: `%memory doctor` checks them."
)


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that reads the tokens of the static model, and so can embed texts that were tokenised already."""

    def embed_tokens(self, found: Tokens, /) -> Vectors:
        """Return float32 ``(len(found.ends), dimensions)``, each row of length 1."""


def reads(embedder: Embedder, text: str) -> bool:
    """Return whether a vector of this text means anything: of unknown words, all texts have the same."""
    # An embedder need not say whether it knows a word of a text.
    knows = getattr(embedder, "reads", None)
    return knows is None or bool(knows(text))


def readable(text: str) -> str:
    """Return a text as the tokenizer can take it: only spaces is empty, half a surrogate pair is `�`."""
    if not text or text.isspace():
        return ""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def documents(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return float32 ``(len(texts), dimensions)``."""
    given = embedder.embed_documents(texts) if texts else np.empty((0, embedder.dimensions))
    return _checked(given, (len(texts), embedder.dimensions), embedder)


def document(embedder: Embedder, text: str) -> Vectors:
    """Return float32 ``(dimensions,)`` for a text as it would be stored."""
    vector: Vectors = documents(embedder, [text])[0]
    return vector


def of_tokens(embedder: Embedder, given: TokenEmbedder, found: Tokens) -> Vectors:
    """Return float32 ``(len(found.ends), dimensions)`` for the tokens of texts."""
    return _checked(given.embed_tokens(found), (found.ends.size, embedder.dimensions), embedder)


def question(embedder: Embedder, text: str) -> Vectors:
    """Return float32 ``(dimensions,)``."""
    return _checked(embedder.embed_query(text), (embedder.dimensions,), embedder)


def _checked(given: Any, shape: tuple[int, ...], embedder: Embedder) -> Vectors:
    try:
        vectors = np.ascontiguousarray(given, dtype=np.float32)
    except (TypeError, ValueError):
        vectors = np.empty(0, np.float32)
    lengths = np.linalg.norm(vectors, axis=-1) if vectors.shape == shape else np.zeros(1)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise EmbedderError(
            f"The embedder {embedder.name} must give float32 vectors of shape {shape}, each of length 1, and gave "
            f"{type(given).__name__} of shape {vectors.shape}. Nothing was stored."
        )
    return vectors
