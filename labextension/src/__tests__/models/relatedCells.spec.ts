import { type IWorkedOn, RelatedCells } from '../../models/relatedCells';
import { SearchModel } from '../../models/searchModel';
import { status } from '../helpers/samples';
import { advance, found, RawResponse, Server } from '../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const CELL: IWorkedOn = { id: 'a1', path: 'prices.ipynb', text: 'prices = load("prices.csv").groupby("shop").mean()' };

interface IMade {
  server: Server;
  search: SearchModel;
  related: RelatedCells;
  seen: { now: boolean };
  asked(): { text: string; path: string }[];
}

async function made(isOn = true): Promise<IMade> {
  const server = new Server();
  const search = new SearchModel({ api: server.api });
  const seen = { now: true };
  const related = new RelatedCells({ api: server.api, search, isSeen: () => seen.now });
  await Promise.all([search.refresh(), advance()]);
  related.isOn = isOn;
  return { server, search, related, seen, asked: () => server.bodies('POST related-to') };
}

describe('the cells like the active one', () => {
  it('are counted once a person pauses, without the notebook that is open', async () => {
    const { related, asked } = await made();
    related.follow(CELL);
    await advance(1000);
    expect(asked()).toEqual([{ text: CELL.text, path: CELL.path, filters: {} }]);
    expect(related.count).toBe(2);
  });

  it('are never asked for before that is turned on, nor after it is turned off', async () => {
    const { related, asked } = await made(false);
    related.follow(CELL);
    await advance(60_000);
    expect([asked().length, related.count]).toEqual([0, 0]);
    related.isOn = true;
    await advance(1000);
    expect([asked().length, related.count]).toEqual([1, 2]);
    related.isOn = false;
    related.follow({ ...CELL, text: `${CELL.text}.plot()` });
    await advance(60_000);
    expect([asked().length, related.count]).toEqual([1, 0]);
  });

  it('are not asked for while a person types, and the same text is asked about once', async () => {
    const { related, asked } = await made();
    for (const letter of '.plot()') {
      related.follow({ ...CELL, text: CELL.text + letter });
      await advance(500);
    }
    expect(asked()).toEqual([]);
    await advance(1000);
    expect(asked().length).toBe(1);
    // Outputs change a cell as well.
    related.follow({ ...CELL, text: `${CELL.text})` });
    await advance(60_000);
    expect(asked().length).toBe(1);
  });

  it('of the cell before are not counted for the next, and their request ends', async () => {
    const { server, related } = await made();
    const signals: AbortSignal[] = [];
    server.on('POST related-to', ({ signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    related.follow(CELL);
    await advance(1000);
    related.follow({ ...CELL, id: 'b2' });
    expect(signals.map(signal => signal.aborted)).toEqual([true]);
    await advance(1000);
    expect(signals.map(signal => signal.aborted)).toEqual([true, false]);
    expect(related.count).toBe(0);
  });

  it('are not asked for where nobody can see it, where the store is empty, or of a few letters', async () => {
    const { server, search, related, seen, asked } = await made();
    seen.now = false;
    related.follow(CELL);
    await advance(60_000);
    seen.now = true;
    related.follow({ ...CELL, text: 'df.head()' });
    await advance(60_000);
    const { store } = status();
    server.on('GET status', () => status({ store: { ...store, memories: 0 } }));
    await Promise.all([search.refresh(), advance()]);
    related.follow(CELL);
    await advance(60_000);
    expect(asked()).toEqual([]);
  });

  it('are those within the filters of the panel, also when these change', async () => {
    const { search, related, asked } = await made();
    related.follow(CELL);
    await advance(1000);
    search.answers.narrow({ filters: { lang: ['python'] } });
    await advance(1000);
    expect(asked()).toMatchObject([{ filters: {} }, { filters: { lang: ['python'] } }]);
  });

  it('are listed as results, from which Back leads to the question', async () => {
    const { server, search, related } = await made();
    related.follow(CELL);
    await advance(1000);
    await Promise.all([related.show(), advance()]);
    expect([search.showing.what, search.hits.length, search.answers.isTurned]).toEqual(['cell', 2, true]);
    expect([search.answers.hasMore, server.bodies('POST related-to').length]).toEqual([false, 2]);
    await Promise.all([search.answers.back(), advance()]);
    expect([search.showing.what, search.answers.isTurned]).toEqual(['browse', false]);
  });

  it('are announced to a screen reader once a minute at most', async () => {
    const { related } = await made();
    const heard: boolean[] = [];
    for (const id of ['a', 'b', 'c']) {
      related.follow({ ...CELL, id });
      await advance(1000);
      heard.push(related.isAnnounced);
    }
    await advance(60_000);
    related.follow({ ...CELL, id: 'd' });
    await advance(1000);
    expect([...heard, related.isAnnounced]).toEqual([true, false, false, true]);
  });

  it('are passed over in silence where the server cannot tell', async () => {
    const { server, search, related } = await made();
    server.on('POST related-to', () => new RawResponse(503, { message: 'Busy', reason: 'Busy' }));
    related.follow(CELL);
    await advance(1000);
    expect([related.count, search.problem]).toEqual([0, null]);
    server.on('POST related-to', () => found({ hits: [], places: [] }));
    related.follow({ ...CELL, id: 'b' });
    await advance(1000);
    expect(related.count).toBe(0);
  });
});
