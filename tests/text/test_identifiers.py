"""Identifiers, names and CJK text, taken apart in the same way when indexed and when searched."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_memory.search import parse
from jupyter_memory.text import (
    IDENTIFIER,
    bigrams,
    context,
    ident_column,
    ident_columns,
    is_compound,
    parts,
    plainer,
    short,
    short_path,
    without_cjk,
    words_within,
)

STRETCHES = (
    "a", "B", "price", "Price", "PRICE", "HTTPServer", "1", "2026", "_", "__", ".", "..", " ", "\n", "-", "(", "x1",
    "df.groupby", "__init__", "self._x", "λ", "Größe", "東京の売上",
)  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(STRETCHES), max_size=12).map("".join), st.text(max_size=20))


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        ("FileSyncService", ["file", "sync", "service"]), ("HTTPServer2", ["http", "server", "2"]),
        ("parseJSON", ["parse", "json"]), ("JSON", ["json"]), ("snake_case_name", ["snake", "case", "name"]),
        ("__init__", ["init"]), ("df.groupby", ["df", "groupby"]), ("1.0.21", ["1", "0", "21"]), ("Zürich", ["zürich"]),
        ("Größe", ["größe"]), ("ÜbersichtFürŁódź", ["übersicht", "für", "łódź"]), ("λMax", ["λ", "max"]),
        ("Δprice", ["δprice"]), ("GPU東京", ["gpu", "東京"]), ("", []),
    ],
)  # fmt: skip
def test_parts(identifier, expected):
    """An identifier falls apart at capitals, digits, underscores and dots; an umlaut is a letter like any other."""
    assert parts(identifier) == expected
    assert is_compound(identifier) == (len(expected) > 1)


@given(
    word=st.text(st.characters(categories=["Lu", "Ll", "Lo", "Nd"]), min_size=1),
    small=st.text(st.characters(categories=["Ll"]), min_size=2),
)
def test_parts_hold_the_whole_word(word, small):
    """Nothing of a word is lost or told twice; one in small letters of any alphabet is not taken apart."""
    assert "".join(parts(word)) == word.lower()
    assert parts(small) == [small.lower()] and ident_column(small) == " ".join(plainer(small))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("データの前処理", ["デー", "ータ", "タの", "の前", "前処", "処理"]),
        ("東京都 tower 塔", ["東京", "京都", "塔"]), ("서울 매출", ["서울", "매출"]),
        ("人々が", ["人々", "々が"]), ("𠮟る", ["𠮟る"]), ("Zürich λ 🚚", []),
    ],
)  # fmt: skip
def test_bigrams(text, expected):
    """Pairs of characters, run by run; a character alone stands for itself."""
    assert bigrams(text) == expected


@given(text=st.text(st.sampled_from("ab 東京都の")))
def test_cjk_and_the_rest_make_the_text(text):
    """What is not left over by without_cjk is in the bigrams."""
    left = without_cjk(text)
    assert bigrams(left) == [] and set("".join(bigrams(text))) | set(left) >= set(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FileSyncService(df.groupby)", "FileSyncService file sync service df.groupby dfgroupby"),
        ("version 1.0.21", "1.0.21 1021"),
        ("sync_queue.flush()", "sync_queue.flush syncqueueflush"),
        ("The prices in Zürich rose", ""),
        ("価格を見る", "価格 格を を見 見る る"),
        ("pandasの使い方", "pandas の使 使い い方 方"),
        ("東京SalesReport2026年", "SalesReport2026 sales report 2026 東京 年 京"),
        ("FileSync FileSync", "FileSync file sync"),
        ("xY" * 101, ""),
    ],
)
def test_ident_column(text, expected):
    """Identifiers whole and, where the index cannot, in parts; each once; blobs and plain words not at all."""
    assert ident_column(text) == expected


@given(
    pieces=st.lists(st.sampled_from(["File", "Sync", "HTTP", "Über", "Zürich"]), min_size=2, unique=True),
    more=st.sampled_from(["", " of λ", "東京", "(x)"]),
)
def test_what_is_looked_for_is_what_was_indexed(pieces, more):
    """An identifier stands in the column whole and in parts, even where CJK text touches it."""
    name = "".join(pieces)
    column = ident_column(name + more).lower().split()
    whole, in_parts, *each = parse(name, now=datetime.now(UTC)).terms.words
    assert whole in column and in_parts in " ".join(column) and set(each) <= set(column)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("df.groupby('shop')", ["df.groupby", "shop"]),
        ("1.0.21. And", ["1.0.21", "And"]),
        ("_private __init__", ["_private", "__init__"]),
        ("a.b.c...d", ["a.b.c", "d"]),
        ("Größe=λ", ["Größe", "λ"]),
        ("___ ...", []),
    ],
)
def test_identifiers_in_a_text(text, expected):
    """Word characters joined by dots are one identifier; the full stop of a sentence is not part of it."""
    assert IDENTIFIER.findall(text) == expected


def test_decomposed_hangul_is_indexed_as_composed():
    """Text in the form that macOS gives file names (NFD) has the bigrams and words of the same text composed."""
    text = "서울 가격표 für Zürich_Größe"
    assert ident_column(normalize("NFD", text)) == ident_column(text)
    assert "가격" in ident_column(normalize("NFD", text)).split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the ﬁle of the oﬃce", ["file", "office"]), ("12 m² of CO₂ in Zürich", ["m2", "CO2"]),
        ("5 µg at ϵ = λ", ["μg", "ε"]), ("ｐｒｉｃｅ", ["price"]),
        ("wait… 5\u00a0%, Zu\u0308rich, 価格", []), ("plain", []),
    ],
)  # fmt: skip
def test_words_in_plain_characters(text, expected):
    """Ligatures, raised digits and wide letters are told in plain characters; accents and alphabets stay."""
    assert plainer(text) == expected
    assert set(expected) <= set(ident_column(text).split())


ODD = ["_a._b.c.d __x.y ___.z a.___ 1.0.21", "", "...", "Größe_in_Zürich", "a_b – c\nd_e\n\nλ_f\ng.h\n東京"]


@given(texts=st.lists(TEXTS, max_size=6))
@example(texts=ODD)
@example(texts=[f"load_prices(week_{number}).meanPrice" for number in range(10_000)])
def test_one_by_one(texts):
    """Many texts, which are looked through portion by portion, have the columns that they have one by one."""
    assert ident_columns(texts) == [ident_column(text) for text in texts]


@given(TEXTS)
@example("__a___b _.c a.__b ..._x")
def test_a_run_of_underscores_is_looked_at_once(text):
    """The pattern finds what a plain one finds that looks at each underscore again."""
    plain = re.compile(r"[^\W_]\w*(?:\.\w+)*|_+[^\W_]\w*")
    assert IDENTIFIER.findall(text) == plain.findall(text)


CUT, LONGEST = "…", 200


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
    path = context("", headings)
    assert len(path) <= 2_000
    if path != " > ".join(headings):
        assert path.startswith(short(headings[0])) and path.endswith(f" > {short(headings[-1])}")
    # Markdown has six levels: each of them stays visible, however long it is.
    assert context("", ["Prices " * 1_000] * 6).count(" > ") == 5


@given(st.text(st.sampled_from("ab "), max_size=60), st.integers(0, 60))
def test_words_are_left_out_whole(text, length):
    """What does not fit is left out by the word: the beginning of a secret is a secret."""
    kept = words_within(text, length)
    assert set(kept.removesuffix(CUT).split()) <= set(text.split())
