"""The words that name days, months and counts, and the patterns that they make."""

from __future__ import annotations

from jupyter_memory.times.numerals import CARDINAL, ORDINAL

_MONTH_WORDS = "january february march april may june july august september october november december"
_MONTH_NAMES = _MONTH_WORDS.split()
_DAY_NAMES = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, start=1)}
MONTHS |= {name[:3]: number for name, number in MONTHS.items()} | {"sept": 9}
DAYS = {name: number for number, name in enumerate(_DAY_NAMES)} | {
    short: number for number, shorts in enumerate(("mon", "tue tues", "wed", "thu thur thurs", "fri"))
    for short in shorts.split()
}  # fmt: skip
MONTH = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
DAY = rf"(?:{'|'.join(sorted(DAYS, key=len, reverse=True))})\b"
YEAR = r"(?:19[7-9]\d|20\d\d)(?![\d:]|[.,]\d)"
DATE = rf"(?:(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?![\w%:]|[.,]\d)|{ORDINAL})"
UNIT = r"(?:day|week|month|quarter|year)"
_FEW = r"(?:a )?(?:couple(?: of)?|few|several)"
COUNT = rf"(?:{_FEW}|{CARDINAL})"
LAST = r"(?:last|past|previous|prior)"
