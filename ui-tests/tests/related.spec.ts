import { join } from 'path';

import { galata } from '@jupyterlab/galata';
import type { Page, Request } from '@playwright/test';

import { breaches } from './axe';
import { expect, test } from './test';

const shots = process.env.SHOTS;
const themes = { light: 'JupyterLab Light', dark: 'JupyterLab Dark' };
const TOGGLE = 'Related cells while you work';

/** Three cells of a sample notebook are like it; what other tests left in the store may be, too. */
const CELL = 'customers.merge(installations, on="meter_id", how="left")';

/** The requests about related cells from now on. */
function asked(page: Page): Request[] {
  const found: Request[] = [];
  page.on('request', one => void (new URL(one.url()).pathname.endsWith('/related-to') && found.push(one)));
  return found;
}

test.describe('Related cells', () => {
  test.beforeEach(async ({ memory }) => memory.samples());

  test('Off at first; then a line counts the cells of other notebooks, which a click lists and Escape leaves', async ({
    page,
    panel,
    memory
  }) => {
    const requests = asked(page);
    const before = (await memory.recent()).length;
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', CELL);
    await panel.open();
    const toggle = panel.root.getByRole('button', { name: TOGGLE });
    await expect(toggle).toHaveAttribute('aria-pressed', 'false');
    expect(requests).toEqual([]);

    await toggle.click();
    const line = panel.root.getByRole('button', { name: /cells? like this one$/ });
    await expect(line).toHaveText(/^\d+ cells like this one$/);
    const said = (await line.textContent()) ?? '';
    const number = parseInt(said);
    expect(number).toBeGreaterThanOrEqual(3);
    await expect(toggle).toHaveAttribute('aria-pressed', 'true');
    await expect(panel.root.getByRole('status').filter({ hasText: said })).toHaveCount(1);
    for (const [name, theme] of Object.entries(themes)) {
      await page.theme.setTheme(theme);
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      if (shots) {
        await panel.root.screenshot({ path: join(shots, `${name}-related-line.png`) });
      }
    }
    // What is asked is in no address.
    expect(requests.length).toBeGreaterThan(0);
    for (const request of requests) {
      expect([request.method(), new URL(request.url()).search.includes('customers')]).toEqual(['POST', false]);
      expect(request.postDataJSON()).toMatchObject({ text: CELL, path: expect.stringMatching(/\.ipynb$/) });
    }

    await line.click();
    await expect(panel.results).toBeFocused();
    await panel.openSections();
    await expect(panel.hits).toHaveCount(number);
    await expect(panel.root.getByRole('button', { name: 'Like the cell' })).toBeVisible();
    await expect(line).toHaveCount(0);
    for (const [name, theme] of Object.entries(themes)) {
      await page.theme.setTheme(theme);
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      if (shots) {
        await panel.root.screenshot({ path: join(shots, `${name}-related-list.png`) });
      }
    }
    await panel.results.focus();
    await page.keyboard.press('Escape');
    await expect(panel.box).toBeFocused();
    await expect(panel.root.getByText('newest first')).toBeVisible();
    await expect(line).toHaveText(said);
    expect((await memory.recent()).length).toBe(before);
  });

  test('While a person types nothing is asked, and a hidden panel asks nothing', async ({ page, panel }) => {
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', '#');
    await panel.open();
    await panel.root.getByRole('button', { name: TOGGLE }).click();
    await page.notebook.enterCellEditingMode(0);
    const requests = asked(page);
    await page.keyboard.type(CELL, { delay: 20 });
    const typed = requests.length;
    await expect.poll(() => requests.length).toBe(1);
    expect(typed).toBe(0);
    await page.sidebar.close('left');
    await page.keyboard.type('.head()', { delay: 20 });
    await page.notebook.addCell('code', CELL);
    await panel.open();
    await expect(panel.root.getByRole('button', { name: /like this one$/ })).toBeVisible();
    expect(requests.length).toBe(2);
  });
});

test.describe('Related cells, by the setting', () => {
  test.use({ mockSettings: { ...galata.DEFAULT_SETTINGS, 'jupyter-memory:plugin': { relatedCells: true } } });

  test('It is on from the start, and another cell is another question', async ({ page, panel, memory }) => {
    await memory.samples();
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', CELL);
    await page.notebook.addCell('code', 'the_answer = 6 * 7  # no cell is like this');
    await panel.open();
    await expect(panel.root.getByRole('button', { name: TOGGLE })).toHaveAttribute('aria-pressed', 'true');
    await page.notebook.selectCells(0);
    const line = panel.root.getByRole('button', { name: /^\d+ cells like this one$/ });
    await expect(line).toBeVisible();
    const requests = asked(page);
    await page.notebook.selectCells(1);
    await expect(line).toHaveCount(0);
    await expect.poll(() => requests.map(one => one.postDataJSON().text)).toEqual([expect.stringContaining('6 * 7')]);
    await page.notebook.selectCells(0);
    await expect(line).toBeVisible();
  });
});
