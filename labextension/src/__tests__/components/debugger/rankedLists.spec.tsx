import { act, fireEvent, render, screen, within } from '@testing-library/react';

import type { IListed, ILists } from '../../../api/types';
import { RankedLists } from '../../../components/debugger/rankedLists';
import { answer, listed, trans } from '../../helpers/samples';

const lists = answer().lists!;

function shown(chosen: string | null = null, all: ILists = lists): jest.Mock {
  const onChoose = jest.fn();
  render(<RankedLists lists={all} chosen={chosen} onChoose={onChoose} trans={trans} />);
  return onChoose;
}

function table(name: RegExp): HTMLElement {
  return screen.getByRole('table', { name });
}

function lit(): string[] {
  return [...document.querySelectorAll<HTMLElement>('.jp-mod-pointed')].map(row => row.textContent ?? '');
}

describe('lists', () => {
  it('show ranks and raw scores of keyword, semantic and fused', () => {
    shown();
    const rows = within(table(/^Keyword 3/)).getAllByRole('row');
    expect(rows.map(row => row.textContent)).toEqual([
      '#TitleBM25',
      '1normalise_notes λ9.14',
      '2Log-scale the prices8.02',
      '3Price outliers4.40'
    ]);
    expect(within(table(/^Semantic 2/)).getAllByRole('row')[1].textContent).toBe('1Log-scale the prices0.712');
    expect(within(table(/^Fused 3/)).getAllByRole('row')[1].textContent).toBe('1normalise_notes λ1.760');
  });

  it('light up a memory in every list when the mouse is over it', () => {
    shown();
    fireEvent.mouseOver(within(table(/^Keyword/)).getAllByRole('row')[1]);
    expect(lit()).toEqual(['1normalise_notes λ9.14', '2normalise_notes λ0.567', '1normalise_notes λ1.760']);
  });

  it('light up a memory in every list when it has the focus', () => {
    shown();
    fireEvent.focus(within(table(/^Semantic/)).getAllByRole('button')[0]);
    expect(lit()).toHaveLength(3);
    fireEvent.blur(within(table(/^Semantic/)).getAllByRole('button')[0]);
    expect(lit()).toHaveLength(0);
  });

  it('mark the chosen memory in every list, for screen readers too', () => {
    shown('bb02');
    const chosen = screen.getAllByRole('button', { current: true });
    expect(chosen.map(one => one.textContent)).toEqual(Array(3).fill('Log-scale the prices'));
  });

  it('hand back the memory that is clicked or entered', () => {
    const onChoose = shown();
    fireEvent.click(within(table(/^Keyword/)).getByRole('button', { name: 'Price outliers' }));
    expect(onChoose).toHaveBeenCalledTimes(1);
    expect(onChoose).toHaveBeenCalledWith('cc03');
  });

  it('are one stop for Tab each, and are walked by the arrows', () => {
    shown('bb02');
    const stops = [...document.querySelectorAll('button[tabindex="0"]')].map(one => one.textContent);
    expect(stops).toEqual(Array(3).fill('Log-scale the prices'));
    const first = within(table(/^Keyword/)).getAllByRole('button')[0];
    act(() => first.focus());
    fireEvent.keyDown(document.activeElement!, { key: 'ArrowDown' });
    expect(document.activeElement?.closest('tr')?.textContent).toBe('2Log-scale the prices8.02');
    fireEvent.keyDown(document.activeElement!, { key: 'ArrowRight' });
    expect(document.activeElement?.closest('tr')?.textContent).toBe('1Log-scale the prices0.712');
    fireEvent.keyDown(document.activeElement!, { key: 'End' });
    expect(document.activeElement?.closest('tr')?.textContent).toBe('2normalise_notes λ0.567');
    fireEvent.keyDown(document.activeElement!, { key: 'ArrowLeft' });
    expect(document.activeElement?.closest('tr')?.textContent).toBe('1normalise_notes λ9.14');
  });

  it('show ten rows, the chosen one wherever it is, and all of them when asked', () => {
    const long = Array.from({ length: 30 }, (_, i) => listed(`m${i}`, i + 1, 30 - i));
    shown('m24', { ...lists, keyword: long });
    const ranks = (): string[] =>
      within(table(/^Keyword 30/))
        .getAllByRole('row')
        .slice(1)
        .map(row => within(row).getAllByRole('cell')[0].textContent!);
    expect(ranks()).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '25']);
    fireEvent.click(screen.getByRole('button', { name: 'Show all 30' }));
    expect(ranks()).toHaveLength(30);
    expect(screen.getByRole('button', { name: 'Show fewer' }).getAttribute('aria-expanded')).toBe('true');
  });

  it('begin with the heading; of rows that are called the same, how each begins comes after it', () => {
    const row = (title: string, begins: string): Partial<IListed> => ({ title, begins });
    const keyword = [
      row('prices.ipynb – Cleaning', 'λ = 0.31'),
      row('prices.ipynb – Outliers', 'df = df.clip(0)'),
      row('prices.ipynb – Cleaning', '# ü is written ue')
    ].map((one, i) => ({ ...listed(`m${i}`, i + 1, 9 - i), ...one }));
    shown(null, { ...lists, keyword });
    const buttons = within(table(/^Keyword 3/)).getAllByRole('button');
    expect(buttons.map(one => Array.from(one.children, part => part.textContent))).toEqual([
      ['Cleaning', 'λ = 0.31'],
      ['Outliers', 'prices.ipynb'],
      ['Cleaning', '# ü is written ue']
    ]);
    expect(buttons[1].title).toBe('prices.ipynb – Outliers\ndf = df.clip(0)');
  });

  it('say when an engine found nothing', () => {
    shown(null, { ...lists, vector: [] });
    expect(within(table(/^Semantic 0/)).getByText('Found nothing')).toBeTruthy();
  });
});
