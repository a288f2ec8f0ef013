import { CommandRegistry } from '@lumino/commands';
import { readFileSync } from 'fs';
import { resolve } from 'path';

import type { LabActions } from '../../integrations/actions';
import { addCommands, CommandIDs } from '../../integrations/commands';
import { addContextCommands } from '../../integrations/contextMenu';
import { Pointer, wordsOf } from '../../integrations/pointer';
import { IndexModel } from '../../models/indexModel';
import { SearchModel } from '../../models/searchModel';
import { settle, status, trans } from '../helpers/samples';
import { found, Server } from '../helpers/server';

const schema = JSON.parse(readFileSync(resolve(__dirname, '../../../../schema/plugin.json'), 'utf-8'));

async function lab(hasNotebook = true) {
  const commands = new CommandRegistry();
  const server = new Server();
  const { api } = server;
  const model = new SearchModel({ api });
  const done: unknown[] = [];
  const note =
    (what: string) =>
    async (...given: unknown[]): Promise<void> =>
      void done.push([what, ...given]);
  const actions = {
    hasNotebook,
    open: note('open'),
    insert: note('insert'),
    copy: note('copy'),
    copyLink: note('copyLink'),
    toNotebook: note('toNotebook'),
    insertText: note('insertText')
  } as unknown as LabActions;
  const show = note('show');
  const pointer = new Pointer({ notebooks: null, editors: null, clicked: () => undefined });
  addCommands({
    commands,
    model,
    actions,
    show,
    searchAnywhere: note('searchAnywhere'),
    selected: () => undefined,
    clicked: () => undefined,
    back: () => undefined,
    why: () => void note('why')(),
    trans
  });
  addContextCommands({ commands, api, model, index: new IndexModel({ api }), pointer, files: null, show, trans });
  await model.answers.browse();
  return { commands, model, server, done };
}

