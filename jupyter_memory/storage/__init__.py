"""Where memories are kept: what a database must do, and how SQLite does it."""
