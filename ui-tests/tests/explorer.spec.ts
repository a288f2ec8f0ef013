import { expect, type Locator, type Page, test } from '@playwright/test';

import { breaches } from './axe';
import { Memory } from './memory';

const SOURCES = ['%load_ext jupyter_memory', '%memsearch --widget clip_outliers main fuse'];

/** What stands in the table of an output, row by row. */
const rows = (output: Locator): Promise<string[]> => output.locator('table:visible tbody tr').allInnerTexts();

/** Save a notebook of these cells, and open it in an application. */
async function openNotebook(page: Page, place: string, name: string): Promise<void> {
  const cells = SOURCES.map((source, i) => ({
    id: `cell-${i}`,
    cell_type: 'code',
    source,
    metadata: {},
    outputs: [],
    execution_count: null
  }));
  const metadata = { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } };
  const content = { cells, metadata, nbformat: 4, nbformat_minor: 5 };
  const saved = await page.request.put(`api/contents/${name}`, { data: { type: 'notebook', content } });
  expect(saved.ok()).toBe(true);
  // Without what another test left open in JupyterLab.
  await page.goto(`${place}/${name}?reset`);
  await expect(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible();
}

/** Run all cells, once there is a kernel, and return the output of the last. */
async function run(page: Page): Promise<Locator> {
  const kernels = async (): Promise<string[]> => {
    const sessions: { kernel: { execution_state: string } }[] = await (await page.request.get('api/sessions')).json();
    return sessions.map(one => one.kernel.execution_state);
  };
  await expect.poll(kernels, { timeout: 90_000 }).toEqual(['idle']);
  await expect(page.locator('.jp-Notebook-ExecutionIndicator')).toHaveAttribute('data-status', 'idle');
  await page.getByRole('menuitem', { name: 'Run', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Run All Cells', exact: true }).click();
  const output = page.locator('.jp-NotebookPanel .jp-OutputArea').last();
  await expect(output.getByRole('slider').first()).toBeVisible({ timeout: 90_000 });
  return output;
}

/** End all kernels, as when Jupyter is stopped. */
async function endKernels(page: Page): Promise<void> {
  const sessions: { id: string }[] = await (await page.request.get('api/sessions')).json();
  await Promise.all(sessions.map(({ id }) => page.request.delete(`api/sessions/${id}`)));
}

for (const [application, place] of [
  ['JupyterLab', 'lab/tree'],
  ['Notebook 7', 'notebooks']
]) {
  test.describe(`%memsearch --widget in ${application}`, () => {
    test.setTimeout(300_000);
    test.beforeAll(async ({ request }) => new Memory(request).samples());
    test.beforeEach(async ({ request }) => {
      const found = await request.get(place === 'notebooks' ? 'tree' : 'lab');
      test.skip(!found.ok(), 'Notebook 7 is not installed: pip install notebook');
    });

    test('Numbers and the arrow keys move the weights, the ranking follows, and its table stays', async ({ page }) => {
      const name = `widget-${place.slice(0, 3)}.ipynb`;
      await endKernels(page);
      await openNotebook(page, place, name);
      const output = await run(page);
      const before = await rows(output);
      expect(before.length).toBeGreaterThan(1);
      const weight = output.getByRole('spinbutton').first();
      await weight.fill('0');
      await weight.press('Tab');
      await expect.poll(() => rows(output)).not.toEqual(before);

      // ipywidgets' sliders have no name of their own.
      await expect(output.getByRole('slider', { name: 'keyword', exact: true })).toBeVisible();
      await expect.poll(() => breaches(page, '.jp-MemoryExplorer-sliders')).toEqual([]);

      // Notebook 7 would take the arrows to go to another cell.
      const slider = output.getByRole('slider').first();
      await slider.focus();
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowRight');
      await expect(slider).toBeFocused();
      await expect(weight).toHaveValue('0.004');
      // The number comes first, then the table and its formula, and last the table that stays: saved before, it is an older one.
      const formula = 'score = 0.004*keyword';
      await expect(output.getByText(formula)).toBeVisible();
      const after = await rows(output);
      await expect(async () => {
        await page.keyboard.press('Control+s');
        const saved = await (await page.request.get(`api/contents/${name}`)).json();
        expect(JSON.stringify(saved)).toContain(formula);
      }).toPass({ timeout: 45_000 });
      await endKernels(page);
      await page.reload();
      const still = page.locator('.jp-NotebookPanel .jp-OutputArea').last();
      await expect(still.locator('table:visible')).toHaveCount(1);
      await expect(still.getByRole('slider')).toHaveCount(0);
      expect(await rows(still)).toEqual(after);
    });
  });
}
