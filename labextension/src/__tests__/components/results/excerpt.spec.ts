import { markWords, MAX_SHOWN, excerpt, matchedWords } from '../../../components/results/excerpt';
import { hit } from '../../helpers/samples';

const marked = (text: string, words: RegExp | null): string =>
  markWords(text, words)
    .map(piece => (piece.marked ? `[${piece.text}]` : piece.text))
    .join('');

describe('the words of a question', () => {
  it('are those that the snippets mark, found in the whole text wherever they stand alone', () => {
    const words = matchedWords([hit(), hit({ snippet: 'μ λ = price[1]', highlights: [[2, 3], [6, 11]] })]); // prettier-ignore
    expect(marked('NORMALISE λ: price_λ, prices, "price"', words)).toBe(
      '[NORMALISE] [λ]: [price]_[λ], prices, "[price]"'
    );
  });

  it('are found within others where no space parts them, and are no patterns', () => {
    expect(marked('電力価格は高い', matchedWords([hit({ snippet: '価格', highlights: [[0, 2]] })]))).toBe(
      '電力[価格]は高い'
    );
    expect(marked('f(x) + fx', matchedWords([hit({ snippet: 'f(x)', highlights: [[0, 4]] })]))).toBe('[f(x)] + fx');
  });

  it('are none where nothing was asked', () => {
    expect(marked('price', matchedWords([hit({ highlights: [] })]))).toBe('price');
  });
});

describe('a stretch of a text', () => {
  it('is all of it, with the place of the snippet, whose white space may be folded', () => {
    const text = 'import numpy\n\ndef clip(x):\n    return x\n';
    expect(excerpt(text, '…def clip(x): return x')).toEqual({ text, at: 14, before: 0, behind: 0 });
    expect(excerpt(text, 'elsewhere').at).toBeNull();
  });

  it('begins at a line before the snippet where that stands far down in a long text, and tells what it leaves out', () => {
    const lines = Array.from({ length: 9000 }, (_, i) => `line ${i} 📈`);
    const text = lines.join('\n');
    const shown = excerpt(text, '…line 6000 📈 line 6001…');
    expect(shown.text.slice(shown.at!)).toMatch(/^line 6000 📈\nline 6001/);
    expect(shown.text).toMatch(/^line \d+ 📈\n/);
    expect(shown.text.length).toBeLessThanOrEqual(MAX_SHOWN);
    expect(shown.before + shown.text.length + shown.behind).toBe(text.length);
    // The sign at its end takes two units, and is not cut in two.
    expect(excerpt(text, 'line 1 📈 line 2')).toMatchObject({ before: 0, behind: text.length - MAX_SHOWN + 1 });
  });

  it('is all of what is a little longer', () => {
    const text = 'price '.repeat(MAX_SHOWN / 6 + 100);
    expect(excerpt(text, '')).toMatchObject({ text, before: 0, behind: 0 });
  });

  it('cuts no character in two', () => {
    const { text } = excerpt(`x${'📈'.repeat(MAX_SHOWN)}`, '');
    expect(text.endsWith('📈')).toBe(true);
  });
});
