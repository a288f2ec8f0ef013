import { CELLS, dragged } from '../../integrations/insert';
import {
  asTyped,
  codeCell,
  fenced,
  isProse,
  magicLine,
  markdownCell,
  noticesOf,
  sourceOf,
  supportsLanguage
} from '../../models/cells';
import { SearchModel } from '../../models/searchModel';
import { item, Server } from '../helpers/server';

describe('what a memory becomes in a notebook', () => {
  it('is what was written, without the outputs that were kept with it', () => {
    const code = item('a', { lang: 'python', text: 'λ = 0.3\nλ\n\nOut:\n0.3' });
    expect(sourceOf(code)).toBe('λ = 0.3\nλ');
    const prose = item('b', { lang: 'markdown', text: 'It said:\n\nOut:\nof stock' });
    expect(sourceOf(prose)).toBe(prose.text);
  });

  it('says of code with what it needs what stands above all of it, and nothing of its own comments', () => {
    const said = (text: string, runnable: string): string => noticesOf(item('a', { lang: 'python', text, runnable }));
    const needed = '# Cell 3 of λ.ipynb defines rate.\nrate = 2';
    const missing = '# Nothing known defines prices.\n# The cell itself writes files.';
    expect(said('prices', `${missing}\n\n${needed}\n\nprices`)).toBe(
      'Nothing known defines prices. The cell itself writes files.'
    );
    expect(said('rate', `${needed}\n\nrate`)).toBe('');
    expect(said('# The λ\n\n1', '# The λ\n\n1')).toBe('');
  });

  it('is a code cell for code and a Markdown cell for prose', () => {
    expect(codeCell('1')).toEqual({ cell_type: 'code', source: '1', metadata: {}, outputs: [], execution_count: null });
    expect(markdownCell('ü')).toEqual({ cell_type: 'markdown', source: 'ü', metadata: {} });
    expect(['', 'Markdown', 'txt'].map(isProse)).toEqual([true, true, true]);
    expect(['python', 'R', 'sql'].map(isProse)).toEqual([false, false, false]);
  });

  it('fences code for Markdown with more ticks than are in it', () => {
    expect(fenced('select λ\n', 'sql')).toBe('```sql\nselect λ\n```');
    expect(fenced('````\nü\n````', 'md')).toBe('`````md\n````\nü\n````\n`````');
  });

  it('is dragged as a cell for notebooks and as text for editors', () => {
    const data = dragged(item('a', { lang: 'python', text: 'λ = 0.3\n\nOut:\n0.3' }));
    expect(data.getData(CELLS)).toEqual([codeCell('λ = 0.3')]);
    expect(data.getData('text/plain')).toBe('λ = 0.3');
  });
});

describe('a kernel', () => {
  it('speaks its own language, and any while it is not known', () => {
    expect(supportsLanguage('ipython', 'python')).toBe(true);
    expect(supportsLanguage('Python', 'python')).toBe(true);
    expect(supportsLanguage('', 'r')).toBe(true);
    expect(supportsLanguage('R', 'python')).toBe(false);
  });
});

describe('a question as a line of a notebook', () => {
  it('loads the magic where the notebook does not', () => {
    expect(magicLine('prices in Zürich', false)).toBe('%load_ext jupyter_memory\n%memsearch prices in Zürich');
    expect(magicLine('prices in Zürich', true)).toBe('%memsearch prices in Zürich');
  });

  it('has what the panel asks besides the words', () => {
    const { answers } = new SearchModel({ api: new Server().api });
    answers.setQuery(' prices in Zürich ');
    expect(asTyped(answers.question)).toBe('--limit 20 prices in Zürich');
    answers.assign({ stores: ['own', 'papers'], asOf: '2026-03-01', aboutTags: ['λ', 'ridge 2'], profile: 'vault' });
    expect(asTyped(answers.question)).toBe(
      '--in own --in papers --as-of 2026-03-01 --about-tag λ --about-tag "ridge 2" --profile vault --limit 20 prices in Zürich'
    );
  });

  it('has every filter of the panel, and as many hits', () => {
    const { answers } = new SearchModel({ api: new Server().api });
    const filters = { kind: ['cell', 'note'], tag: ['ridge 2'], path: ['/elsewhere'] };
    answers.setQuery('prices');
    answers.assign({ filters, since: '2026-02-01', scope: { what: 'folder', path: '/home/ada/λ b' }, limit: 40 });
    expect(asTyped(answers.question)).toBe(
      '--kind cell --kind note --tag "ridge 2" --path "/home/ada/λ b" --since 2026-02-01 --limit 40 prices'
    );
  });

  it('has tags with a comma, words with a dash, and a time that is only words', () => {
    const { answers } = new SearchModel({ api: new Server().api });
    answers.setQuery('prices last month -pandas');
    answers.assign({ filters: { kind: ['cell'], tag: ['λ', 'join, inner -n 5'] }, useTime: false });
    expect(asTyped(answers.question)).toBe(
      '--kind cell --limit 20 --ignore-time -- tag:"λ" tag:"join, inner -n 5" prices last month -pandas'
    );
  });

  it('keeps the chosen tags apart from one that is typed, which narrows them', () => {
    const { answers } = new SearchModel({ api: new Server().api });
    answers.assign({ filters: { tag: ['λ', 'join, inner'] } });
    answers.setQuery('tag:ridge prices');
    expect(asTyped(answers.question)).toBe('--tag λ --tag "join, inner" --limit 20 tag:ridge prices');
    answers.setQuery('-tag:ridge prices');
    expect(asTyped(answers.question)).toBe('--limit 20 -- tag:"λ" tag:"join, inner" -tag:ridge prices');
  });

  it('keeps a question from being taken for a call for help, and a line a line', () => {
    expect(magicLine('how do I merge\n  frames?', true)).toBe('%memsearch how do I merge frames ?');
  });
});
