import { Notification } from '@jupyterlab/apputils';
import { NotebookActions } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import { StateDB } from '@jupyterlab/statedb';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import { followHistory, offerHistory } from '../../integrations/history';
import { SearchModel } from '../../models/searchModel';
import { status } from '../helpers/samples';
import { advance, Server } from '../helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function followed(kernels: number) {
  const server = new Server();
  const history = { kernels, runs: 0, texts: 0, since: null };
  server.on('GET status', () => status({ history }));
  const model = new SearchModel({ api: server.api });
  model.setStatus(status({ history }));
  const running = new Signal<object, Kernel.IModel[]>({});
  const view = { seen: true };
  followHistory({ runningChanged: running } as unknown as Kernel.IManager, model, () => view.seen);
  const asked = (): number => server.asked.filter(({ route }) => route === 'status').length;
  const run = (source: string): void => {
    const cell = { model: { sharedModel: { getSource: () => source } } };
    (NotebookActions.executed as unknown as Signal<object, unknown>).emit({ cell });
  };
  return { asked, run, view, changed: () => running.emit([]) };
}

describe('the status of the history', () => {
  it('is read when a cell turns the history on or off, if somebody can see it', async () => {
    const { asked, run, view } = followed(0);
    run('prices.plot()  # %memory history on');
    await advance();
    expect(asked()).toBe(0);
    run('import pandas\n  %memory  history on --always');
    await advance();
    expect(asked()).toBe(1);
    view.seen = false;
    run('%memory history off');
    await advance();
    expect(asked()).toBe(1);
  });

  it('is read with each change of a kernel while one records, else seldom', async () => {
    const recording = followed(1);
    const idle = followed(0);
    for (let time = 0; time < 3; time++) {
      recording.changed();
      idle.changed();
      await advance(1_000);
    }
    expect([recording.asked(), idle.asked()]).toEqual([3, 1]);
    await advance(60_000);
    idle.changed();
    await advance();
    expect(idle.asked()).toBe(2);
  });
});

describe('the history', () => {
  const state = new StateDB();

  /** Run cells that end so, agree to what is offered, and return what was said before. */
  async function offered(history: object, ends: boolean[], path = '/home/ada/memory.sqlite'): Promise<string[]> {
    const model = new SearchModel({ api: new Server().api });
    const now = status();
    model.setStatus({ ...now, store: { ...now.store, path }, history: { ...now.history, ...history } });
    const cell = { model: { sharedModel: { getSource: () => '1 / 0' } } };
    const inserted: string[] = [];
    const insert = async (source: string): Promise<boolean> => inserted.push(source) > 0;
    offerHistory(model, () => true, state, insert, nullTranslator.load(''));
    for (const success of ends) {
      (NotebookActions.executed as unknown as Signal<object, unknown>).emit({ success, cell });
      await advance();
    }
    const found: string[] = [];
    for (const { message, options } of Notification.manager.notifications) {
      expect(message.length).toBeLessThan(140);
      options.actions?.[0].callback(new MouseEvent('click'));
      await advance();
      const dialog = document.querySelector('.jp-Dialog')!;
      found.push(dialog.textContent!);
      dialog.querySelector<HTMLElement>('.jp-mod-accept')!.click();
      await advance();
    }
    Notification.manager.dismiss();
    expect(inserted).toHaveLength(found.length);
    return found;
  }

  it('is offered once, after an exception: what is kept, where, and how to stop it', async () => {
    expect(await offered({ kernels: 1 }, [false])).toEqual([]);
    expect(await offered({}, [false], 'postgresql://db/team')).toEqual([]);
    const [said, ...more] = await offered({}, [true, false, false]);
    expect(said).toMatch(/code of each cell.*no outputs, in .*memory.sqlite on this machine.*%memory history off/);
    expect([...more, ...(await offered({}, [false]))]).toEqual([]);
  });
});
