/** What stands on a card and in which row: names, days, bars, rows and keys. */

import { shares, support } from '../../../components/results/hit';
import { parseTags } from '../../../components/results/hitActions';
import { intent, rows } from '../../../components/results/hitList';
import { day, daysAgo, moment } from '../../../components/shared/format';
import { hitNames, isCode, splitTitle } from '../../../components/shared/labels';
import type { IPlacedHit } from '../../../models/hits';
import { hit, place, TERMS, trans } from '../../helpers/samples';
import { notebook } from '../../helpers/server';

describe('the names of a hit', () => {
  it('tell a notebook once: its headings are the title', () => {
    const cell = hit({ title: 'pricing_model.ipynb – Cleaning › Prices', source: '/home/ada/pricing_model.ipynb' });
    expect(hitNames(cell, { ...notebook, index: 16 }, trans)).toEqual({
      title: 'Cleaning › Prices',
      file: '…/zürich/pricing_model.ipynb',
      context: '',
      at: 'cell 17'
    });
  });

  it('begin with the heading that is nearest; the others come after the file', () => {
    const cell = hit({ title: 'pricing_model.ipynb – Outliers', source: '/home/ada/pricing_model.ipynb' });
    const inCell = hitNames(cell, { ...notebook, context: 'Prices > Cleaning' }, trans);
    expect([inCell.title, inCell.context]).toEqual(['Outliers', 'Prices › Cleaning']);

    const file = hit({ title: 'notes/weekly-log.md', source: '/home/ada/notes/weekly-log.md' });
    const inFile = hitNames(file, { ...place, path: 'notes/weekly-log.md', context: 'Weekly log > 3 Juli' }, trans);
    expect([inFile.title, inFile.file, inFile.context]).toEqual(['3 Juli', 'notes/weekly-log.md', 'Weekly log']);
  });

  it('are parted where only the title is known', () => {
    expect(splitTitle('prices.ipynb – Zürich – λ')).toEqual({ name: 'Zürich – λ', file: 'prices.ipynb' });
    expect(splitTitle('notes/reading/price-forecasting.md')).toEqual({
      name: 'price-forecasting.md',
      file: 'notes/reading'
    });
    expect(splitTitle('Müller – what he said')).toEqual({ name: 'Müller – what he said', file: '' });
    expect(splitTitle('mean/median of the prices')).toEqual({ name: 'mean/median of the prices', file: '' });
  });

  it('are those of the file where it has no other', () => {
    const file = hit({ title: 'notes/normalise_notes.md', source: '/home/ada/notes/normalise_notes.md' });
    const told = hitNames(file, { ...place, path: 'notes/normalise_notes.md', line: 12 }, trans);
    expect([told.title, told.file, told.at]).toEqual(['normalise_notes.md', 'notes/normalise_notes.md', 'line 12']);
  });

  it.each(['page 3', 'slide 2'])('name the %s of a document', location => {
    const page = hit({ source: '/home/ada/report.pdf', location, snippet: 'sales\nrose' });
    expect(hitNames(page, { ...place, path: 'report.pdf', index: null, line: 40 }, trans).at).toBe(location);
    expect(isCode(page, { ...place, lang: '' })).toBe(false);
    expect(isCode({ ...page, location: '#4' }, { ...place, lang: '' })).toBe(true);
  });

  it('are the first words of what has no title and no file', () => {
    expect(hitNames(hit({ title: '' }), { ...place, begins: '## λ is 3.2' }, trans).title).toBe('λ is 3.2');
    expect(hitNames(hit({ title: '' }), place, trans).title).toBe('Untitled');
  });

  it('are code where the language is one', () => {
    expect(isCode(hit({ kind: 'cell' }), { ...place, lang: 'python' })).toBe(true);
    expect(isCode(hit({ kind: 'cell' }), { ...place, lang: 'markdown' })).toBe(false);
    expect(isCode(hit({ kind: 'file' }), { ...place, lang: '' })).toBe(false);
    expect(isCode(hit({ kind: 'history' }), { ...place, lang: '' })).toBe(true);
    expect(isCode(hit({ kind: 'note', snippet: 'for λ in prices:\n    λ = 3' }), place)).toBe(true);
  });
});

