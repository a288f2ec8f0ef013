"""The column ``ident`` of many texts: what each has for itself."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_memory.text import identifiers
from jupyter_memory.text.identifiers import ident_column, ident_columns

STRETCHES = (
    "a", "B", "price", "Price", "PRICE", "HTTPServer", "1", "2026", "_", "__", ".", "..", " ", "\n", "-", "(", "x1",
    "df.groupby", "__init__", "self._x", "λ", "Größe", "東京の売上",
)  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(STRETCHES), max_size=12).map("".join), st.text(max_size=20))


@given(texts=st.lists(TEXTS, max_size=6))
@example(
    texts=[
        "_a._b.c.d __x.y ___.z a.___ 1.0.21",
        "",
        "...",
        "FileSyncService(df.groupby)",
        "Größe_in_Zürich",
        "a_b – c\nd_e\n\nλ_f\ng.h\n東京",
    ]
)
def test_one_by_one(texts):
    """Many texts at once have the columns that they have one by one."""
    assert ident_columns(texts) == [ident_column(text) for text in texts]


def test_in_portions(monkeypatch):
    """Texts looked through portion by portion have the columns that they have in one."""
    texts = [f"load_prices(week_{number}).meanPrice" for number in range(20)]
    whole = ident_columns(texts)
    monkeypatch.setattr(identifiers, "_AT_ONCE", 64)

    assert ident_columns(texts) == whole
    assert "loadprices" in whole[0]
