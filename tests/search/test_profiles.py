"""Profiles: named recipes, changed, written to files and read again, without a mistake going by unseen."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_memory import InputError, UnknownProfile
from jupyter_memory.search import (
    PROFILES,
    MinMax,
    OverFetch,
    Recency,
    ReciprocalRank,
    ReciprocalValue,
    Weighted,
    constants,
    covalence,
    profile_named,
    trovella,
    vault,
)
from jupyter_memory.text import COLUMNS


@dataclass(frozen=True)
class Length:
    """Longer memories before shorter ones."""

    name: str = "length"

    def __call__(self, query, pool, /):
        return {one.key: float(len(one.memory.text)) for one in pool}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("covalenc", r"no profile 'covalenc'. Did you mean 'covalence'\? Known: auto, "),
        ("λ", r"no profile 'λ'\. Known: auto, covalence, vault"),
        (3, "no profile 3"),
        ("/nowhere/mine.toml", r"no file .*mine\.toml"),
    ],
)
def test_a_slip_of_the_pen_is_answered_with_the_nearest_name(name, said):
    """A name gives its profile, and a profile itself; another one is an error that guesses and names what there is."""
    assert profile_named("covalence") is covalence and profile_named(trovella) is trovella
    assert list(PROFILES) == ["auto", "covalence", "vault", "trovella", "memini", "memini-rrf"]
    assert all(profile.name == known and profile.summary.endswith(".") for known, profile in PROFILES.items())
    with pytest.raises(UnknownProfile, match=said):
        profile_named(name)


def test_signals_of_ones_own_count(filled_with):
    """with_signal adds weight * value to every score, under the signal's name, and leaves the profile as it was."""
    mine = trovella.with_signal(Length(), weight=0.001).with_signal(Length("words"), 0.0)
    memories = filled_with({"text": f"prices {'ü' * 43}"}, {"text": "prices ü"}, embedder=False)
    long, short = memories.hits("prices", profile=mine).hits
    plain = memories.hits("prices", profile=trovella).hits
    assert mine.name == "trovella+length+words" and [term.name for term in mine.terms[-2:]] == ["length", "words"]
    assert (long.memory.source, long.signals["length"].value) == ("1.md", 50.0)
    before = {hit.memory.source: hit.score for hit in plain}
    assert long.score == pytest.approx(before["1.md"] + 0.05) and short.score == pytest.approx(before["2.md"] + 0.008)
    assert {"length", "words"} <= set(short.signals) and "length" not in plain[0].signals


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: covalence.with_signal(Recency(), 1.0), "two signals called 'recency'"),
        (lambda: covalence.with_signal(Length("keyword"), 1.0), "two signals called 'keyword'"),
        (lambda: trovella.replace(terms=(ReciprocalRank("vector", 1.0),) * 2), "two terms called 'vector'"),
        (lambda: covalence.replace(signals=()), "no signal 'tier', which its term 'tier' reads"),
        (lambda: trovella.replace(terms=(Weighted("fame", 1.0, reads="λ"),)), "no signal 'λ', which its term 'fame'"),
        (lambda: covalence.replace(columns={}), "columns= maps one or more of title, context, text, tags, ident"),
        (lambda: covalence.replace(columns={"titel": 5.0}), "columns= maps one or more of"),
        # A class that the package does not know is named, not left out of a file in silence.
        (lambda: trovella.with_signal(Length(), 0.1).to_toml(), "length is an instance of your own class Length"),
    ],
)
def test_a_profile_that_cannot_work_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        change()


def test_the_formula_and_the_columns():
    """A profile writes its score as the sum that it is, with the published BM25 weights; replace() changes a copy."""
    assert trovella.formula == "1/(60 + keyword_rank) + 1/(60 + vector_rank)"
    assert covalence.formula == (
        "0.9/(60 + vector_rank) + 0.9/(60 + keyword_rank) + 0.18/(60 + tier) + 0.009*title + 0.0033*recency"
    )
    heavy = covalence.replace(name="heavy", columns={"title": 9.0, "text": 1.0})
    assert (heavy.name, heavy.columns["title"], heavy.terms) == ("heavy", 9.0, covalence.terms)
    assert (covalence.name, dict(covalence.columns)) == ("covalence", {"title": 5.0, "text": 1.0})
    assert dict(trovella.columns) == {"title": 1.0, "context": 1.0, "text": 1.0}
    assert covalence.threshold and not trovella.threshold


