import { execFileSync } from 'child_process';
import { rmSync } from 'fs';
import { dirname, join } from 'path';

import { jupyter, open, scratch } from '../servers';
import { breaches } from './axe';
import { expect, test } from './test';

const file = (name: string): string => join(scratch, `${name}.sqlite`);

/** In a terminal of the person whose server it is. */
function typed(...words: string[]): void {
  execFileSync(join(dirname(jupyter), 'jupyter-memory'), words, { env: { ...process.env, ...open.env } });
}

test.describe('Several stores', () => {
  test.beforeAll(async ({ memory }) => {
    await memory.samples();
    for (const [name, title, text] of [
      ['papers', 'Kiefer on meters', 'Kiefer: readings of meters that stand still are no zeros, λ stays.'],
      ['lab', 'Laboratory notes', 'The laboratory reads its meters at noon.']
    ]) {
      typed('--store', file(name), 'add', '--title', title, text);
      typed('store', 'add', name, file(name));
    }
    rmSync(file('lab'));
  });

  test.afterAll(() => ['papers', 'lab'].forEach(name => typed('store', 'remove', name)));

  for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
    test(`${theme}: they are chosen, a hit says which it is from, and one that is missing is named`, async ({
      page,
      panel
    }) => {
      await page.theme.setTheme(theme);
      await panel.open();
      await page.sidebar.setWidth(250, 'left');
      await panel.ask('kiefer readings of meters');
      await expect(panel.results.locator('.jp-Memory-store')).toHaveCount(0);
      await (await panel.menu(/^Stores/)).click();
      await panel.answered(() => panel.filters.getByRole('checkbox', { name: 'papers' }).click());
      const all = await panel.answered(() => panel.filters.getByRole('checkbox', { name: 'lab' }).click());
      expect(new Set(all.hits.map(hit => hit.store))).toEqual(new Set(['own', 'papers']));
      await panel.shows(all);
      await expect(panel.root.getByText(/^The store lab is left out: There is no store at/).first()).toBeVisible();
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      await page.screenshot({ path: test.info().outputPath('menu.png') });
      await page.keyboard.press('Escape');

      const theirs = panel.hit(/Kiefer on meters/);
      await expect(theirs.getByText('papers', { exact: true })).toBeVisible();
      await panel.act(theirs, 'Pin');
      await expect(theirs.getByText('pinned')).toHaveCount(theme.endsWith('Light') ? 1 : 0);
      await page.screenshot({ path: test.info().outputPath('hit.png') });
      await page.reload();
      await panel.show();
      await expect(panel.filters.getByRole('button', { name: 'Stores 3' })).toBeAttached();
    });
  }
});
