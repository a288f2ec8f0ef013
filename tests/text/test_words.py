"""Words taken apart: identifiers, names and CJK text, forms of a word, the language of a question, tokens."""

import re
from datetime import UTC, datetime
from unicodedata import normalize

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_memory.embedders import tokens
from jupyter_memory.search import parse
from jupyter_memory.text import (
    IDENTIFIER,
    asked_in,
    bigrams,
    context,
    estimated_tokens,
    forms,
    halves,
    ident_column,
    is_compound,
    is_form,
    parts,
    plainer,
    short,
    short_path,
    without_cjk,
    without_elision,
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
        ("version 1.0.21. And", "1.0.21 1021"), ("sync_queue.flush()", "sync_queue.flush syncqueueflush"),
        ("The prices in Zürich rose", ""), ("価格を見る", "価格 格を を見 見る る"),
        ("pandasの使い方", "pandas の使 使い い方 方"),
        ("東京SalesReport2026年", "SalesReport2026 sales report 2026 東京 年 京"),
        ("FileSync FileSync", "FileSync file sync"), ("xY" * 101, ""), ("a.b.c...d ___", "a.b.c abc"),
    ],
)  # fmt: skip
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


FORMS = {
    "german": "Preise=Preis Häuser=haus Groesse=Größe normalisiert=Normalisierung normalisierbarer=normalisierbare "
    "wiederholt=Wiederholung Ausreißern=ausreisser",
    "french": "normaliser=normalisation étalonner=étalonné classifier=classification",
    "spanish": "calibrar=calibración clasifican=clasificación atípica=atípicos",
}
OTHERS = {"german": "Preisliste=Preis", "french": "mesure=message", "spanish": "casa=caso_base"}
# The index itself leaves out accents, but not ß.
WRITTEN = {
    "german": "Ergebnis=ergebnisse Größe=groesse Groesse=große",
    "french": "étalonné=étalonner classification=classifier",
    "spanish": "medición=mediciones",
}


def pairs(table):
    return [(language, *pair.split("=")) for language, text in table.items() for pair in text.split()]


@pytest.mark.parametrize(("language", "first", "second"), pairs(FORMS))
def test_forms_of_one_word(language, first, second):
    assert is_form(first, second, language) and is_form(second, first, language)


@pytest.mark.parametrize(("language", "first", "second"), pairs(OTHERS))
def test_others_are_no_forms(language, first, second):
    assert not is_form(first, second, language)


@pytest.mark.parametrize(("language", "word", "written"), pairs(WRITTEN))
def test_forms_are_written_out(language, word, written):
    assert written in forms(word, language)


def test_what_has_no_forms():
    odd = ("und", "df", "λ3", "snake_case", "", "v2x4", "İstanbul", "Größe\u0308", "Ꞵreise", "Λάμδα")
    assert [word for word in odd if forms(word, "german")] == []
    # An -s- or -n- between the parts belongs to neither.
    assert ("vertrag", "laufzeit") in halves("Vertragslaufzeit") and list(halves("Preis")) == []


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie haben wir die Preise in Zürich normalisiert?", "german"),
        ("Qui a décidé de retirer la météo du modèle ?", "french"),
        ("¿Por qué los contadores enviaron lo mismo?", "spanish"),
        *((text, None) for text in ("how did we normalise the prices in Zürich", "what was the war on will in art")),
        *((text, None) for text in ("los angeles prices for the die shrink", "convert EST to UTC", "Preise Zürich")),
        *((text, None) for text in ("del df['λ']; close()", "SELECT des FROM par", "価格の正規化", "se λ")),
    ],
)
def test_the_language_of_a_question(question, language):
    """Function words tell a language; English, code, bare words and what two languages share tell none of these."""
    assert asked_in(question).language == language


def test_english_is_told_from_nothing():
    """A question with English function words is English; words alone may be in any language."""
    assert asked_in("how did we scale the prices").is_english
    assert not asked_in("prices λ").is_english and not asked_in("Wie war das mit the merge?").is_english
    # A word that code or a name has as well counts as one; whoever reads this asks for two.
    assert asked_in("λ = con.execute(query)").words == 1
    # What leans on a French word is taken off, and no more than that.
    words = {"l'écart": "écart", "qu’une": "une", "aujourd'hui": "aujourd'hui", "d'": "d'", "écart": "écart"}
    assert {word: without_elision(word) for word in words} == words


PROSE = (
    "We decided to drop the rows of refunds before we computed the quarterly means, because a refund has a negative "
    "price and pulls the mean down. The accountants confirmed this in March."
)
CODE = """\
def monthly(prices: pd.DataFrame, column: str = "net_price") -> pd.Series:
    by_month = prices.groupby(prices["sold_at"].dt.to_period("M"))[column]
    return (by_month.mean() - by_month.mean().mean()) / by_month.std()
"""
TABLE = """\
         net_price  sold_at
count  1204.000000     1204
mean     17.382911      NaN
"""
CHINESE = "我们在计算季度平均值之前删除了退款的行，因为退款的价格是负数。"
JAPANESE = "四半期の平均を計算する前に、返金の行を削除しました。"

# What the tokenizers o200k_base, cl100k_base, Claude 2's and Gemma 3's count: their vocabularies are too large to ship.
COUNTED = {PROSE: (35, 36, 38, 35), CODE: (61, 60, 75, 77), TABLE: (31, 30, 29, 42)}
COUNTED |= {CHINESE: (20, 31, 28, 21), JAPANESE: (21, 27, 23, 16)}


@pytest.mark.parametrize("text", COUNTED, ids=["prose", "code", "table", "Chinese", "Japanese"])
def test_is_not_below_any_tokenizer_and_at_most_twice_the_median(text: str) -> None:
    """What a text costs depends on the model that reads it."""
    counted = sorted(COUNTED[text])
    assert counted[-1] <= estimated_tokens(text) <= 2 * counted[1]


def test_an_estimate_rather_errs_upwards() -> None:
    """It is not below the word pieces of the bundled model; code is denser than prose, joined lines are no dearer."""
    # To the bundled model each mark is a token, so it has more of them for code.
    assert all(estimated_tokens(text) >= tokens([text]).ids.size for text in (PROSE, TABLE))
    dense = [estimated_tokens(text) / len(text) for text in (PROSE, CODE, "17.382911,1204,0.99812\n")]
    assert dense == sorted(dense)
    for text in COUNTED:
        lines = text.splitlines()
        assert estimated_tokens("\n".join(lines)) <= sum(map(estimated_tokens, lines)) + len(lines) - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 1), ("=" * 80, 5), ("():", 2), (" " * 40, 3), ("1204", 4), ("🎉", 3), ("\n\n    ", 1)],
)
def test_edges(text: str, expected: int) -> None:
    assert estimated_tokens(text) == expected
