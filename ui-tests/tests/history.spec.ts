import { join } from 'path';

import type { IAnswer } from '../../labextension/src/api/types';
import { breaches } from './axe';
import { activeCell, cells } from './lab';
import { expect, test } from './test';

const shots = process.env.SHOTS;
const themes = { light: 'JupyterLab Light', dark: 'JupyterLab Dark' };

/** The runs that the store has, the newest first. */
function runs(memory: { post<T>(route: string, data: object): Promise<T> }): Promise<IAnswer> {
  return memory.post('browse', { filters: { kind: ['history'] } });
}

test.describe('History', () => {
  test('A kernel that records is shown until it stops; what ran is found, opened and inserted', async ({
    page,
    panel,
    memory,
    tmpPath
  }) => {
    await memory.empty();
    // A kernel knows the name that its notebook had when it was started.
    const name = await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', '%load_ext jupyter_memory');
    await page.notebook.addCell('code', '%memory history on');
    await page.notebook.addCell('code', 'tariff_λ = 0.31 * 24');
    await page.notebook.addCell('code', 'tariffs["Genève"]');
    await panel.show();
    const sign = panel.root.getByRole('button', { name: 'History is on' });
    await expect(sign).toHaveCount(0);
    for (const at of [0, 1, 2, 2, 3]) {
      await page.notebook.runCell(at, true);
    }
    await page.notebook.save();
    await expect(sign).toBeVisible();
    await expect(sign).toHaveAttribute('title', /%memory history off/);
    await expect.poll(async () => (await memory.status()).history.texts).toBe(2);

    await sign.click();
    const note = panel.root.getByRole('group', { name: 'History', exact: true });
    await expect(note).toContainText('A kernel remembers what it runs.');
    for (const [name, theme] of Object.entries(themes)) {
      await page.theme.setTheme(theme);
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      if (shots) {
        await panel.root.screenshot({ path: join(shots, `${name}-history-note.png`) });
      }
    }
    await note.getByRole('button', { name: 'Show what you ran' }).click();
    await expect(note).toHaveCount(0);
    const failed = panel.hit(/tariffs\["Genève"\]/);
    const twice = panel.hit(/tariff_λ = 0.31/);
    await expect(failed).toContainText('ran once: NameError');
    await expect(failed).toContainText(name!);
    await expect(twice).toContainText('ran 2 times, last: ok');
    await expect(panel.hits).toHaveCount(2);
    await panel.select(twice);
    for (const [name, theme] of Object.entries(themes)) {
      await page.theme.setTheme(theme);
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      if (shots) {
        await page.screenshot({ path: join(shots, `${name}-history.png`) });
      }
    }

    await panel.act(twice, 'Open');
    await expect.poll(async () => (await activeCell(page))?.index).toBe(2);
    await panel.act(failed, 'Insert');
    await expect
      .poll(() => cells(page))
      .toEqual([
        '%load_ext jupyter_memory',
        '%memory history on',
        'tariff_λ = 0.31 * 24',
        'tariffs["Genève"]',
        'tariffs["Genève"]'
      ]);

    // The cell that ran is deleted: opened again, its notebook says so and stays where it is.
    await page.notebook.selectCells(2);
    await page.notebook.deleteCells();
    await page.notebook.selectCells(1);
    await panel.act(twice, 'Open');
    await expect(page.getByText('The cell that ran is no longer in this notebook.')).toBeVisible();
    expect((await activeCell(page))?.index).toBe(1);
    expect((await runs(memory)).places.map(({ path }) => path)).toEqual([`${tmpPath}/${name}`, `${tmpPath}/${name}`]);

    await page.notebook.setCell(1, 'code', '%memory history off');
    await page.notebook.runCell(1, true);
    await expect(sign).toHaveCount(0);
    const index = await panel.section('Index');
    await expect(index).toContainText(/History\s*3 runs since/);
  });
});
