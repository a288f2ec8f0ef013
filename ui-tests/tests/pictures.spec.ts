import { join } from 'path';

import type { IJupyterLabPageFixture } from '@jupyterlab/galata';
import type { Locator } from '@playwright/test';

import { breaches } from './axe';
import { expect, test } from './test';

/** A plot of two curves on two axes, in the base64 of a notebook. */
function drawn(page: IJupyterLabPageFixture, seed: number): Promise<string> {
  return page.evaluate(seed => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 1280, height: 960 });
    const draw = canvas.getContext('2d')!;
    draw.fillStyle = 'white';
    draw.fillRect(0, 0, 1280, 960);
    draw.lineWidth = 2;
    draw.strokeRect(140, 80, 1000, 760);
    draw.fillStyle = 'black';
    draw.font = '36px sans-serif';
    draw.fillText(`Orders and rain in Zürich, week ${seed}`, 360, 55);
    ['#1f77b4', '#ff7f0e'].forEach((colour, curve) => {
      draw.strokeStyle = draw.fillStyle = colour;
      draw.lineWidth = 5;
      draw.beginPath();
      for (let x = 0; x <= 1000; x += 10) {
        const y = 460 + (180 + 60 * curve) * Math.sin(x / (110 + 40 * curve) + seed + curve);
        draw.lineTo(140 + x, y);
      }
      draw.stroke();
      [0, 50, 100].forEach(tick => draw.fillText(`${tick * (curve + 1)}`, curve ? 1155 : 60, 840 - tick * 7));
    });
    return canvas.toDataURL('image/png').split(',')[1];
  }, seed);
}

function cell(source: string, ...pictures: string[]): object {
  return {
    cell_type: 'code',
    execution_count: 1,
    metadata: {},
    source,
    outputs: pictures.map(picture => ({
      output_type: 'display_data',
      metadata: {},
      data: { 'image/png': picture, 'text/plain': '<Figure size 640x480 with 2 Axes>' }
    }))
  };
}

/** The width of the image that was really loaded, 0 for none. */
const loaded = (image: Locator): Promise<number> => image.evaluate((one: HTMLImageElement) => one.naturalWidth);

test.describe('The pictures of a notebook', () => {
  test.beforeEach(async ({ page, memory, tmpPath }) => {
    await memory.empty();
    const twin = 'fig, ax = plt.subplots()\nax.plot(orders)\nax.twinx().plot(rain)';
    const cells = [
      cell(twin, await drawn(page, 1), await drawn(page, 2)),
      cell("orders = pd.read_parquet('orders.parquet')\norders.plot(title='Orders a day')", await drawn(page, 3)),
      cell('orders.describe()')
    ];
    const notebook = { cells, metadata: {}, nbformat: 4, nbformat_minor: 4 };
    await page.contents.uploadContent(JSON.stringify(notebook), 'text', `${tmpPath}/weather.ipynb`);
    await memory.index(tmpPath);
  });

  for (const theme of ['Light', 'Dark']) {
    test(`are on the cards, enlarged by a click, and pass axe: ${theme}`, async ({ page, panel }) => {
      await page.theme.setTheme(`JupyterLab ${theme}`);
      await panel.open();
      await page.sidebar.setWidth(380, 'left');
      const { hits } = await panel.ask('the plot of orders with the two y axes');
      expect(hits[0].thumbnails).toBe(2);
      const small = panel.hits.first().getByRole('img', { name: /^Picture 1 of 2: / });
      await expect.poll(() => loaded(small)).toBe(480);
      expect((await small.boundingBox())!.height).toBeLessThan(120);
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      if (process.env.SHOTS) {
        await panel.root.screenshot({ path: join(process.env.SHOTS, `${theme}-cards.png`) });
      }

      await small.click();
      const large = panel.root.locator('.jp-Memory-pictures').getByRole('img');
      await expect(large).toHaveCount(2);
      await expect.poll(() => loaded(large.nth(1))).toBe(480);
      expect((await large.first().boundingBox())!.height).toBeGreaterThan(150);
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      if (process.env.SHOTS) {
        await panel.root.screenshot({ path: join(process.env.SHOTS, `${theme}-enlarged.png`) });
      }
    });
  }

  test('are shown in the results of %memsearch from the store, and never saved with them', async ({
    page,
    memory,
    tmpPath
  }) => {
    await page.notebook.createNew('asking.ipynb');
    await page.notebook.setCell(0, 'code', '%load_ext jupyter_memory');
    await page.notebook.addCell('code', '%memsearch the plot of orders with the two y axes');
    await page.notebook.addCell('code', '%memsearch --widget the plot of orders with the two y axes');
    await page.notebook.run();
    const inCell = (at: number): Locator =>
      page
        .locator('.jp-Notebook .jp-Cell')
        .nth(at)
        .getByRole('img', { name: /^Picture: / });
    const [shown, inWidget] = [inCell(1), inCell(2)];
    await expect(shown).toHaveCount(2);
    await expect.poll(() => loaded(shown.first())).toBe(480);
    await expect(inWidget).toHaveCount(2);
    await expect.poll(() => loaded(inWidget.first())).toBe(480);
    if (process.env.SHOTS) {
      await page.getByRole('main').screenshot({ path: join(process.env.SHOTS, 'output.png') });
    }
    const enlarge = page.getByRole('button', { name: /^Picture: / }).first();
    await enlarge.click();
    await expect(enlarge).toHaveAttribute('aria-expanded', 'true');

    await page.notebook.save();
    const saved = await (await page.request.get(`api/contents/${tmpPath}/asking.ipynb?content=1`)).text();
    expect(saved).toContain('jp-Memory-outputPicture');
    for (const trace of ['data:image', 'UklGR', '<img', 'image/webp', '/thumbnail']) {
      expect(saved).not.toContain(trace);
    }

    // What was saved finds its pictures again, as long as the store has them.
    await page.reload({ waitForIsReady: false });
    await expect(shown).toHaveCount(2);
    await expect.poll(() => loaded(shown.first())).toBe(480);
    await memory.empty();
    await page.reload({ waitForIsReady: false });
    await expect(page.locator('.jp-Memory-outputPicture').first()).toBeAttached();
    await expect(shown).toHaveCount(0);
  });
});
