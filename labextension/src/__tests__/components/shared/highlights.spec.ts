import { opening, pieces } from '../../../components/shared/text';

const marked = (text: string, ranges: [number, number][]): string =>
  pieces(text, ranges)
    .map(piece => (piece.marked ? `[${piece.text}]` : piece.text))
    .join('');

describe('pieces', () => {
  it('cuts a text at its highlights', () => {
    expect(marked('We normalise the prices', [[3, 12]])).toBe('We [normalise] the prices');
  });

  it('counts code points as the server does, not UTF-16 units', () => {
    expect(marked('📈📉 λ = 3.2', [[3, 4]])).toBe('📈📉 [λ] = 3.2');
    expect(marked('𝛌 Zürich', [[2, 8]])).toBe('𝛌 [Zürich]');
  });

  it('takes touching, overlapping and unsorted ranges as one', () => {
    expect(
      marked('normalise_notes', [
        [9, 15],
        [0, 4],
        [2, 9]
      ])
    ).toBe('[normalise_notes]');
  });

  it('cuts ranges that reach too far, and leaves out empty ones', () => {
    expect(
      marked('price', [
        [3, 99],
        [1, 1],
        [7, 9]
      ])
    ).toBe('pri[ce]');
  });

  it('loses nothing of the text', () => {
    const text = 'תמחור 価格の正規化 👩‍🔬 price';
    const cut = pieces(text, [
      [0, 5],
      [7, 9],
      [12, 15]
    ]);
    expect(cut.map(piece => piece.text).join('')).toBe(text);
    expect(pieces('', [[0, 3]])).toEqual([]);
  });
});

describe('opening', () => {
  const said = (told: { text: string; marked: boolean }[]): string =>
    told.map(({ text, marked }) => (marked ? `[${text}]` : text)).join('');

  it('cuts a text behind the title that it begins with, and keeps the highlights of both', () => {
    const cut = opening(
      '## 📈 λ of Zürich The λ drifts.',
      [
        [5, 6],
        [21, 22]
      ],
      '📈 λ of Zürich'
    )!;
    expect(said(cut.title)).toBe('📈 [λ] of Zürich');
    expect(said(cut.rest)).toBe('The [λ] drifts.');
  });

  it('leaves a text as it is that begins otherwise, goes on in the same word or says nothing more', () => {
    expect(opening('Prices of Zürich', [], 'Holes')).toBeNull();
    expect(opening('Holesome prices', [], 'Holes')).toBeNull();
    expect(opening('## Holes ', [], 'Holes')).toBeNull();
    expect(opening('…Holes in June', [], 'Holes')).toBeNull();
    expect(opening(' prices', [], '')).toBeNull();
  });
});
