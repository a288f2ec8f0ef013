"""Text of scripts that are written without spaces, taken apart in the same way when indexed and when searched."""

from __future__ import annotations

import re

# Kana, Han (with extensions), Hangul, Thai.
_CJK = re.compile(
    r"[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f\U00020000-\U0002ffff]+"
)
# Words that ask, point or join, of Chinese, and the particles that follow a Japanese noun.
_FILLER = re.compile(
    "为什么|什么时候|什么|怎么样?|怎样|如何|哪[个里些]|多少|我们|谁|吗|呢|的|是|了|和"
    "|(?<=[\u30a1-\u30ff\u4e00-\u9fff])[はがをにのでともへや]"
)
_HIRAGANA = re.compile("[\u3041-\u309f]")


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


def telling_bigrams(text: str) -> list[str]:
    """Return the pairs of a question that are about its subject; all of them where there are no others.

    Japanese writes its endings and particles in hiragana; Chinese asks with a few fixed words.

    >>> telling_bigrams("価格はどうやって測りましたか"), telling_bigrams("价格是怎么算的")
    (['価格', '測り'], ['价格'])
    """
    pairs = bigrams(_FILLER.sub(" ", text))
    return [pair for pair in pairs if len(pair) > 1 and not _HIRAGANA.match(pair)] or bigrams(text)


def without_cjk(text: str) -> str:
    """Return a text with a space for every run of a script written without spaces.

    >>> without_cjk("pandasの使い方")
    'pandas '
    """
    return _CJK.sub(" ", text)
