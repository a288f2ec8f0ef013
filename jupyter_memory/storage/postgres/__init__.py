"""How PostgreSQL with pgvector holds a store; each row has its space, by which tables are shared and divided."""
