import { palette } from './lab';
import { expect, test } from './test';

test.describe('Opening', () => {
  test('Lab opens with the extension, and the extension with the server', async ({ page, memory }) => {
    const plugins = await page.evaluate(() => window.jupyterapp.listPlugins());
    expect(plugins).toContain('jupyter-memory:plugin');
    const { api, root } = await memory.status();
    expect(api).toBe(1);
    expect(root).toBe(await page.getServerRoot());
  });

  test('Alt Shift M opens the panel with the words in the box selected', async ({ page, panel }) => {
    await panel.open();
    await panel.box.fill('λ of the smart meters');
    await page.keyboard.press('Alt+Shift+M');
    await expect(panel.box).toBeFocused();
    const selected = await panel.box.evaluate((box: HTMLInputElement) =>
      box.value.slice(box.selectionStart!, box.selectionEnd!)
    );
    expect(selected).toBe('λ of the smart meters');
  });

  test('The command palette and the View menu open the panel', async ({ page, panel }) => {
    await palette(page, 'Show Memory');
    await expect(panel.box).toBeFocused();
    await page.sidebar.openTab('filebrowser');
    await expect(panel.root).toBeHidden();
    await page.menu.clickMenuItem('View>Show Memory');
    await expect(panel.root).toBeVisible();
  });

  test('What is selected in a notebook is the question', async ({ page, panel }) => {
    await page.notebook.createNew('now.ipynb', { kernel: null });
    await page.notebook.setCell(0, 'raw', 'decimal commas');
    await page.notebook.enterCellEditingMode(0);
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.press('Alt+Shift+M');
    await expect(panel.box).toHaveValue('decimal commas');
  });

  test('Every command says what it takes', async ({ page }) => {
    const bare = await page.evaluate(async () => {
      const { commands } = window.jupyterapp;
      const ours = commands.listCommands().filter(id => id.startsWith('jupyter-memory:'));
      const told = await Promise.all(ours.map(async id => [id, await commands.describedBy(id)] as const));
      return { ours: ours.length, bare: told.filter(([, by]) => !by.args).map(([id]) => id) };
    });
    expect(bare.ours).toBeGreaterThan(8);
    expect(bare.bare).toEqual([]);
  });
});
