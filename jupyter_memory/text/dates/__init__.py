"""Written times, for queries and for options such as `--since`."""
