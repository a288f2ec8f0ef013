"""Redaction: secrets are recognised and replaced before anything is stored."""
