"""Profiles as TOML files: what is written is read again, and a mistake is told with file, key and nearest key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import InputError, UnknownProfile
from jupyter_memory.search import PROFILES, ReciprocalRank, profile_named, vault
from jupyter_memory.search.fusion import MinMax, ReciprocalValue, Weighted
from jupyter_memory.search.profiles import OverFetch, covalence, trovella
from jupyter_memory.search.profiles.toml_reader import read_profile
from jupyter_memory.search.profiles.toml_writer import to_toml
from jupyter_memory.search.signals import Recency
from jupyter_memory.text import COLUMNS


@pytest.fixture
def mine(tmp_path):
    """Write ``mine.toml`` and read it."""

    def write(text):
        file = tmp_path / "mine.toml"
        file.write_text(text, encoding="utf-8")
        return profile_named(str(file))

    return write


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_survives_a_file(mine, name):
    """A profile that is written and read again is the same profile."""
    named = PROFILES[name].replace(name="mine")

    assert mine(named.to_toml()) == named


@pytest.mark.parametrize("name", PROFILES)
def test_the_numbers_of_a_file_are_short(name):
    """No number of a profile that comes with the package has more than a few digits: 0.18, not 0.18000000000000002."""
    lines = PROFILES[name].to_toml().splitlines()
    numbers = [line.rpartition(" = ")[2] for line in lines if re.fullmatch(r"[^#]* = [-+.0-9e]+", line)]

    assert numbers
    assert [number for number in numbers if len(number) > 6] == []


def test_a_file_changes_what_it_names(mine):
    """Terms are changed field by field, columns are replaced, and everything else is the base's."""
    found = mine(
        'base = "covalence"\nsummary = "λ for Müller."\nthreshold = false\nwithout = ["title"]\n'
        "[terms.vector]\nweight = 0.5\nk = 20\n[columns]\ntext = 2\n[fetch]\nminimum = 50\n"
        "[signals.recency]\nhalf_life_hours = 24\n"
    )

    assert found.name == "mine" and found.summary == "λ for Müller."
    assert found.terms[0] == ReciprocalRank("vector", 0.5, 20.0)
    assert [term.name for term in found.terms] == ["vector", "keyword", "tier", "recency"]
    assert found.terms[1:3] == covalence.terms[1:3]
    assert dict(found.columns) == {"text": 2.0}
    assert found.fetch == OverFetch(4, 50)
    assert Recency(24.0) in found.signals and found.threshold is False


def test_a_file_adds_signals_and_terms(mine):
    """What the base does not have is added where the file says what it is."""
    found = mine(
        'base = "trovella"\n[signals.recency]\nis = "Recency"\nhalf_life_hours = 100\n'
        '[terms.new]\nis = "Weighted"\nweight = 0.01\nreads = "recency"\n'
    )

    assert found.terms == (*trovella.terms, Weighted("new", 0.01, "recency"))
    assert found.signals == (Recency(100.0),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('base = "covalenc"', r"mine\.toml: base: there is no profile 'covalenc'\. Did you mean 'covalence'\?"),
        (
            'base = "covalence"\n[terms.vecto]\nweight = 1',
            r"terms\.vecto: covalence has no 'vecto'.*Did you mean vector\?",
        ),
        ('base = "covalence"\n[terms.vector]\nweigt = 1', r"terms\.vector\.weigt is not known\. Did you mean weight\?"),
        ('base = "covalence"\n[terms.vector]\nweight = "λ"', r"terms\.vector\.weight must be a number, not 'λ'"),
        ('base = "covalence"\n[terms.vector]\nweight = inf', r"terms\.vector\.weight must be finite"),
        ('base = "covalence"\n[terms.vector]\nweight = true', "must be a number, not True"),
        ('base = "covalence"\nterms = 3', "terms must be a table, not 3"),
        ('base = "covalence"\n[columns]\ntitl = 3', r"columns\.titl is not known\. Did you mean title\?"),
        ('base = "covalence"\n[fetch]\nfactr = 3', r"fetch\.factr is not known\. Did you mean factor\?"),
        ('base = "covalence"\nthreshold = 0.3', r"threshold must be true or false, not 0\.3"),
        ('base = "covalence"\ntresholt = true', r"tresholt is not known\. Did you mean threshold\?"),
        ('base = "covalence"\nwithout = ["titel"]', "covalence has no term 'titel'"),
        (
            'base = "trovella"\n[terms.x]\nis = "Weigthed"\nweight = 1',
            r"terms\.x: is = 'Weigthed'.*Did you mean Weighted\?",
        ),
        ('base = "trovella"\n[terms.x]\nis = "Weighted"', r"terms\.x: weight is missing"),
        ('base = "trovella"\n[terms.x]\nis = "Weighted"\nweight = 1', r"mine\.toml: The profile \w+ has no signal 'x'"),
        ('base = "trovella"\nname = "auto"', "auto is a profile that comes with the package"),
        ('name = "empty"', "it has neither a base nor terms"),
        ("= 3", r"mine\.toml is not TOML: .*line 1"),
    ],
)
def test_a_mistake_names_file_key_and_cure(mine, text, said):
    """Each mistake is one sentence that begins with the file and names the key, with the nearest that is known."""
    with pytest.raises((InputError, UnknownProfile), match=said) as raised:
        mine(text)

    assert "mine.toml" in str(raised.value)