describe('the commands', () => {
  it('each say in words and in a schema what they do and take, and have a picture', async () => {
    const { commands } = await lab();
    expect(commands.listCommands().sort()).toEqual(Object.values(CommandIDs).sort());
    for (const id of commands.listCommands()) {
      expect(commands.label(id)).toMatch(/\w/);
      // In the View menu none of Lab's own has one.
      const isInView = id === CommandIDs.open || id === CommandIDs.searchAnywhere;
      expect(commands.icon(id) === undefined).toBe(isInView);
      expect((await commands.describedBy(id)).args).toMatchObject({ type: 'object' });
    }
  });

  it('of a hit have short names in its menu, and act on the selected one', async () => {
    const { commands, model, server, done } = await lab();
    model.selection.select('bb02');
    const items = schema['jupyter.lab.menus'].context.filter(({ selector }: any) => selector === '.jp-Memory-hit'); // eslint-disable-line @typescript-eslint/no-explicit-any
    const ids: string[] = items.flatMap(({ command }: { command?: string }) => command ?? []);
    expect(ids.map(id => commands.label(id, { isMenu: true }))).toEqual([
      'Open',
      'Open to the Side',
      'Preview',
      'Insert',
      'Insert What Runs',
      'Copy',
      'Copy Link',
      'More like this',
      'Pin',
      'Tag',
      'Useful',
      'Should have been first',
      'Not useful',
      'Forget',
      'Why it is here'
    ]);
    const { hit, place } = model.hits[1];
    await commands.execute(CommandIDs.copyLink);
    await commands.execute(CommandIDs.why, { memory_id: 'aa01' });
    expect(done).toEqual([['copyLink', hit, place], ['why']]);
    expect(model.selected).toBe('aa01');
    await commands.execute(CommandIDs.tag, { memory_id: 'bb02' });
    expect(model.selection.tagging).toBe('bb02');
    await commands.execute(CommandIDs.preview);
    expect(commands.isToggled(CommandIDs.preview)).toBe(true);
    await commands.execute(CommandIDs.useful);
    expect(server.bodies('POST feedback')).toMatchObject([{ memory_id: 'bb02', accepted: true }]);
  });

  it('are the ones of the menus and shortcuts, whose selectors are single', async () => {
    const { commands } = await lab();
    const { main, context } = schema['jupyter.lab.menus'];
    const items = [...main.flatMap((menu: any) => menu.items), ...context, ...schema['jupyter.lab.shortcuts']]; // eslint-disable-line @typescript-eslint/no-explicit-any
    for (const { command } of items.filter(item => item.type !== 'separator')) {
      expect(commands.hasCommand(command)).toBe(true);
    }
    expect(context.filter((item: { selector: string }) => item.selector.includes(','))).toEqual([]);
    const shortcuts: { keys: string[]; args?: object }[] = schema['jupyter.lab.shortcuts'];
    expect(shortcuts.flatMap(({ keys }) => keys)).toEqual(['Alt Shift M', 'Alt Shift F']);
    // A menu tells the shortcut of the same arguments only.
    expect(shortcuts.map(one => one.args)).toEqual(main[0].items.map((one: { args?: object }) => one.args));
  });

  it('search for the words of a cell, in which nothing is a filter or an operator, and not for its outputs', () => {
    const cell = 'def λ(x: int):\n    return df["a/b"] -x  # path:notes\n\nOut:\n0.3';
    expect(wordsOf(cell)).toBe('def λ x int return df a b x path notes');
  });

  it('act on the selected hit, on the one they are given, and on none if there is none', async () => {
    const { commands, model, done } = await lab();
    const [, cell] = found().hits;
    expect(commands.isEnabled(CommandIDs.openHit)).toBe(false);
    model.selection.select(cell.memory_id);
    await commands.execute(CommandIDs.openHitToSide);
    await commands.execute(CommandIDs.insert, { memory_id: 'aa01' });
    expect(done).toEqual([
      ['open', expect.objectContaining({ memory_id: 'bb02' }), expect.objectContaining({ cell: 'a1b2' }), true],
      ['insert', expect.objectContaining({ memory_id: 'aa01' })]
    ]);
  });

  it('open nothing that is in no file, and insert nothing where there is no notebook', async () => {
    const { commands } = await lab(false);
    expect(commands.isEnabled(CommandIDs.openHit, { memory_id: 'aa01' })).toBe(false);
    expect(commands.isEnabled(CommandIDs.openHit, { memory_id: 'bb02' })).toBe(true);
    expect(commands.isEnabled(CommandIDs.insert, { memory_id: 'bb02' })).toBe(false);
    expect(commands.isEnabled(CommandIDs.searchInNotebook, { query: 'λ' })).toBe(false);
  });

  it('insert code that they are given, if there is a notebook and code', async () => {
    const { commands, done } = await lab();
    expect(commands.isEnabled(CommandIDs.insertBelow)).toBe(false);
    await commands.execute(CommandIDs.insertBelow, { text: 'λ = 3.2' });
    expect(done).toEqual([['insertText', 'λ = 3.2']]);
    expect((await lab(false)).commands.isEnabled(CommandIDs.insertBelow, { text: 'λ = 3.2' })).toBe(false);
  });

  it('search for what they are given, in the panel or in the notebook', async () => {
    const { commands, done } = await lab();
    await commands.execute(CommandIDs.search, { query: 'prices in Zürich' });
    await commands.execute(CommandIDs.searchInNotebook, { query: 'λ of the ridge' });
    expect(done).toEqual([
      ['show', 'prices in Zürich'],
      ['toNotebook', 'λ of the ridge']
    ]);
  });

  it('remember a text', async () => {
    const { commands, model, server } = await lab();
    server.on('POST add', () => ({ memory_id: 'cc03', title: 'λ', text: 'λ is 0.3' }));
    await commands.execute(CommandIDs.rememberSelection, { text: 'λ is 0.3' });
    expect(server.bodies('POST add')).toEqual([{ text: 'λ is 0.3', lang: '', kind: 'note' }]);
    await model.refresh();
    server.on('GET status', () => status({ store: { ...status().store, memories: 5 } }));
    const counted = new Promise<number>(count =>
      model.stateChanged.connect(() => model.status?.store.memories === 5 && count(5))
    );
    await commands.execute(CommandIDs.rememberSelection, { text: 'λ is 0.31' });
    expect(await counted).toBe(5);
  });

  it('find what is like a file by its memory, or by its name where it is not indexed', async () => {
    const { commands, server, done } = await lab();
    await commands.execute(CommandIDs.findRelated, { path: 'week/zürich_prices.ipynb' });
    expect(server.bodies('POST browse').at(-1).filters).toEqual({ path: ['/home/ada/work/week/zürich_prices.ipynb'] });
    expect(server.bodies('POST related')).toEqual([{ memory_id: 'aa01', limit: 20, filters: {} }]);
    server.on('POST browse', () => found({ hits: [], places: [] }));
    await commands.execute(CommandIDs.findRelated, { path: 'week/Zurich_prices-2.ipynb' });
    expect(done.at(-1)).toEqual(['show', 'Zurich prices 2']);
  });

  it('index a folder', async () => {
    const { commands, server } = await lab();
    await commands.execute(CommandIDs.indexFolder, { path: 'week', watch: true });
    await settle();
    expect(server.bodies('POST index')).toEqual([{ path: 'week', watch: true }]);
  });
});
