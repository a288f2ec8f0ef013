"""The commands that notebooks and terminals share: `%memory NAME` and `jupyter-memory NAME`."""
