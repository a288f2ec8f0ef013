import { fireEvent, screen, within } from '@testing-library/react';

import { renderResults } from '../../helpers/renderResults';
import { hit, place } from '../../helpers/samples';
import { advance, found, notebook } from '../../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('a card', () => {
  it('says what it is, where it is and why it is there', async () => {
    const { options } = await renderResults();
    const [note, cell] = options();
    expect(note.textContent).toMatch(/^1normalise_notes λ/);
    expect(within(note).getByText('keyword match')).toBeTruthy();
    expect(within(note).getByText('match by meaning')).toBeTruthy();
    expect(within(note).getByText('99%')).toBeTruthy();
    expect(within(note).getByText('#pricing')).toBeTruthy();
    expect(within(cell).queryByText('KW')).toBeNull();
    expect(cell.textContent).toContain('Cleaning › Prices');
    expect(cell.textContent).toContain('…/zürich/pricing_model.ipynb');
    expect(cell.querySelector('time')?.dateTime).toBe('2026-10-14T09:00:00+00:00');
    expect(cell.querySelectorAll('.jp-Memory-bar [data-term]').length).toBeGreaterThan(1);
  });

  it('marks the words that match, and shows code in one width', async () => {
    const { options } = await renderResults();
    const [note, cell] = options();
    expect(note.querySelector('mark')?.textContent).toBe('normalise');
    expect(note.querySelector('code')).toBeNull();
    expect(cell.querySelector('code mark')?.textContent).toBe('price');
  });

  it('of a run says how often it ran and how it ended last, in words and in a tooltip', async () => {
    const run = {
      count: 1200,
      first: '2026-09-01T08:00:00Z',
      last: '2026-10-14T09:00:00Z',
      environment: 'prices',
      packages: ''
    };
    const ran = hit({ title: 'ratio = fit/base.mean', kind: 'history', source: '', snippet: 'ratio = fit/base.mean' });
    const answer = found({
      hits: [ran, { ...ran, memory_id: 'bb02', rank: 2 }, { ...ran, memory_id: 'cc03', rank: 3 }],
      places: [
        { ...notebook, run: { ...run, outcome: 'error', error: 'KeyError', packages: 'pandas 2.2.3' } },
        { ...place, run: { ...run, count: 1, outcome: 'ok', error: '', environment: '' } },
        { ...place, run: { ...run, count: 1, outcome: 'unknown', error: '' } }
      ]
    });
    const { options } = await renderResults(answer);
    const said = options().map(card => card.querySelector<HTMLElement>('.jp-Memory-run')!);
    expect(options().map(card => card.querySelector('.jp-Memory-name')?.textContent)).toEqual(
      Array(3).fill('ratio = fit/base.mean')
    );
    expect(said.map(one => one.querySelector('.jp-Memory-sr')?.textContent)).toEqual([
      'ran 1,200 times, last: KeyError',
      'ran once: ok',
      'ran once: no outcome'
    ]);
    expect(said.map(one => one.querySelector('[aria-hidden]')?.textContent)).toEqual([
      '1,200 × KeyError',
      'ok',
      'no outcome'
    ]);
    expect(said[0].title).toMatch(
      /^Last run: .*\n1,200 runs, the first: .*\nThe last run ended with KeyError\.\nEnv.*\nRan with: pandas 2/
    );
    expect(said[1].title).toMatch(/^Last run: .*2026.*\nThe last run ended without an error\.$/);
    expect(said[2].title).toContain('its kernel died first');
    expect(options()[0].textContent).toContain('pricing_model.ipynb');
    expect(within(options()[1]).getByText('run')).toBeTruthy();
  });

  it('shows what looks like HTML as it was written', async () => {
    const evil = hit({
      title: '<img src=x>',
      snippet: '<b onclick="x">price</b>',
      highlights: [[3, 10]],
      tags: ['<i>']
    });
    const { options } = await renderResults(found({ hits: [evil], places: [place] }));
    expect(options()[0].querySelector('img, b, i:not([data-term])')).toBeNull();
    expect(options()[0].textContent).toContain('<b onclick="x">price</b>');
  });

  it('shows what nobody sees as marks', async () => {
    const lies = 'λ \x1b[2J\x9b31m costs \u202e5';
    const answer = found({
      hits: [
        hit({ title: lies, snippet: `so ${lies}`, highlights: [[0, 4]], tags: [lies], source: `/notes/${lies}.md` })
      ],
      places: [{ ...place, path: `notes/${lies}.md`, context: lies }]
    });
    const { options } = await renderResults(answer);
    const [card] = options();
    const titles = [...card.querySelectorAll<HTMLElement>('[title]')].map(one => one.title).join('');
    expect(card.textContent! + titles).not.toMatch(/[\x1b\x9b\u202e]/);
    expect(card.textContent).toContain('so λ ␛[2J[U+009B]31m costs [U+202E]5');
    expect(card.querySelector('mark')?.textContent).toBe('so λ');
    expect(within(card).getByText('#λ ␛[2J[U+009B]31m costs [U+202E]5')).toBeTruthy();
  });

  it('lets each text run its own way', async () => {
    const { options } = await renderResults(
      found({ hits: [hit({ title: 'תמחור 価格', snippet: 'תמחור' })], places: [place] })
    );
    expect(options()[0].querySelector('bdi')?.textContent).toBe('תמחור 価格');
    expect(options()[0].querySelector('.jp-Memory-snippet')?.getAttribute('dir')).toBe('auto');
  });

  it('says that it is pinned, and that its file changed', async () => {
    const { options, onIndex } = await renderResults(
      found({ hits: [hit()], places: [{ ...notebook, pinned: true, changed: true, context: 'Prices > λ', index: 4 }] })
    );
    expect(options()[0].querySelector<HTMLElement>('.jp-Memory-path')?.title).toMatch(/^Prices › λ\ncell 5$/);
    expect(within(options()[0]).getByText('pinned')).toBeTruthy();
    expect(options()[0].textContent).toContain('changed');
    expect(screen.getByText(/1 file changed since it was indexed/)).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Index now' }));
    fireEvent.click(options()[0]);
    fireEvent.click(screen.getByRole('button', { name: 'Index again' }));
    expect(onIndex.mock.calls).toEqual([[notebook.path], [notebook.path]]);
  });

  it('has no badges and no bar where nothing was asked', async () => {
    const newest = hit({ badges: '', score: null, strength: null, signals: {}, highlights: [] });
    const { options } = await renderResults(found({ hits: [newest], places: [place], terms: [] }));
    expect(options()[0].querySelector('.jp-Memory-badge, .jp-Memory-bar, .jp-Memory-strength')).toBeNull();
  });

  it('of another store says which, and is known by its name there', async () => {
    const own = hit({ store: 'own' });
    const theirs = hit({ store: 'team', memory_id: 'team:aa01', rank: 2 });
    const { options, server } = await renderResults(found({ hits: [own, theirs], places: [place, place] }));
    expect(options().map(card => card.querySelector('.jp-Memory-store')?.textContent)).toEqual([undefined, 'team']);
    fireEvent.click(options()[1]);
    fireEvent.click(screen.getByRole('button', { name: 'Pin' }));
    await advance();
    expect(server.bodies('POST pin')).toEqual([{ memory_id: 'team:aa01', pinned: true }]);
  });
});
