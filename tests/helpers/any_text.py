"""Any text at all, for tests of what is typed and pasted."""

from hypothesis import strategies as st

MEGABYTE = 1_000_000
# Lone surrogates and NUL bytes too.
anything = st.text(st.characters(codec=None), max_size=40)