describe('days', () => {
  const now = new Date(2026, 10, 22, 9);

  it('have no year where it is this one', () => {
    expect(day('2026-10-14T09:00:00', now)).toMatch(/^(Oct 14|14 Oct)$/);
    expect(day('2025-10-14T09:00:00', now)).toContain('2025');
  });

  it('are nothing where they cannot be read', () => {
    expect(day('', now)).toBe('');
    expect(moment('long ago')).toBe('');
  });

  it('go back over months', () => {
    expect(daysAgo(0, now)).toBe('2026-11-22');
    expect(daysAgo(30, now)).toBe('2026-10-23');
  });
});

describe('a bar', () => {
  const signals = {
    keyword: { value: 9, rank: 1, contribution: 0.5 },
    semantic_margin: { value: 4, rank: 1, contribution: 0.3 },
    max_sim: { value: -4, rank: 9, contribution: -0.2 },
    time: { value: 0, rank: 1, contribution: 0.001 }
  };

  it('shows what speaks for a hit and against it, in the order of the terms', () => {
    const one = hit({ signals });
    expect(support(one)).toBeCloseTo(0.801);
    const parts = shares(one, TERMS);
    expect(parts.map(part => part.term)).toEqual(['keyword', 'semantic_margin', 'max_sim']);
    expect(parts[0].share).toBeCloseTo(0.624, 3);
    expect(parts[2].share).toBeCloseTo(-0.25, 2);
  });

  it('is empty where nothing was scored', () => {
    expect(shares(hit({ signals: {} }), TERMS)).toEqual([]);
  });
});

describe('rows', () => {
  const at = (memory_id: string, source: string): IPlacedHit => ({ hit: hit({ memory_id, source }), place });
  const hits = [at('a', 'x.ipynb'), at('b', ''), at('c', 'x.ipynb')];

  it('follow each other, with one for the actions of the selected hit', () => {
    const laid = rows(hits, { selected: 'b' });
    expect(laid.seen.map(one => one.row)).toEqual([1, 2, 4]);
    expect([laid.actions, laid.length]).toEqual([3, 4]);
  });

  it('stand under their file, the one with the best hit first', () => {
    const laid = rows(hits, { grouped: true });
    expect(laid.groups.map(group => [group.source, group.heading, group.count])).toEqual([
      ['x.ipynb', 1, 2],
      ['', 4, 1]
    ]);
    expect(laid.seen.map(one => [one.found.hit.memory_id, one.row])).toEqual([
      ['a', 2],
      ['c', 3],
      ['b', 5]
    ]);
  });

  it('leave out what is folded', () => {
    const laid = rows(hits, { grouped: true, folded: new Set(['x.ipynb']), selected: 'a' });
    expect(laid.seen.map(one => one.found.hit.memory_id)).toEqual(['b']);
    expect([laid.actions, laid.length, laid.groups[0].count]).toEqual([null, 3, 2]);
  });
});

describe('keys', () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}): unknown =>
    intent({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...more });

  it('open, insert and copy', () => {
    expect(press('Enter')).toEqual({ do: 'open', toSide: false });
    expect(press('Enter', { shiftKey: true })).toEqual({ do: 'open', toSide: true });
    expect(press('Enter', { ctrlKey: true })).toEqual({ do: 'insert' });
    expect(press('Enter', { metaKey: true })).toEqual({ do: 'insert' });
    expect(press('c')).toEqual({ do: 'copy' });
  });

  it('leave Lab and the browser theirs', () => {
    expect(press('c', { ctrlKey: true })).toBeNull();
    expect(press('ArrowDown', { altKey: true })).toBeNull();
    expect(press('Tab')).toBeNull();
  });
});

describe('tags', () => {
  it('are parted by commas, without # and doubles', () => {
    expect(parseTags(' pricing, #Zürich,,pricing; λ ')).toEqual(['pricing', 'Zürich', 'λ']);
    expect(parseTags('  ')).toEqual([]);
  });
});
