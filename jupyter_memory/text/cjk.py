"""Text of scripts that are written without spaces, taken apart in the same way when indexed and when searched."""

from __future__ import annotations

import re

# Kana, Han (with extensions), Hangul, Thai.
_CJK = re.compile(
    r"[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f\U00020000-\U0002ffff]+"
)


def runs(text: str) -> list[str]:
    """Return the stretches of a text in these scripts.

    >>> runs("東京都 tower 塔")
    ['東京都', '塔']
    """
    return _CJK.findall(text)


def bigrams(text: str) -> list[str]:
    """Return overlapping pairs of the CJK runs of a text; a run of one character stands alone.

    >>> bigrams("東京都 tower 塔")
    ['東京', '京都', '塔']
    """
    found: list[str] = []
    for run in runs(text):
        found += [run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)]
    return found


def without_cjk(text: str) -> str:
    """Return a text with a space for every run of a script written without spaces.

    >>> without_cjk("pandasの使い方")
    'pandas '
    """
    return _CJK.sub(" ", text)
