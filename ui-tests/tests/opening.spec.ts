import { expect, test } from '@jupyterlab/galata';

test.describe('Opening', () => {
  test('Lab opens with the extension', async ({ page }) => {
    const plugins = await page.evaluate(() => window.jupyterapp.listPlugins());
    expect(plugins).toContain('jupyter-memory:plugin');
  });
});
