"""The rows that both databases have: each statement is written once, in the words of `storage.sql`."""
