import { type JupyterFrontEnd, type JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import plugin, { IMemoryPanel } from '../index';
import type { MemoryPanel } from '../components/panel';
import { CommandIDs } from '../integrations/commands';
import { Bus, job } from './helpers/samples';
import { advance, Server } from './helpers/server';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A front end that has nothing of what is optional: no notebooks, no palette, no settings, no tabs. */
function bare(): { app: JupyterFrontEnd; server: Server; added: Widget[] } {
  const server = new Server();
  server.on('POST index', () => job({ state: 'done' }));
  const added: Widget[] = [];
  const app = {
    commands: new CommandRegistry(),
    shell: {
      node: document.createElement('div'),
      add: (widget: Widget) => added.push(widget),
      activateById: () => undefined
    },
    serviceManager: {
      serverSettings: server.api.serverSettings,
      events: new Bus().manager,
      kernels: { runningChanged: new Signal<object, void>({}) }
    },
    contextMenuHitTest: () => undefined,
    restored: Promise.resolve()
  };
  return { app: app as unknown as JupyterFrontEnd, server, added };
}

async function activated(): Promise<ReturnType<typeof bare> & { provided: IMemoryPanel }> {
  const all = bare();
  const { requires = [], optional = [] } = plugin as JupyterFrontEndPlugin<unknown>;
  const docs = { findWidget: () => undefined, openOrReveal: () => undefined };
  const provided = await plugin.activate(all.app, ...requires.map(() => docs), ...optional.map(() => null));
  await advance(1_000);
  return { ...all, provided: provided as IMemoryPanel };
}

describe('the plugin', () => {
  it('starts by itself under the name that its settings have', () => {
    expect(plugin.autoStart).toBe(true);
    expect(plugin.id).toBe('jupyter-memory:plugin');
  });

  it('adds the panel and asks the server nothing, before it is seen and without what is optional', async () => {
    const { server, added } = await activated();
    await advance(120_000);
    expect(added.map(widget => widget.id)).toEqual(['jupyter-memory:panel']);
    expect(server.asked).toEqual([]);
    added[0].dispose();
  });

  it('provides the panel, to which other extensions add sections', async () => {
    const { added, provided } = await activated();
    expect(plugin.provides).toBe(IMemoryPanel);
    const caption = 'Notes of another extension';
    provided.registry.add({ id: 'notes', rank: 400, label: () => 'Notes', caption, render: () => null });
    expect((added[0] as MemoryPanel).widgets.map(one => one.title.label)).toContain('Notes');
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
        await advance(1_000);
        // What inserts says whether it did: there is no notebook to insert into.
        expect([undefined, false]).toContain(await run);
      }
    }
    Notification.dismiss();
    added[0].dispose();
  });
});
