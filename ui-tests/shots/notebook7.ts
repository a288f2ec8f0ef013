import type { Locator, Page } from '@playwright/test';

import { expect } from '../tests/test';

/** Run all cells of the notebook that is open in Notebook 7, in a theme, until they show `count` of these. */
export async function runAll(page: Page, theme: string, shown: Locator, count: number): Promise<void> {
  await setTheme(page, theme);
  // A notebook whose kernel is not there yet runs nothing.
  await expect(async () => {
    await page.getByRole('menuitem', { name: 'Run', exact: true }).click();
    await page.getByText('Run All Cells', { exact: true }).click();
    await expect(shown).toHaveCount(count, { timeout: 15_000 });
  }).toPass();
}

export async function setTheme(page: Page, theme: string): Promise<void> {
  if (theme.toLowerCase() === 'dark') {
    await page.getByRole('menuitem', { name: 'Settings' }).click();
    await page.getByText('Theme', { exact: true }).hover();
    await page.getByText('JupyterLab Dark', { exact: true }).click();
  }
}
