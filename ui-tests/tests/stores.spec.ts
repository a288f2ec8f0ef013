import { execFileSync } from 'child_process';
import { rmSync, writeFileSync } from 'fs';
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
      await panel.section('Why this order');
      const found = await panel.advanced();
      await found.getByText(/^These are sums over the stores/).scrollIntoViewIfNeeded();
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      await page.screenshot({ path: test.info().outputPath('debugger.png') });
      await page.reload();
      await panel.show();
      await expect(panel.filters.getByRole('button', { name: 'Stores 3' })).toBeAttached();
    });
  }

  test('A picture of another store is shown, and no URL names the store', async ({ page, panel }) => {
    const picture = await page.evaluate(() => {
      const canvas = Object.assign(document.createElement('canvas'), { width: 1280, height: 960 });
      const draw = canvas.getContext('2d')!;
      for (let x = 0; x < 1280; x += 10) {
        draw.fillRect(x, 480 + 300 * Math.sin(x / 90), 8, 8);
      }
      return canvas.toDataURL('image/png').split(',')[1];
    });
    const outputs = [{ output_type: 'display_data', metadata: {}, data: { 'image/png': picture } }];
    const cell = { cell_type: 'code', execution_count: 1, metadata: {}, source: 'meters.plot(kiefer)', outputs };
    const notebook = { cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 4 };
    writeFileSync(join(scratch, 'meters.ipynb'), JSON.stringify(notebook));
    typed('--store', file('papers'), 'index', join(scratch, 'meters.ipynb'));
    const urls: string[] = [];
    page.on('request', request => urls.push(decodeURIComponent(request.url())));

    await panel.open();
    await panel.ask('meters plot kiefer');
    await (await panel.menu(/^Stores/)).click();
    await panel.answered(() => panel.filters.getByRole('checkbox', { name: 'papers' }).click());
    await page.keyboard.press('Escape');
    const image = panel.hits.getByRole('img', { name: /^Picture: / }).first();
    await expect.poll(() => image.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(480);
    expect(urls.some(url => url.includes('jupyter-memory/thumbnail'))).toBe(true);
    expect(urls.filter(url => /papers|kiefer/.test(url))).toEqual([]);
  });
});
