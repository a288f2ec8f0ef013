import { type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';

import plugin from '../index';
import { CommandIDs } from '../integrations/commands';
import { Bus, job } from './helpers/samples';
import { pass, Server } from './helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A front end that has nothing of what is optional: no notebooks, no palette, no settings, no tabs. */
function bare(): { app: JupyterFrontEnd; server: Server; added: Widget[] } {
  const server = new Server();
  server.on('POST index', () => job({ state: 'done' }));
  const added: Widget[] = [];
  const app = {
    commands: new CommandRegistry(),
    shell: { add: (widget: Widget) => added.push(widget), activateById: () => undefined },
    serviceManager: { serverSettings: server.api.serverSettings, events: new Bus().manager },
    contextMenuHitTest: () => undefined,
    restored: Promise.resolve()
  };
  return { app: app as unknown as JupyterFrontEnd, server, added };
}

async function activated(): Promise<ReturnType<typeof bare>> {
  const all = bare();
  const { requires = [], optional = [] } = plugin as JupyterFrontEndPlugin<void>;
  const docs = { findWidget: () => undefined, openOrReveal: () => undefined };
  await plugin.activate(all.app, ...requires.map(() => docs), ...optional.map(() => null));
  await pass(1_000);
  return all;
}

describe('the plugin', () => {
  it('starts by itself under the name that its settings have', () => {
    expect(plugin.autoStart).toBe(true);
    expect(plugin.id).toBe('jupyter-memory:plugin');
  });

  it('adds the panel and asks the server nothing, before it is seen and without what is optional', async () => {
    const { server, added } = await activated();
    await pass(120_000);
    expect(added.map(widget => widget.id)).toEqual(['jupyter-memory:panel']);
    expect(server.asked).toEqual([]);
    added[0].dispose();
  });

  it('has commands that each can be asked about and run where there is no notebook', async () => {
    const { app, added } = await activated();
    expect(app.commands.listCommands().sort()).toEqual(Object.values(CommandIDs).sort());
    for (const id of app.commands.listCommands()) {
      for (const given of [{}, { isMenu: true }, { isFile: true }, { query: 'λ', memory_id: 'no such', text: '' }]) {
        app.commands.isEnabled(id, given);
        app.commands.isVisible(id, given);
        const run = app.commands.execute(id, given);
        await pass(1_000);
        await expect(run).resolves.toBeUndefined();
      }
    }
    Notification.dismiss();
    added[0].dispose();
  });
});
