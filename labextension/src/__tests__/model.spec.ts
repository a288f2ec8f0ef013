import { SearchModel } from '../model';
import type { IAnswer, ISearch } from '../types';
import { place, status } from './samples';
import { found, item, pass, Raw, Server } from './server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function opened(): { server: Server; model: SearchModel; searched: () => ISearch[] } {
  const server = new Server();
  const model = new SearchModel({ api: server.api });
  return { server, model, searched: () => server.bodies('POST search') };
}

/** A promise that a spec settles. */
function held<T>(): { promise: Promise<T>; give: (value: T) => void } {
  let give: (value: T) => void = () => undefined;
  const promise = new Promise<T>(resolve => (give = resolve));
  return { promise, give };
}

describe('asking', () => {
  it('waits until the typing rests', async () => {
    const { model, searched } = opened();
    for (const text of ['no', 'norm', 'normalise pri']) {
      model.setQuery(text);
      await pass(200);
    }
    expect(searched()).toEqual([]);
    await pass(60);
    expect(searched().map(one => one.query)).toEqual(['normalise pri']);
    expect(model.answer?.query).toBe('normalise pri');
  });

  it('takes the last word as unfinished while one types, and as finished with Enter, which is noted', async () => {
    const { model, searched } = opened();
    model.setQuery('normalise pri');
    await pass(300);
    await Promise.all([model.search({ now: true }), pass()]);
    expect(searched().map(({ prefix, log }) => [prefix, log])).toEqual([
      [true, false],
      [false, true]
    ]);
  });

  it('needs two characters, or one where a character is a word, or Enter', async () => {
    const { model, searched } = opened();
    model.setQuery('p');
    await pass(300);
    model.setQuery('価');
    await pass(300);
    model.setQuery('λ');
    await pass(300);
    expect(searched().map(one => one.query)).toEqual(['価']);
    await Promise.all([model.search({ now: true }), pass()]);
    expect(searched().map(one => one.query)).toEqual(['価', 'λ']);
  });

  it('takes back the question before, and shows the latest whatever comes first', async () => {
    const { server, model } = opened();
    const [first, second] = [held<IAnswer>(), held<IAnswer>()];
    server.on('POST search', ({ body }) => (body.query === 'first λ' ? first : second).promise);
    model.setQuery('first λ');
    await pass(300);
    const { signal } = server.asked[0];
    model.setQuery('second λ');
    await pass(300);
    expect(signal.aborted).toBe(true);
    second.give(found({ query: 'second λ' }));
    await pass();
    first.give(found({ query: 'first λ' }));
    await pass();
    expect(model.answer?.query).toBe('second λ');
    expect(model.isLoading).toBe(false);
    expect(model.problem).toBeNull();
  });

  it('shows the newest memories when the box is emptied', async () => {
    const { server, model } = opened();
    model.setQuery('price');
    await pass(300);
    model.setQuery('  ');
    await pass(300);
    expect(server.bodies('POST browse')).toEqual([{ limit: 20, filters: {} }]);
    expect(model.showing).toEqual({ what: 'browse' });
  });

  it('asks anew, at once, with filters, a day, a profile, and without the time in the words', async () => {
    const { model, searched } = opened();
    model.setQuery('prices last month');
    await pass(300);
    model.setFilters({ kind: ['cell', 'note'] });
    await pass();
    model.setSince('2026-10-01');
    await pass();
    model.setProfile('trovella');
    await pass();
    model.setUseTime(false);
    await pass();
    expect(searched()).toHaveLength(5);
    expect(searched()[0].time).toBe(true);
    expect(searched()[0].profile).toBeUndefined();
    expect(searched()[4]).toMatchObject({
      filters: { kind: ['cell', 'note'] },
      since: '2026-10-01',
      profile: 'trovella',
      time: false
    });
    model.setFilters({ kind: ['note', 'cell'] });
    await pass();
    expect(searched()).toHaveLength(5);
  });

  it('reads a time again in other words', async () => {
    const { model, searched } = opened();
    model.setQuery('prices last month');
    model.setUseTime(false);
    await pass(300);
    model.setQuery('prices last week');
    await pass(300);
    expect(searched().map(one => one.time)).toEqual([false, true]);
  });

  it('asks for the lists of the engines only where they are wanted', async () => {
    const { model, searched } = opened();
    model.setQuery('price');
    await pass(300);
    model.lists = true;
    await pass();
    expect(searched().map(one => one.lists)).toEqual([false, true]);
  });

  it('keeps the answer when the next question cannot be read, and says what the server said', async () => {
    const { server, model } = opened();
    model.setQuery('price');
    await pass(300);
    server.on('POST search', () => new Raw(400, { message: 'a filter cannot be read.', reason: 'QueryError' }));
    model.setQuery('price kind:cel');
    await pass(300);
    expect(model.problem).toMatchObject({ status: 400, message: 'a filter cannot be read.' });
    expect(model.hits).toHaveLength(2);
    server.on('POST search', () => found());
    model.setQuery('price kind:cell');
    await pass(300);
    expect(model.problem).toBeNull();
  });

  it('shows more, a page at a time, while there is more', async () => {
    const { server, model, searched } = opened();
    const many = (n: number): IAnswer => {
      const [hit] = found().hits;
      const hits = Array.from({ length: n }, (_, i) => ({ ...hit, rank: i + 1, memory_id: `m${i}` }));
      return found({ hits, places: hits.map(() => found().places[0]), counts: { keyword: 50, vector: 0, fused: 30 } });
    };
    server.on('POST search', ({ body }) => many(Math.min(body.limit, 30)));
    model.setQuery('price');
    await pass(300);
    expect(model.hasMore).toBe(true);
    await Promise.all([model.showMore(), pass()]);
    expect(searched().map(one => one.limit)).toEqual([20, 40]);
    expect(model.hits).toHaveLength(30);
    expect(model.hasMore).toBe(false);
  });
});

