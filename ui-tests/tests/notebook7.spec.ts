import { expect, test } from '@playwright/test';

import { Memory } from './memory';
import { Panel } from './panel';

test.describe('Notebook 7', () => {
  test.beforeAll(async ({ request }) => new Memory(request).samples());
  test.beforeEach(async ({ request }) => {
    const found = await request.get('tree');
    test.skip(!found.ok(), 'Notebook 7 is not installed: pip install notebook');
  });

  test('The panel is a side panel of the notebook too, and inserts into it', async ({ page }) => {
    await page.goto('notebooks/samples/2026-08-05_customer_join.ipynb');
    await expect(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible();
    const panel = new Panel(page);
    // A notebook that is ready takes the keyboard, be it a moment after the panel did.
    await panel.show();
    await panel.ask('clip_outliers main fuse');
    const before = await page.locator('.jp-NotebookPanel .jp-Cell').count();
    await panel.act(panel.hit(/def clip_outliers/).first(), 'Insert');
    await expect(page.locator('.jp-NotebookPanel .jp-Cell').filter({ hasText: 'def clip_outliers' })).toHaveCount(1);
    expect(await page.locator('.jp-NotebookPanel .jp-Cell').count()).toBeGreaterThanOrEqual(before);
    const here = await panel.answered(() => panel.filters.getByRole('radio', { name: 'This notebook' }).click());
    expect(here.hits.every(hit => hit.source.endsWith('customer_join.ipynb'))).toBe(true);
  });

  test('Cells of other notebooks that are like the active one are counted and listed', async ({ page }) => {
    await page.goto('notebooks/samples/2026-08-03_csv_to_parquet.ipynb');
    const cell = page.locator('.jp-NotebookPanel .jp-Cell').filter({ hasText: 'month.to_parquet("data/clean' });
    await expect(cell.first()).toBeVisible();
    const panel = new Panel(page);
    await panel.show();
    const toggle = panel.root.getByRole('button', { name: 'Related cells while you work' });
    await toggle.click();
    await cell.first().click();
    await panel.root.getByRole('button', { name: /^\d cells? like this one$/ }).click();
    await expect(panel.hit(/full\.reset_index\(\)\.to_parquet/)).toHaveCount(1);
    // These settings are kept on the server, for the tests that follow as well.
    await toggle.click();
    await expect(toggle).toHaveAttribute('aria-pressed', 'false');
  });

  test('A result of another notebook opens on a page of its own, at the cell', async ({ page }) => {
    await page.goto('notebooks/samples/2026-08-05_customer_join.ipynb');
    await expect(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible();
    const panel = new Panel(page);
    // A notebook that is ready takes the keyboard, be it a moment after the panel did.
    await panel.show();
    await panel.ask('"tz_localize" Stockholm ambiguous');
    const hit = panel.hit(/dt\.tz_localize\("Europe\/Stockholm"\)/).first();
    const [other] = await Promise.all([page.waitForEvent('popup'), panel.act(hit, 'Open')]);
    await expect(other).toHaveURL(/notebooks\/samples\/2026-07-06_price_history\.ipynb/);
    const active = other.locator('.jp-NotebookPanel .jp-Cell.jp-mod-active');
    await expect(active).toContainText('tz_localize("Europe/Stockholm")');
    await expect(active).toBeInViewport();
  });
});
