import { pieces, withoutMarkdown } from '../../../components/shared/text';

const read = (text: string): string =>
  withoutMarkdown(pieces(text, []))
    .map(one => one.text)
    .join('');

describe('withoutMarkdown', () => {
  it.each([
    ['## Too large: **dead end**. Next ### λ', 'Too large: dead end. Next λ'],
    ['*k*-means and _not_ **k**', 'k-means and not k'],
    ['see [the docs](https://example.org/a) and ![a plot](plot.png)', 'see the docs and a plot'],
    ['call `df.groupby()` or ``a``', 'call df.groupby() or a'],
    ['a link that is cut [In the nex…', 'a link that is cut In the nex…'],
    ['cut in its address [In](https://exa…', 'cut in its address In'],
    ['C# is #1, 2*3 = 6 * 7, __init__, a_b_c, x[0] and [1]', 'C# is #1, 2*3 = 6 * 7, __init__, a_b_c, x[0] and [1]']
  ])('reads %s', (written, shown) => {
    expect(read(written)).toBe(shown);
  });

  it('keeps what is highlighted, also within a mark', () => {
    expect(
      withoutMarkdown(
        pieces('*k*-means 🚚 **clusters**', [
          [1, 2],
          [14, 22]
        ])
      )
    ).toEqual([
      { text: 'k', marked: true },
      { text: '-means 🚚 ', marked: false },
      { text: 'clusters', marked: true }
    ]);
  });
});
