"""Readers: each turns the files of one kind into documents."""
