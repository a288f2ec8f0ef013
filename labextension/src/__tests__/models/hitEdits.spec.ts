import type { IItem } from '../../api/types';
import { hit, place } from '../helpers/samples';
import { found, item, connectedModel, advance, RawResponse } from '../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

describe('changing', () => {
  async function asked(): Promise<ReturnType<typeof connectedModel>> {
    const all = connectedModel();
    all.model.answers.setQuery('price');
    await advance(300);
    return all;
  }

  it('pins at once, and takes what the server says', async () => {
    const { model } = await asked();
    const done = model.edits.pin('aa01', true);
    expect(model.find('aa01')?.place.pinned).toBe(true);
    await Promise.all([done, advance()]);
    expect(model.find('aa01')?.hit.tier).toBe('core');
  });

  it('leaves the line and the headings of a hit as they are when it is pinned', async () => {
    const { server, model } = connectedModel();
    const [at, of] = [
      { line: 12, context: 'Weekly log' },
      { line: null, context: '' }
    ];
    server.on('POST search', () => found({ places: [{ ...place, ...at }, place] }));
    server.on('POST pin', () => item('aa01', { place: { ...place, ...of, pinned: true } }));
    model.answers.setQuery('λ');
    await Promise.all([model.answers.search({ now: true }), advance()]);
    await Promise.all([model.edits.pin('aa01', true), advance()]);
    expect(model.find('aa01')?.place).toMatchObject({ ...at, pinned: true });
  });

  it('takes a pin back that the server refuses', async () => {
    const { server, model } = await asked();
    server.on('POST pin', () => new RawResponse(503, { message: 'The memory is locked.', reason: 'StoreLocked' }));
    await Promise.all([model.edits.pin('aa01', true), advance()]);
    expect(model.find('aa01')?.place.pinned).toBe(false);
    expect(model.problem?.message).toBe('The memory is locked.');
    model.report(null);
    expect(model.problem).toBeNull();
  });

  it('takes all back that the server refuses, however fast one thing followed the other', async () => {
    const { server, model } = await asked();
    const before = model.find('aa01')!;
    const locked = (): RawResponse => new RawResponse(503, { message: 'The memory is locked.', reason: 'StoreLocked' });
    ['POST pin', 'POST update', 'POST feedback'].forEach(route => server.on(route, locked));
    const changes = [model.edits.pin('aa01', true), model.edits.pin('aa01', false), model.edits.pin('aa01', true)];
    await Promise.all([...changes, model.edits.tag('aa01', ['λ']), advance()]);
    expect(model.find('aa01')).toEqual(before);
    await Promise.all([model.edits.accept('aa01', true), model.edits.accept('aa01', false), advance()]);
    expect(model.edits.accepted('aa01')).toBeUndefined();
  });

  it('takes a hit away that is not there any more, and says so', async () => {
    const { server, model } = await asked();
    const gone = (): RawResponse =>
      new RawResponse(404, { message: 'No memory has this id.', reason: 'UnknownMemory' });
    ['POST pin', 'POST update', 'POST feedback', 'POST related'].forEach(route => server.on(route, gone));
    model.selection.select('aa01');
    await Promise.all([model.edits.pin('aa01', true), advance()]);
    expect([model.hits.map(one => one.hit.memory_id), model.selected]).toEqual([['bb02'], 'bb02']);
    expect(model.problem?.reason).toBe('UnknownMemory');
    await Promise.all([model.related('bb02'), advance()]);
    expect([model.hits, model.showing.what]).toEqual([[], 'search']);
    await Promise.all([model.refresh(), advance(10)]);
    expect([model.answer?.query, model.problem]).toEqual(['price', null]);
  });

  it('asks anew what another window may have changed', async () => {
    const { server, model, searched } = await asked();
    server.on('POST search', () => found({ query: 'price', hits: [], places: [] }));
    await Promise.all([model.revalidate(), advance(10)]);
    expect([model.hits, searched().length, model.isLoading]).toEqual([[], 2, false]);
  });

  it('changes one memory in the order of the clicks, and shows what the last of them made of it', async () => {
    const { server, model } = await asked();
    let answer: (first: IItem) => void = () => undefined;
    server.on('POST pin', ({ body }) =>
      body.pinned ? new Promise(resolve => (answer = resolve)) : item('aa01', { place: { ...place, pinned: false } })
    );
    const clicks = [model.edits.pin('aa01', true), model.edits.pin('aa01', false)];
    await advance();
    expect(server.bodies('POST pin').map(one => one.pinned)).toEqual([true]);
    answer(item('aa01', { place: { ...place, pinned: true } }));
    await Promise.all([...clicks, advance()]);
    expect(server.bodies('POST pin').map(one => one.pinned)).toEqual([true, false]);
    expect(model.find('aa01')?.place.pinned).toBe(false);
  });

  it('takes back only what was refused, also in another answer', async () => {
    const { server, model } = await asked();
    let refuse: (refusal: RawResponse) => void = () => undefined;
    server.on('POST pin', () => new Promise(resolve => (refuse = resolve)));
    const done = model.edits.pin('aa01', true);
    server.on('POST search', () => found({ hits: [hit({ snippet: 'the price of λ', rank: 1 })], places: [place] }));
    model.answers.setQuery('price of λ');
    await advance(300);
    refuse(new RawResponse(503, { message: 'The memory is locked.', reason: 'StoreLocked' }));
    await Promise.all([done, advance()]);
    expect(model.find('aa01')).toMatchObject({ hit: { snippet: 'the price of λ' }, place: { pinned: false } });
  });

  it('tags', async () => {
    const { server, model } = await asked();
    await Promise.all([model.edits.tag('aa01', ['λ', 'Zürich']), advance()]);
    expect(server.bodies('POST update')).toEqual([{ memory_id: 'aa01', tags: ['λ', 'Zürich'] }]);
    expect(model.find('aa01')?.hit.tags).toEqual(['λ', 'Zürich']);
  });

  it('says what was useful, with the question it was found by', async () => {
    const { server, model } = await asked();
    await Promise.all([model.edits.accept('bb02', false), advance()]);
    expect(model.edits.accepted('bb02')).toBe(false);
    expect(server.bodies('POST feedback')).toEqual([
      { memory_id: 'bb02', accepted: false, rank: 2, query_id: 'q1', query: 'price', profile: 'auto' }
    ]);
    await Promise.all([model.edits.accept('bb02', 'first'), advance()]);
    expect(server.bodies('POST feedback')[1]).toMatchObject({ memory_id: 'bb02', accepted: true, first: true });
    expect(model.edits.accepted('bb02')).toBe('first');
    await Promise.all([model.edits.accept('bb02', false), advance()]);
    server.on('POST feedback', () => new RawResponse(503, { message: '', reason: 'StoreLocked' }));
    await Promise.all([model.edits.accept('bb02', true), advance()]);
    expect(model.edits.accepted('bb02')).toBe(false);
    server.on('POST feedback', () => ({ recorded: true }));
    await Promise.all([model.edits.accept('bb02', false), advance()]);
    expect(server.bodies('POST feedback').pop()).toMatchObject({ memory_id: 'bb02', accepted: null, query: 'price' });
    expect(model.edits.accepted('bb02')).toBeUndefined();
  });

  it('forgets after a while in which the memory can be had back', async () => {
    const { server, model } = await asked();
    model.selection.select('aa01');
    model.forget('aa01');
    expect(model.hits.map(one => one.hit.memory_id)).toEqual(['bb02']);
    expect(model.undo.waiting).toEqual([{ id: 'aa01', title: 'normalise_notes λ' }]);
    expect(model.selected).toBe('bb02');
    await advance(5_000);
    model.undoForget('aa01');
    await advance(10_000);
    expect(server.bodies('POST forget')).toEqual([]);
    expect(model.hits).toHaveLength(2);
    model.forget('aa01');
    await advance(6_100);
    expect(server.bodies('POST forget')).toEqual([{ memory_ids: ['aa01'] }]);
    expect(model.undo.waiting).toEqual([]);
    expect(model.hits).toHaveLength(1);
  });

  it('forgets at once when it is disposed', async () => {
    const { server, model } = await asked();
    model.forget('aa01');
    model.forget('bb02');
    model.dispose();
    await advance();
    expect(server.bodies('POST forget')).toEqual([{ memory_ids: ['aa01', 'bb02'] }]);
  });

  it('brings a memory back that could not be forgotten', async () => {
    const { server, model } = await asked();
    server.on('POST forget', () => new RawResponse(503, { message: 'The memory is locked.', reason: 'StoreLocked' }));
    model.forget('aa01');
    await advance(6_100);
    expect(model.hits).toHaveLength(2);
    expect(model.problem?.reason).toBe('StoreLocked');
  });

  it('keeps hidden what was forgotten, also in the next answer', async () => {
    const { model } = await asked();
    model.forget('aa01');
    model.answers.setQuery('prices');
    await advance(300);
    expect(model.answer?.query).toBe('prices');
    expect(model.hits.map(one => one.hit.memory_id)).toEqual(['bb02']);
  });
});
