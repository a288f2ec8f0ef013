"""The commands that notebooks and terminals share: `%memory NAME` and `jupyter-memory NAME`.

To add one, write a function that takes a front and a call, and add a row for it to ``table.COMMANDS``.
"""
