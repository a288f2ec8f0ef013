"""HTML as a browser reads it: the cells of its tables and its text."""

from __future__ import annotations

from html.parser import HTMLParser


class Tables(HTMLParser):
    """The cells of a page's tables row by row, what stands outside of them, and every tag that was opened."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.tags, self.text = [], [], ""
        self._cell = None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self._cell = ""

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.rows[-1].append(self._cell)
            self._cell = None

    def handle_data(self, data):
        if self._cell is None:
            self.text += data
        else:
            self._cell += data
