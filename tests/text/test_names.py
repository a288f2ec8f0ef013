"""Names that are stored with every chunk."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory.text import context, short, short_path, words_within

CUT = "…"
# Characters of a name.
LONGEST = 200


def heading_path(headings):
    return context("", headings)


@given(st.text(max_size=2 * LONGEST))
def test_a_short_name_stays_and_a_long_one_is_cut(name):
    """A name of up to 200 characters stays as it is; a longer one keeps its beginning, and a mark says so."""
    assert len(short(name)) <= LONGEST and len(short_path(name)) <= LONGEST
    if len(name) <= LONGEST:
        assert short(name) == short_path(name) == name
    else:
        assert short(name)[-1:] == CUT and name.startswith(short(name)[:-1])
        assert short_path(name)[:1] == CUT and name.endswith(short_path(name)[1:])


@given(st.lists(st.text(min_size=1, max_size=400), min_size=1, max_size=40))
def test_a_heading_path_has_a_limit_and_leads_to_its_place(headings):
    """A path of any depth has at most 2,000 characters, begins at the top, and ends at the heading of the place."""
    path = heading_path(headings)
    assert len(path) <= 2_000
    if path != " > ".join(headings):
        assert path.startswith(short(headings[0])) and path.endswith(f" > {short(headings[-1])}")


def test_a_path_of_six_headings_is_never_thinned():
    """Markdown has six levels: each of them stays visible, however long it is."""
    assert heading_path(["Prices " * 1_000] * 6).count(" > ") == 5


@given(st.text(st.sampled_from("ab "), max_size=60), st.integers(0, 60))
def test_words_are_left_out_whole(text, length):
    """What does not fit is left out by the word: the beginning of a secret is a secret."""
    kept = words_within(text, length)
    assert set(kept.removesuffix(CUT).split()) <= set(text.split())