@pytest.fixture
def mine(tmp_path):

    def write(text):
        file = tmp_path / "mine.toml"
        file.write_text(text, encoding="utf-8")
        return profile_named(str(file))

    return write


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_survives_a_file(mine, name):
    """Written and read again it is the same, without long numbers; each of its parts has a row; numbers are golden."""
    profile, found = PROFILES[name], constants(PROFILES[name])
    assert {one.name for one in found if one.part == "term"} == {term.name for term in profile.terms}
    assert {one.name for one in found if one.part == "signal"} == {signal.name for signal in profile.signals}
    assert {one.name for one in found if one.part == "column"} == set(profile.columns)
    assert {one.form for one in found if one.part == "step"} == {type(step).__name__ for step in profile.steps}
    named = profile.replace(name="mine")
    assert mine(named.to_toml()) == named
    lines = named.to_toml().splitlines()
    numbers = [line.rpartition(" = ")[2] for line in lines if re.fullmatch(r"[^#]* = [-+.0-9e]+", line)]
    assert numbers and [number for number in numbers if len(number) > 6] == []


@pytest.mark.parametrize("name", PROFILES)
def test_a_file_says_every_number(mine, filled_with, name):
    """A saved profile does not follow the defaults of a later version, and its scores are the same to the last bit."""
    profile = PROFILES[name]
    text = profile.replace(name="mine").to_toml()
    held, parts = tomllib.loads(text), {"term": "terms", "term, words alone": "keyword_only", "signal": "signals"}
    for one in constants(profile):
        if one.part in parts and one.constant:
            assert held[parts[one.part]][one.name][one.constant] == one.value
    memories = filled_with(
        {"text": "we scaled the λ prices", "severity": "warning", "tags": ["prices"], "domain": "sales"},
        {"text": "prices of Müller", "valid_until": "2030-01-01", "event_at": "2026-01-01"},
        {"text": "shipping costs"},
    )
    asked = {"tags": ["prices", "λ"], "domain": "sales", "now": "2026-11-21"}
    found, again = (memories.hits("how were prices scaled", profile=one, **asked) for one in (profile, mine(text)))
    assert [repr((hit.memory.id, hit.signals)) for hit in again.hits] == [
        repr((hit.memory.id, hit.signals)) for hit in found.hits
    ]


