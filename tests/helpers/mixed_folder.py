"""A folder of 200 files of 60 kinds, with a question for each kind: ``mixed_folder.toml``."""

import sqlite3
import tomllib
import zipfile
from contextlib import closing
from pathlib import Path

from pdfs import pdf_of

KINDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["kind"]
FILES = 200
SUBJECTS = (
    "ferry", "granary", "quarry", "weir", "orchard", "tannery", "signal box", "ropewalk", "brewery", "lighthouse",
    "mill", "vineyard", "smokehouse", "foundry",
)  # fmt: skip
PLACES = ("Aldsum", "Borgund", "Cressier", "Dornum", "Eferding", "Fanas", "Gimmelwald", "Hallig", "Isel", "Jork")


def write_mixed_folder(folder: Path) -> dict[str, Path]:
    """Write the files, in folders by no order; return by its question the file that answers it."""
    answers = {}
    for number in range(FILES):
        kind = KINDS[number % len(KINDS)]
        subject, place = SUBJECTS[number % len(SUBJECTS)], PLACES[number % len(PLACES)]
        fact = kind["fact"] if number < len(KINDS) else f"The {subject} in {place} was inspected: no news."
        path = folder / f"box {number % 7}" / f"n{number:03}{kind['name']}"
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, kind, fact, number)
        if number < len(KINDS):
            answers[kind["question"]] = path
    return answers


def _write(path: Path, kind: dict[str, str], fact: str, number: int) -> None:
    column = "_".join(fact.rstrip(".").split()[:5])
    if "text" in kind:
        text = kind["text"].replace("@@", fact).replace("@id@", str(number)).replace("@columns@", column)
        path.write_bytes(text.lstrip("\n").encode(kind.get("encoding", "utf-8")))
    elif path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f'create table t{number} (id integer, "{column}" real)')
            connection.commit()
    elif path.suffix == ".xlsx":
        import openpyxl

        book = openpyxl.Workbook()
        for row in [(column, "station_id"), *((place / 2, place) for place in range(5))]:
            book.active.append(row)
        book.save(path)
    elif path.suffix == ".odt":
        spaces = 'xmlns:office="urn:o:office" xmlns:text="urn:o:text"'
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("content.xml", f"<office:d {spaces}><text:p>{fact.replace('&', '')}</text:p></office:d>")
    elif path.suffix == ".pdf":
        path.write_bytes(pdf_of(["First page.", fact]))
    else:
        import docx

        document = docx.Document()
        document.add_paragraph("Present: all.")
        document.add_paragraph(fact)
        document.save(str(path))
