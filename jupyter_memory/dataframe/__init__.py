"""Answers as pandas DataFrames: the only package that imports pandas at the top."""
