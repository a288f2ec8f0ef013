"""Whether the first row of a table names its columns. When in doubt it is a row like the others, and is not told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from jupyter_memory.ingest.readers.data.values import EMPTY, TEXT, is_value, type_of, type_of_all

Row = Sequence[str]

# Rows below the first that settle it where one column is of numbers or dates.
_ENOUGH = 3
# Rows above a table that may be its title and notes, and rows by which its width is judged.
_LONGEST_PREAMBLE, _LOOKED_AT = 10, 50
# Names of columns that are written as identifiers: snake_case, camelCase, a.b.
_IDENTIFIER = re.compile(r"[^\W\d_]+(?:[_.][^\W_]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+")
_BRACKETS = re.compile(r"\s*[\[(][^\[\]()]{0,20}[\])]\s*$")
# What columns are called all over the world. A row of data hardly consists of such words.
_WORDS = """
    id ids key code index number no nr num name names title label description text comment comments note notes type kind
    class category group status state flag date time datetime timestamp day week month year hour minute second start end
    begin from to value values amount quantity qty count total sum mean price cost rate ratio score rank weight height
    width length size area volume age sex gender first last firstname lastname surname email mail phone address street
    city town zip postcode country region state province latitude longitude lat lon lng x y z user customer client
    product item order invoice account company department employee manager vendor supplier shop store station sensor
    device model version source target url link path file filename temperature temp humidity pressure speed distance
    currency unit units language lang parent child level tag tags owner author created updated modified deleted active
    revenue sales profit income salary budget balance discount tax method result results variable parameter response
    question answer sample species population birth birthday birthdate
    nummer bezeichnung beschreibung datum uhrzeit zeit jahr monat tag stunde wert betrag menge anzahl summe preis kosten
    kunde kundennummer produkt artikel bestellung rechnung konto firma ort stadt plz land straße vorname nachname
    geschlecht alter gewicht höhe breite länge größe einheit währung umsatz
    nom prénom prenom titre libellé date heure année annee mois jour valeur montant quantité prix coût client produit
    commande facture compte ville pays adresse région unité
    nombre apellido fecha hora año mes día valor importe cantidad precio coste cliente producto pedido factura cuenta
    ciudad país dirección provincia unidad
"""
_COMMON = frozenset(_WORDS.split())


def header_of(rows: Sequence[Row]) -> Row | None:
    """Return the first row if it surely names the columns of the others, else None.

    It does if all its cells could be names, each another, and if it is of another kind than the rows below it: text
    above numbers or dates, or the words and spellings of names above plain text.
    """
    if not rows:
        return None
    first, below = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    names = [cell.strip() for cell in first]
    written = [name for name in names if name]
    if not written or len(written) < len(names) - 1 or len(set(written)) < len(written):
        return None
    if any(map(is_value, written)):
        return None
    if _recurs(names, below):
        return None
    like_names = sum(map(_is_like_name, written)) / len(written)
    if like_names == 1:
        return first
    if _stands_apart(names, below):
        return first if like_names >= 0.25 or (len(below) >= _ENOUGH and not _reads_as_data(names, below)) else None
    return first if like_names >= 0.5 else None


def without_preamble(rows: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of a table without a title and notes above it: rows with hardly half as many cells as most."""
    filled = [sum(1 for cell in row if cell.strip()) for row in rows[:_LOOKED_AT]]
    usual = Counter(filled).most_common(1)[0][0] if filled else 0
    begin = next((place for place, count in enumerate(filled) if 2 * count > usual), 0)
    return rows[begin:] if begin <= _LONGEST_PREAMBLE else rows


def types_of(rows: Sequence[Row], width: int) -> list[str]:
    """Return the type of each column by some of its rows."""
    return [type_of_all(type_of(row[place]) for row in rows if place < len(row)) for place in range(width)]


def _is_like_name(name: str) -> bool:
    bare = _BRACKETS.sub("", name)
    if _IDENTIFIER.fullmatch(bare):
        return True
    words = re.findall(r"[^\W\d_]+", bare.lower())
    return bool(words) and len(words) <= 5 and any(word in _COMMON for word in words)


def _stands_apart(names: Row, below: Sequence[Row]) -> bool:
    """Return whether a text is above a column of numbers, dates or the like."""
    types = types_of(below, len(names))
    return any(type_ not in (TEXT, EMPTY) for name, type_ in zip(names, types, strict=True) if name)


def _reads_as_data(names: Row, below: Sequence[Row]) -> bool:
    """Return whether most of the texts above columns of text look like these: in capitals, of as many words."""
    types = types_of(below, len(names))
    texts = [place for place, type_ in enumerate(types) if type_ == TEXT and names[place]]
    alike = [place for place in texts if any(_shape(row[place]) == _shape(names[place]) for row in below)]
    return bool(texts) and 2 * len(alike) >= len(texts)


def _recurs(names: Row, below: Sequence[Row]) -> bool:
    return any(row[place].strip() == name for row in below for place, name in enumerate(names) if name)


def _shape(cell: str) -> str:
    """Return how a text is written: ``Aa Aa`` for a name of two words."""
    shape = re.sub(r"[^\W\d_]", lambda one: "A" if one[0].isupper() else "a", cell.strip())
    return re.sub(r"(.)\1+", r"\1", shape)
