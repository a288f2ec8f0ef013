"""How PostgreSQL with pgvector holds a store: everything that knows its SQL, and its driver, psycopg.

Every row carries the space that it belongs to, and every statement names the spaces that it is about: so a table can be
distributed by space, and the database itself can keep people to theirs.
"""
