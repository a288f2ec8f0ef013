import { nullTranslator } from '@jupyterlab/translation';
import { act } from '@testing-library/react';
import { MessageLoop } from '@lumino/messaging';
import { type AccordionPanel, Widget } from '@lumino/widgets';

import { MemoryPanel, PANEL_ID } from '../../components/panel';
import { IndexModel } from '../../models/indexModel';
import { RelatedCells } from '../../models/relatedCells';
import { SearchModel } from '../../models/searchModel';
import { actions, job, status, picks } from '../helpers/samples';
import { advance as wait, RawResponse, Server } from '../helpers/server';

// jsdom lays nothing out.
globalThis.ResizeObserver ??= class {
  observe(): void {}
  unobserve(): void {}
  disconnect(): void {}
};

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** Let time pass, and what React owes the screen be drawn. */
async function pass(ms?: number): Promise<void> {
  await act(() => wait(ms));
}

function made(server = new Server()): {
  server: Server;
  model: SearchModel;
  indexModel: IndexModel;
  panel: MemoryPanel;
} {
  const model = new SearchModel({ api: server.api });
  const indexModel = new IndexModel({ api: server.api });
  const related = new RelatedCells({ api: server.api, search: model, isSeen: () => false });
  const given = { api: server.api, model, indexModel, related, actions, translator: nullTranslator };
  const panel = new MemoryPanel({ ...given, ...picks });
  return { server, model, indexModel, panel };
}

async function attached(server = new Server()): Promise<ReturnType<typeof made> & { box: HTMLInputElement }> {
  const all = made(server);
  act(() => Widget.attach(all.panel, document.body));
  await pass(100);
  return { ...all, box: all.panel.node.querySelector('input[type="search"]') as HTMLInputElement };
}

describe('the panel', () => {
  it('has a name, and its three sections', () => {
    const { panel } = made();
    expect([panel.id, panel.title.caption, panel.title.icon]).toEqual([PANEL_ID, 'Memory', expect.anything()]);
    expect([panel.node.getAttribute('role'), panel.node.getAttribute('aria-label')]).toEqual(['region', 'Memory']);
    expect(panel.widgets.map(widget => widget.title.label)).toEqual(['Results', 'Why this order', 'Index']);
    expect(panel.widgets.map(widget => widget.isHidden)).toEqual([false, true, true]);
    act(() => panel.dispose());
  });

  it('looks again when somebody comes back to its page, if it is seen there', async () => {
    const { server, panel } = await attached();
    const browsed = (): number => server.bodies('POST browse').length;
    const before = browsed();
    document.dispatchEvent(new Event('visibilitychange'));
    await pass(100);
    expect(browsed()).toBe(before + 1);
    panel.hide();
    document.dispatchEvent(new Event('visibilitychange'));
    await pass(100);
    expect(browsed()).toBe(before + 1);
    panel.dispose();
  });

  it('asks nothing before it is seen', async () => {
    const { server, panel } = made();
    panel.hide();
    act(() => Widget.attach(panel, document.body));
    await pass(60_000);
    expect(server.asked).toEqual([]);
    act(() => panel.show());
    await pass(100);
    expect(server.asked.map(one => one.route).sort()).toEqual(['browse', 'status']);
    act(() => panel.dispose());
  });

  it('looks how many memories there are whenever it comes to the front again', async () => {
    const { panel, server, model } = await attached();
    await pass(100);
    panel.hide();
    const { store } = status();
    server.on('GET status', () => status({ store: { ...store, memories: 7 } }));
    act(() => panel.show());
    await pass(100);
    expect(panel.node.querySelector('.jp-Memory-total')?.textContent).toBe('7');
    expect([model.isLoading, server.asked.at(-1)?.route]).toEqual([false, 'browse']);
    act(() => panel.dispose());
  });

  it('puts the keyboard into the box, on all of its text, when it is activated', async () => {
    const { panel, model, box } = await attached();
    act(() => model.answers.setQuery('price of λ'));
    await pass(300);
    act(() => MessageLoop.sendMessage(panel, Widget.Msg.ActivateRequest));
    expect(document.activeElement).toBe(box);
    expect([box.selectionStart, box.selectionEnd]).toEqual([0, 'price of λ'.length]);
    act(() => panel.dispose());
  });

  it('searches for what it is shown with', async () => {
    const { panel, model, server, box } = await attached();
    act(() => model.ask('λ in Zürich'));
    await pass(100);
    expect(server.bodies('POST search')).toMatchObject([{ query: 'λ in Zürich', prefix: false, log: true }]);
    expect(box.value).toBe('λ in Zürich');
    act(() => panel.dispose());
  });

  it('goes from the box to the list and back', async () => {
    const { panel, box, model } = await attached();
    act(() => void box.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true })));
    const list = panel.node.querySelector('[role="listbox"]') as HTMLElement;
    expect(document.activeElement).toBe(list);
    expect(model.selected).toBe('aa01');
    act(() => void list.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })));
    expect(document.activeElement).toBe(box);
    act(() => panel.dispose());
  });

  it('indexes for the first time, keeps the folder up to date, and shows what came', async () => {
    const server = new Server();
    const { store } = status();
    const empty = status({ store: { ...store, memories: 0 }, folders: [] });
    server.on('GET status', () => empty);
    const { panel, model } = await attached(server);
    expect(server.bodies('POST browse')).toEqual([]);
    server.on('POST index', () => job());
    server.on('GET status', () => ({ ...empty, jobs: [job()] }));
    act(() => [...panel.node.querySelectorAll('button')].find(one => one.textContent === 'Index this folder')?.click());
    await pass(100);
    expect(server.bodies('POST index')).toEqual([{ path: '', watch: true }]);
    expect(panel.node.querySelector('progress')?.value).toBe(120);
    server.on('GET status', () => status());
    await pass(2_000);
    expect(model.hits).toHaveLength(2);
    act(() => panel.dispose());
  });

  it('asks for the newest memories once when an indexing is over', async () => {
    const server = new Server();
    const { store } = status();
    server.on('GET status', () => status({ jobs: [job()] }));
    const { panel, indexModel } = await attached(server);
    void indexModel.refresh();
    await pass(100);
    server.on('GET status', () => status({ jobs: [job({ state: 'done' })], store: { ...store, memories: 31 } }));
    await pass(2_000);
    expect(panel.node.querySelector('.jp-Memory-total')?.textContent).toBe('31');
    expect(server.bodies('POST browse')).toHaveLength(2);
    act(() => panel.dispose());
    indexModel.dispose();
  });

  it('says why a folder was not indexed', async () => {
    const server = new Server();
    server.on('POST index', () => new RawResponse(409, { message: 'The store is read-only.', reason: 'StoreError' }));
    server.on('GET status', () => status({ store: { ...status().store, memories: 0 } }));
    const { panel } = await attached(server);
    act(() => [...panel.node.querySelectorAll('button')].find(one => one.textContent === 'Index this folder')?.click());
    await pass(100);
    expect(panel.section('results')?.node.querySelector('[role="alert"]')?.textContent).toContain(
      'The store is read-only.'
    );
    act(() => panel.dispose());
  });

  it('forgets what waits when the page goes', async () => {
    const { panel, model, server } = await attached();
    act(() => model.forget('aa01'));
    window.dispatchEvent(new Event('pagehide'));
    await pass();
    expect(server.bodies('POST forget')).toEqual([{ memory_ids: ['aa01'] }]);
    act(() => panel.dispose());
    expect((panel.content as AccordionPanel).isDisposed).toBe(true);
  });
});
