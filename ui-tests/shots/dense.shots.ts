import { type Page, test as plain } from '@playwright/test';
import { join } from 'path';

import { openFile } from '../tests/lab';
import { expect, test } from '../tests/test';
import { setTheme } from './notebook7';

/** The dense list beside its sketch: narrow and wide, light and dark; `SHOTS` says where to. */
const folder = process.env.SHOTS ?? 'test-results/shots';

test.describe('The dense list', () => {
  test.use({ viewport: { width: 1280, height: 1180 } });
  test.beforeAll(async ({ memory }) => memory.samples());

  for (const theme of ['Light', 'Dark']) {
    for (const width of [250, 420]) {
      test(`${theme}, ${width} pixels`, async ({ page, panel }) => {
        const shoot = (state: string) =>
          panel.root.screenshot({ path: join(folder, `${width}-${theme}-${state}.png`) });
        await page.theme.setTheme(`JupyterLab ${theme}`);
        await page.notebook.createNew('week.ipynb', { kernel: null });
        await panel.open();
        await page.sidebar.setWidth(width, 'left');
        await panel.ask('why is there no day of 25 hours in October 2025');
        await panel.hits.nth(2).hover();
        await shoot('1-hover');
        await expect(panel.root.locator('.jp-Memory-beside .jp-Memory-wholeText')).not.toBeEmpty();
        await page.screenshot({ path: join(folder, `${width}-${theme}-1-beside.png`) });
        await panel.ask('clip_outliers main fuse');
        await panel.select(panel.hits.nth(1));
        await shoot('2-selected');
        await panel.root
          .getByRole('button', { name: /more cells? of/ })
          .first()
          .click();
        await shoot('3-section');
        await panel.select(panel.hits.first());
        await panel.results.press(' ');
        await expect(panel.root.locator('.jp-Memory-wholeText').first()).toContainText('def clip_outliers');
        await shoot('4-preview');
        await panel.hits.first().click({ button: 'right' });
        await expect(page.getByRole('menuitem', { name: 'Copy Link' })).toBeVisible();
        await page.screenshot({ path: join(folder, `${width}-${theme}-5-menu.png`) });
      });
    }
  }

  for (const theme of ['Light', 'Dark']) {
    test(`The search from anywhere, ${theme}`, async ({ page }) => {
      await page.theme.setTheme(`JupyterLab ${theme}`);
      await openFile(page, 'samples/2026-08-05_customer_join.ipynb');
      await shootOverlay(page, `lab-${theme}`);
    });
  }
});

for (const theme of ['Light', 'Dark']) {
  plain(`The search from anywhere in Notebook 7, ${theme}`, async ({ page }) => {
    await page.goto('notebooks/samples/2026-08-05_customer_join.ipynb');
    await expect(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible();
    await setTheme(page, theme);
    await shootOverlay(page, `notebook7-${theme}`);
  });
}

async function shootOverlay(page: Page, name: string): Promise<void> {
  const overlay = page.getByRole('dialog', { name: 'Search Memory' });
  await page.keyboard.press('Alt+Shift+F');
  await overlay.getByRole('searchbox').fill('clip_outliers main fuse');
  await expect(overlay.locator('.jp-Memory-nearby')).toHaveCount(2);
  await page.screenshot({ path: join(folder, `overlay-${name}.png`) });
}
