"""Stored text on its way to a language model: quoted, cut to a budget of tokens, with its sources."""