def test_a_file_that_is_not_there(tmp_path):
    """A path without a file is an unknown profile."""
    with pytest.raises(UnknownProfile, match=r"no file .*nowhere\.toml"):
        profile_named(str(tmp_path / "nowhere.toml"))
    with pytest.raises(UnknownProfile, match="cannot be read"):
        (tmp_path / "folder.toml").mkdir()
        profile_named(str(tmp_path / "folder.toml"))


def test_the_bytes_of_a_file(tmp_path):
    """A file that begins with the mark of Windows' editors is read; one that is not UTF-8 is told so."""
    (tmp_path / "müller.toml").write_text('base = "covalence"\nsummary = "λ"', encoding="utf-8-sig")
    assert profile_named(str(tmp_path / "müller.toml")).summary == "λ"

    (tmp_path / "latin.toml").write_text('base = "covalence"\nsummary = "ü"', encoding="latin-1")
    with pytest.raises(InputError, match=r"latin\.toml is not UTF-8"):
        profile_named(str(tmp_path / "latin.toml"))


def test_a_class_of_ones_own_cannot_be_saved():
    """A signal that the package does not know is named, not left out in silence."""

    @dataclass(frozen=True)
    class Length:
        name: str = "length"

        def __call__(self, query, pool, /):
            return {}

    with pytest.raises(InputError, match=r"length is an instance of your own class Length"):
        trovella.with_signal(Length(), 0.1).to_toml()


NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
FORMS = (ReciprocalRank, ReciprocalValue, Weighted, MinMax)


@given(
    forms=st.lists(st.tuples(st.sampled_from(FORMS), NUMBERS), min_size=1, max_size=4),
    names=st.lists(st.text(min_size=1, max_size=8), min_size=4, max_size=4, unique=True),
    columns=st.dictionaries(st.sampled_from(COLUMNS), NUMBERS, min_size=1),
    summary=st.text(max_size=20),
)
def test_any_profile_survives_a_file(tmp_path_factory, forms, names, columns, summary):
    """Whatever the weights, names and columns, a file holds them exactly."""
    parts = tuple(form(name, weight, reads="keyword") for (form, weight), name in zip(forms, names, strict=False))
    made = vault.replace(name="mine", summary=summary, terms=parts, keyword_only=(), columns=columns)
    file = tmp_path_factory.mktemp("toml") / "mine.toml"
    file.write_bytes(to_toml(made).encode("utf-8"))

    assert read_profile(file) == made


def test_the_file_in_the_tuning_guide(mine):
    """The example of the guide is a profile, with all that its comments promise."""
    page = (Path(__file__).parents[3] / "docs" / "tuning.md").read_text(encoding="utf-8")
    found = mine(page.partition("```toml\n")[2].partition("```")[0])

    assert [term.name for term in found.terms] == ["vector", "keyword", "title", "recency", "marked"]
    assert found.terms[0] == ReciprocalRank("vector", 0.5, 20.0)
    assert dict(found.columns) == {"title": 5.0, "text": 1.0, "tags": 2.0}
    assert found.fetch(10) == 60 and not found.threshold
