"""An estimate of tokens that rather errs upwards."""

from __future__ import annotations

import pytest

from jupyter_memory.embedders import tokens
from jupyter_memory.text import estimated_tokens

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
COUNTED = {
    PROSE: (35, 36, 38, 35),
    CODE: (61, 60, 75, 77),
    TABLE: (31, 30, 29, 42),
    CHINESE: (20, 31, 28, 21),
    JAPANESE: (21, 27, 23, 16),
}


@pytest.mark.parametrize("text", COUNTED, ids=["prose", "code", "table", "Chinese", "Japanese"])
def test_is_not_below_any_tokenizer_and_at_most_twice_the_median(text: str) -> None:
    counted = sorted(COUNTED[text])
    assert counted[-1] <= estimated_tokens(text) <= 2 * counted[1]


# To the bundled model each mark is a token, so it has more of them for code.
@pytest.mark.parametrize("text", [PROSE, TABLE], ids=["prose", "table"])
def test_is_not_below_the_word_pieces_of_the_bundled_model(text: str) -> None:
    assert estimated_tokens(text) >= tokens([text]).ids.size


def test_code_and_numbers_are_denser_than_prose() -> None:
    dense = [estimated_tokens(text) / len(text) for text in (PROSE, CODE, "17.382911,1204,0.99812\n")]
    assert dense == sorted(dense)


def test_joined_lines_cost_no_more_than_each_alone_and_their_breaks() -> None:
    for text in COUNTED:
        lines = text.splitlines()
        assert estimated_tokens("\n".join(lines)) <= sum(map(estimated_tokens, lines)) + len(lines) - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 1), ("=" * 80, 5), ("():", 2), (" " * 40, 3), ("1204", 4), ("🎉", 3), ("\n\n    ", 1)],
)
def test_edges(text: str, expected: int) -> None:
    assert estimated_tokens(text) == expected
