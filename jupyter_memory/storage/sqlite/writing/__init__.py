"""Every change of a store: its writer, and the transactions in which memories change."""
