"""Every change of a PostgreSQL store."""
