"""Keeping watched folders up to date while other programs change them."""
