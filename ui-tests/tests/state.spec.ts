import { expect, test } from './test';

test.describe('After a reload', () => {
  test.beforeAll(async ({ memory }) => memory.samples());

  test('The panel, the question and its filters are there again', async ({ page, panel }) => {
    await panel.open();
    await panel.ask('clip_outliers');
    await (await panel.menu(/^Kind/)).click();
    await panel.answered(() => panel.filters.getByRole('checkbox', { name: /^Cells/ }).click());
    const kept = (): Promise<string> =>
      page.evaluate(async () => JSON.stringify(await window.jupyterapp.serviceManager.workspaces.fetch('default')));
    await expect.poll(kept).toMatch(/"cell".*clip_outliers|clip_outliers.*"cell"/);
    await expect.poll(kept).toContain('"current":"jupyter-memory:panel"');
    await page.reload();
    await expect(panel.root).toBeVisible();
    await expect(panel.box).toHaveValue('clip_outliers');
    await expect(panel.hits.first()).toContainText('clip_outliers');
    await expect(panel.filters.getByRole('button', { name: 'Kind 1' })).toBeVisible();
  });
});
