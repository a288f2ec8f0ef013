import { test as plain } from '@playwright/test';
import { join } from 'path';

import { Memory } from '../tests/memory';
import { expect, test } from '../tests/test';
import { runAll } from './notebook7';

/** Pictures of thumbnails in results, in PNG and in SVG, to look at; `SHOTS` says where to. */
const folder = process.env.SHOTS ?? 'test-results/shots';
const THEMES = [
  ['light', 'JupyterLab Light'],
  ['dark', 'JupyterLab Dark']
] as const;
const QUESTION = '%memsearch the plot of orders and rain';
const FOLDER = 'plots';

/** A plot of a curve as matplotlib leaves it with `figure_formats = ["svg"]`, on white or on nothing. */
function plot(title: string, ink: string, ground: string): string {
  const points = Array.from({ length: 60 }, (_, x) => `${40 + x * 6},${150 - 70 * Math.sin(x / 8)}`).join(' ');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="432pt" height="288pt" viewBox="0 0 432 288">` +
    `<rect width="432" height="288" fill="${ground}"/><text x="216" y="28" text-anchor="middle" fill="${ink}" ` +
    `font-family="sans-serif" font-size="16">${title}</text><rect x="40" y="40" width="360" height="220" fill="none" ` +
    `stroke="${ink}"/><polyline points="${points}" fill="none" stroke="#1f77b4" stroke-width="2"/></svg>`
  );
}

const cell = (id: string, source: string, picture?: string): object => ({
  cell_type: 'code',
  id,
  execution_count: null,
  metadata: {},
  source,
  outputs: picture ? [{ output_type: 'display_data', metadata: {}, data: { 'image/svg+xml': picture } }] : []
});
const notebook = (cells: object[]): object => {
  const kernelspec = { name: 'python3', display_name: 'Python 3', language: 'python' };
  return {
    type: 'notebook',
    format: 'json',
    content: { cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 }
  };
};

plain.beforeAll(async ({ request }) => {
  const memory = new Memory(request);
  await memory.empty();
  await request.put(`api/contents/${FOLDER}`, { data: { type: 'directory' } });
  await request.put(`api/contents/${FOLDER}/weather.ipynb`, {
    data: notebook([
      cell('a', "orders.plot(title='Orders and rain')", plot('Orders and rain, λ', 'black', 'white')),
      cell('b', "rain.plot(title='Rain, orders in the dark style')", plot('Rain in the dark', 'white', 'none')),
      cell('c', 'orders.describe()')
    ])
  });
  await memory.index(FOLDER);
});

for (const [name, theme] of THEMES) {
  test(`Pictures in Lab, ${name}`, async ({ page, panel }) => {
    await page.theme.setTheme(theme);
    await panel.open();
    await page.sidebar.setWidth(380, 'left');
    await panel.ask('the plot of orders and rain');
    await expect(panel.hits.getByRole('img', { name: /^Picture/ })).toHaveCount(2);
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', `%load_ext jupyter_memory`);
    await page.notebook.addCell('code', QUESTION);
    await page.notebook.run();
    await expect(page.locator('.jp-Notebook').getByRole('img', { name: /^Picture: / })).toHaveCount(2);
    await page.screenshot({ path: join(folder, `pictures-lab-${name}.png`) });
  });

  // Plain Playwright: Galata waits for what Notebook 7 does not have.
  plain(`Pictures in Notebook 7, ${name}`, async ({ page, request }) => {
    await request.put('api/contents/asking.ipynb', {
      data: notebook([cell('x', '%load_ext jupyter_memory'), cell('y', QUESTION)])
    });
    await page.goto('notebooks/asking.ipynb');
    await runAll(page, name, page.getByRole('img', { name: /^Picture: / }), 2);
    await page.screenshot({ path: join(folder, `pictures-notebook7-${name}.png`) });
  });
}
