import { type ISettingRegistry, SettingRegistry } from '@jupyterlab/settingregistry';
import { DataConnector, type IDataConnector } from '@jupyterlab/statedb';
import { readFileSync } from 'fs';
import { resolve } from 'path';

import { RelatedCells } from '../../models/relatedCells';
import { SearchModel } from '../../models/searchModel';
import { followSettings } from '../../state/settings';
import { found, advance, Server } from '../helpers/server';

type Plugin = ISettingRegistry.IPlugin;

const ID = 'jupyter-memory:plugin';
const schema = JSON.parse(readFileSync(resolve(__dirname, '../../../../schema/plugin.json'), 'utf-8'));

/** Lab's registry over a file that this holds; menus and shortcuts are Lab's own business. */
class File extends DataConnector<Plugin, string> implements IDataConnector<Plugin, string, string> {
  async fetch(id: string): Promise<Plugin> {
    const { title, type, properties } = schema;
    return { id, raw: this._raw, data: { composite: {}, user: {} }, schema: { title, type, properties }, version: '1' };
  }

  override async save(_id: string, raw: string): Promise<void> {
    this._raw = raw;
  }

  private _raw = '{}';
}

const relatedTo = (search: SearchModel): RelatedCells =>
  new RelatedCells({ api: new Server().api, search, isSeen: () => false });

describe('the settings', () => {
  it('change the grouping when they are changed, and leave what was chosen in the panel when others are', async () => {
    const registry = new SettingRegistry({ connector: new File() });
    const model = new SearchModel({ api: new Server().api });
    await followSettings(registry, ID, { model, related: relatedTo(model), keeper: null });
    model.selection.setGrouped(true);
    await registry.set(ID, 'pageSize', 30);
    expect([model.selection.grouped, model.answers.request().limit]).toEqual([true, 30]);
    await registry.set(ID, 'groupByNotebook', true);
    model.selection.setGrouped(false);
    await registry.set(ID, 'groupByNotebook', false);
    await registry.set(ID, 'groupByNotebook', true);
    expect(model.selection.grouped).toBe(true);
  });

  it('say how long a forgotten memory can be had back', async () => {
    jest.useFakeTimers();
    const server = new Server();
    server.on('POST search', () => found());
    const registry = new SettingRegistry({ connector: new File() });
    const model = new SearchModel({ api: server.api });
    const ready = followSettings(registry, ID, { model, related: relatedTo(model), keeper: null });
    await advance();
    await ready;
    const forget = async (id: string, seconds: number): Promise<number> => {
      model.forget(id);
      await advance(1000 * seconds);
      return server.bodies('POST forget').length;
    };
    model.answers.setQuery('price');
    await advance(300);
    expect(await forget('aa01', 7)).toBe(1);
    const set = registry.set(ID, 'undoSeconds', 120);
    await advance();
    await set;
    expect(await forget('bb02', 119)).toBe(1);
    await advance(2000);
    expect(server.bodies('POST forget')).toHaveLength(2);
    jest.useRealTimers();
  });

  it('are those that come with the panel where there are none', async () => {
    const model = new SearchModel({ api: new Server().api });
    await followSettings(null, ID, { model, related: relatedTo(model), keeper: null });
    expect([model.selection.grouped, model.answers.request().limit]).toEqual([false, 20]);
  });
});
