import { test as plain } from '@playwright/test';
import { join } from 'path';

import { Memory } from '../tests/memory';
import { expect, test } from '../tests/test';
import { runAll } from './notebook7';

/** Pictures of results in outputs of a notebook, to look at; `SHOTS` says where to. */
const folder = process.env.SHOTS ?? 'test-results/shots';
const CELLS = [
  '%load_ext jupyter_memory',
  '%memsearch how did we cap readings above the main fuse -n 4',
  '%memsearch which volcano of the customers erupted -n 2'
];
const THEMES = [
  ['light', 'JupyterLab Light'],
  ['dark', 'JupyterLab Dark']
] as const;

test.describe('Results', () => {
  test.beforeAll(async ({ request }) => new Memory(request).samples());

  for (const [name, theme] of THEMES) {
    test(`in Lab, ${name}`, async ({ page }) => {
      await page.theme.setTheme(theme);
      await page.notebook.createNew();
      await page.notebook.setCell(0, 'code', CELLS[0]);
      await page.notebook.addCell('code', CELLS[1]);
      await page.notebook.addCell('code', CELLS[2]);
      await page.notebook.run();
      await expect(page.locator('table.jp-MemoryResult')).toHaveCount(2);
      await page.screenshot({ path: join(folder, `results-lab-${name}.png`) });
    });
  }
});

// Plain Playwright: Galata waits for what Notebook 7 does not have.
for (const [name] of THEMES) {
  plain(`Results in Notebook 7, ${name}`, async ({ page, request }) => {
    const cells = CELLS.map((source, i) => ({
      cell_type: 'code',
      id: `c${i}`,
      source,
      metadata: {},
      outputs: [],
      execution_count: null
    }));
    const kernelspec = { name: 'python3', display_name: 'Python 3', language: 'python' };
    const content = { cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 };
    await request.put('api/contents/results.ipynb', { data: { type: 'notebook', format: 'json', content } });
    await page.goto('notebooks/results.ipynb');
    await runAll(page, name, page.locator('table.jp-MemoryResult'), 2);
    await page.screenshot({ path: join(folder, `results-notebook7-${name}.png`) });
  });
}
