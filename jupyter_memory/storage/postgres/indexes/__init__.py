"""The indexes of a PostgreSQL store: words with BM25, and vectors."""
