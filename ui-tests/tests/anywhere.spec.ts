import { expect as plainExpect, type Page, test as plain } from '@playwright/test';
import type { NotebookPanel } from '@jupyterlab/notebook';

import { breaches } from './axe';
import { activeCell, cells, openFile, palette } from './lab';
import { Memory } from './memory';
import { expect, test } from './test';

/** The window above everything, by what a screen reader says of it. */
function overlayOf(page: Page) {
  const root = page.getByRole('dialog', { name: 'Search Memory' });
  return {
    root,
    box: root.getByRole('searchbox', { name: 'Search the memory' }),
    hits: root.getByRole('option'),
    preview: root.getByRole('group', { name: /^Whole text of/ })
  };
}

test.describe('Search from anywhere', () => {
  test.beforeAll(async ({ memory }) => memory.samples());
  test.beforeEach(async ({ page }) => {
    await page.notebook.createNew('week.ipynb', { kernel: null });
    await page.notebook.setCell(0, 'code', 'first = 1');
    await page.notebook.enterCellEditingMode(0);
  });

  test('Alt Shift F opens it, Escape closes it and gives the keyboard back', async ({ page, panel }) => {
    const { root, box, hits, preview } = overlayOf(page);
    await page.keyboard.press('Alt+Shift+F');
    await expect(box).toBeFocused();
    await box.pressSequentially('clip_outliers main fuse');
    await expect(hits.first()).toContainText('clip_outliers');
    await expect(preview).toContainText('def clip_outliers');
    await expect(root.locator('.jp-Memory-nearby')).toContainText([/^cell 15/, /^cell 17/]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await expect(root.getByRole('option', { selected: true })).toHaveAttribute(
      'id',
      (await hits.nth(1).getAttribute('id'))!
    );
    await page.keyboard.press('Escape');
    await expect(root).toHaveCount(0);
    await page.keyboard.type(' + 1');
    expect(await cells(page)).toEqual(['first = 1 + 1']);
    await panel.open();
    await expect(panel.box).toHaveValue('clip_outliers main fuse');
    await expect(panel.hits.first()).toContainText('clip_outliers');
  });

  test('Enter opens the first result, Ctrl Enter inserts it, each with the window closed', async ({ page }) => {
    const { root, box, hits } = overlayOf(page);
    await page.keyboard.press('Alt+Shift+F');
    await box.fill('clip_outliers main fuse');
    await expect(hits.first()).toContainText('clip_outliers');
    await page.keyboard.press('ControlOrMeta+Enter');
    await expect(root).toHaveCount(0);
    await expect.poll(() => cells(page)).toEqual(['first = 1', expect.stringContaining('def clip_outliers')]);
    await page.keyboard.press('Alt+Shift+F');
    await expect(box).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(root).toHaveCount(0);
    await expect.poll(async () => (await activeCell(page))?.source).toContain('def clip_outliers');
    expect((await activeCell(page))?.path).toBe('samples/2026-07-15_meter_cleaning.ipynb');
  });

  test('the palette opens it with what is selected; a hit’s menu works in it, and a click beside it closes it', async ({
    page
  }) => {
    const { root, box, hits } = overlayOf(page);
    await page.notebook.setCell(0, 'code', 'clip_outliers');
    await page.notebook.enterCellEditingMode(0);
    await page.keyboard.press('ControlOrMeta+A');
    await palette(page, 'Search Memory from Anywhere');
    await expect(box).toHaveValue('clip_outliers');
    await hits.first().click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Preview' }).click();
    await expect(root.getByRole('group', { name: /^Whole text of/ })).toHaveCount(2);
    await page.mouse.click(20, 400);
    await expect(root).toHaveCount(0);
  });

  for (const theme of ['JupyterLab Light', 'JupyterLab Dark']) {
    test(`it has no breach of accessibility: ${theme}`, async ({ page }) => {
      const { box, preview } = overlayOf(page);
      await page.theme.setTheme(theme);
      await page.keyboard.press('Alt+Shift+F');
      await box.fill('clip_outliers main fuse');
      await expect(preview).toContainText('def clip_outliers');
      await expect.poll(() => breaches(page, '.jp-Memory-overlay')).toEqual([]);
    });
  }

  test('the menu of a cell searches for it, or for what is selected in it', async ({ page, panel }) => {
    await openFile(page, 'samples/2026-07-15_meter_cleaning.ipynb');
    const cell = page.locator('.jp-Notebook .jp-Cell').filter({ hasText: 'def clip_outliers' }).first();
    await cell.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Search Memory for This Cell' }).click();
    await expect(panel.box).toHaveValue(/^def clip_outliers/);
    await expect(panel.hits.first()).toContainText('clip_outliers');
    await page.evaluate(() => {
      const { content } = window.jupyterapp.shell.currentWidget as NotebookPanel;
      const isIt = (source: string): boolean => source.startsWith('def clip_outliers');
      content.activeCellIndex = content.widgets.findIndex(one => isIt(one.model.sharedModel.getSource()));
      content.activeCell!.editor!.setSelection({ start: { line: 0, column: 4 }, end: { line: 0, column: 17 } });
    });
    await cell.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Search Memory for the Selection' }).click();
    await expect(panel.box).toHaveValue('clip_outliers');
  });
});

plain.describe('Search from anywhere in Notebook 7', () => {
  plain.beforeAll(async ({ request }) => new Memory(request).samples());
  plain('opens above the notebook, inserts, and searches for a cell', async ({ page, request }) => {
    plain.skip(!(await request.get('tree')).ok(), 'Notebook 7 is not installed: pip install notebook');
    await page.goto('notebooks/samples/2026-08-05_customer_join.ipynb');
    const all = page.locator('.jp-NotebookPanel .jp-Cell');
    await plainExpect(all.first()).toBeVisible();
    const { root, box, preview } = overlayOf(page);
    await page.keyboard.press('Alt+Shift+F');
    await box.fill('clip_outliers main fuse');
    await plainExpect(preview).toContainText('def clip_outliers');
    await page.keyboard.press('Control+Enter');
    await plainExpect(root).toHaveCount(0);
    const inserted = all.filter({ hasText: 'def clip_outliers' });
    await plainExpect(inserted).toHaveCount(1);
    await inserted.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Search Memory for This Cell' }).click();
    await plainExpect(page.getByRole('region', { name: 'Memory', exact: true }).getByRole('searchbox')).toHaveValue(
      /^def clip_outliers/
    );
  });
});
