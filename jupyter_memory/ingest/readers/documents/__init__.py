"""Readers of documents: PDF, Word and PowerPoint files."""
