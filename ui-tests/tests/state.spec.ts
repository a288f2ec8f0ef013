import { expect, test } from './test';

test.describe('After a reload', () => {
  test.beforeAll(async ({ memory }) => memory.samples());

  test('The panel, the question and its filters are there again', async ({ page, panel }) => {
    await panel.open();
    await panel.ask('clip_outliers');
    await panel.answered(() => panel.filters.getByRole('button', { name: /^Cells/ }).click());
    const layoutSaved = page.waitForResponse(
      response => response.url().includes('/api/workspaces') && response.request().method() === 'PUT'
    );
    await panel.root.click({ position: { x: 5, y: 5 } });
    await layoutSaved.catch(() => undefined);
    await page.reload({ waitForIsReady: false });
    await expect(panel.root).toBeVisible();
    await expect(panel.box).toHaveValue('clip_outliers');
    await expect(panel.hits.first()).toContainText('clip_outliers');
    await expect(panel.filters.getByRole('button', { name: /^Cells/ })).toHaveAttribute('aria-pressed', 'true');
  });
});
