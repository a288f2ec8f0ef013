import { join } from 'path';

import { expect as expected, test as bare } from '@playwright/test';

import { breaches } from './axe';
import { cells } from './lab';
import { expect, test } from './test';

const shots = process.env.SHOTS;
const themes = { light: 'JupyterLab Light', dark: 'JupyterLab Dark' };

/** A cell whose output has a button that inserts this code. */
const BUTTON = [
  'from IPython.display import HTML',
  'from jupyter_memory.dataframe import insert_button',
  'HTML(insert_button("λ = 3.2\\nprint(λ < 4)"))'
].join('\n');
const CODE = 'λ = 3.2\nprint(λ < 4)';

test.describe('A fix in an output', () => {
  test('One click inserts it below the cell that shows it, wherever the cursor is, and runs nothing', async ({
    page
  }) => {
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', BUTTON);
    await page.notebook.addCell('code', 'last = 2');
    await page.notebook.runCell(0, true);
    await page.notebook.selectCells(1);
    const button = page.getByRole('main').getByRole('button', { name: 'Insert as a new cell' });
    await button.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => cells(page)).toEqual([BUTTON, CODE, 'last = 2']);
    expect(await page.notebook.getCellTextOutput(1)).toBeNull();
    await button.click();
    await expect.poll(() => cells(page)).toEqual([BUTTON, CODE, CODE, 'last = 2']);
  });

  test('%memfix shows how the last error was mended, and one click inserts that', async ({ page, memory }) => {
    await memory.empty();
    const failing = 'rates = {"Zürich": 3.2}\nrates["Genève"]';
    const mended = 'rates = {"Zürich": 3.2}\nrates.get("Genève", 0)';
    const sources = ['%load_ext jupyter_memory', '%memory history on', failing, mended, failing, '%memfix', 'last = 2'];
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', sources[0]);
    for (const source of sources.slice(1)) {
      await page.notebook.addCell('code', source);
    }
    for (const at of [0, 1, 2, 3, 4, 5]) {
      await page.notebook.runCell(at, true);
    }
    const output = page.locator('.jp-Cell').filter({ hasText: '%memfix' }).locator('.jp-OutputArea');
    await expect(output).toContainText('+rates.get("Genève", 0)');
    for (const [name, theme] of Object.entries(themes)) {
      await page.theme.setTheme(theme);
      await expect.poll(() => breaches(page, '.jp-RenderedHTMLCommon table')).toEqual([]);
      if (shots) {
        await output.last().screenshot({ path: join(shots, `${name}-memfix.png`) });
      }
    }
    await page.getByRole('main').getByRole('button', { name: 'Insert as a new cell' }).first().click();
    await expect.poll(() => cells(page)).toEqual([...sources.slice(0, 6), mended, 'last = 2']);
  });

  test('After an exception, a line beside the output names the fix and inserts it; the saved notebook has no word of it', async ({
    page,
    memory,
    tmpPath
  }) => {
    await memory.empty();
    const failing = 'rates = {"Zürich": 3.2}\nrates["Genève"]';
    const mended = 'rates = {"Zürich": 3.2}\nrates.get("Genève", 0)';
    const sources = ['%load_ext jupyter_memory', '%memory history on', failing, mended, failing];
    const name = await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', sources[0]);
    for (const source of sources.slice(1)) {
      await page.notebook.addCell('code', source);
    }
    for (const at of [0, 1, 2, 3]) {
      await page.notebook.runCell(at, true);
    }
    await expect.poll(async () => (await memory.status()).history.texts).toBe(2);
    await page.notebook.runCell(4, true);
    const hint = page.locator('.jp-Memory-fixHint');
    await expect(hint).toContainText(name!);
    await expect(hint.locator('code')).toHaveText('rates.get("Genève", 0)');
    for (const [look, theme] of Object.entries(themes)) {
      await page.theme.setTheme(theme);
      await expect.poll(() => breaches(page, '.jp-Memory-fixHint')).toEqual([]);
      if (shots) {
        await page.locator('.jp-Notebook').screenshot({ path: join(shots, `${look}-fix-hint.png`) });
      }
    }
    await hint.getByRole('button', { name: 'Show' }).click();
    await expect(hint.locator('pre')).toContainText('- rates["Genève"]');

    await page.notebook.save();
    const saved = await (await page.request.get(`api/contents/${tmpPath}/${name}`)).json();
    const shown = saved.content.cells[4].outputs.filter(({ output_type }) => output_type === 'display_data');
    expect(shown).toHaveLength(1);
    expect(JSON.stringify(shown)).toContain('You fixed an error like this before: %memfix shows it.');
    expect(JSON.stringify(shown)).not.toMatch(/rates|Genève|Zürich|ipynb/);
    await hint.getByRole('button', { name: 'Insert' }).click();
    await expect.poll(() => cells(page)).toEqual([...sources, mended]);
  });

  test('The command of the panel inserts what it is given', async ({ page }) => {
    await page.notebook.createNew('by_command.ipynb', { kernel: null });
    await page.notebook.setCell(0, 'code', 'first = 1');
    await page.evaluate(
      code => window.jupyterapp.commands.execute('jupyter-memory:insert-below', { text: code }),
      CODE
    );
    await expect.poll(() => cells(page)).toEqual(['first = 1', CODE]);
  });
});

bare.describe('A fix in Notebook 7', () => {
  bare.beforeEach(async ({ request }) => {
    const found = await request.get('tree');
    bare.skip(!found.ok(), 'Notebook 7 is not installed: pip install notebook');
  });

  bare('One click inserts it', async ({ page, request }) => {
    const content = {
      cells: [{ cell_type: 'code', id: 'fix', metadata: {}, execution_count: null, outputs: [], source: BUTTON }],
      metadata: { kernelspec: { name: 'python3', display_name: 'Python 3', language: 'python' } },
      nbformat: 4,
      nbformat_minor: 5
    };
    const made = await request.put('api/contents/fix_here.ipynb', { data: { type: 'notebook', content } });
    expected(made.ok()).toBe(true);
    await page.goto('notebooks/fix_here.ipynb');
    const shown = page.locator('.jp-NotebookPanel .jp-Cell');
    await expected(shown).toHaveCount(1);
    // Before there is a kernel, nothing runs.
    const states = async (): Promise<string[]> => {
      const sessions: { path: string; kernel: { execution_state: string } }[] = await (
        await request.get('api/sessions')
      ).json();
      return sessions.filter(one => one.path === 'fix_here.ipynb').map(one => one.kernel.execution_state);
    };
    await expected.poll(states, { timeout: 90_000 }).toEqual(['idle']);
    await expected(page.locator('.jp-Notebook-ExecutionIndicator')).toHaveAttribute('data-status', 'idle');
    await page.getByRole('menuitem', { name: 'Run', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Run All Cells', exact: true }).click();
    await page.getByRole('button', { name: 'Insert as a new cell' }).click();
    await expected(shown).toHaveCount(2);
    await expected(shown.nth(1)).toContainText('print(λ < 4)');
    await request.delete('api/contents/fix_here.ipynb');
  });
});
