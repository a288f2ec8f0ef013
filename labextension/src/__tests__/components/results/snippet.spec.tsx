import { render } from '@testing-library/react';

import { Snippet } from '../../../components/results/snippet';
import { inLines, pieces } from '../../../components/shared/text';
import { hit, place } from '../../helpers/samples';

/** What a snippet is shown as. */
function shown(text: string, ranges: [number, number][] = [], code = true): HTMLElement {
  return render(
    <Snippet
      pieces={pieces(text, ranges)}
      found={{ hit: hit(), place: { ...place, lang: code ? 'python' : 'text' } }}
      columns={24}
      dense={false}
      highlight={null}
    />
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
  });

  it('of prose is one stretch without lines', () => {
    const root = shown('…the λ of Zürich', [[5, 6]], false);
    expect(lines(root)).toEqual([]);
    expect(root.querySelector('[dir="auto"]')?.textContent).toBe('…the λ of Zürich');
  });

  it('begins a line with a word before a mark that is far to the right, and cuts nothing within it', () => {
    const root = shown('frame = pd.concat([january, february]).λ_of("price", axis=1)\nshort', [
      [39, 40],
      [45, 50]
    ]);
    expect(lines(root).map(line => line.textContent)).toEqual(['…λ_of("price", axis=1)\n', 'short\n']);
    expect(texts(root, 'mark')).toEqual(['λ', 'price']);
  });
});
