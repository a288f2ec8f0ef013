"""Notebooks: cells, their outputs, and the script that a notebook is paired with."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import Any

from jupyter_memory.errors import InputError
from jupyter_memory.ingest.dates import of_cell, of_notebook
from jupyter_memory.ingest.readers.base import Document, Part, note, safe, unencoded
from jupyter_memory.ingest.readers.isolated import can_draw
from jupyter_memory.ingest.readers.outputs import SVG, clip, joined, outputs_text
from jupyter_memory.text.code import PYTHON, cell_language, kernel_language, known_language, look, uses_memory
from jupyter_memory.text.markdown import Heading, descend, front_matter, headings, with_outputs
from jupyter_memory.text.unicode import clean

_PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif", SVG)


def _pictures(cell: Mapping[str, Any]) -> tuple[bytes | str | None, ...]:
    # Those of its outputs, or those attached to its Markdown, in base64, but SVG of an output as bytes.
    outputs = cell.get("outputs")
    shown = [one.get("data") for one in outputs if isinstance(one, Mapping)] if isinstance(outputs, list) else []
    attached = cell.get("attachments")
    if cell.get("cell_type") == "markdown" and isinstance(attached, Mapping):
        shown += attached.values()
    found: list[bytes | str | None] = []
    for data in shown:
        if isinstance(data, Mapping) and any(kind in data for kind in _PICTURES):
            picture = next(filter(None, (joined(data[kind]) for kind in _PICTURES if kind in data)), None)
            # Outputs have SVG as text, attachments in base64.
            is_text = picture is not None and picture.lstrip("\ufeff \t\r\n").startswith("<")
            found.append(picture.encode("utf-8", "replace") if picture is not None and is_text else picture)
    return tuple(found)


# Characters kept of a cell's source (more is pasted data), and of the Markdown above a cell.
_SOURCE = 200_000
_ABOVE = 4_000
# Cells of a notebook that is written as text.
_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Cell:
    is_code: bool
    source: str
    language: str = ""
    label: str = ""
    title: str = ""
    line: int = 0  # on which its source begins, 0 in JSON
    metadata: Mapping[str, Any] = field(default_factory=dict)
    index: int = 0
    tags: tuple[str, ...] = ()
    is_raw: bool = False  # no code, and without headings


def _placed(cells: Iterable[Cell]) -> Iterator[tuple[Cell, str, tuple[str, ...], str]]:
    # Yields the cells that are neither blank nor use this memory, each with its source cleaned and clipped, the
    # headings that lead down to it, and the Markdown just above it.
    path: tuple[Heading, ...] = ()
    above = ""
    for cell in cells:
        whole = unencoded(clean(cell.source))
        source = clip(safe(whole, _SOURCE), _SOURCE).strip("\n").rstrip()
        if not source:
            continue
        opening, before = path, above
        if cell.is_raw:
            before = ""
        elif cell.is_code:
            above = ""
        else:
            between, begin, has_text = [], 0, False
            for heading in headings(source):
                between.append(source[begin : heading.start])
                has_text = has_text or bool(between[-1].strip())
                path, begin = descend(path, heading), heading.end
                opening = opening if has_text else path
            text = "".join((*between, source[begin:]))
            before, above = "", safe(text, _ABOVE)[:_ABOVE].strip()
        if not (cell.is_code and uses_memory(source)):
            yield cell, source, tuple(heading.text for heading in opening), before


def document(cells: Iterable[Cell], language: str, title: str) -> Document | None:
    """Return a notebook that is written as text, a part for each cell; None if it is longer than any real one."""
    parts = []
    labels: set[str] = set()
    some = list(islice(cells, _MOST + 1))
    if len(some) > _MOST:
        return None
    for cell, source, path, above in _placed(replace(cell, index=index) for index, cell in enumerate(some)):
        location = cell.label if cell.label and cell.label not in labels else f"#{cell.index}"
        labels.add(cell.label)
        # Blank lines before the first word are no part of the text.
        blank = len(cell.source) - len(cell.source.lstrip("\n"))
        parts.append(
            Part(
                text=source,
                location=location,
                line=cell.line + blank,
                language=cell.language or ("" if cell.is_code else "markdown"),
                tags=cell.tags,
                headings=(*path, *([cell.title] if cell.title else ())),
                above=above,
                metadata={"cell_type": "code" if cell.is_code else "markdown", "index": cell.index, **cell.metadata},
            )
        )
    return Document(tuple(parts), language, title=title, kind="cell")


# What the text of an output has in place of a plot: a picture, or what plotly, altair and bokeh show.
_PLOT = re.compile(r"\[(?:image/|application/vnd\.(?:plotly|vega|bokehjs))")

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class NotebookReader:
    suffixes: tuple[str, ...] = (".ipynb", ".irnb", ".zpln")

    @property
    def version(self) -> int:
        """Return the version of what is read: 1 where SVG can be drawn, so that notebooks are read again then."""
        return 1 if can_draw() else 0

    def read(self, path: Path, /) -> Document:
        notebook, raw, have_ids = _load(path.read_bytes())
        now, ids, cells, parts = datetime.now(UTC), set[str](), [], []
        metadata = _mapping(notebook.get("metadata"))
        kernel, kernels = _noted_language(metadata, _OF_KERNEL) or PYTHON, _kernels(metadata)
        for index, one in enumerate(raw):
            kind = one.get("cell_type") if isinstance(one, Mapping) else None
            if kind in ("code", "markdown", "raw"):
                id_ = one.get("id")
                # The id in its notebook, if no cell before it has the same one.
                if not (have_ids and isinstance(id_, str) and _ID.fullmatch(id_)) or id_ in ids:
                    id_ = f"#{index}"
                ids.add(id_)
                is_raw, source = kind == "raw", joined(one.get("source"))
                cells.append(Cell(kind == "code", source, label=id_, index=index, is_raw=is_raw))
        for cell, source, headed, above in _placed(cells):
            stored = raw[cell.index]
            count = stored.get("execution_count")
            about = _mapping(stored.get("metadata"))
            language, shown, left_out = "markdown", "", 0
            if cell.is_code:
                language = cell_language(_noted_language(about, _OF_CELL, kernels) or kernel, source)
                shown, left_out = outputs_text(stored.get("outputs"))
            elif cell.is_raw:
                kind = str(about.get("raw_mimetype") or about.get("format"))
                language = _RAW.get(kind, "yaml" if front_matter(source) else "text")
            outputs = clean(shown)
            if _PLOT.search(outputs) and (seen := look(source)):
                outputs = f"{outputs}\n[figure: {', '.join(seen)}]"
            parts.append(
                Part(
                    text=with_outputs(source, outputs),
                    location=cell.label,
                    language=language,
                    headings=headed,
                    above=above,
                    metadata={
                        "cell_type": str(stored["cell_type"]),
                        "execution_count": count if isinstance(count, int) else None,
                        "index": cell.index,
                        # Characters of its outputs.
                        **({"left_out": left_out} if left_out else {}),
                    },
                    written=of_cell(about, now),
                    pictures=_pictures(stored),
                    tags=_tags(about),
                )
            )
        if left_out := sum(part.metadata.get("left_out", 0) for part in parts):
            note(f"{left_out:,} characters of long outputs are left out")
        noted = of_notebook(metadata, now)
        return Document(tuple(parts), kernel, path.name, _tags(metadata), kind="cell", noted=noted)


def _load(data: bytes) -> tuple[dict[str, Any], list[Any], bool]:
    # A notebook, its cells, and whether they have ids. Messages never quote it.
    if not data.strip():
        raise InputError("The notebook is empty (0 cells, no JSON). Open and save it in Jupyter to make it a notebook.")
    text = data.decode(json.detect_encoding(data), "replace").removeprefix("\ufeff")
    try:
        # Python converts no number of more digits, and nothing here needs one.
        notebook = json.loads(text, parse_int=lambda digits: int(digits[:4_000]))
    except RecursionError:
        raise InputError("The notebook's JSON is nested too deeply to be read, most likely in its metadata.") from None
    except ValueError:
        notebook = _mended(text)
    if isinstance(notebook, dict) and isinstance(notebook.get("paragraphs"), list):
        notebook = _from_zeppelin(notebook)
    if not isinstance(notebook, dict) or not ("cells" in notebook or "worksheets" in notebook):
        raise InputError("The file is JSON, but it has no cells, so it is not a notebook.")
    major, minor = notebook.get("nbformat"), notebook.get("nbformat_minor")
    if not isinstance(major, int) or isinstance(major, bool):
        major = 4 if "cells" in notebook else 3
    minor = minor if isinstance(minor, int) else 0
    # nbformat.reads would also validate, and log what it dislikes with the user's text.
    cells = notebook.get("cells") if major >= 4 else _upgraded(notebook, major, minor)
    if major > 4 or not isinstance(cells, list):
        raise InputError(
            f"The notebook's cells cannot be read (format {major}; formats up to 4 are known). "
            "Save it in format 4 with Jupyter."
        )
    return notebook, cells, (major, minor) >= (4, 5)


# `%spark.pyspark`, `%jdbc(prices)`, `%md`: the interpreter of a paragraph, behind which its text may begin.
_INTERPRETER = re.compile(r"\s*%([\w.-]+)(?:\([^()\n]*\))?[ \t]*\n?")
_INTERPRETERS = tomllib.loads(Path(__file__).with_name("plain.toml").read_text(encoding="utf-8"))["zeppelin"]
_MIMES = {"HTML": "text/html", "IMG": "image/png", "ANGULAR": "text/html"}


def _from_zeppelin(note: Mapping[str, Any]) -> dict[str, Any]:
    # Its paragraphs are cells, their results outputs. The language of most paragraphs is the kernel's; in the others a
    # magic names it.
    read = []
    for one in note["paragraphs"]:
        text = one.get("text") if isinstance(one, Mapping) else None
        if isinstance(text, str):
            named = _INTERPRETER.match(text)
            name = named[1].rpartition(".")[2].lower() if named else str(note.get("defaultInterpreterGroup") or "spark")
            read.append((one, _INTERPRETERS.get(name) or known_language(name), text[named.end() :] if named else text))
    spoken = Counter(language for _, language, _ in read if language != "markdown")
    kernel = spoken.most_common(1)[0][0] if spoken else "python"
    cells: list[dict[str, Any]] = []
    for paragraph, language, source in read:
        if language == "markdown":
            cells.append({"cell_type": "markdown", "metadata": {}, "source": source})
            continue
        results = _mapping(paragraph.get("results") or paragraph.get("result"))
        # Those of versions before 0.8 have one message, without a list.
        messages = results.get("msg")
        said = messages if isinstance(messages, list) else [{"type": results.get("type"), "data": messages}]
        outputs = [
            {"output_type": "display_data", "data": {_MIMES.get(str(one.get("type")), "text/plain"): one.get("data")}}
            for one in said
            if isinstance(one, Mapping)
        ]
        source = source if language == kernel else f"%%{language}\n{source}"
        cells.append({"cell_type": "code", "metadata": {}, "source": source, "outputs": outputs})
    return {"cells": cells, "metadata": {"language_info": {"name": kernel}}, "nbformat": 4, "nbformat_minor": 4}


# What Git writes where two versions differ: one side, what both come from, the other side.
_CONFLICT = re.compile(
    r"^<{7}[^\n]*\n(?P<ours>(?:(?![<|=]{7})[^\n]*\n)*+)(?:\|{7}[^\n]*\n(?:(?![<=]{7})[^\n]*\n)*+)?={7}[^\n]*\n"
    r"(?P<theirs>(?:(?![<>]{7})[^\n]*\n)*+)>{7}[^\n]*\n?",
    re.MULTILINE,
)
# A string that is not closed is taken whole, so that no stretch is read twice.
_STRING_OR_COMMA = re.compile(r'("(?:[^"\\]|\\.)*+"?)|,(?=\s*+[\]}])')
_CELLS = re.compile(r'"cells"\s*+:\s*+\[')
_BEGIN = re.compile(r'\{\s*+"(?:cell_type|attachments)"\s*+:')
# Cells that cannot be read, after which the rest of a file is not tried.
_MOST_BROKEN = 100
_KERNEL = re.compile(r'"(?P<key>kernelspec|language_info)"\s*+:\s*+(?=\{)')


def _mended(text: str) -> dict[str, Any]:
    # The cells of a notebook that is not JSON, as far as they can be read: those of both sides of a conflict.
    conflicts = len(_CONFLICT.findall(text))
    ours = _legible(_CONFLICT.sub(r"\g<ours>", text))
    cells = ours["cells"]
    if conflicts:
        theirs = _legible(_CONFLICT.sub(r"\g<theirs>", text))["cells"]
        keys = [[f"{one.get('cell_type')} {joined(one.get('source'))}" for one in side] for side in (cells, theirs)]
        both = []
        for what, begin, end, start, stop in SequenceMatcher(a=keys[0], b=keys[1]).get_opcodes():
            both += cells[begin:end] + (theirs[start:stop] if what != "equal" else [])
        cells = both
        note(f"it has conflict markers of Git ({conflicts:,}); where they are, the cells of both sides are read")
    else:
        note("it is damaged, so not JSON; the cells that can be read are. Restore it from a copy or a checkpoint")
    if not cells:
        raise InputError("The file is not JSON, so not a notebook. Restore it from a copy or a checkpoint.")
    return {**ours, "cells": cells}


def _legible(text: str) -> dict[str, Any]:
    text = _STRING_OR_COMMA.sub(lambda found: found[1] or "", text)
    with suppress(ValueError, RecursionError):
        notebook = json.loads(text)
        if isinstance(notebook, dict) and isinstance(notebook.get("cells"), list):
            return notebook | {"cells": [one for one in notebook["cells"] if isinstance(one, dict)]}
    decoder, begun, cells = json.JSONDecoder(strict=False), _CELLS.search(text), []
    at, broken = begun.end() if begun else len(text), 0
    while broken < _MOST_BROKEN and (found := _BEGIN.search(text, at)):
        try:
            cell, at = decoder.raw_decode(text, found.start())
            cells += [cell] if "source" in cell else []
        except (ValueError, RecursionError):
            at, broken = found.end(), broken + 1
    metadata = {}
    for found in islice(_KERNEL.finditer(text, at), 2):
        with suppress(ValueError, RecursionError):
            metadata[found["key"]] = decoder.raw_decode(text, found.end())[0]
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _upgraded(notebook: dict[str, Any], major: int, minor: int) -> list[Any]:
    import nbformat
    from nbformat.v4.convert import upgrade_cell

    try:
        old = nbformat.versions[major].to_notebook_json(notebook, minor=minor)
        if major < 3:
            old = nbformat.convert(old, 3)
        return [upgrade_cell(cell) for sheet in old["worksheets"] for cell in sheet["cells"]]
    except Exception:  # noqa: BLE001  a converter may raise anything for a broken file, and quote its text
        raise InputError(
            f"The notebook is of the old format {major} and cannot be converted. Save it in format 4 with Jupyter."
        ) from None


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _tags(about: Mapping[str, Any]) -> tuple[str, ...]:
    tags = about.get("tags")
    return tuple(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()


# The languages of raw cells by what JupyterLab and the older Notebook note about them; front matter is YAML.
_RAW = {"text/latex": "latex", "text/restructuredtext": "rst", "text/x-rst": "rst", "text/html": "html",
        "text/markdown": "markdown", "text/asciidoc": "asciidoc", "text/x-python": PYTHON}  # fmt: skip


# Where a notebook notes the language of its kernel, and editors that of a cell: VS Code, .NET Interactive, Synapse,
# Azure Data Studio, Deepnote, and SoS.
_OF_KERNEL = (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name"))
_OF_CELL = (
    ("vscode", "languageId"), ("polyglot_notebook", "kernelName"), ("dotnet_interactive", "language"),
    ("microsoft", "language"), ("language", ""), ("deepnote_cell_type", ""), ("kernel", ""),
)  # fmt: skip
_NO_LANGUAGE = frozenset({"", "code", "visualization", "polyglot-notebook", "value", "sos"})


def _noted_language(
    about: Mapping[str, Any], places: Iterable[tuple[str, str]], kernels: Mapping[str, str] | None = None
) -> str:
    for section, key in places:
        name = _mapping(about.get(section)).get(key) if key else about.get(section)
        if isinstance(name, str) and name.strip().lower() not in _NO_LANGUAGE:
            return clean((kernels or {}).get(name) or kernel_language(name))
    return ""


def _kernels(metadata: Mapping[str, Any]) -> dict[str, str]:
    # The languages of the kernels that a notebook of SoS names.
    rows = _mapping(metadata.get("sos")).get("kernels")
    named = [row[:3] for row in rows if isinstance(row, list)] if isinstance(rows, list) else []
    texts = [row for row in named if len(row) == 3 and all(isinstance(one, str) for one in row)]
    return {name: known_language(language) for name, _, language in texts}


NOTEBOOK = ".ipynb"
# What Jupytext pairs with notebooks, and how much of a file its header is in.
_PAIRED = frozenset(
    {".py", ".md", ".markdown", ".r", ".rmd", ".qmd", ".jl", ".js", ".ts", ".scala", ".sh", ".sql", ".m"}
)
_HEAD = 4_000
_JUPYTEXT = re.compile(r"^(?:#|//|--|%)?[ \t]*jupytext:[ \t]*$", re.MULTILINE)
_FORMATS = re.compile(r"^(?:#|//|--|%)?[ \t]+formats:[ \t]*([^\n]+)$", re.MULTILINE)
# A notebook that is larger is not read to see whether it names its half.
_LARGEST, _LARGEST_SETTINGS = 20_000_000, 1_000_000


def _formats_for(folder: Path) -> object:
    # As Jupytext looks for them: the nearest configuration above a file counts.
    for above in (folder, *folder.parents):
        for name in ("jupytext.toml", ".jupytext.toml", "pyproject.toml"):
            if (path := above / name).is_file() and path.stat().st_size <= _LARGEST_SETTINGS:
                with suppress(ValueError, KeyError, TypeError):
                    stated = tomllib.loads(path.read_text(encoding="utf-8"))
                    return (stated["tool"]["jupytext"] if name == "pyproject.toml" else stated)["formats"]
    return ""


def without_halves(files: Sequence[Path]) -> list[Path]:
    """Return the wanted files of a folder but those that hold the same as a notebook among them."""
    notebooks = {path.stem for path in files if path.suffix == NOTEBOOK}
    return [path for path in files if not (path.stem in notebooks and is_half(path))]


def is_half(path: Path) -> bool:
    """Return whether a notebook beside a text holds the same, as the text or the notebook says in its metadata."""
    if path.suffix.lower() not in _PAIRED:
        return False
    notebook = path.with_suffix(NOTEBOOK)
    try:
        if not notebook.is_file():
            return False
        with path.open("rb") as opened:
            head = opened.read(_HEAD).decode("utf-8", "replace").replace("\r\n", "\n")
        if not _JUPYTEXT.search(head):
            return False
        formats: object = ""
        if named := _FORMATS.search(head):
            formats = named[1]
        elif notebook.stat().st_size <= _LARGEST:
            with suppress(ValueError, KeyError, TypeError, RecursionError):
                formats = json.loads(notebook.read_bytes())["metadata"]["jupytext"]["formats"]
        formats = formats or _formats_for(path.parent)
    except OSError:
        return False
    formats = ",".join(map(str, formats)) if isinstance(formats, list) else formats
    if not isinstance(formats, str):
        return False
    # A folder before an ending, as in `notebooks//ipynb`, means another notebook than the one beside it.
    endings = {one.strip(" \"'").partition(":")[0].lower() for one in formats.split(",")}
    return "ipynb" in endings and bool({path.suffix[1:].lower(), "auto"} & endings)
