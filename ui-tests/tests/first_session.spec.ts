import { activeCell, cells } from './lab';
import { expect, test, UNHURRIED } from './test';

test.describe('A first session', () => {
  test.use({ mockSettings: UNHURRIED });
  test.beforeEach(async ({ memory }) => memory.empty());

  test('Index, search, open at the cell, insert, pin, forget', async ({ page, panel, memory }) => {
    test.setTimeout(300_000);
    await panel.open();
    await test.step('nothing is there, and the panel says what to do', async () => {
      await expect(panel.root.getByRole('heading', { name: 'Nothing is remembered yet' })).toBeVisible();
    });

    await test.step('index the folder of this Lab from the panel', async () => {
      await panel.root.getByRole('button', { name: 'Index this folder' }).click();
      await expect(panel.hits.first()).toBeVisible({ timeout: 90_000 });
      // The first are shown while others are still being read.
      await memory.rest();
      const { store, folders, root } = await memory.status();
      expect(store.memories).toBeGreaterThan(100);
      expect(folders).toMatchObject([{ path: root, watched: true }]);
    });

    await test.step('search, and read the badges', async () => {
      await panel.ask('"tz_localize" Stockholm ambiguous');
      await expect(panel.hits.first().getByText('KW', { exact: true })).toHaveCount(1);
    });

    await test.step('open at the cell', async () => {
      await panel.act(panel.hit(/dt\.tz_localize\("Europe\/Stockholm"\)/), 'Open');
      await expect.poll(() => activeCell(page)).toMatchObject({ id: 'f5b63a94', seen: true });
    });

    await test.step('insert another below it', async () => {
      const before = await cells(page);
      await panel.open();
      await panel.ask('clip_outliers main fuse');
      await panel.act(panel.hit(/def clip_outliers/).first(), 'Insert');
      await expect.poll(async () => (await cells(page)).length).toBe(before.length + 1);
      expect((await cells(page))[8]).toContain('def clip_outliers');
    });

    await test.step('pin it, and forget another', async () => {
      const hit = panel.hit(/def clip_outliers/).first();
      await panel.act(hit, 'Pin');
      await expect(hit).toHaveAccessibleName(/pinned/);
      await panel.openSections();
      const count = await panel.hits.count();
      await panel.act(panel.hits.last(), 'Forget');
      await expect(panel.hits).toHaveCount(count - 1);
      await panel.root.getByRole('button', { name: 'Undo' }).click();
      await expect(panel.hits).toHaveCount(count);
    });
  });
});
