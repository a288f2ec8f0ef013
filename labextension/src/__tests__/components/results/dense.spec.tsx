/** The dense list: its lines of code, its sections, its icons. */

import { act, fireEvent, render, screen, within } from '@testing-library/react';

import { Snippet, telling } from '../../../components/results/snippet';
import { inLines, pieces } from '../../../components/shared/text';
import { press, renderResults } from '../../helpers/renderResults';
import { hit, place } from '../../helpers/samples';
import { found, notebook } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const code =
  'import numpy as np\n\n    prices = pd.concat([read_day(day) for day in days], axis=0)\n        check(prices)';

/** Four cells: the first, third and fourth are of one section. */
function sections() {
  const cell = (rank: number, heading: string) =>
    hit({ rank, memory_id: `c${rank}`, title: `w.ipynb – ${heading}`, kind: 'cell', source: '/home/ada/w.ipynb' });
  const hits = [cell(1, 'Prices'), cell(2, 'Meters'), cell(3, 'Prices'), cell(4, 'Prices')];
  return found({ hits, places: hits.map(({ rank }) => ({ ...notebook, cell: null, index: 10 + rank })) });
}

describe('the code of a row', () => {
  it.each([
    ['axis', 80, 'prices = pd.concat([read_day(day) for day in days], axis=0)'],
    ['axis', 24, '…days], axis=0)'],
    ['prices', 24, 'prices = pd.concat([read_day(day) for day in days], axis=0)']
  ])('shows what matched %s in %i columns, cut at its ends alone', (word, columns, first) => {
    const at = code.indexOf(word);
    const lines = telling(inLines(pieces(code, [[at, at + word.length]])), columns, 2);
    const shown = lines.map(({ line, from, isCut }) => (isCut ? '…' : '') + code.split('\n')[line].slice(from));
    expect(shown).toEqual([first, '    check(prices)']);
  });
});

describe('the prose of a row', () => {
  it.each([
    ['decimal', 'We read the file of Zürich again: decimal …'],
    ['commas', '…decimal commas, and the hour was in local …']
  ])('keeps %s in sight, and is cut at words', (word, shown) => {
    const text = 'We read the file of Zürich again: decimal commas, and the hour was in local time';
    const at = text.indexOf(word);
    const props = { found: { hit: hit(), place }, columns: 22, dense: true, highlight: null };
    const { container } = render(<Snippet {...props} pieces={pieces(text, [[at, at + word.length]])} />);
    expect(container.textContent).toBe(shown);
  });
});

describe('the colours of code', () => {
  it('come when the highlighter has them, beside the marks', async () => {
    const [text, tokens] = [
      'def total(λ):',
      [
        { from: 0, to: 3, look: 'keyword' },
        { from: 4, to: 9, look: 'name' }
      ]
    ];
    const highlight = jest.fn(async () => tokens);
    const python = { hit: hit(), place: { ...place, lang: 'python' } };
    const props = { found: python, columns: 40, dense: false, highlight };
    const { container } = render(<Snippet {...props} pieces={pieces(`${text}\nOut:\n3`, [[6, 9]])} />);
    expect(container.querySelector('.keyword')).toBeNull();
    await act(async () => undefined);
    expect(highlight.mock.calls).toEqual([[text, 'python']]);
    const looks = [...container.querySelectorAll('.keyword, .name')].map(one => [one.tagName, one.textContent]);
    expect(looks).toEqual([
      ['SPAN', 'def'],
      ['SPAN', 'to'],
      ['MARK', 'tal']
    ]);
    expect(container.textContent).toBe(`${text}\n3\n`);
  });
});

describe('a section', () => {
  it('is one row, which says how many cells it has, and opens', async () => {
    const { options, model, list } = await renderResults(sections(), 'price', true);
    expect(options().map(one => one.querySelector('.jp-Memory-hitTitle')?.textContent)).toEqual([
      expect.stringMatching(/^1Prices· 3 cells/),
      expect.stringMatching(/^2Meters/)
    ]);
    const toggle = screen.getByRole('button', { name: '2 more cells of Prices' });
    expect(toggle.closest('[role="listbox"]')).toBeNull();
    fireEvent.click(toggle);
    expect(toggle.getAttribute('aria-expanded')).toBe('true');
    expect(options().map(one => one.querySelector('.jp-Memory-name')?.textContent)).toEqual([
      'Prices',
      'cell 14',
      'cell 15',
      'Meters'
    ]);
    act(() => model.selection.select('c4'));
    fireEvent.click(toggle);
    expect([options().length, model.selected]).toEqual([2, 'c1']);
    press(list, 'ArrowRight');
    expect(options()).toHaveLength(4);
    press(list, 'ArrowDown');
    expect(model.selected).toBe('c3');
    press(list, 'ArrowLeft');
    expect([options().length, model.selected]).toEqual([2, 'c1']);
    // Whatever selects a hit shows it.
    act(() => model.selection.select('c4'));
    expect(options()).toHaveLength(4);
    act(() => model.selection.set({ dense: false }));
    expect(options()).toHaveLength(4);
    expect(screen.queryByRole('button', { name: /more cells of/ })).toBeNull();
  });
});

describe('the icons of a row', () => {
  it('are named, stand outside of the list and lead to its menu', async () => {
    const { model, options, actions } = await renderResults(found(), 'price', true);
    act(() => model.selection.select('bb02'));
    const icons = screen.getByRole('group', { name: 'Actions for Cleaning › Prices' });
    expect(icons.closest('[role="listbox"]')).toBeNull();
    fireEvent.click(within(icons).getByRole('button', { name: 'Insert' }));
    expect(actions.insert).toHaveBeenCalledWith(model.hits[1].hit);
    const asked = jest.fn();
    options()[1].addEventListener('contextmenu', asked);
    fireEvent.click(within(icons).getByRole('button', { name: 'More actions' }));
    fireEvent.contextMenu(screen.getByRole('listbox'));
    expect(asked).toHaveBeenCalledTimes(2);
    fireEvent.contextMenu(options()[0]);
    expect(model.selected).toBe('aa01');
  });
});
