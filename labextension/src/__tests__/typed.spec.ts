import { typed, withoutTyped } from '../typed';

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
