import { job, status } from '../helpers/samples';
import { found, connectedModel, advance, RawResponse } from '../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('going around', () => {
  it('shows what is like a memory, and goes back to the question', async () => {
    const { server, model } = connectedModel();
    model.answers.setQuery('price');
    await advance(300);
    await Promise.all([model.related('bb02'), advance()]);
    expect(server.bodies('POST related')).toEqual([{ memory_id: 'bb02', limit: 20, filters: {} }]);
    expect(model.showing).toMatchObject({ what: 'related', title: 'pricing_model.ipynb – Cleaning › Prices' });
    await Promise.all([model.answers.back(), advance()]);
    expect(model.showing).toEqual({ what: 'search' });
  });

  it('keeps a selected memory while it is among the hits', async () => {
    const { server, model } = connectedModel();
    model.answers.setQuery('price');
    await advance(300);
    model.selection.select('bb02');
    await Promise.all([model.refresh(), advance()]);
    expect(model.selected).toBe('bb02');
    server.on('POST search', () => found({ hits: [], places: [] }));
    await Promise.all([model.refresh(), advance()]);
    expect(model.selected).toBeNull();
  });

  it('leaves a question alone that is asked while it looks at the status', async () => {
    const { server, model, searched } = connectedModel();
    let [tell, reply] = [(): void => undefined, (): void => undefined];
    server.on('GET status', () => new Promise(resolve => (tell = () => resolve(status()))));
    server.on('POST search', () => new Promise(resolve => (reply = () => resolve(found({ query: 'price' })))));
    const looked = model.refresh();
    await advance();
    model.answers.setQuery('price');
    const asked = model.answers.search({ now: true });
    await advance();
    tell();
    await Promise.all([looked, advance()]);
    expect(model.isLoading).toBe(true);
    reply();
    await Promise.all([asked, advance()]);
    expect(searched().map(one => one.log)).toEqual([true]);
    expect(model.answer?.query).toBe('price');
    expect(model.isLoading).toBe(false);
  });

  it('asks nothing of an empty store, and shows its first memories as they come', async () => {
    const { server, model } = connectedModel();
    const { store } = status();
    server.on('GET status', () => status({ store: { ...store, memories: 0 } }));
    await Promise.all([model.refresh(), advance()]);
    expect(server.asked.map(one => one.route)).toEqual(['status']);
    model.setStatus(status({ store: { ...store, memories: 3 } }));
    await advance();
    expect(server.asked.map(one => one.route)).toEqual(['status', 'browse']);
  });

  it('counts anew what is left, and fills up what is browsed, without a word of loading', async () => {
    const { server, model } = connectedModel();
    const { store } = status();
    await Promise.all([model.refresh(), advance()]);
    const told: boolean[] = [];
    model.stateChanged.connect(() => told.push(model.isLoading));
    server.on('GET status', () => status({ store: { ...store, memories: 2045 } }));
    model.forget('aa01');
    await advance(6_100);
    expect(model.status?.store.memories).toBe(2045);
    expect(server.bodies('POST browse')).toHaveLength(2);
    expect(told).not.toContain(true);
    model.answers.setQuery('price of λ');
    await advance(300);
    server.on('GET status', () => status({ store: { ...store, memories: 2046 } }));
    await Promise.all([model.recount(), advance()]);
    expect(model.status?.store.memories).toBe(2046);
    expect(server.asked.at(-1)?.route).toBe('status');
  });

  it('says that a memory is gone also where the newest are listed anew because of it', async () => {
    const { server, model } = connectedModel();
    const { store } = status();
    await Promise.all([model.refresh(), advance()]);
    server.on('POST pin', () => new RawResponse(404, { message: 'No memory has this id.', reason: 'UnknownMemory' }));
    server.on('GET status', () => status({ store: { ...store, memories: 2045 } }));
    await Promise.all([model.edits.pin('aa01', true), advance(50)]);
    expect(server.bodies('POST browse')).toHaveLength(2);
    expect(model.problem?.reason).toBe('UnknownMemory');
    await Promise.all([model.refresh(), advance()]);
    expect(model.problem).toBeNull();
  });

  it('asks for the newest once when an indexing is over, however much it changed', async () => {
    const { server, model } = connectedModel();
    const { store } = status();
    await Promise.all([model.refresh(), advance()]);
    model.setStatus(status({ jobs: [job()], store: { ...store, memories: 20 } }));
    await advance();
    expect(server.bodies('POST browse')).toHaveLength(1);
    model.setStatus(status({ jobs: [job({ state: 'done' })], store: { ...store, memories: 31 } }));
    await advance();
    expect(server.bodies('POST browse')).toHaveLength(2);
    model.setStatus(status({ jobs: [job({ state: 'done' })], store: { ...store, memories: 31 } }));
    await advance();
    expect(server.bodies('POST browse')).toHaveLength(2);
  });

  it('asks a question anew when an indexing is over, though there are as many memories as before', async () => {
    const { model, searched } = connectedModel();
    await Promise.all([model.refresh(), advance()]);
    model.answers.setQuery('price of λ');
    await advance(300);
    model.setStatus(status({ jobs: [job()] }));
    model.setStatus(status({ jobs: [job({ state: 'done' })] }));
    await advance();
    expect(searched()).toHaveLength(2);
  });

  it('shows nothing of a store whose file is gone', async () => {
    const { server, model } = connectedModel();
    await Promise.all([model.refresh(), advance()]);
    server.on('POST search', () => new RawResponse(409, { message: 'There is no store.', reason: 'NoStore' }));
    server.on('GET status', () => status({ store: { ...status().store, exists: false, memories: 0 } }));
    model.answers.setQuery('price');
    await advance(300);
    expect([model.hits.length, model.problem, model.status?.store.memories]).toEqual([0, null, 0]);
  });

  it('asks nothing of a server of another age', async () => {
    const { server, model } = connectedModel();
    server.on('GET status', () => status({ api: 0 }));
    await Promise.all([model.refresh(), advance()]);
    expect(server.asked.map(one => one.route)).toEqual(['status']);
    expect(model.isLoading).toBe(false);
  });

  it('remembers the question and the view, and takes them up again', async () => {
    const { model } = connectedModel();
    model.answers.setQuery('prices in Zürich');
    model.answers.narrow({ filters: { lang: ['python'] } });
    model.selection.setGrouped(true);
    const kept = JSON.parse(JSON.stringify(model.toJSON()));
    const other = connectedModel();
    other.model.restore(kept);
    expect(other.model.toJSON()).toEqual(model.toJSON());
    expect(other.server.asked).toEqual([]);
    await Promise.all([other.model.refresh(), advance()]);
    expect(other.searched()).toMatchObject([{ query: 'prices in Zürich', filters: { lang: ['python'] }, log: false }]);
    other.model.restore({});
    expect(other.model.question.query).toBe('prices in Zürich');
  });
});

describe('the hits', () => {
  it('stay the same objects while nothing happens to them, so that cards are not drawn anew', async () => {
    const { model } = connectedModel();
    model.answers.setQuery('price');
    await advance(300);
    const { hits } = model;
    model.selection.select('bb02');
    model.answers.setQuery('prices');
    model.selection.setGrouped(true);
    expect(model.hits).toBe(hits);
    model.forget('bb02');
    expect(model.hits).toHaveLength(1);
    model.undoForget('bb02');
    expect(model.hits).toHaveLength(2);
  });

  it('are about something else with other words or filters, not with more of them', async () => {
    const { model } = connectedModel();
    model.answers.setQuery('price');
    await advance(300);
    const { about } = model;
    await Promise.all([model.answers.showMore(), advance()]);
    expect(model.about).toBe(about);
    model.answers.narrow({ filters: { kind: ['cell'] } });
    await advance();
    expect(model.about).not.toBe(about);
  });
});
