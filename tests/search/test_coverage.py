"""Tests of what speaks for a hit."""

import os
import subprocess
import sys

_PROGRAM = """
from datetime import UTC, datetime
from jupyter_memory.search.confidence import covered
from jupyter_memory.search.query.parser import parse

class Corpus:
    chunks = 1000
    def words(self, text):
        return text.lower().split()
    def frequencies(self, words):
        return {word: 7 + 13 * place for word in words for place, known in enumerate(WORDS) if known == word}

WORDS = "λ poisson prices zürich shop forecast variance night orders hour mean row groupby transform".split()
query = parse(" ".join(WORDS), now=datetime(2026, 3, 6, tzinfo=UTC))
texts = [" ".join(WORDS[start::step]) for step in (1, 2, 3) for start in range(8)]
print([share.hex() for share in covered(query.terms, Corpus(), texts)])
"""


def test_coverage_is_the_same_in_every_process():
    """Not even its last digit depends on the order that a process gives to its sets."""
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in (1, 2, 3)
    ]
    told = [program.communicate(timeout=100)[0] for program in programs]

    assert [program.returncode for program in programs] == [0, 0, 0]
    assert told[0].count("0x") == 24
    assert len(set(told)) == 1
