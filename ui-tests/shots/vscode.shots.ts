import { join } from 'path';

import { expect, test } from '@playwright/test';

import { Memory } from '../tests/memory';
import { VSCode } from '../tests/vscode';

const folder = process.env.SHOTS ?? 'test-results/shots';

test("results with VS Code's widget script", async ({ page, context, request, baseURL }) => {
  test.setTimeout(180_000);
  await new Memory(request).samples();
  const editor = new VSCode(page);
  const again = new VSCode(await context.newPage());
  const shoot = async (of: VSCode, state: string): Promise<void> => {
    for (const theme of ['light', 'dark', 'light themed', 'dark themed']) {
      await of.theme(`vscode-${theme}`);
      await of.page.screenshot({
        path: join(folder, `vscode-${theme.replace(' ', '-')}-${state}.png`),
        fullPage: true
      });
    }
  };
  try {
    await editor.open('vscode-light');
    await editor.start(`${baseURL}/`);
    await editor.run('%load_ext jupyter_memory');
    await editor.run('%memsearch --limit 3 clip_outliers main fuse');
    await editor.run('%memsearch --widget --limit 6 clip_outliers main fuse');
    await page.getByRole('slider').nth(2).press('Home'); // max_sim
    await expect(
      page.getByText('weight = 0.0').or(page.locator('.jp-MemoryExplorer-moved:visible')).first()
    ).toBeAttached();
    await page.getByRole('button', { name: 'Show code' }).press('Enter');
    await expect(page.getByRole('button', { name: 'Hide code' })).toBeVisible();
    await shoot(editor, '1-widget');
    await editor.stop();
    await again.open('vscode-light');
    await again.start(`${baseURL}/`);
    await again.restore(editor.outputs);
    await shoot(again, '2-opened-again');
  } finally {
    await editor.stop();
    await again.stop();
  }
});
