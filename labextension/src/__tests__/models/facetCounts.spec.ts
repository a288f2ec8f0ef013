import type { Facets } from '../../api/types';
import { facetCounts, facetValues } from '../../models/filters';

const counts: Facets = { kind: { note: 2, cell: 9, file: 2 }, lang: { '': 3, python: 9 }, tier: {}, tag: {} };

describe('the values of a facet', () => {
  it('stand by count, then by name, without the empty value', () => {
    expect(facetValues(counts, {}, 'kind').map(one => one.value)).toEqual(['cell', 'file', 'note']);
    expect(facetValues(counts, {}, 'lang')).toEqual([{ value: 'python', count: 9, on: false }]);
  });

  it('keep a chosen value that no candidate has, so that it can be taken back', () => {
    expect(facetValues(counts, { tag: ['zürich'] }, 'tag')).toEqual([{ value: 'zürich', count: 0, on: true }]);
    expect(facetValues(null, {}, 'kind')).toEqual([]);
  });
});

describe('the counts', () => {
  it('keep the values that a filter leaves out, while the question is the same', () => {
    const narrowed: Facets = { kind: { cell: 9 }, lang: { python: 8 }, tier: {}, tag: {} };
    const facets = facetCounts(narrowed, { kind: ['cell'] }, facetCounts(counts, {}, null));
    expect(facets.kind).toEqual({ cell: 9, note: 2, file: 2 });
    expect(facets.lang).toEqual({ python: 8 });
    expect(facetCounts(narrowed, { kind: ['cell'] }, null)).toEqual(narrowed);
  });
});
