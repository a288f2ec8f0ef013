"""The text of what a cell printed and showed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from jupyter_memory.ingest.readers.base import safe
from jupyter_memory.ingest.readers.pages import drawing_text, page_text
from jupyter_memory.text.unicode import uncoloured, without_data

# Characters kept of one output, and of all outputs of a cell together.
_OUTPUT = 20_000
_OUTPUTS = 100_000
_TAIL = 1_000
# So few lines are not compared.
_FEW = 10
# Replaces what is left out of a long text.
_GAP = "…"
CLIPPED = f"\n{_GAP}\n"

# `<Figure size 640x480 with 1 Axes>`, `<IPython.core.display.HTML object>`, `alt.Chart(...)`: says nothing beside what
# is shown in its place.
_OBJECT = re.compile(r"\s*(?:<[^\n]*>|[\w.]+\(\.\.\.\)|GT\(_tbl_data=.*)\s*", re.DOTALL)
_TEXTS = ("text/markdown", "text/latex")
SVG = "image/svg+xml"
_WIDGET = "application/vnd.jupyter.widget-view+json"
# Charts have their words among data and settings: under which keys, and under which are none.
_CHART = re.compile(r"application/vnd\.(?:plotly|vega|bokeh)")
_LABELS = frozenset(
    {"title", "text", "name", "label", "labels", "subtitle", "caption", "description", "field", "hovertext", "ticktext"}
)
_DATA = frozenset({"template", "config", "datasets", "values", "usermeta"})
_LETTERS = re.compile(r"[\W\d_]+")


def joined(value: Any) -> str:
    """Return a text that a notebook has as a string or as a list of lines, an empty one for anything else."""
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def outputs_text(outputs: Any) -> tuple[str, int]:
    """Return the text of a cell's outputs, and how many characters of them are left out."""
    whole: list[str] = []
    room, left_out = _OUTPUTS, 0
    for text in _texts(outputs if isinstance(outputs, list) else []):
        # Without colours, and with only the last state of each line.
        tidy, most = uncoloured(text), min(_OUTPUT, room)
        if "\r" in tidy or "\b" in tidy:
            lines = tidy.replace("\r\n", "\n").replace("\b", "").split("\n")
            states = ([part for part in line.split("\r") if part.strip()] for line in lines)
            tidy = "\n".join(parts[-1] if parts else "" for parts in states)
        tidy = tidy.strip("\n").rstrip()
        if room < _TAIL:
            left_out += len(tidy)
            continue
        kept = condensed(safe(tidy, most), most).strip("\n")
        left_out += max(0, len(tidy) - len(kept)) if len(tidy) > most else 0
        if kept:
            whole.append(kept)
            room -= len(kept)
    return "\n".join(whole), left_out


def clip(text: str, length: int) -> str:
    """Return a text without its middle if it is longer than ``length``: its beginning and end say most."""
    if len(text) <= length:
        return text
    tail = min(_TAIL, length // 4)
    head, end = text[: length - tail], text[len(text) - tail :]
    # Whole lines, unless they are long.
    head = head[: head.rfind("\n", len(head) // 2)] if "\n" in head[len(head) // 2 :] else head
    end = end[end.find("\n", 0, tail // 2) + 1 :]
    return f"{head.rstrip()}{CLIPPED}{end}"


def condensed(text: str, length: int) -> str:
    """Return a text that is longer than ``length`` by its head, its tail, and the lines between that are like few."""
    if len(text) <= length:
        return text
    lines = [clip(line, length // 8) for line in text.split("\n")]
    if len(lines) < _FEW:
        return clip(text, length)
    # A gap may follow each line.
    costs = [len(line) + len(CLIPPED) for line in lines]
    head = sum(total <= length // 4 for total in accumulate(costs))
    tail = sum(total <= length // 6 for total in accumulate(reversed(costs)))
    shapes = [_LETTERS.sub(" ", line) for line in lines]
    alike = Counter(shapes)
    between = sorted(range(head, len(lines) - tail), key=lambda number: alike[shapes[number]])
    kept, room = list[int](), length
    for number in (*range(head), *range(len(lines) - tail, len(lines)), *between):
        if costs[number] <= room:
            kept.append(number)
            room -= costs[number]
    shown, last = list[str](), -1
    for number in sorted(kept):
        if number > last + 1:
            shown.append(_GAP)
        shown.append(lines[number])
        last = number
    return "\n".join(shown)


def _texts(outputs: list[Any]) -> Iterator[str]:
    stream, printed = None, ""
    for output in outputs:
        if not isinstance(output, Mapping):
            continue
        if output.get("output_type") == "stream":
            if output.get("name") != stream:
                yield printed
                stream, printed = output.get("name"), ""
            printed += joined(output.get("text"))
            continue
        yield printed
        stream, printed = None, ""
        if output.get("output_type") != "error":
            data, about = output.get("data"), output.get("metadata")
            shown = _shown(data) if isinstance(data, Mapping) else ""
            # What describes a picture to those who do not see it.
            of_pictures = about.values() if isinstance(about, Mapping) else ()
            alts = [one.get("alt") for one in of_pictures if isinstance(one, Mapping)]
            yield "\n".join([shown, *(alt for alt in alts if isinstance(alt, str))])
            continue
        said = ": ".join(part for part in (joined(output.get("ename")), joined(output.get("evalue"))) if part)
        lines = output.get("traceback")
        traceback = "\n".join(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ""
        traceback = uncoloured(traceback)
        yield traceback if said and said in traceback else "\n".join(part for part in (traceback, said) if part)
    yield printed


def _shown(data: Mapping[str, Any]) -> str:
    if _WIDGET in data:
        return "[widget]"
    text = joined(data.get("text/plain"))
    rich = [kind for kind in data if isinstance(kind, str) and kind != "text/plain"]
    if not rich or (text.strip() and not _OBJECT.fullmatch(text)):
        words = [_words(kind, data[kind]) for kind in rich if _CHART.match(kind)]
        return "\n".join([text, *(f"[{kind}]" for kind in rich if kind.startswith("image/")), *filter(None, words)])
    for kind in _TEXTS:
        if written := without_data(joined(data.get(kind))):
            return written
    read = {kind: _words(kind, data[kind]) for kind in rich}
    # Pictures and charts are named also where their words are read.
    marks = " ".join(f"[{kind}]" for kind in rich if not read[kind] or _CHART.match(kind) or kind.startswith("image/"))
    return "\n".join(filter(None, (marks, *read.values())))


def _words(kind: str, value: Any) -> str:
    if kind == "text/html":
        return page_text(without_data(joined(value)))
    if kind == SVG:
        return drawing_text(joined(value))
    if not kind.endswith("json"):
        return ""
    found, in_chart, waiting = dict[str, None](), _CHART.match(kind) is not None, [("", value)]
    while waiting:
        key, one = waiting.pop()
        if isinstance(one, Mapping):
            named = [(str(name), of) for name, of in one.items() if not (in_chart and name in _DATA)]
            waiting += reversed(named)
        elif isinstance(one, list):
            # Numbers in a list are data.
            waiting += [(key, of) for of in reversed(one) if isinstance(of, str | Mapping | list)]
        elif in_chart and key in _LABELS and isinstance(one, str):
            found.setdefault(one)
        elif not in_chart and isinstance(one, str | int | float):
            # With its key, by which a secret is known.
            found.setdefault(f"{key}: {one}" if key else str(one))
    return "\n".join(found)
