"""The indexes that retrievers search: words and vectors."""
