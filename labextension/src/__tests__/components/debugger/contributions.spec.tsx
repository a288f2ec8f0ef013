import { fireEvent, render, screen, within } from '@testing-library/react';

import { Contributions } from '../../../components/debugger/explanation';
import { hit, TERMS, trans } from '../../helpers/samples';

const WITHOUT = { keyword: 3, semantic_margin: 1, max_sim: 2, time: 1, tier: 1 };

function shown(more = {}, without: Record<string, number> = WITHOUT): HTMLElement {
  render(<Contributions scored={{ hit: hit(more), without }} terms={TERMS} trans={trans} />);
  return screen.getByRole('table', { name: 'Why rank 1: normalise_notes λ' });
}

function cells(row: HTMLElement): (string | null)[] {
  return within(row)
    .getAllByRole('cell')
    .map(cell => cell.textContent);
}

describe('contributions', () => {
  it('are a table with a caption and headings for columns and rows', () => {
    const table = shown();
    const columns = within(table).getAllByRole('columnheader');
    expect(columns.map(one => one.textContent)).toEqual(['What counts', 'What was seen', 'Adds', 'Without it']);
    expect(columns.every(one => one.getAttribute('scope') === 'col')).toBe(true);
    const rows = within(table).getAllByRole('rowheader');
    expect(rows.map(one => one.textContent)).toEqual(['like words', 'your words', 'its meaning', 'tier', 'Together']);
    expect(rows.every(one => one.getAttribute('scope') === 'row')).toBe(true);
  });

  it('say value, rank, contribution and the rank without a signal', () => {
    const row = within(shown()).getByRole('row', { name: /^your words/ });
    expect(cells(row)).toEqual(['9.14', '+0.457', '3 ▼2, 2 places worse']);
    expect(within(row).getByTitle('rank 1 of all').textContent).toBe('9.14');
  });

  it('fold the signals that add nothing, below those that do', () => {
    const table = shown();
    expect(within(table).queryByRole('row', { name: /^time/ })).toBeNull();
    const fold = screen.getByRole('button', { name: '1 signal that adds nothing' });
    fireEvent.click(fold);
    expect(fold.getAttribute('aria-expanded')).toBe('true');
    expect(within(table).getAllByRole('row').at(-2)!.textContent).toMatch(/^time/);
    expect(cells(within(table).getByRole('row', { name: /^time/ }))).toEqual(['–none', '0.000', '1']);
  });

  it('add up to the score, and say so', () => {
    const row = within(shown()).getByRole('row', { name: /^Together/ });
    expect(cells(row)).toEqual(['1.760', '✓ the sum']);
  });

  it('say when they do not add up to the score', () => {
    const row = within(shown({ score: 1.9 })).getByRole('row', { name: /^Together/ });
    expect(cells(row)).toEqual(['1.900', 'not the sum, 1.760']);
  });

  it('draw bars that are longest for the largest contribution and hidden from screen readers', () => {
    const bars = shown().querySelectorAll<HTMLElement>('.jp-Memory-termBar');
    const widths = [...bars].map(bar => bar.querySelector('span')?.style.width);
    expect(widths[0]).toBe('100%');
    expect(parseFloat(widths[1]!)).toBeCloseTo((100 * 0.457) / 0.857);
    expect([...bars].every(bar => bar.getAttribute('aria-hidden') === 'true')).toBe(true);
  });

  it('mark what speaks against a memory', () => {
    const signals = { ...hit().signals, max_sim: { value: 1, rank: 1, contribution: -0.2 } };
    const row = within(shown({ signals })).getByRole('row', { name: /^like words/ });
    expect(cells(row)[1]).toBe('−0.200');
    expect(row.querySelector('.jp-mod-against')).not.toBeNull();
  });

  it('show a signal of a profile of one’s own by its own name', () => {
    const signals = { ...hit().signals, wörter: { value: 1, rank: 1, contribution: 0.1 } };
    expect(within(shown({ signals })).getByRole('rowheader', { name: 'wörter' })).toBeTruthy();
  });
});
