"""Texts as they are shown: Markdown as its reader sees it, hits in the lines of a terminal, colours."""
