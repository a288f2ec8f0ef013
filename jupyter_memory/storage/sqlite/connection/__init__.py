"""Connections to a store's file: opening it, transactions, errors and migrations."""
