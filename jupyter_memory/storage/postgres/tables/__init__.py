"""The tables of a PostgreSQL store, each within the transaction of its caller."""
