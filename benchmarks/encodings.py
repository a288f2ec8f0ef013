"""How often a text that is not UTF-8 is read in its encoding, beside the detectors that are installed.

    python benchmarks/encodings.py [--texts 60] [--letters 200]

The texts are names of countries and languages as Babel has them, in the encodings of old files in 18 languages. A text
counts if every letter is right: in what `read_file` makes of a file, and in what `charset-normalizer` and `chardet`
make of its bytes (`pip install charset-normalizer chardet`).
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
from babel import Locale
from measure import parser_of, table

from jupyter_memory.ingest import read_file

LANGUAGES = {
    "cp1250": ("cs", "pl", "hu"), "cp1251": ("ru", "uk", "bg"), "koi8_r": ("ru",), "cp1252": ("de", "fr", "es", "sv"),
    "cp1253": ("el",), "cp1254": ("tr",), "cp1255": ("he",), "cp1256": ("ar",), "gb18030": ("zh",), "cp949": ("ko",),
    "shift_jis": ("ja",), "euc_jp": ("ja",),
}  # fmt: skip


def texts(language: str, encoding: str, count: int, letters: int) -> list[str]:
    """Return lists of names that hold a letter beyond ASCII."""
    locale, chosen = Locale(language), random.Random(f"{language} {encoding}")
    names = [name for name in {**locale.languages, **locale.territories}.values() if len(name) > 1]
    drawn = [", ".join(chosen.sample(sorted(names), min(letters, len(names))))[:letters].strip() for _ in range(count)]
    kept = [text.encode(encoding, "ignore").decode(encoding) for text in drawn]
    return [text for text in kept if not text.isascii()]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--texts", type=int, default=60, help="of each language in each encoding")
    parser.add_argument("--letters", type=int, default=200)
    options = parser.parse_args()
    path = Path(tempfile.mkdtemp()) / "a.txt"

    def ours(data: bytes) -> str:
        path.write_bytes(data)
        return read_file(path, root=path.parent)[0].text

    sides: dict[str, Callable[[bytes], str]] = {"ours": ours}
    with suppress(ImportError):
        normalizer = import_module("charset_normalizer")
        sides["charset-normalizer"] = lambda data: str(normalizer.from_bytes(data).best())
    with suppress(ImportError):
        detect = import_module("chardet").detect
        sides["chardet"] = lambda data: data.decode(detect(data)["encoding"] or "latin-1", "replace")
    rows: list[tuple[str, ...]] = [("", "right", *LANGUAGES)]
    asked = {
        encoding: [text for one in languages for text in texts(one, encoding, options.texts, options.letters)]
        for encoding, languages in LANGUAGES.items()
    }
    for name, read in sides.items():
        right = [[read(text.encode(of)).strip() == text for text in those] for of, those in asked.items()]
        rows.append((name, f"{np.mean(np.concatenate(right)):.1%}", *(f"{np.mean(found):.0%}" for found in right)))
    table(rows)


if __name__ == "__main__":
    main()
