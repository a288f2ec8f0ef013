"""What a code cell printed, showed or raised, as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jupyter_memory.text.unicode import uncoloured, without_data

# Characters kept of one output, and of all outputs of a cell together.
_OUTPUT = 4_000
_OUTPUTS = 20_000
_TAIL = 1_000
# Replaces the middle of a clipped text.
CLIPPED = "\n…\n"

# `<Figure size 640x480 with 1 Axes>`, `<IPython.core.display.HTML object>`: says nothing beside the picture itself.
_OBJECT = re.compile(r"\s*<[^\n]*>\s*")
_TEXTS = ("text/markdown", "text/latex")
_SVG = "image/svg+xml"
_PICTURES = ("image/png", "image/jpeg", "image/webp", "image/gif", _SVG)
_WIDGET = "application/vnd.jupyter.widget-view+json"


def joined(value: Any) -> str:
    """Return a notebook's text, which is stored as a string or as a list of lines; anything else is empty."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    try:
        return "".join(value)
    except TypeError:
        return "".join(line for line in value if isinstance(line, str))


def outputs_text(outputs: Any, hide: Callable[[str], str] | None = None) -> str:
    """Return the outputs of a cell as text: clipped, images as ``[image/png]``, progress bars in their last state.

    ``hide`` takes secrets out of a text before it is clipped: nobody could recognise half a secret.
    """
    whole: list[str] = []
    room = _OUTPUTS
    for text in _texts(outputs if isinstance(outputs, list) else []):
        tidy, most = _tidy(text), min(_OUTPUT, room)
        if hide is not None and len(tidy) > most:
            tidy = hide(tidy)
        tidy = clip(tidy, most).strip("\n")
        if tidy:
            whole.append(tidy)
            room -= len(tidy)
        if room <= 0:
            break
    return "\n".join(whole)


def pictures(cell: Mapping[str, Any]) -> tuple[bytes | str | None, ...]:
    """Return the pictures that a cell shows: those of its outputs, or those attached to its Markdown.

    They are in base64, but SVG of an output is bytes; None stands for one that cannot be read.
    """
    outputs = cell.get("outputs")
    shown = [one.get("data") for one in outputs if isinstance(one, Mapping)] if isinstance(outputs, list) else []
    attached = cell.get("attachments")
    if cell.get("cell_type") == "markdown" and isinstance(attached, Mapping):
        shown += attached.values()
    return tuple(_picture(one) for one in shown if isinstance(one, Mapping) and any(kind in one for kind in _PICTURES))


def _picture(data: Mapping[str, Any]) -> bytes | str | None:
    """Return the first picture of an output that can be read: its media types show the same."""
    found = next(filter(None, (joined(data[kind]) for kind in _PICTURES if kind in data)), None)
    # Outputs have SVG as text, attachments in base64.
    is_text = found is not None and found.lstrip("\ufeff \t\r\n").startswith("<")
    return found.encode("utf-8", "replace") if found is not None and is_text else found


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


def _texts(outputs: list[Any]) -> Iterator[str]:
    """Yield the text of each output; successive prints to one stream are joined."""
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
        yield _error(output) if output.get("output_type") == "error" else _shown(output.get("data"))
    yield printed


def _error(output: Mapping[str, Any]) -> str:
    """Return an error's name, value and traceback, once each."""
    said = ": ".join(part for part in (joined(output.get("ename")), joined(output.get("evalue"))) if part)
    lines = output.get("traceback")
    traceback = "\n".join(line for line in lines if isinstance(line, str)) if isinstance(lines, list) else ""
    traceback = uncoloured(traceback)
    return traceback if said and said in traceback else "\n".join(part for part in (traceback, said) if part)


def _shown(data: Any) -> str:
    """Return the text of a display or result, or its media types if it has no text."""
    if not isinstance(data, Mapping):
        return ""
    if _WIDGET in data:
        return "[widget]"
    text = joined(data.get("text/plain"))
    rich = [kind for kind in data if isinstance(kind, str) and kind != "text/plain"]
    if not rich or (text.strip() and not _OBJECT.fullmatch(text)):
        images = [f"[{kind}]" for kind in rich if kind.startswith("image/")]
        return "\n".join([text, *images])
    for kind in _TEXTS:
        if words := without_data(joined(data.get(kind))):
            return words
    return " ".join(f"[{kind}]" for kind in rich)


def _tidy(text: str) -> str:
    """Return a text as a terminal shows it in the end: without colours, and with only the last state of each line."""
    text = uncoloured(text)
    if "\r" in text or "\b" in text:
        text = text.replace("\r\n", "\n").replace("\b", "")
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    return text.strip("\n").rstrip()


def _overwritten(line: str) -> str:
    """Return what a line shows after its carriage returns are done."""
    shown = [part for part in line.split("\r") if part.strip()]
    return shown[-1] if shown else ""
