import { ApiError, MISSING } from '../../api/memoryApi';
import type { IStatus } from '../../api/types';
import { INDEX_EVENTS, IndexModel } from '../../models/indexModel';
import { Bus, folder, indexApi, job, ROOT, settle, status } from '../helpers/samples';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Let so many milliseconds pass, and what is due in them happen. */
async function pass(ms: number): Promise<void> {
  await jest.advanceTimersByTimeAsync(ms);
  await settle();
}

async function opened(first = status()): Promise<{ api: ReturnType<typeof indexApi>; bus: Bus; model: IndexModel }> {
  const api = indexApi(first);
  const bus = new Bus();
  const model = new IndexModel({ api, events: bus.manager });
  model.isOpen = true;
  await pass(10);
  return { api, bus, model };
}

describe('the index model', () => {
  it('asks nothing before somebody looks', async () => {
    const api = indexApi();
    const model = new IndexModel({ api });
    await pass(120_000);
    expect(api.status).not.toHaveBeenCalled();
    model.dispose();
  });

  it('looks at once when it is opened, seldom while nothing runs, and not at all when it is closed', async () => {
    const { api, model } = await opened();
    expect(api.status).toHaveBeenCalledTimes(1);
    await pass(29_000);
    expect(api.status).toHaveBeenCalledTimes(1);
    await pass(2_000);
    expect(api.status).toHaveBeenCalledTimes(2);
    model.isOpen = false;
    await pass(300_000);
    expect(api.status).toHaveBeenCalledTimes(2);
    model.dispose();
  });

  it('looks every second while something is indexed, and seldom again after', async () => {
    const { api, model } = await opened(status({ jobs: [job()] }));
    expect(model.progress).toEqual({ phase: 'indexing', done: 120, total: 400 });
    api.now = status({ jobs: [job({ done: 300 })] });
    await pass(1_100);
    expect(model.progress.done).toBe(300);
    api.now = status({ jobs: [job({ state: 'done', done: 400, summary: '400 files indexed.' })] });
    await pass(1_100);
    expect(model.progress.phase).toBe('idle');
    const calls = api.status.mock.calls.length;
    await pass(20_000);
    expect(api.status).toHaveBeenCalledTimes(calls);
    model.dispose();
  });

  it('goes on looking while something is indexed though nobody looks', async () => {
    const { api, model } = await opened(status({ jobs: [job()] }));
    model.isOpen = false;
    await pass(5_000);
    expect(api.status.mock.calls.length).toBeGreaterThan(3);
    model.dispose();
  });

  it('takes live counts from events, which never go back', async () => {
    const { api, bus, model } = await opened(status({ jobs: [job()] }));
    bus.say(INDEX_EVENTS, { job_id: 'j1', phase: 'running', done: 250, total: 400 });
    expect(model.progress.done).toBe(250);
    api.now = status({ jobs: [job({ done: 180 })] });
    await pass(1_100);
    expect(model.progress.done).toBe(250);
    bus.say('https://events.jupyter.org/other/v1', { job_id: 'j1', phase: 'running', done: 399, total: 400 });
    expect(model.progress.done).toBe(250);
    model.dispose();
  });

  it('looks at the status when an event tells of a job that began elsewhere', async () => {
    const api = indexApi(status({ jobs: [job()] }));
    const bus = new Bus();
    const model = new IndexModel({ api, events: bus.manager });
    bus.say(INDEX_EVENTS, { job_id: 'j1', phase: 'running', done: 1, total: 400 });
    await pass(10);
    expect(model.progress.phase).toBe('indexing');
    model.dispose();
  });

  it('tells of changes only: a status like the last one is no news', async () => {
    const { model } = await opened();
    const changed = jest.fn();
    model.stateChanged.connect(changed);
    await pass(31_000);
    expect(changed).not.toHaveBeenCalled();
    model.dispose();
  });

  it('counts changed files when it is opened and after indexing, as the server walks the folders for it', async () => {
    const { api, model } = await opened(status({ jobs: [job()] }));
    expect(model.folders[0].changed).toBe(3);
    expect(api.folders).toHaveBeenCalledTimes(1);
    api.now = status({
      jobs: [job({ state: 'done' })],
      folders: [folder({ indexed_at: '2026-11-22T05:00:00+00:00' })]
    });
    await pass(1_100);
    expect(api.folders).toHaveBeenCalledTimes(2);
    model.dispose();
  });

  it('forgets a count when the folder was indexed since', async () => {
    const { api, model } = await opened();
    api.folders.mockReturnValue(new Promise(() => undefined));
    api.now = status({ folders: [folder({ indexed_at: '2026-11-22T05:00:00+00:00' })] });
    await pass(31_000);
    expect(model.folders[0].changed).toBeNull();
    model.dispose();
  });

  it('indexes a folder, shows its job at once, and cancels it', async () => {
    const { api, model } = await opened();
    api.now = status({ jobs: [job({ path: `${ROOT}/new`, state: 'waiting', done: 0, total: null })] });
    await model.index('new', true);
    expect(api.index).toHaveBeenCalledWith('new', true);
    expect(model.isIndexing).toBe(true);
    await model.cancel('j1');
    expect(api.cancelJob).toHaveBeenCalledWith('j1');
    expect(model.jobs[0].state).toBe('cancelled');
    model.dispose();
  });

  it('keeps what the server says against a request until it is dismissed', async () => {
    const { api, model } = await opened();
    api.index.mockRejectedValueOnce(new ApiError(400, 'InputError', 'path: there is nothing at this path'));
    expect(await model.index('/nowhere')).toBeNull();
    await pass(31_000);
    expect(model.refusal?.message).toBe('path: there is nothing at this path');
    model.dismissRefusal();
    expect(model.refusal).toBeNull();
    model.dispose();
  });

  it('leaves what the server says against a request while it reads on by itself', async () => {
    const { api, model } = await opened(status({ jobs: [job()] }));
    api.index.mockRejectedValueOnce(new ApiError(400, 'InputError', 'path: there is nothing at this path'));
    await model.index('/nowhere');
    api.now = status({ jobs: [job({ state: 'done' })], model: 'nomic' });
    await pass(1_100);
    expect([api.folders.mock.calls.length, api.models.mock.calls.length]).toEqual([2, 2]);
    expect(model.refusal?.reason).toBe('InputError');
    await model.watch(ROOT, true);
    expect(model.refusal).toBeNull();
    model.dispose();
  });

  it('says that there is no memory in the server to who wants a folder indexed', async () => {
    const api = indexApi();
    const model = new IndexModel({ api });
    api.index.mockRejectedValueOnce(new ApiError(404, MISSING, 'The server does not know jupyter-memory.'));
    await model.index('week');
    expect(model.refusal?.reason).toBe(MISSING);
    model.dispose();
  });

  it('shows how a job ended that was begun here before anybody looked', async () => {
    const api = indexApi(status({ jobs: [job({ state: 'done', summary: '1 file indexed.' })] }));
    const model = new IndexModel({ api });
    await model.index('week/zürich.ipynb');
    await pass(10);
    expect(model.jobs).toMatchObject([{ job_id: 'j1', state: 'done' }]);
    model.dispose();
  });

  it('takes no status that was on its way before a change', async () => {
    const { api, model } = await opened();
    let answer: (old: IStatus) => void = () => undefined;
    api.status.mockImplementationOnce(() => new Promise(resolve => (answer = resolve)));
    void model.refresh();
    await pass(10);
    await model.index('week');
    answer(status());
    await settle();
    expect(model.jobs.map(one => one.state)).toEqual(['waiting']);
    model.dispose();
  });

  it('tells that the server is back, and asks for the models that it could not', async () => {
    const api = indexApi();
    const gone = new ApiError(0, 'Unreachable', 'The Jupyter server does not answer.');
    api.status.mockRejectedValueOnce(gone);
    api.models.mockRejectedValueOnce(gone);
    const model = new IndexModel({ api });
    model.isOpen = true;
    await pass(10);
    expect([model.problem, model.models]).toEqual([gone, null]);
    const changed = jest.fn();
    model.stateChanged.connect(changed);
    await model.refresh();
    await pass(10);
    expect(changed).toHaveBeenCalled();
    expect([model.problem, model.models?.length]).toEqual([null, 2]);
    model.dispose();
  });

  it('stops asking a server that has no memory, until it is asked to try again', async () => {
    const { api, model } = await opened();
    api.status.mockRejectedValue(new ApiError(404, MISSING, 'The server does not know jupyter-memory.'));
    await pass(31_000);
    expect(model.problem?.reason).toBe(MISSING);
    const calls = api.status.mock.calls.length;
    await pass(600_000);
    expect(api.status).toHaveBeenCalledTimes(calls);
    api.status.mockImplementation(async () => api.now);
    await model.refresh();
    await pass(10);
    expect(model.problem).toBeNull();
    model.dispose();
  });

  it('keeps a job that its server did not live to finish, until it is indexed again', async () => {
    const { api, model } = await opened(status({ jobs: [job({ state: 'running', done: 3, total: 12 })] }));
    api.now = status({ jobs: [] });
    await pass(1_100);
    const [lost] = model.jobs;
    expect([lost.state, model.isInterrupted(lost), model.isIndexing]).toEqual(['cancelled', true, false]);
    await pass(60_000);
    expect(model.jobs).toEqual([lost]);
    api.now = status({ jobs: [job({ job_id: 'j2', state: 'done', summary: '12 files.' })] });
    await pass(60_000);
    expect(model.jobs.map(one => [one.job_id, model.isInterrupted(one)])).toEqual([['j2', false]]);
    model.dispose();
  });

  it('asks a server that does not answer less and less often', async () => {
    const { api, model } = await opened();
    api.status.mockRejectedValue(new ApiError(0, 'Unreachable', 'The Jupyter server does not answer.'));
    const changed = jest.fn();
    await pass(31_000);
    model.stateChanged.connect(changed);
    api.status.mockClear();
    await pass(1_800_000);
    expect(api.status.mock.calls.length).toBeLessThan(40);
    expect(changed).not.toHaveBeenCalled();
    model.dispose();
  });

  it.each([0, 0.5, 0.9999999])(
    'waits for a server that stopped as long as it says, whatever chance has (%d)',
    async chance => {
      const drawn = jest.spyOn(Math, 'random').mockReturnValue(chance);
      const { api, model } = await opened();
      api.status.mockRejectedValue(new ApiError(0, 'Unreachable', 'The Jupyter server does not answer.'));
      api.status.mockClear();
      const looks: number[] = [];
      await model.refresh();
      for (let second = 0; second <= 200; second++) {
        await pass(second ? 1_000 : 10);
        if (api.status.mock.calls.length > looks.length) {
          looks.push(second);
        }
      }
      expect(looks).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
      model.dispose();
      drawn.mockRestore();
    }
  );

  it('hides jobs that went well before anybody looked, and the older ones of a path', async () => {
    const { api, model } = await opened(
      status({ jobs: [job({ state: 'done' }), job({ job_id: 'j0', path: `${ROOT}/x`, state: 'failed' })] })
    );
    expect(model.jobs.map(one => one.job_id)).toEqual(['j0']);
    api.now = status({ jobs: [job({ job_id: 'j2', path: `${ROOT}/x`, state: 'done' }), ...api.now.jobs] });
    await pass(31_000);
    expect(model.jobs.map(one => one.job_id)).toEqual(['j2']);
    model.dismiss('j2');
    expect(model.jobs).toEqual([]);
    model.dispose();
  });
});
