"""The place of a picture in the outputs of magics, which JupyterLab and Notebook 7 with the panel fill from the store.

It holds the memory's id and no byte of the picture, so a saved notebook has none. Without the panel it is hidden and
empty. The panel's `integrations/outputs.ts` knows it by its class.
"""

from __future__ import annotations

from html import escape


def picture(memory_id: str, title: str) -> str:
    """Return the place of the first picture of a memory."""
    named = f'data-memory="{escape(memory_id)}" title="{escape(title)}"'
    return f'<span class="jp-Memory-outputPicture" {named} hidden></span>'
