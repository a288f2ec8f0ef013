import { expect as expects, test as plain } from '@playwright/test';

import { Memory } from './memory';
import { Panel } from './panel';
import { expect, test } from './test';

test.describe('Files that change while results are shown', () => {
  test.beforeEach(async ({ memory }) => memory.empty());

  test('Results of a deleted file go by themselves, and the one that is selected stays so', async ({
    page,
    panel,
    memory,
    tmpPath
  }) => {
    await page.contents.uploadContent('Überprüfung der Zähler in Malmö', 'text', `${tmpPath}/gone.md`);
    await page.contents.uploadContent('Überprüfung der Zähler in Łódź', 'text', `${tmpPath}/kept.md`);
    await memory.index(tmpPath, true);
    await panel.open();
    await panel.ask('Überprüfung Zähler');
    await expect(panel.hits).toHaveCount(2);
    const kept = panel.hit(/Łódź/);
    await kept.click();
    await expect(kept).toHaveAttribute('aria-selected', 'true');

    await page.contents.deleteFile(`${tmpPath}/gone.md`);
    await expect(panel.hits).toHaveCount(1, { timeout: 30_000 });
    await expect(kept).toHaveAttribute('aria-selected', 'true');
    await expect(panel.box).toHaveValue('Überprüfung Zähler');
  });
});

plain.describe('Notebook 7', () => {
  plain('A result whose file is gone opens no page, and the panel says why', async ({ page, request }) => {
    const found = await request.get('tree');
    plain.skip(!found.ok(), 'Notebook 7 is not installed: pip install notebook');
    const memory = new Memory(request);
    await memory.samples();
    await page.goto('notebooks/samples/2026-08-05_customer_join.ipynb');
    await expects(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible();
    const panel = new Panel(page);
    await panel.show();
    await panel.ask('"tz_localize" Stockholm ambiguous');
    let pages = 0;
    page.on('popup', () => pages++);
    const gone = /\/api\/contents\/samples\/2026-07-06_price_history\.ipynb/;
    await page.route(gone, route => route.fulfill({ status: 404, json: { message: 'No such file' } }));
    await panel.act(panel.hit(/dt\.tz_localize\("Europe\/Stockholm"\)/).first(), 'Open');
    await expects(page.getByText(/price_history\.ipynb” no longer exists/).first()).toBeVisible();
    expects(pages).toBe(0);
  });
});