def test_a_profile_may_have_a_threshold_of_its_own(filled_with):
    """The number of a profile comes before the model's; 0 is a number too."""
    memories = filled_with({"text": "we scaled the prices"}, {"text": "shipping costs"}, embedder="static")
    cosines = sorted(hit.cosine for hit in memories.hits("prices scaled", profile=trovella).hits)
    between = covalence.replace(threshold=sum(cosines) / 2)
    assert [hit.sem_rank for hit in memories.hits("prices scaled", profile=between).hits] == [1]
    lowest, all_of_them = covalence.replace(threshold=-1.0), covalence.replace(threshold=0.0)
    assert len(memories.hits("prices scaled", profile=lowest).hits) == 2
    assert len(memories.hits("prices scaled", profile=all_of_them).hits) == sum(cosine >= 0 for cosine in cosines)


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

    # What the base does not have is added where the file says what it is.
    found = mine(
        'base = "trovella"\n[signals.recency]\nis = "Recency"\nhalf_life_hours = 100\n'
        '[terms.new]\nis = "Weighted"\nweight = 0.01\nreads = "recency"\n'
    )
    assert found.terms == (*trovella.terms, Weighted("new", 0.01, "recency")) and found.signals == (Recency(100.0),)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('base = "covalenc"', r"mine\.toml: base: there is no profile 'covalenc'\. Did you mean 'covalence'\?"),
        ('base = "covalence"\n[terms.vecto]\nweight = 1', r"covalence has no 'vecto'.*Did you mean 'vector'\?"),
        (
            'base = "covalence"\n[terms.vector]\nweigt = 1',
            r"terms\.vector\.weigt is not known\. Did you mean 'weight'\?",
        ),
        ('base = "covalence"\n[terms.vector]\nweight = "λ"', r"terms\.vector\.weight must be a number, not 'λ'"),
        ('base = "covalence"\n[terms.vector]\nweight = inf', r"terms\.vector\.weight must be finite"),
        ('base = "covalence"\n[terms.vector]\nweight = true', "must be a number, not True"),
        ('base = ["covalence"]', r"base: there is no profile \['covalence'\]"),
        ('base = "covalence"\nterms = 3', "terms must be a table, not 3"),
        ('base = "covalence"\n[columns]\ntitl = 3', r"columns\.titl is not known\. Did you mean 'title'\?"),
        ('base = "covalence"\n[fetch]\nfactr = 3', r"fetch\.factr is not known\. Did you mean 'factor'\?"),
        ('base = "covalence"\nthreshold = "0.3"', r"threshold must be a number, not '0\.3'"),
        ('base = "covalence"\nthreshold = 3', r"threshold is true, false or a cosine from -1 to 1, not 3\.0"),
        ('base = "covalence"\ntresholt = true', r"tresholt is not known\. Did you mean 'threshold'\?"),
        ('base = "covalence"\nwithout = ["titel"]', "covalence has no term 'titel'"),
        ('base = "trovella"\n[terms.x]\nis = "Weigthed"\nweight = 1', r"is = 'Weigthed'.*Did you mean 'Weighted'\?"),
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


def test_the_bytes_of_a_file(tmp_path):
    """A file that begins with the mark of Windows' editors is read; one that is not UTF-8, or a folder, is told so."""
    (tmp_path / "müller.toml").write_text('base = "covalence"\nsummary = "λ"', encoding="utf-8-sig")
    assert profile_named(str(tmp_path / "müller.toml")).summary == "λ"
    (tmp_path / "latin.toml").write_text('base = "covalence"\nsummary = "ü"', encoding="latin-1")
    with pytest.raises(InputError, match=r"latin\.toml is not UTF-8"):
        profile_named(str(tmp_path / "latin.toml"))
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(UnknownProfile, match="cannot be read"):
        profile_named(str(tmp_path / "folder.toml"))


NAMES = st.text(min_size=1, max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32)
FORMS = (ReciprocalRank, ReciprocalValue, Weighted, MinMax)


@given(
    forms=st.lists(st.tuples(st.sampled_from(FORMS), NUMBERS), min_size=1, max_size=4),
    names=st.lists(NAMES, min_size=4, max_size=4, unique=True),
    columns=st.dictionaries(st.sampled_from(COLUMNS), NUMBERS, min_size=1),
    summary=st.text(max_size=20),
)
def test_any_profile_survives_a_file(tmp_path_factory, forms, names, columns, summary):
    """Whatever the weights, names and columns, a file holds them exactly."""
    parts = tuple(form(name, weight, reads="keyword") for (form, weight), name in zip(forms, names, strict=False))
    made = vault.replace(name="mine", summary=summary, terms=parts, keyword_only=(), columns=columns)
    file = tmp_path_factory.mktemp("toml") / "mine.toml"
    file.write_bytes(made.to_toml().encode("utf-8"))
    assert profile_named(str(file)) == made


def test_the_file_in_the_guide_to_ranking(mine):
    """The example of the guide is a profile, with all that its comments promise."""
    page = (Path(__file__).parents[2] / "docs" / "ranking.md").read_text(encoding="utf-8")
    found = mine(page.partition("```toml\n")[2].partition("```")[0])
    assert [term.name for term in found.terms] == ["vector", "keyword", "title", "recency", "marked"]
    assert found.terms[0] == ReciprocalRank("vector", 0.5, 20.0)
    assert dict(found.columns) == {"title": 5.0, "text": 1.0, "tags": 2.0}
    assert found.fetch(10) == 60 and not found.threshold