describe('going around', () => {
  it('shows what is like a memory, and goes back to the question', async () => {
    const { server, model } = opened();
    model.setQuery('price');
    await pass(300);
    await Promise.all([model.related('bb02'), pass()]);
    expect(server.bodies('POST related')).toEqual([{ memory_id: 'bb02', limit: 20 }]);
    expect(model.showing).toMatchObject({ what: 'related', title: 'pricing_model.ipynb – Cleaning › Prices' });
    await Promise.all([model.back(), pass()]);
    expect(model.showing).toEqual({ what: 'search' });
  });

  it('keeps a selected memory while it is among the hits', async () => {
    const { server, model } = opened();
    model.setQuery('price');
    await pass(300);
    model.select('bb02');
    await Promise.all([model.refresh(), pass()]);
    expect(model.selected).toBe('bb02');
    server.on('POST search', () => found({ hits: [], places: [] }));
    await Promise.all([model.refresh(), pass()]);
    expect(model.selected).toBeNull();
  });

  it('asks nothing of an empty store, and shows its first memories as they come', async () => {
    const { server, model } = opened();
    const { store } = status();
    server.on('GET status', () => status({ store: { ...store, memories: 0 } }));
    await Promise.all([model.refresh(), pass()]);
    expect(server.asked.map(one => one.route)).toEqual(['status']);
    model.setStatus(status({ store: { ...store, memories: 3 } }));
    await pass();
    expect(server.asked.map(one => one.route)).toEqual(['status', 'browse']);
  });

  it('asks nothing of a server of another age', async () => {
    const { server, model } = opened();
    server.on('GET status', () => status({ api: 0 }));
    await Promise.all([model.refresh(), pass()]);
    expect(server.asked.map(one => one.route)).toEqual(['status']);
    expect(model.isLoading).toBe(false);
  });

  it('remembers the question and the view, and takes them up again', async () => {
    const { model } = opened();
    model.setQuery('prices in Zürich');
    model.setFilters({ lang: ['python'] });
    model.setGrouped(true);
    const kept = JSON.parse(JSON.stringify(model.toJSON()));
    const other = opened();
    other.model.restore(kept);
    expect(other.model.toJSON()).toEqual(model.toJSON());
    expect(other.server.asked).toEqual([]);
    await Promise.all([other.model.refresh(), pass()]);
    expect(other.searched()).toMatchObject([{ query: 'prices in Zürich', filters: { lang: ['python'] }, log: false }]);
    other.model.restore({});
    expect(other.model.query).toBe('prices in Zürich');
  });
});

describe('the hits', () => {
  it('stay the same objects while nothing happens to them, so that cards are not drawn anew', async () => {
    const { model } = opened();
    model.setQuery('price');
    await pass(300);
    const { hits } = model;
    model.select('bb02');
    model.setQuery('prices');
    model.setGrouped(true);
    expect(model.hits).toBe(hits);
    model.forget('bb02');
    expect(model.hits).toHaveLength(1);
    model.undoForget('bb02');
    expect(model.hits).toHaveLength(2);
  });

  it('are about something else with other words or filters, not with more of them', async () => {
    const { model } = opened();
    model.setQuery('price');
    await pass(300);
    const { about } = model;
    await Promise.all([model.showMore(), pass()]);
    expect(model.about).toBe(about);
    model.setFilters({ kind: ['cell'] });
    await pass();
    expect(model.about).not.toBe(about);
  });
});

