import type { IAnswer } from '../../api/types';
import { found, connectedModel, advance, RawResponse } from '../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A promise that a spec settles. */
function held<T>(): { promise: Promise<T>; give: (value: T) => void } {
  let give: (value: T) => void = () => undefined;
  const promise = new Promise<T>(resolve => (give = resolve));
  return { promise, give };
}

describe('asking', () => {
  it('waits until the typing rests', async () => {
    const { model, searched } = connectedModel();
    for (const text of ['no', 'norm', 'normalise pri']) {
      model.answers.setQuery(text);
      await advance(200);
    }
    expect(searched()).toEqual([]);
    await advance(60);
    expect(searched().map(one => one.query)).toEqual(['normalise pri']);
    expect(model.answer?.query).toBe('normalise pri');
  });

  it('takes the last word as unfinished while one types, and as finished with Enter, which is noted', async () => {
    const { model, searched } = connectedModel();
    model.answers.setQuery('normalise pri');
    await advance(300);
    await Promise.all([model.answers.search({ now: true }), advance()]);
    expect(searched().map(({ prefix, log }) => [prefix, log])).toEqual([
      [true, false],
      [false, true]
    ]);
  });

  it('needs two characters, or one where a character is a word, or Enter', async () => {
    const { model, searched } = connectedModel();
    model.answers.setQuery('p');
    await advance(300);
    model.answers.setQuery('価');
    await advance(300);
    model.answers.setQuery('λ');
    await advance(300);
    expect(searched().map(one => one.query)).toEqual(['価']);
    await Promise.all([model.answers.search({ now: true }), advance()]);
    expect(searched().map(one => one.query)).toEqual(['価', 'λ']);
  });

  it('takes back the question before, and shows the latest whatever comes first', async () => {
    const { server, model } = connectedModel();
    const [first, second] = [held<IAnswer>(), held<IAnswer>()];
    server.on('POST search', ({ body }) => (body.query === 'first λ' ? first : second).promise);
    model.answers.setQuery('first λ');
    await advance(300);
    const { signal } = server.asked[0];
    model.answers.setQuery('second λ');
    await advance(300);
    expect(signal.aborted).toBe(true);
    second.give(found({ query: 'second λ' }));
    await advance();
    first.give(found({ query: 'first λ' }));
    await advance();
    expect(model.answer?.query).toBe('second λ');
    expect(model.isLoading).toBe(false);
    expect(model.problem).toBeNull();
  });

  it('shows the newest memories when the box is emptied', async () => {
    const { server, model } = connectedModel();
    model.answers.setQuery('price');
    await advance(300);
    model.answers.setQuery('  ');
    await advance(300);
    expect(server.bodies('POST browse')).toEqual([{ limit: 20, filters: {} }]);
    expect(model.showing).toEqual({ what: 'browse' });
  });

  it('asks anew, at once, with filters, a day, a profile, and without the time in the words', async () => {
    const { model, searched } = connectedModel();
    model.answers.setQuery('prices last month');
    await advance(300);
    model.answers.narrow({ filters: { kind: ['cell', 'note'] } });
    await advance();
    model.answers.narrow({ since: '2026-10-01' });
    await advance();
    model.answers.narrow({ profile: 'trovella' });
    await advance();
    model.answers.narrow({ useTime: false });
    await advance();
    expect(searched()).toHaveLength(5);
    expect(searched()[0].time).toBe(true);
    expect(searched()[0].profile).toBeUndefined();
    expect(searched()[4]).toMatchObject({
      filters: { kind: ['cell', 'note'] },
      since: '2026-10-01',
      profile: 'trovella',
      time: false
    });
    model.answers.narrow({ filters: { kind: ['note', 'cell'] } });
    await advance();
    expect(searched()).toHaveLength(5);
  });

  it('narrows also what is browsed, and what is like a memory', async () => {
    const { server, model } = connectedModel();
    model.answers.narrow({ filters: { kind: ['cell'] } });
    model.answers.narrow({ since: '2026-10-01' });
    await advance();
    expect(server.bodies('POST browse').at(-1)).toEqual({
      limit: 20,
      filters: { kind: ['cell'] },
      since: '2026-10-01'
    });
    model.answers.narrow({ profile: 'trovella' });
    await Promise.all([model.related('aa01'), advance()]);
    model.answers.narrow({ since: null });
    await advance();
    expect(server.bodies('POST related')).toEqual([
      { memory_id: 'aa01', limit: 20, filters: { kind: ['cell'] }, since: '2026-10-01', profile: 'trovella' },
      { memory_id: 'aa01', limit: 20, filters: { kind: ['cell'] }, profile: 'trovella' }
    ]);
  });

  it('reads a time again in other words', async () => {
    const { model, searched } = connectedModel();
    model.answers.setQuery('prices last month');
    model.answers.narrow({ useTime: false });
    await advance(300);
    model.answers.setQuery('prices last week');
    await advance(300);
    expect(searched().map(one => one.time)).toEqual([false, true]);
  });

  it('asks what was answered again, not what is being typed', async () => {
    const { model, searched } = connectedModel();
    model.answers.setQuery('prices in Zürich');
    await advance(300);
    model.answers.setQuery('');
    void model.revalidate();
    expect(model.answers.request().query).toBe('prices in Zürich');
    await advance();
    expect(searched().map(one => one.query)).toEqual(['prices in Zürich', 'prices in Zürich']);
  });

  it('is at rest, and narrows what is shown, while the words are too short for a question', async () => {
    const { server, model, searched } = connectedModel();
    model.answers.setQuery('p');
    await Promise.all([model.refresh(), advance(300)]);
    expect([model.isLoading, server.bodies('POST browse').length]).toEqual([false, 1]);
    model.answers.setQuery('prices');
    await advance(300);
    model.answers.setQuery('p');
    model.answers.narrow({ filters: { lang: ['python'] } });
    await advance(300);
    expect(searched().map(one => [one.query, one.filters])).toEqual([
      ['prices', {}],
      ['prices', { lang: ['python'] }]
    ]);
    await Promise.all([model.related('bb02'), advance()]);
    await Promise.all([model.answers.back(), advance()]);
    expect(model.showing).toEqual({ what: 'browse' });
  });

  it('asks for the lists of the engines only where they are wanted', async () => {
    const { model, searched } = connectedModel();
    model.answers.setQuery('price');
    await advance(300);
    model.answers.lists = true;
    await advance();
    expect(searched().map(one => one.lists)).toEqual([false, true]);
  });

  it('keeps the answer when the next question cannot be read, and says what the server said', async () => {
    const { server, model } = connectedModel();
    model.answers.setQuery('price');
    await advance(300);
    server.on('POST search', () => new RawResponse(400, { message: 'a filter cannot be read.', reason: 'QueryError' }));
    model.answers.setQuery('price kind:cel');
    await advance(300);
    expect(model.problem).toMatchObject({ status: 400, message: 'a filter cannot be read.' });
    expect(model.hits).toHaveLength(2);
    server.on('POST search', () => found());
    model.answers.setQuery('price kind:cell');
    await advance(300);
    expect(model.problem).toBeNull();
  });

  it('shows more, a page at a time, while there is more', async () => {
    const { server, model, searched } = connectedModel();
    const many = (n: number): IAnswer => {
      const [hit] = found().hits;
      const hits = Array.from({ length: n }, (_, i) => ({ ...hit, rank: i + 1, memory_id: `m${i}` }));
      return found({ hits, places: hits.map(() => found().places[0]), counts: { keyword: 50, vector: 0, fused: 30 } });
    };
    server.on('POST search', ({ body }) => many(Math.min(body.limit, 30)));
    model.answers.setQuery('price');
    await advance(300);
    expect(model.answers.hasMore).toBe(true);
    await Promise.all([model.answers.showMore(), advance()]);
    expect(searched().map(one => one.limit)).toEqual([20, 40]);
    expect(model.hits).toHaveLength(30);
    expect(model.answers.hasMore).toBe(false);
  });
});
