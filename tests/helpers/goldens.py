"""Golden files: what the package answers, written down and compared whole.

With JUPYTER_MEMORY_GOLDEN=write they are written anew; read the difference before you commit it. Floats are compared to
the last digit if processor, NumPy and BLAS are those that wrote them (`machine.json`): two processes there give the
same bits, whatever the hash seed and the number of BLAS threads. Elsewhere the last bits of a dot product differ, and
where two passages are nearly alike, so does how far meaning is trusted: there floats are compared within 3 %, and
digests of vectors not at all. On an x86 machine with other BLAS kernels, OPENBLAS_CORETYPE=Haswell brings the same
bits. To compare to the last digit on another machine, write the files anew there before your change.
"""

import ctypes
import hashlib
import json
import math
import os
import platform
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

HERE = Path(__file__).parents[1] / "golden"
WRITING = os.environ.get("JUPYTER_MEMORY_GOLDEN") == "write"
# A value up to this length stays on one line.
_LINE = 150
_SHOWN = 20
_DECIMAL = re.compile(r"-?\d+\.\d+")


def check(name: str, found: Any) -> None:
    """Compare what was found with the golden file of this name, such as ``answers/auto``; or write it."""
    path = HERE / f"{name}.json"
    found = json.loads(json.dumps(found))
    if WRITING:
        path.parent.mkdir(exist_ok=True)
        path.write_text(_written(found) + "\n", encoding="utf-8")
        (HERE / "machine.json").write_text(json.dumps(machine(), indent=2) + "\n", encoding="utf-8")
        return
    unlike = list(differences(json.loads(path.read_text("utf-8")), found))
    shown = "\n".join(unlike[:_SHOWN])
    assert not unlike, f"{len(unlike)} values of {name} are not those of its golden file:\n{shown}"


def machine() -> dict[str, Any]:
    """Return what the last bits of a float depend on: the processor, its vector instructions, NumPy and its BLAS."""
    told = Path("/proc/cpuinfo")
    # A virtual machine may hide the name, but not the family and the model.
    named = re.compile(r"^(?:cpu family|model|model name)\s*: (.*)", re.MULTILINE)
    names = named.findall(told.read_text("utf-8")) if told.exists() else []
    vectors = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[call-overload]
    return {
        "processor": [platform.machine(), *names[:3]],
        "vectors": vectors.get("found", []),
        "numpy": np.__version__,
        "blas": blas_core(),
    }


def blas_core() -> str:
    """Return the processor whose kernels NumPy's OpenBLAS runs, which OPENBLAS_CORETYPE may set; empty without it."""
    for path in (Path(np.__file__).parents[1] / "numpy.libs").glob("libscipy_openblas64_*"):
        core = ctypes.CDLL(str(path)).scipy_openblas_get_corename64_
        core.restype = ctypes.c_char_p
        return str(core().decode())
    return ""


@cache
def is_same_machine() -> bool:
    path = HERE / "machine.json"
    return WRITING or (path.exists() and json.loads(path.read_text("utf-8")) == machine())


# For what has no tolerance: digests of vectors, and the order of candidates whose scores are nearly the same.
exact = pytest.mark.skipif(not is_same_machine(), reason="golden to the last digit on the machine of machine.json only")


def differences(golden: Any, found: Any, where: str = "") -> Iterator[str]:
    if isinstance(golden, dict) and isinstance(found, dict):
        if list(golden) != list(found):
            yield f"{where}: keys {list(found)}, golden {list(golden)}"
        for name in golden:
            if name in found:
                yield from differences(golden[name], found[name], f"{where}/{name}")
    elif isinstance(golden, list) and isinstance(found, list):
        if len(golden) != len(found):
            yield f"{where}: {len(found)} values, golden {len(golden)}"
        for place, (one, other) in enumerate(zip(golden, found, strict=False)):
            yield from differences(one, other, f"{where}/{place}")
    elif not _is_same(golden, found):
        yield f"{where}: {found!r}, golden {golden!r}"


def _is_same(golden: Any, found: Any) -> bool:
    if golden == found and type(golden) is type(found):
        return True
    if is_same_machine():
        return False
    if isinstance(golden, str) and isinstance(found, str):
        # Sentences that contain scores.
        numbers = [[float(one) for one in _DECIMAL.findall(text)] for text in (golden, found)]
        same_words = _DECIMAL.sub("", golden) == _DECIMAL.sub("", found)
        return same_words and all(_is_close(*pair) for pair in zip(*numbers, strict=True))
    return isinstance(golden, float) and isinstance(found, float) and _is_close(golden, found)


def _is_close(golden: float, found: float) -> bool:
    return math.isclose(golden, found, rel_tol=0.03, abs_tol=0.003)


def _written(value: Any, indent: str = "") -> str:
    """Return a value as JSON that is easy to compare line by line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= _LINE or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{json.dumps(name, ensure_ascii=False)}: {_written(one, inner)}" for name, one in value.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + _written(one, inner) for one in value) + f"\n{indent}]"


# The columns that are the same in every run.
MEMORIES = """
    select key, kind, tier, pinned, space, lang, title, severity, domain, session, event_at, valid_from, valid_until,
           content_hash, accessed, metadata, (select text from texts where memory = key) as text,
           (select json_group_array(tag order by tag) from tags where tags.memory = key) as tags
    from memories order by key
"""
CHUNKS = """
    select chunks.id, chunks.memory, start, stop, line, chunks.text is null as is_whole, chunks.context, chunks.ident,
           chunk_texts.title, chunk_texts.text, chunk_texts.tags,
           (select ids from chunk_tokens where chunk = chunks.id) as tokens
    from chunks join chunk_texts on chunk_texts.id = chunks.id order by chunks.id
"""


def rows(connection: apsw.Connection, statement: str) -> list[dict[str, Any]]:
    cursor = connection.execute(statement)
    found = []
    for row in cursor:
        names = [one[0] for one in cursor.get_description()]
        found.append(dict(zip(names, row, strict=True)))
    return found


def digest(value: str | bytes | None) -> str | None:
    if value is None:
        return None
    return hashlib.sha256(value.encode() if isinstance(value, str) else value).hexdigest()[:16]