describe('changing', () => {
  async function asked(): Promise<ReturnType<typeof opened>> {
    const all = opened();
    all.model.setQuery('price');
    await pass(300);
    return all;
  }

  it('pins at once, and takes what the server says', async () => {
    const { model } = await asked();
    const done = model.pin('aa01', true);
    expect(model.find('aa01')?.place.pinned).toBe(true);
    await Promise.all([done, pass()]);
    expect(model.find('aa01')?.hit.tier).toBe('core');
  });

  it('leaves the line and the headings of a hit as they are when it is pinned', async () => {
    const { server, model } = opened();
    const [at, of] = [
      { line: 12, context: 'Weekly log' },
      { line: null, context: '' }
    ];
    server.on('POST search', () => found({ places: [{ ...place, ...at }, place] }));
    server.on('POST pin', () => item('aa01', { place: { ...place, ...of, pinned: true } }));
    model.setQuery('λ');
    await Promise.all([model.search({ now: true }), pass()]);
    await Promise.all([model.pin('aa01', true), pass()]);
    expect(model.find('aa01')?.place).toMatchObject({ ...at, pinned: true });
  });

  it('takes a pin back that the server refuses', async () => {
    const { server, model } = await asked();
    server.on('POST pin', () => new Raw(503, { message: 'The memory is locked.', reason: 'StoreLocked' }));
    await Promise.all([model.pin('aa01', true), pass()]);
    expect(model.find('aa01')?.place.pinned).toBe(false);
    expect(model.problem?.message).toBe('The memory is locked.');
    model.dismissProblem();
    expect(model.problem).toBeNull();
  });

  it('tags', async () => {
    const { server, model } = await asked();
    await Promise.all([model.tag('aa01', ['λ', 'Zürich']), pass()]);
    expect(server.bodies('POST update')).toEqual([{ memory_id: 'aa01', tags: ['λ', 'Zürich'] }]);
    expect(model.find('aa01')?.hit.tags).toEqual(['λ', 'Zürich']);
  });

  it('says what was useful, with the question it was found by', async () => {
    const { server, model } = await asked();
    await Promise.all([model.accept('bb02', false), pass()]);
    expect(model.accepted('bb02')).toBe(false);
    expect(server.bodies('POST feedback')).toEqual([
      { memory_id: 'bb02', accepted: false, rank: 2, query_id: 'q1', query: 'price', profile: 'auto' }
    ]);
    server.on('POST feedback', () => new Raw(503, { message: '', reason: 'StoreLocked' }));
    await Promise.all([model.accept('bb02', true), pass()]);
    expect(model.accepted('bb02')).toBe(false);
  });

  it('forgets after a while in which the memory can be had back', async () => {
    const { server, model } = await asked();
    model.select('aa01');
    model.forget('aa01');
    expect(model.hits.map(one => one.hit.memory_id)).toEqual(['bb02']);
    expect(model.forgotten).toEqual([{ id: 'aa01', title: 'normalise_notes λ' }]);
    expect(model.selected).toBe('bb02');
    await pass(5_000);
    model.undoForget('aa01');
    await pass(10_000);
    expect(server.bodies('POST forget')).toEqual([]);
    expect(model.hits).toHaveLength(2);
    model.forget('aa01');
    await pass(6_100);
    expect(server.bodies('POST forget')).toEqual([{ memory_ids: ['aa01'] }]);
    expect(model.forgotten).toEqual([]);
    expect(model.hits).toHaveLength(1);
  });

  it('forgets at once when it is disposed', async () => {
    const { server, model } = await asked();
    model.forget('aa01');
    model.forget('bb02');
    model.dispose();
    await pass();
    expect(server.bodies('POST forget')).toEqual([{ memory_ids: ['aa01', 'bb02'] }]);
  });

  it('brings a memory back that could not be forgotten', async () => {
    const { server, model } = await asked();
    server.on('POST forget', () => new Raw(503, { message: 'The memory is locked.', reason: 'StoreLocked' }));
    model.forget('aa01');
    await pass(6_100);
    expect(model.hits).toHaveLength(2);
    expect(model.problem?.reason).toBe('StoreLocked');
  });

  it('keeps hidden what was forgotten, also in the next answer', async () => {
    const { model } = await asked();
    model.forget('aa01');
    model.setQuery('prices');
    await pass(300);
    expect(model.answer?.query).toBe('prices');
    expect(model.hits.map(one => one.hit.memory_id)).toEqual(['bb02']);
  });
});
