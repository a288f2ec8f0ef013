"""HTML as a browser reads it: its tags, its text, and the cells of its tables."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Every tag that was opened with its attributes, all text, and the cells of the page's tables row by row."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text, self.rows = [], "", []
        self._in_cell = False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag):
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data):
        self.text += data
        if self._in_cell:
            self.rows[-1][-1] += data

    def all(self, tag):
        return [attributes for one, attributes in self.tags if one == tag]
