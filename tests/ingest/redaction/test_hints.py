"""Which hints of secrets stand in which texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.ingest.redaction.redactor import OF_NAMES, OF_SHAPES, hints

ALL = (*OF_SHAPES, *OF_NAMES)
WORDS = st.one_of(
    st.sampled_from([*ALL, *(hint[:-1] for hint in ALL), "λ", "für", "\ud83d", "\n"]), st.text(max_size=5)
)
TEXTS = st.lists(st.lists(WORDS, max_size=12).map("".join), max_size=8)


@given(TEXTS)
def test_hints_are_those_that_stand_in_a_text(texts: list[str]) -> None:
    """Each text has the hints that it holds, and none of its neighbours'."""
    assert hints(texts) == [{hint for hint in ALL if hint in text} for text in texts]


def test_each_hint_is_found_among_other_texts() -> None:
    """Also the shortest: what is looked for has at least as many bytes as are compared at once."""
    assert [hint for hint in ALL if hint not in hints(["", f"λ {hint}"])[1]] == []


def test_a_long_text_has_its_hints() -> None:
    """In a text that is long enough for arithmetic alone, hints are found from its first to its last character."""
    text = "pwd," + 500 * " Preise für λ-Züge" + "ghp_"

    assert hints([text]) == [{"pwd", "ghp_"}]
    assert hints(["eyj" + "x" * 500 + "ke", "y" + "x" * 500 + "sk-"]) == [{"eyj"}, {"sk-"}]
