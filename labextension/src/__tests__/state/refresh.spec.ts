import { IndexModel } from '../../models/indexModel';
import { SearchModel } from '../../models/searchModel';
import { CHANGE_EVENTS, AutoRefresh } from '../../state/refresh';
import { Bus, job, status } from '../helpers/samples';
import { found, advance, Server } from '../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A question is answered, and a person sees it. */
async function asked() {
  const [server, bus, seen] = [new Server(), new Bus(), { now: true }];
  const model = new SearchModel({ api: server.api });
  const index = new IndexModel({ api: server.api });
  const renewal = new AutoRefresh(model, index, () => seen.now, bus.manager);
  await Promise.all([model.refresh(), advance(10)]);
  model.answers.setQuery('price of λ');
  await advance(300);
  const say = async (): Promise<void> => {
    bus.say(CHANGE_EVENTS, { changes: 1 });
    await advance(10);
  };
  return { server, bus, seen, model, index, renewal, say, searches: () => server.bodies('POST search').length };
}

describe('after files changed', () => {
  it('shows a deleted one no longer, without a word of loading, and leaves the selection where it is', async () => {
    const { server, model, say, searches } = await asked();
    model.selection.select('bb02');
    server.on('POST search', () => {
      const { hits, places } = found();
      return found({ hits: hits.slice(1), places: places.slice(1) });
    });
    const told: boolean[] = [];
    model.stateChanged.connect(() => told.push(model.isLoading));
    await say();
    expect(model.hits.map(one => one.hit.memory_id)).toEqual(['bb02']);
    expect([model.selected, searches(), told.includes(true)]).toEqual(['bb02', 2, false]);
    await advance(60_000);
    expect(searches()).toBe(2);
  });

  it('waits until somebody sees it, and asks once', async () => {
    const { seen, model, renewal, say, searches } = await asked();
    seen.now = false;
    await say();
    await say();
    expect([searches(), renewal.isStale]).toEqual([1, true]);
    seen.now = true;
    model.stateChanged.emit();
    await advance(10);
    expect([searches(), renewal.isStale]).toEqual([2, false]);
  });

  it('waits for an answer that is on its way, which may be of the time before', async () => {
    const { server, model, say, searches } = await asked();
    let answered = (): void => undefined;
    server.on('POST search', () => new Promise(done => (answered = () => done(found()))));
    void model.answers.search({ now: true });
    await advance(10);
    await say();
    expect([model.isLoading, searches()]).toEqual([true, 2]);
    server.on('POST search', () => found());
    answered();
    await advance(10);
    expect([model.isLoading, searches()]).toEqual([false, 3]);
  });

  it('asks nothing while something is indexed, which ends with an answer anyway', async () => {
    const { server, index, say, searches } = await asked();
    server.on('GET status', () => status({ jobs: [job()] }));
    await Promise.all([index.refresh(), advance(10)]);
    await say();
    await say();
    expect([index.isIndexing, searches()]).toEqual([true, 1]);
    index.dispose();
  });

  it('hears nothing before anything is asked, and asks again where that is the first answer', async () => {
    const [server, bus] = [new Server(), new Bus()];
    const model = new SearchModel({ api: server.api });
    const index = new IndexModel({ api: server.api });
    const renewal = new AutoRefresh(model, index, () => model.isLoading || !!model.answer, bus.manager);
    bus.say(CHANGE_EVENTS, { changes: 1 });
    expect([server.asked, renewal.isStale]).toEqual([[], false]);
    let answered = (): void => undefined;
    server.on('POST browse', () => new Promise(done => (answered = () => done(found()))));
    void model.refresh();
    await advance(10);
    bus.say(CHANGE_EVENTS, { changes: 1 });
    server.on('POST browse', () => found());
    answered();
    await advance(10);
    expect([server.bodies('POST browse').length, renewal.isStale]).toEqual([2, false]);
  });

  it('hears nothing of other events, or when it is disposed', async () => {
    const { bus, renewal, say, searches } = await asked();
    bus.say('https://events.jupyter.org/jupyter_server/contents_service/v1', { action: 'delete', path: 'λ.md' });
    await advance(10);
    renewal.dispose();
    await say();
    expect(searches()).toBe(1);
  });
});
