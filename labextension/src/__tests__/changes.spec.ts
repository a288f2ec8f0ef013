import { place } from './samples';
import { found, item, opened, pass, Raw } from './server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

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
