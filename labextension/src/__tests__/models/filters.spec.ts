import type { Facets } from '../../api/types';
import {
  counted,
  isFiltered,
  keepCounts,
  sameFilters,
  toggled,
  typed,
  withoutTyped,
  withValues
} from '../../models/filters';

const counts: Facets = { kind: { note: 2, cell: 9, file: 2 }, lang: { '': 3, python: 9 }, tier: {}, tag: {} };

describe('facets', () => {
  it('stand by count, then by name, without the empty value', () => {
    expect(counted(counts, {}, 'kind').map(one => one.value)).toEqual(['cell', 'file', 'note']);
    expect(counted(counts, {}, 'lang')).toEqual([{ value: 'python', count: 9, on: false }]);
  });

  it('keep a chosen value that no candidate has, so that it can be taken back', () => {
    expect(counted(counts, { tag: ['zürich'] }, 'tag')).toEqual([{ value: 'zürich', count: 0, on: true }]);
    expect(counted(null, {}, 'kind')).toEqual([]);
  });

  it('add a second value to the first of a facet, and a facet to another', () => {
    const two = toggled(toggled({}, 'kind', 'cell'), 'kind', 'note');
    expect(two).toEqual({ kind: ['cell', 'note'] });
    expect(toggled(two, 'lang', 'python')).toEqual({ kind: ['cell', 'note'], lang: ['python'] });
  });

  it('leave out a facet without values', () => {
    expect(toggled({ kind: ['cell'] }, 'kind', 'cell')).toEqual({});
    expect(withValues({ kind: ['cell'], tag: ['a'] }, 'kind', [])).toEqual({ tag: ['a'] });
    expect(isFiltered({ kind: [] })).toBe(false);
    expect(isFiltered({ path: ['notes/'] })).toBe(true);
  });

  it('are the same in any order', () => {
    expect(sameFilters({ kind: ['a', 'b'], tag: ['λ'] }, { tag: ['λ'], kind: ['b', 'a'] })).toBe(true);
    expect(sameFilters({ kind: [] }, {})).toBe(true);
    expect(sameFilters({ kind: ['a'] }, { kind: ['b'] })).toBe(false);
  });

  it('keep the counts of the values that a filter leaves out', () => {
    const narrowed: Facets = { kind: { cell: 9 }, lang: { python: 8 }, tier: {}, tag: {} };
    const kept = keepCounts(counts, narrowed, { kind: ['cell'] });
    expect(kept.kind).toEqual({ cell: 9, note: 2, file: 2 });
    expect(kept.lang).toEqual({ python: 8 });
    expect(keepCounts(null, narrowed, { kind: ['cell'] })).toEqual(narrowed);
  });
});

describe('filters among the words', () => {
  it('are read as the server reads them, each once', () => {
    expect(typed('kind:file prices -tag:"two words" kind:file after:2026-03')).toEqual([
      'kind:file',
      '-tag:"two words"',
      'after:2026-03'
    ]);
    expect(typed('std::sort dict: kind: akind:x "kind:file" author:Müller')).toEqual([]);
  });

  it('are taken out, and the other words stay as they are', () => {
    expect(withoutTyped('prices kind:file  λ  "kind:file x"', 'kind:file')).toBe('prices λ  "kind:file x"');
    expect(withoutTyped('kind:file', 'kind:file')).toBe('');
    expect(withoutTyped('prices tag:λ', 'kind:file')).toBe('prices tag:λ');
  });
});
