"""Notebooks of Apache Zeppelin, as Jupyter would have them."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_memory.text.code import known_language

# `%spark.pyspark`, `%jdbc(prices)`, `%md`: the interpreter of a paragraph, behind which its text may begin.
_INTERPRETER = re.compile(r"\s*%([\w.-]+)(?:\([^()\n]*\))?[ \t]*\n?")
_LANGUAGES = tomllib.loads(Path(__file__).with_name("plain.toml").read_text(encoding="utf-8"))["zeppelin"]
_MIMES = {"HTML": "text/html", "IMG": "image/png", "ANGULAR": "text/html"}


def as_jupyter(note: Mapping[str, Any]) -> dict[str, Any]:
    """Return a note of Zeppelin as a notebook of Jupyter: its paragraphs are cells, their results outputs.

    The language of most paragraphs is the kernel's; in the others a magic names it.
    """
    read = []
    for one in note["paragraphs"]:
        text = one.get("text") if isinstance(one, Mapping) else None
        if isinstance(text, str):
            named = _INTERPRETER.match(text)
            name = named[1].rpartition(".")[2].lower() if named else str(note.get("defaultInterpreterGroup") or "spark")
            read.append((one, _LANGUAGES.get(name) or known_language(name), text[named.end() :] if named else text))
    spoken = Counter(language for _, language, _ in read if language != "markdown")
    kernel = spoken.most_common(1)[0][0] if spoken else "python"
    cells = []
    for paragraph, language, source in read:
        cell: dict[str, Any] = {"cell_type": "markdown" if language == "markdown" else "code", "metadata": {}}
        own = language in (kernel, "markdown")
        outputs = [] if language == "markdown" else _outputs(paragraph.get("results") or paragraph.get("result"))
        cells.append({**cell, "source": source if own else f"%%{language}\n{source}", "outputs": outputs})
    return {"cells": cells, "metadata": {"language_info": {"name": kernel}}, "nbformat": 4, "nbformat_minor": 4}


def _outputs(results: Any) -> list[dict[str, Any]]:
    # Those of versions before 0.8 have one message, without a list.
    given = results if isinstance(results, Mapping) else {}
    messages = given.get("msg")
    said = messages if isinstance(messages, list) else [{"type": given.get("type"), "data": messages}]
    return [
        {"output_type": "display_data", "data": {_MIMES.get(str(one.get("type")), "text/plain"): one.get("data")}}
        for one in said
        if isinstance(one, Mapping)
    ]
