"""Connections to a PostgreSQL database: a bounded pool, transactions, migrations, interruptions, errors as ours."""
