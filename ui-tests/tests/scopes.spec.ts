import { openFile } from './lab';
import { expect, test } from './test';

const notebook = 'samples/2026-07-15_meter_cleaning.ipynb';

test.describe('Where to search', () => {
  test.beforeAll(async ({ memory }) => memory.samples());

  test('This notebook, its folder or all: by the mouse and by the arrows; in no address', async ({
    page,
    panel,
    memory
  }) => {
    const addresses: string[] = [];
    page.on('request', request => addresses.push(decodeURIComponent(request.url())));
    await openFile(page, notebook);
    await panel.open();
    const all = await panel.ask('readings');
    const radio = (name: string) => panel.filters.getByRole('radio', { name });
    await expect(radio('All')).toBeChecked();
    const { root } = await memory.status();

    const here = await panel.answered(() => radio('This notebook').click());
    expect(new Set(here.hits.map(hit => hit.source))).toEqual(new Set([`${root}/${notebook}`]));
    await panel.shows(here);
    await expect(radio('This notebook')).toBeChecked();
    const folder = await panel.answered(() => radio('This notebook').press('ArrowRight'));
    await expect(radio('Folder')).toBeFocused();
    expect(folder.hits.every(hit => hit.source.startsWith(`${root}/samples/`))).toBe(true);
    await panel.answered(() => radio('Folder').press('ArrowLeft'));

    // Another document in front: the scope goes with it.
    const other = await panel.answered(() => openFile(page, 'samples/2026-07-06_price_history.ipynb'));
    expect(other.hits.every(hit => hit.source.endsWith('price_history.ipynb'))).toBe(true);
    const again = await panel.answered(() => radio('All').click());
    expect(again.hits.map(hit => hit.memory_id)).toEqual(all.hits.map(hit => hit.memory_id));
    expect(addresses.filter(url => url.includes('jupyter-memory/') && /samples|readings/.test(url))).toEqual([]);
  });

  test('The session remembers it', async ({ page, panel }) => {
    await panel.open();
    await panel.ask('readings');
    const folder = panel.filters.getByRole('radio', { name: 'Folder' });
    await panel.answered(() => folder.click());
    await page.reload();
    await panel.show();
    await expect(folder).toBeChecked();
  });

  test('Where a chip leaves nothing, it is named and can be lifted', async ({ page, panel }) => {
    await openFile(page, notebook);
    await panel.open();
    await panel.ask('prices kind:file');
    const nothing = await panel.answered(() => panel.filters.getByRole('radio', { name: 'This notebook' }).click());
    expect(nothing.hits).toEqual([]);
    await expect(panel.root.getByRole('heading', { name: 'No match' })).toBeVisible();
    const lift = panel.root.getByRole('button', { name: /^Only in 2026-07-15_meter_cleaning\.ipynb/ });
    const found = await panel.answered(() => lift.click());
    expect(found.hits.length).toBeGreaterThan(0);
    await panel.shows(found);
  });
});
