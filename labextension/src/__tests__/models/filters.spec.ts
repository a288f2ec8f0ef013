import { canonical, isFiltered, toggled, typedFilters, withoutTypedFilter, withValues } from '../../models/filters';

describe('filters', () => {
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
    expect(canonical({ kind: ['a', 'b'], tag: ['λ'] })).toBe(canonical({ tag: ['λ'], kind: ['b', 'a'] }));
    expect(canonical({ kind: [] })).toBe(canonical({}));
    expect(canonical({ kind: ['a'] })).not.toBe(canonical({ kind: ['b'] }));
  });
});

describe('filters among the words', () => {
  it('are read as the server reads them, each once', () => {
    expect(typedFilters('kind:file prices -tag:"two words" kind:file after:2026-03')).toEqual([
      'kind:file',
      '-tag:"two words"',
      'after:2026-03'
    ]);
    expect(typedFilters('std::sort dict: kind: akind:x "kind:file" author:Müller')).toEqual([]);
  });

  it('are taken out, and the other words stay as they are', () => {
    expect(withoutTypedFilter('prices kind:file  λ  "kind:file x"', 'kind:file')).toBe('prices λ  "kind:file x"');
    expect(withoutTypedFilter('kind:file', 'kind:file')).toBe('');
    expect(withoutTypedFilter('prices tag:λ', 'kind:file')).toBe('prices tag:λ');
  });
});
