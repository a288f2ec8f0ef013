"""What pairs are taken from Python, documents and dictionaries."""

import gzip
import zipfile

from training.dictionaries import dictd_pairs, manual_pairs, wordnet_pairs
from training.documents import document_pairs
from training.extract import folder_pairs, wheel_pairs
from training.markup import Block, html_blocks, markdown_blocks, rst_blocks
from training.pairs import Pair, capped, distinct
from training.python_code import python_pairs

MODULE = '''
def fill_missing_months(frame, freq="MS"):
    """Fill the months in which a meter in Zürich was not read. Nothing else changes.

    The values between two readings are put on a straight line, which no bill may be written from.
    """
    # a month without a reading has no row
    months = pd.date_range(frame.index.min(), frame.index.max(), freq=freq)
    return frame.reindex(months).interpolate()
'''


def _by_kind(pairs):
    return {pair.kind: pair for pair in pairs}


def test_python_gives_docstrings_names_and_comments():
    """Each meets the code without it: no word of a question is in its answer. What cannot be parsed has no pairs."""
    pairs = _by_kind(python_pairs(MODULE))
    docstring, name, comment = (pairs[kind] for kind in ("docstring", "name", "comment"))
    assert docstring.question == "Fill the months in which a meter in Zürich was not read."
    assert "frame.reindex(months)" in docstring.answer and "not read" not in docstring.answer
    # The words of the name are the question; in the answer the function is called f.
    assert name.question == "fill missing months" and "def f(frame" in name.answer
    assert (comment.question, comment.answer.split(" = ")[0]) == ("a month without a reading has no row", "months")
    assert list(python_pairs("def broken(:\n    pass")) == []


def test_markdown_gives_heading_and_section_and_text_and_code():
    """A heading meets the paragraph below it, and that paragraph the code below it."""
    text = "# Reading the meters\n\nEvery day the meters of the λ plant are read, and it is stored.\n\n```\nread()\n```"
    pairs = _by_kind(document_pairs(markdown_blocks(text)))
    assert pairs["heading-text"].question == "Reading the meters"
    assert pairs["heading-code"].answer == "read()"
    assert pairs["text-code"].question.startswith("Every day")


def test_other_markup():
    """reStructuredText has headings and code, without options; HTML has terms with definitions, without menus."""
    text = (
        "Meters\n======\n\nRead them::\n\n    read()\n\n.. code-block:: python\n   :linenos:\n\n   store()\n\nDone.\n"
    )
    assert list(rst_blocks(text)) == [
        Block("heading", "Meters"), Block("text", "Read them:"), Block("code", "read()"), Block("code", "store()"),
        Block("text", "Done."),
    ]  # fmt: skip
    html = "<nav><p>Home</p></nav><dl><dt>--wait</dt><dd>Waits until every table has been written.</dd></dl>"
    blocks = list(html_blocks(html))
    assert blocks == [Block("term", "--wait"), Block("text", "Waits until every table has been written.")]
    assert _by_kind(document_pairs(blocks))["option"].answer == "--wait"


def test_wordnet_gives_glosses_of_words_but_not_of_names(tmp_path):
    """The words of a sense meet its gloss and each other; a name, in capitals, meets nothing."""
    (tmp_path / "data.noun").write_text(
        "  1 licence\n"
        '001 06 n 02 meter 0 gauge 0 000 | an instrument that measures; "read the meter every month"\n'
        "002 06 n 01 Zurich 0 000 | the largest city of Switzerland\n"
    )
    for part in ("verb", "adj", "adv"):
        (tmp_path / f"data.{part}").write_text("")
    pairs = list(wordnet_pairs(tmp_path))
    assert Pair("meter, gauge", "an instrument that measures", "gloss") in pairs
    assert Pair("meter", "gauge", "synonym") in pairs
    assert not any("Switzerland" in pair.answer for pair in pairs)


def test_a_dictionary_of_dictd_gives_an_entry_a_word(tmp_path):
    """A dictionary gives an entry a word, a manual page its line and its options."""
    path = tmp_path / "small.dict.dz"
    said = b"00-database-info\n   a small dictionary\nkludge\n   What works for the wrong reason, as a rule.\n"
    path.write_bytes(gzip.compress(said))
    assert [pair.question for pair in dictd_pairs(path)] == ["kludge"]
    head = ".Nm sync\n.Nd force completion of pending disk writes\n"
    pairs = _by_kind(manual_pairs(f"{head}.Bl\n.It Fl q\nBe quiet about what was written.\n.El\n"))
    assert pairs["command"].question == "force completion of pending disk writes"
    assert pairs["option"].answer == "sync -q"


def test_a_wheel_gives_pairs_of_its_own_modules_alone(tmp_path):
    """A vendored copy of another library, and a file that quotes a judged book, give none."""
    path = tmp_path / "meters-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("meters/fill.py", MODULE)
        wheel.writestr("meters/_vendor/other.py", MODULE.replace("fill_missing_months", "vendored_copy_here"))
        wheel.writestr("meters/book.py", MODULE.replace("fill_missing_months", "from_the_book") + "# handson-ml")
    pairs = list(wheel_pairs(path))
    assert {pair.source for pair in pairs} == {"meters"}
    assert [pair.question for pair in pairs if pair.kind == "name"] == ["fill missing months"]


def test_the_page_of_a_source_that_is_there_is_not_read_twice(tmp_path):
    page = tmp_path / "doc" / "page.html"
    source = tmp_path / "doc" / "_sources" / "page.rst.txt"
    source.parent.mkdir(parents=True)
    paragraph = "Every morning the meters are read, and that is stored by the hour of the day."
    source.write_text(f"Reading meters\n==============\n\n{paragraph}\n")
    page.write_text(f"<h1>Reading all meters</h1><p>{paragraph}</p>")
    assert [pair.question for pair in folder_pairs(tmp_path)] == ["Reading meters"]


def test_copies_and_questions_that_are_asked_often_are_left_out():
    """A copy says nothing; of one question with many answers, three are kept."""
    often = [Pair("Return the name.", f"answer {number} of many", "docstring", "a") for number in range(5)]
    copies = [
        Pair("Read the meters.", "read( )", "docstring", "a"),
        Pair("read the meters.", "read()", "docstring", "b"),
    ]
    assert len(list(distinct(often))) == 3
    assert len(list(distinct(copies))) == 1
    assert len(list(capped([*often, *copies]))) == 2
