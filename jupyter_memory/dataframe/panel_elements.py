"""Hidden elements in the outputs of magics that JupyterLab and Notebook 7 with the panel show: buttons and pictures.

The style sheet of the panel shows them, so nothing is seen where nothing would happen. The element of a picture holds
the memory's id and no byte of the picture, so a saved notebook has none. The panel's `integrations/outputs.ts` knows
them by their classes.
"""

from __future__ import annotations

from html import escape


def open_button(query: str) -> str:
    """Return a button that asks a question in the panel."""
    return f'<button type="button" class="jp-Memory-openOutput" value="{escape(query)}" hidden>Open in Memory</button>'


def insert_button(source: str, memory_id: str = "") -> str:
    """Return a button that inserts code as a new cell below the one whose output it stands in, without running it.

    ``memory_id`` names the memory of the code, whose use is then counted. Other front ends have `%memfix --insert 1`.
    """
    counted = f' data-memory="{escape(memory_id)}"' if memory_id else ""
    return (
        f'<button type="button" class="jp-Memory-insertOutput" value="{_value(source)}"{counted} hidden>'
        "Insert as a new cell</button>"
    )


def _value(text: str) -> str:
    # A browser takes a line feed for a line feed in an attribute, but what cleans HTML may not.
    return escape(text).replace("\r\n", "\n").replace("\r", "\n").replace("\n", "&#10;")


def picture(memory_id: str, title: str) -> str:
    """Return the place of the first picture of a memory."""
    named = f'data-memory="{escape(memory_id)}" title="{escape(title)}"'
    return f'<span class="jp-Memory-outputPicture" {named} hidden></span>'
