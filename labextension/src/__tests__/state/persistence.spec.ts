import { StateDB } from '@jupyterlab/statedb';

import { SearchModel } from '../../models/searchModel';
import { Persistence } from '../../state/settings';
import { advance, Server } from '../helpers/server';

jest.useFakeTimers();
beforeEach(() => sessionStorage.clear());

const KEY = 'jupyter-memory:question';

async function session(state: StateDB, isOn = true): Promise<SearchModel> {
  const model = new SearchModel({ api: new Server().api });
  const keeper = new Persistence(state, model);
  keeper.isOn = isOn;
  await keeper.restore();
  return model;
}

describe('the question of last time', () => {
  it('is there again after a reload, with its filters', async () => {
    const state = new StateDB();
    const before = await session(state);
    before.answers.setQuery('prices in Zürich');
    before.answers.narrow({ filters: { lang: ['python'] } });
    await advance(1500);
    const after = await session(state);
    expect(after.question.query).toBe('prices in Zürich');
    expect(after.question.filters).toEqual({ lang: ['python'] });
  });

  it('keeps what narrows it for the session, also where questions are not kept', async () => {
    const before = await session(new StateDB(), false);
    before.answers.setHere({ notebook: 'zürich/a.ipynb', folder: 'zürich', root: '/home/ada/' });
    before.answers.setScope('folder');
    before.answers.narrow({ since: '2026-11-01', asOf: '2026-11-15', aboutTags: ['Zürich'] });
    before.answers.narrow({ filters: { kind: ['cell'] }, stores: ['papers'] });
    const scope = { what: 'folder', path: '/home/ada/zürich' };
    expect((await session(new StateDB(), false)).narrowing).toEqual({
      filters: { kind: ['cell'] },
      since: '2026-11-01',
      asOf: '2026-11-15',
      aboutTags: ['Zürich'],
      scope,
      stores: ['papers']
    });
    sessionStorage.setItem(
      'jupyter-memory:narrowing',
      JSON.stringify({ scope: { what: 'planet', path: 7 }, since: 3, asOf: 3, aboutTags: 'λ', stores: 'papers' })
    );
    const nothing = { filters: {}, since: null, asOf: null, aboutTags: [], scope: null, stores: [] };
    expect((await session(new StateDB())).narrowing).toEqual(nothing);
  });

  it('is neither kept nor shown when it shall not be, and what was kept goes', async () => {
    const state = new StateDB();
    (await session(state)).answers.setQuery('λ of the ridge');
    await advance(1500);
    expect(await state.fetch(KEY)).toBeDefined();
    const model = await session(state, false);
    expect(model.question.query).toBe('');
    model.answers.setQuery('a secret');
    await advance(1500);
    expect(await state.fetch(KEY)).toBeUndefined();
  });

  it('is taken up as far as it can be read', async () => {
    const state = new StateDB();
    await state.save(KEY, { query: 'λ of the ridge', filters: { lang: 'python' }, profile: null, grouped: 1 });
    const model = await session(state);
    expect(model.toJSON()).toEqual({ query: 'λ of the ridge', filters: {}, profile: '', grouped: false });
    await state.save(KEY, { query: 'prices', filters: { colour: ['red'] } });
    expect((await session(state)).question.filters).toEqual({});
    await state.save(KEY, 'λ');
    expect((await session(state)).question.query).toBe('');
  });

  it('does not replace what was asked while it was fetched', async () => {
    const state = new StateDB();
    await state.save(KEY, { query: 'old' });
    const model = new SearchModel({ api: new Server().api });
    const restored = new Persistence(state, model).restore();
    model.answers.setQuery('new');
    await restored;
    expect(model.question.query).toBe('new');
  });
});
