import { activeCell, openFile } from './lab';
import { expect, test } from './test';

test.describe('The magic and the panel', () => {
  test.beforeAll(async ({ memory }) => memory.samples());

  test('A search by %memsearch is among the recent ones, and one click asks it again', async ({
    page,
    panel,
    memory
  }) => {
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', '%load_ext jupyter_memory');
    await page.notebook.addCell('code', '%memsearch when do the clocks change?');
    await page.notebook.run();
    await expect.poll(async () => (await memory.recent()).map(one => one.origin)).toContain('magic');
    await panel.open();
    const debug = await panel.section('Why this order');
    await debug.getByRole('button', { name: 'Refresh' }).click();
    const row = debug.getByRole('listitem').filter({ hasText: 'when do the clocks change' });
    await expect(row).toContainText('%memsearch');
    const answer = await panel.answered(() => row.getByRole('button').click());
    expect(answer.query).toContain('when do the clocks change');
    await panel.shows(answer);
    await expect(panel.box).toHaveValue(/when do the clocks change/);
  });

  test('The result of %memsearch opens in the panel', async ({ page, panel }) => {
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', '%load_ext jupyter_memory');
    await page.notebook.addCell('code', '%memsearch clip_outliers main fuse');
    await page.notebook.run();
    const open = page.getByRole('main').getByRole('button', { name: 'Open in Memory' });
    const answer = await panel.answered(() => open.click(), { query: 'clip_outliers main fuse' });
    await expect(panel.box).toHaveValue('clip_outliers main fuse');
    await panel.shows(answer);
  });

  test('The title of a result opens its notebook at the cell, in the tab where it is open', async ({ page }) => {
    await openFile(page, 'samples/2026-07-15_meter_cleaning.ipynb');
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', '%load_ext jupyter_memory');
    await page.notebook.addCell('code', '%memsearch clip_outliers main fuse');
    await page.notebook.run();
    const row = page.locator('.jp-OutputArea table.jp-MemoryResult tbody tr').filter({ hasText: 'def clip_outliers' });
    await row.first().locator('a').click();
    await expect
      .poll(() => activeCell(page))
      .toMatchObject({ path: 'samples/2026-07-15_meter_cleaning.ipynb', seen: true });
    expect((await activeCell(page))?.source).toContain('def clip_outliers');
    await expect(page.getByRole('main').getByRole('tab', { name: /meter_cleaning/ })).toHaveCount(1);
  });
});
