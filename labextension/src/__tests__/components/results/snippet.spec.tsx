import { render } from '@testing-library/react';

import { Snippet } from '../../../components/results/snippet';
import { inLines, pieces } from '../../../components/shared/text';

/** What a snippet is shown as. */
function shown(text: string, ranges: [number, number][] = [], code = true): HTMLElement {
  return render(
    <Snippet pieces={pieces(text, ranges)} code={code} columns={null} markdown={false} lang="" highlight={null} />
  ).container;
}

const lines = (root: HTMLElement): HTMLElement[] => [...root.querySelectorAll<HTMLElement>('.jp-Memory-line')];
const texts = (root: HTMLElement, selector: string): (string | null)[] =>
  [...root.querySelectorAll(selector)].map(part => part.textContent);

describe('the pieces of a text', () => {
  it('are cut at its line breaks, and a mark that goes over one is one in each line', () => {
    const [first, second, third] = inLines(pieces('a🚚b\n\n  λc', [[1, 7]]));
    expect(first).toEqual([
      { text: 'a', marked: false },
      { text: '🚚b', marked: true }
    ]);
    expect(second).toEqual([]);
    expect(third).toEqual([
      { text: '  ', marked: true },
      { text: 'λc', marked: false }
    ]);
  });
});

describe('a snippet', () => {
  it('of code has a line for each line, from left to right, with its indentation', () => {
    const root = shown('for λ in prices:\n    λ = 3', [
      [4, 5],
      [21, 22]
    ]);
    expect(root.querySelector('[dir="ltr"] > code')).toBeTruthy();
    expect(lines(root).map(line => line.textContent)).toEqual(['for λ in prices:\n', '    λ = 3\n']);
    expect(texts(root, 'mark')).toEqual(['λ', 'λ']);
    expect(root.querySelector('.jp-Memory-far')).toBeNull();
  });

  it('of prose is one stretch without lines', () => {
    const root = shown('…the λ of Zürich', [[5, 6]], false);
    expect(lines(root)).toEqual([]);
    expect(root.querySelector('[dir="auto"]')?.textContent).toBe('…the λ of Zürich');
  });

  it('says left of its first line that there is more before', () => {
    const root = shown('…def cap():\n    return λ…', [[23, 24]]);
    expect(texts(root, '.jp-Memory-ahead')).toEqual(['…']);
    expect(lines(root).map(line => line.textContent)).toEqual(['…def cap():\n', '    return λ…\n']);
    expect(texts(root, 'mark')).toEqual(['λ']);
  });

  it('lets what is not marked give way where a mark is far to the right', () => {
    const root = shown('frame = pd.concat([january, february]).λ_of("price", axis=1)\nshort', [
      [39, 40],
      [45, 50]
    ]);
    const [far] = lines(root);
    expect(root.querySelectorAll('.jp-Memory-far').length).toBe(1);
    expect(texts(far, '.jp-mod-between')).toEqual(['frame = pd.concat([january, february]).', '_of("']);
    expect(texts(far, '.jp-mod-rest')).toEqual(['", axis=1)']);
    const line = 'frame = pd.concat([january, february]).λ_of("price", axis=1)';
    // Heard once, without gaps.
    expect(texts(far, '.jp-Memory-sr')).toEqual([line]);
    expect(texts(far, '[aria-hidden="true"]')).toEqual([`${line}\n`]);
  });

  it('keeps short words whole: of “for ” nothing gives way', () => {
    const root = shown('for prices, rows in frame.groupby("prices"):\n    pass', [
      [4, 10],
      [35, 41]
    ]);
    expect(texts(root, '.jp-Memory-far mark')).toEqual(['prices', 'prices']);
    expect(texts(root, '.jp-mod-between')).toEqual([', rows in frame.groupby("']);
  });
});
