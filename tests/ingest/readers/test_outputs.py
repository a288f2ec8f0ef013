"""Claims about outputs as text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_memory.ingest import known_readers
from jupyter_memory.text import outputs_of

OutputsText = Callable[[Any], str]


@pytest.fixture
def outputs_text(tmp_path: Path) -> OutputsText:
    """Return what reads the outputs of a cell in a notebook."""

    def read(outputs: Any) -> str:
        path = tmp_path / "a.ipynb"
        cell = {"cell_type": "code", "source": "λ", "metadata": {}, "execution_count": 1, "outputs": outputs}
        path.write_text(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        [part] = known_readers().reader_of(path).read(path).parts
        return outputs_of(part.text)

    return read


def stream(text: Any, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data: Any) -> dict[str, Any]:
    kinds = {kind.replace("_", "/", 1): value for kind, value in data.items()}
    return {"output_type": "display_data", "data": kinds, "metadata": {}}


def test_what_was_printed_and_shown_comes_in_order(outputs_text: OutputsText) -> None:
    """Streams and results are one text, lists of lines joined."""
    result = {"output_type": "execute_result", "data": {"text/plain": ["λ  ", "\n3"]}, "execution_count": 1}

    assert outputs_text([stream(["Zür", "ich\n"]), result]) == "Zürich\nλ  \n3"


def test_colours_and_links_of_a_terminal_go(outputs_text: OutputsText) -> None:
    """What a logger coloured is read plain, and a link by its text."""
    text = "\x1b[1;32mINFO\x1b[0m λ \x1b]8;;https://x.example\x1b\\here\x1b]8;;\x1b\\"

    assert outputs_text([stream(text)]) == "INFO λ here"


def test_an_error_has_its_name_value_and_traceback_without_colours(outputs_text: OutputsText) -> None:
    """The traceback is readable, and says once what happened."""
    error = {
        "output_type": "error",
        "ename": "KeyError",
        "evalue": "'preis_€'",
        "traceback": ["\x1b[31m-----\x1b[39m", "File \x1b[32mprices.py:3\x1b[0m", "\x1b[31mKeyError\x1b[0m: 'preis_€'"],
    }
    assert outputs_text([error]) == "-----\nFile prices.py:3\nKeyError: 'preis_€'"
    assert outputs_text([error | {"traceback": []}]) == "KeyError: 'preis_€'"


def test_pictures_are_named_and_objects_do_not_speak(outputs_text: OutputsText) -> None:
    """A figure is a placeholder, its repr left out; text that says something stays beside a picture."""
    assert outputs_text([shown(text_plain="<Figure size 640x480 with 1 Axes>", image_png="iVBOR")]) == "[image/png]"
    assert outputs_text([shown(image_png="iVBOR")]) == "[image/png]"
    assert outputs_text([shown(text_plain="Umsatz", image_png="iVBOR")]) == "Umsatz\n[image/png]"


def test_a_table_is_its_text_and_html_alone_a_placeholder(outputs_text: OutputsText) -> None:
    """A DataFrame's text stands for its HTML; HTML alone is not read."""
    assert outputs_text([shown(text_plain="   λ\n0  3", text_html="<table>")]) == "   λ\n0  3"
    assert outputs_text([shown(text_plain="<IPython.core.display.HTML object>", text_html="<b>x</b>")]) == "[text/html]"


def test_displayed_markdown_is_text(outputs_text: OutputsText) -> None:
    """What display(Markdown(...)) showed is read."""
    data = shown(text_plain="<IPython.core.display.Markdown object>", text_markdown=["**λ** ist ", "3"])
    assert outputs_text([data]) == "**λ** ist 3"


def test_widgets_are_placeholders(outputs_text: OutputsText) -> None:
    """A widget's view says nothing, neither does its repr."""
    widget = {"application/vnd.jupyter.widget-view+json": {"model_id": "1"}, "text/plain": "HBox(children=())"}
    assert outputs_text([{"output_type": "display_data", "data": widget}]) == "[widget]"


def test_a_progress_bar_is_what_it_ended_as(outputs_text: OutputsText) -> None:
    """Of a line that was written over and over only the last state is kept, pieces and all."""
    bars = [stream(f"\r{percent}%|███   | λ", "stderr") for percent in (0, 50, 100)]
    assert outputs_text([*bars, stream("\n", "stderr"), stream("done\r\n")]) == "100%|███   | λ\ndone"


def test_long_outputs_lose_their_middle(outputs_text: OutputsText) -> None:
    """How an output begins and how it ends is kept, and many outputs are bounded together."""
    lines = "\n".join(f"Zeile {number}" for number in range(5000))
    text = outputs_text([stream(lines)])

    assert text.startswith("Zeile 0\n") and text.endswith("\nZeile 4999") and "\n…\nZeile " in text
    assert len(text) <= 4010
    assert len(outputs_text([shown(text_plain=lines)] * 50)) <= 20_100


BROKEN = [
    *(None, "text", 7, [None], ["x"], [{}], [stream(None)], [stream([1, None])], [shown(text_plain=3)]),
    *([{"output_type": kind}] for kind in ("stream", "error", "display_data", 3)),
    [{"output_type": "error", "traceback": 3, "ename": 1}],
    [{"output_type": "display_data", "data": []}],
]


@pytest.mark.parametrize("outputs", BROKEN)
def test_broken_outputs_say_nothing(outputs: Any, outputs_text: OutputsText) -> None:
    """What is no output of a notebook is passed over."""
    assert outputs_text(outputs) == ""
