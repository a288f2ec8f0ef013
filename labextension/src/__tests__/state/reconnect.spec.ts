import { IndexModel } from '../../models/indexModel';
import { SearchModel } from '../../models/searchModel';
import { Reconnection } from '../../state/refresh';
import { advance, RawResponse, Server } from '../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function made(): { server: Server; model: SearchModel; index: IndexModel; stop(): void; start(): void } {
  const server = new Server();
  const model = new SearchModel({ api: server.api });
  const index = new IndexModel({ api: server.api });
  new Reconnection(model, index);
  const [search, look] = [server.replies['POST search'], server.replies['GET status']];
  const gone = (): never => {
    throw new TypeError('Failed to fetch');
  };
  return {
    server,
    model,
    index,
    stop: () => ['POST search', 'GET status'].forEach(route => server.on(route, gone)),
    start: () => {
      server.on('POST search', search);
      server.on('GET status', look);
    }
  };
}

async function asked(model: SearchModel, query: string): Promise<void> {
  model.answers.setQuery(query);
  void model.answers.search({ now: true });
  await advance(10);
}

describe('after the server stopped', () => {
  it('asks what was not answered once the server is back, and shows what it showed until then', async () => {
    const { server, model, stop, start } = made();
    await asked(model, 'quantile λ');
    expect(model.answer?.query).toBe('quantile λ');
    stop();
    await asked(model, 'residuals of Müller');
    expect([model.problem?.reason, model.answer?.query]).toEqual(['Unreachable', 'quantile λ']);
    await advance(10_000);
    expect([model.problem?.reason, model.answer?.query]).toEqual(['Unreachable', 'quantile λ']);
    start();
    await advance(15_000);
    expect([model.problem, model.answer?.query]).toEqual([null, 'residuals of Müller']);
    const calls = server.asked.length;
    await advance(600_000);
    expect(server.asked.length).toBe(calls);
  });

  it('takes the word of a proxy for it, and keeps what is shown when a person tries again', async () => {
    const { server, model, stop, start } = made();
    await asked(model, 'quantile λ');
    server.on('POST search', () => new RawResponse(503, '<h1>Service unavailable</h1>'));
    server.on('GET status', () => new RawResponse(503, '<h1>Service unavailable</h1>'));
    await asked(model, 'residuals');
    await model.refresh();
    expect([model.problem?.reason, model.hits.length]).toEqual(['Unreachable', 2]);
    stop();
    start();
    await advance(15_000);
    expect([model.problem, model.answer?.query]).toEqual([null, 'residuals']);
  });

  it('does not ask for ever where the status comes and the answer does not', async () => {
    const { server, model } = made();
    server.on('POST search', () => new RawResponse(504, 'Gateway timeout'));
    await asked(model, 'quantile λ');
    await advance(300_000);
    expect(model.problem?.reason).toBe('Unreachable');
    expect(server.bodies('POST search')).toHaveLength(2);
  });

  it('looks for a server that stays away once a minute at last', async () => {
    const { server, model, stop } = made();
    stop();
    await asked(model, 'quantile λ');
    const looks = (): number => server.asked.filter(one => one.route === 'status').length;
    await advance(60_000);
    expect(looks()).toBeLessThan(9);
    await advance(1_200_000);
    const before = looks();
    await advance(600_000);
    expect(looks() - before).toBe(10);
  });
});
