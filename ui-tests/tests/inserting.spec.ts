import type { NotebookPanel } from '@jupyterlab/notebook';
import { readFileSync } from 'fs';
import { join } from 'path';

import { activeCell, cells, codeCell, palette } from './lab';
import { expect, test } from './test';

/** The source of a cell of the sample corpus, as it is in the file. */
function sourceOf(notebook: string, index: number): string {
  const { cells } = JSON.parse(readFileSync(join(__dirname, '../../notebooks/samples', notebook), 'utf8'));
  return [cells[index].source].flat().join('');
}

test.describe('Into the notebook', () => {
  test.beforeAll(async ({ memory }) => memory.samples());

  test.beforeEach(async ({ page, panel }) => {
    await page.notebook.createNew('week.ipynb', { kernel: null });
    await page.notebook.setCell(0, 'code', 'first = 1');
    await page.notebook.addCell('code', 'last = 2');
    await page.notebook.selectCells(0);
    await panel.open();
    await panel.ask('clip_outliers main fuse');
  });

  test('Insert puts the cell’s whole source below the active cell, without its outputs and no blank cell', async ({
    page,
    panel,
    memory
  }) => {
    const answer = await memory.search('clip_outliers main fuse');
    const i = answer.hits.findIndex(hit => hit.snippet.includes('def clip_outliers'));
    await panel.act(await panel.row(answer.hits[i]), 'Insert');
    await expect
      .poll(() => cells(page))
      .toEqual(['first = 1', expect.stringContaining('def clip_outliers'), 'last = 2']);
    expect((await cells(page))[1]).toBe(sourceOf('2026-07-15_meter_cleaning.ipynb', 15));
    expect(await page.notebook.getCellType(1)).toBe('code');
    expect((await activeCell(page))?.index).toBe(1);
    await expect(page.getByText(/^Inserted “.*clip_outliers” as cell 2\.$/)).toBeVisible();
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => cells(page)).toEqual(['first = 1', 'last = 2']);
  });

  test('Insert What Runs adds what the cell needs, says why and what is missing, and one undo takes it back', async ({
    page,
    panel,
    memory,
    tmpPath
  }) => {
    const sources = ['rate = 2', 'unrelated = 3', 'zyzzyva = rate * prices'];
    const notebook = {
      cells: sources.map((source, i) => codeCell(source, `c${i}`)),
      metadata: {},
      nbformat: 4,
      nbformat_minor: 5
    };
    await page.contents.uploadContent(JSON.stringify(notebook), 'text', `${tmpPath}/needs.ipynb`);
    await memory.index(tmpPath);
    await panel.ask('zyzzyva');
    await panel.act(panel.hits.first(), 'Insert What Runs');
    await expect(page.getByText(/^Inserted “.*” as cell 2\. Nothing known defines prices\.$/)).toBeVisible();
    const [, block] = await cells(page);
    expect(block).toContain('# Nothing known defines prices.\n\n# Cell 1 of needs.ipynb defines rate.\nrate = 2\n\n');
    expect(block).toMatch(/zyzzyva = rate \* prices$/);
    expect(block).not.toContain('unrelated');
    await page.evaluate(() => window.jupyterapp.commands.execute('notebook:undo-cell-action'));
    await expect.poll(() => cells(page)).toEqual(['first = 1', 'last = 2']);
    const whole = panel.root.getByRole('group', { name: /^Whole text of/ });
    await panel.results.press(' ');
    await expect(whole).toContainText('zyzzyva');
    await panel.root.getByRole('button', { name: 'Insert what runs' }).click();
    await expect.poll(async () => (await cells(page))[1]).toBe(block);
  });

  test('Prose is inserted as a Markdown cell', async ({ page, panel }) => {
    const answer = await panel.ask('"watt-hours" firmware');
    const i = answer.places.findIndex(place => place.lang === 'markdown');
    await panel.act(await panel.row(answer.hits[i]), 'Insert');
    await expect.poll(async () => (await cells(page)).length).toBe(3);
    expect(await page.notebook.getCellType(1)).toBe('markdown');
  });

  test('Code that the kernel does not run: the panel asks, and fences it in Markdown', async ({
    page,
    panel,
    memory
  }) => {
    const code = 'zyzzyva = [λ(hour) for hour in 1:24]';
    await memory.add(code, { title: 'Hours in Julia', lang: 'julia' });
    await page.evaluate(() => {
      const notebook = window.jupyterapp.shell.currentWidget as NotebookPanel;
      notebook.content.model!.setMetadata('language_info', { name: 'python' });
    });
    await panel.ask('zyzzyva hour');
    await panel.act(panel.hit(/Hours in Julia/), 'Insert');
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('Insert julia into a notebook of python?');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect(dialog).toHaveCount(0);
    expect(await cells(page)).toEqual(['first = 1', 'last = 2']);
    await panel.act(panel.hit(/Hours in Julia/), 'Insert');
    await dialog.getByRole('button', { name: 'As Markdown' }).click();
    await expect.poll(() => cells(page)).toEqual(['first = 1', `\`\`\`julia\n${code}\n\`\`\``, 'last = 2']);
  });

  test('Copy takes the whole text, and says so', async ({ page, panel, context, memory }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const answer = await memory.search('clip_outliers main fuse');
    const { text } = await memory.item(answer.hits[0].memory_id);
    await panel.act(panel.hits.first(), 'Copy');
    await expect(page.getByText(/Copied/)).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
  });

  test('A hit dragged into the notebook becomes a cell there', async ({ page, panel }) => {
    const from = (await panel.hits.first().boundingBox())!;
    const goal = (await (await page.notebook.getCellLocator(1))!.boundingBox())!;
    await page.mouse.move(from.x + 60, from.y + 30);
    await page.mouse.down();
    await page.mouse.move(from.x + 90, from.y + 40, { steps: 3 });
    // Let go before the whole text has come, nothing is dropped.
    await expect(page.locator('.jp-Memory-drag')).toBeVisible();
    await page.mouse.move(goal.x + 150, goal.y + 12, { steps: 8 });
    await page.mouse.up();
    await expect.poll(async () => (await cells(page)).length).toBe(3);
    expect((await cells(page)).some(source => source.includes('clip_outliers'))).toBe(true);
  });

  test('The question goes into the notebook as %memsearch', async ({ page }) => {
    await palette(page, 'Insert the Search as %memsearch');
    await expect
      .poll(() => cells(page))
      .toEqual(['first = 1', '%load_ext jupyter_memory\n%memsearch --limit 20 clip_outliers main fuse', 'last = 2']);
  });
});
