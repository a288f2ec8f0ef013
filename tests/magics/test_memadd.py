"""What %memadd remembers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest


def test_the_text_is_kept_as_written(shell) -> None:
    """Spaces, quotes and signs of the line are kept; options are taken out of it."""
    memory = shell.run('%memadd  Müller said  "λ = 0.3" --tag people  and   left').memory

    assert memory.text == 'Müller said  "λ = 0.3" and   left'
    assert memory.tags == ("people",)


def test_quotes_around_the_whole_text_go(shell) -> None:
    """Quotes around the whole text are not part of it."""
    assert shell.run('%memadd "we use λ = 0.3" --tag x').memory.text == "we use λ = 0.3"


def test_a_question_is_remembered_as_asked(shell) -> None:
    """A text that ends in a question mark keeps it, and no space before it."""
    assert shell.run("%memadd why is λ negative?").memory.text == "why is λ negative?"


def test_the_body_of_a_cell(shell) -> None:
    """A cell's body is the text, line breaks, semicolons and all."""
    memory = shell.run('%%memadd --title "Cleaning" --tag a --tag "b c"\nx = df.dropna();\n\n  y = 1;\n').memory

    assert memory.text == "x = df.dropna();\n\n  y = 1;"
    assert (memory.title, memory.tags) == ("Cleaning", ("a", "b c"))


def test_all_options(shell) -> None:
    """Each option lands in its field."""
    memory = shell.run(
        '%memadd --title T --tag a --space lab --session s1 --severity warning --domain "price data" '
        "--event-at 2026-03-02T10:00Z --pin the λ text"
    ).memory

    assert memory.text == "the λ text"
    assert (memory.space, memory.session, memory.severity, memory.domain) == ("lab", "s1", "warning", "price data")
    assert memory.event_at == datetime(2026, 3, 2, 10, tzinfo=UTC)
    assert (memory.pinned, memory.tier) == (True, "core")


def test_when_it_happened(shell) -> None:
    """`--on` takes words for a time."""
    memory = shell.run("%memadd --on yesterday we moved the λ").memory

    assert timedelta(0) < datetime.now(UTC) - memory.event_at < timedelta(hours=50)


def test_it_says_what_it_remembered(shell, capsys) -> None:
    """The result shows as one line with the id and the title."""
    capsys.readouterr()
    result = shell.run("%memadd --title Prices net of tax")

    assert repr(result) == f"remembered {result.memory.id} “Prices”"
    assert capsys.readouterr().out.count("\n") == 1


def test_a_semicolon_silences_and_goes(shell, capsys) -> None:
    """A `;` at the end of the line shows nothing, and is not remembered."""
    assert shell.run("%memadd prices are net;") is None
    assert capsys.readouterr().out == ""
    assert shell.run("%memsearch").iloc[0]["snippet"] == "prices are net"


def test_known_text_is_not_stored_twice(shell) -> None:
    """The same text again is the same memory, with the new tag."""
    first = shell.run("%memadd --tag a we use λ").memory
    again = shell.run("%memadd --tag b we use λ").memory

    assert first.id == again.id
    assert set(again.tags) == {"a", "b"}


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("%memadd", "nothing to remember"),
        ("%memadd --tag x", "nothing to remember"),
        ("%%memadd --tag x\n  \n", "nothing to remember"),
        ("%%memadd My title\nbody", "--title"),
        ("%memadd --severity bad text", "there is no 'bad'"),
        ("%memadd --on neverland text", "2025-03-31"),
        ('%memadd "open', "not closed"),
        ("%memadd text --titel x", "Did you mean --title?"),
    ],
)
def test_mistakes_are_one_line(shell, cell: str, says: str) -> None:
    """A mistake is one line that says what to do, and nothing is stored."""
    assert says in shell.mistake(cell)
    assert shell.run("%memsearch").empty


def test_secrets_are_not_stored(shell) -> None:
    """A token in the text is replaced before it is stored."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

    assert token not in shell.run(f"%memadd the token is {token}").memory.text


def test_known_text_is_said_to_be_known(shell) -> None:
    """What is added again is not stored again, and the line says so; its tags are merged."""
    first = shell.run("%memadd net of tax --tag a")
    again = shell.run("%memadd net of tax --tag ü")

    assert str(again) == f"known already, so not stored again: {first.memory.id} “net of tax”, tagged a, ü"
    assert set(again.memory.tags) == {"a", "ü"}
