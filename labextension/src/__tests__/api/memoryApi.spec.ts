import { ApiError, isAbort, MISSING, UNREACHABLE, UNREADABLE } from '../../api/memoryApi';
import { RawResponse, Server } from '../helpers/server';

describe('the api', () => {
  it('asks below the base URL, whatever is in it', async () => {
    const server = new Server();
    await server.api.status();
    expect(server.asked[0].url).toMatch('http://localhost:8888/a%40b/jupyter-memory/status');
  });

  it('sends what a person wrote in the body, never in the URL of any request', async () => {
    const server = new Server();
    const requests = Object.values(server.api).filter(one => typeof one === 'function');
    for (const ask of requests) {
      await ask('salary:λ Zürich').catch(() => undefined);
    }
    expect(requests.length).toBeGreaterThan(24);
    expect(server.asked).toHaveLength(requests.length);
    // Jupyter adds the time to a GET, which no cache answers then.
    const urls = server.asked.map(one => one.url.replace(/\?\d+$/, ''));
    expect(urls.filter(one => !/a%40b\/jupyter-memory\/[a-z-]+$/.test(one))).toEqual([]);
    expect(server.bodies('POST thumbnail')).toEqual([{ memory_id: 'salary:λ Zürich' }]);
  });

  it('unwraps lists', async () => {
    const server = new Server();
    expect((await server.api.profiles()).map(one => one.name)).toEqual(['auto', 'trovella', 'vault']);
  });

  it('rejects with the words of the server', async () => {
    const server = new Server();
    server.on(
      'POST search',
      () => new RawResponse(400, { message: 'limit: it must be 1 or more.', reason: 'InvalidField' })
    );
    const error: ApiError = await server.api.search({ query: 'λ', limit: 0 }).catch(error => error);
    expect(error).toBeInstanceOf(ApiError);
    expect([error.status, error.reason, error.message]).toEqual([400, 'InvalidField', 'limit: it must be 1 or more.']);
  });

  it('tells a missing extension from a missing memory', async () => {
    const server = new Server();
    server.on('GET status', () => new RawResponse(404, '<!doctype html><title>Jupyter Server</title>'));
    server.on('POST item', () => new RawResponse(404, { message: 'No memory has this id.', reason: 'UnknownMemory' }));
    await expect(server.api.status()).rejects.toMatchObject({ status: 404, reason: MISSING });
    await expect(server.api.item('aa01')).rejects.toMatchObject({ status: 404, reason: 'UnknownMemory' });
  });

  it('says so when nobody answers', async () => {
    const server = new Server();
    server.on('GET status', () => Promise.reject(new TypeError('Failed to fetch')));
    await expect(server.api.status()).rejects.toMatchObject({ status: 0, reason: UNREACHABLE });
  });

  it('says so when something else answers, such as the page for logging in', async () => {
    const server = new Server();
    server.on('POST search', () => new RawResponse(200, '<!doctype html><title>JupyterHub – Anmeldung</title>'));
    await expect(server.api.search({ query: 'λ' })).rejects.toMatchObject({ status: 200, reason: UNREADABLE });
  });

  it('tells a question that was taken back from a failure', async () => {
    const server = new Server();
    const asking = new AbortController();
    server.on('POST search', () => {
      asking.abort();
      throw new DOMException('', 'AbortError');
    });
    const error = await server.api.search({ query: 'λ' }, asking.signal).catch(error => error);
    expect(isAbort(error)).toBe(true);
    expect(isAbort(new ApiError(0, UNREACHABLE, ''))).toBe(false);
  });
});
