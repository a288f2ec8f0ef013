import { join } from 'path';

import { openFile } from '../tests/lab';
import { expect, test } from '../tests/test';

/** The pictures of the README; `IMAGES` says where to, `pngquant` or the like makes them small. */
const folder = process.env.IMAGES ?? 'test-results/images';

test.describe('README', () => {
  test.beforeEach(async ({ page, memory }) => {
    await memory.samples();
    // The font of Galata has no bold; this is what most people see.
    const fonts = "--jp-ui-font-family: Helvetica, Arial, 'DejaVu Sans Condensed', sans-serif";
    await page.addStyleTag({ content: `:root { ${fonts} !important }` });
    await page.sidebar.setWidth(360, 'left');
  });

  for (const [name, theme] of [
    ['light', 'JupyterLab Light'],
    ['dark', 'JupyterLab Dark']
  ]) {
    test(`panel, ${name}`, async ({ page, panel }) => {
      await page.theme.setTheme(theme);
      await openFile(page, 'samples/2026-07-15_meter_cleaning.ipynb');
      await panel.open();
      await panel.ask('how did we cap readings above the main fuse');
      await panel.act(panel.hits.first(), 'Pin');
      await panel.act(panel.hits.first(), 'Open');
      await expect(page.locator('.jp-Notebook .jp-mod-active')).toContainText('def clip_outliers');
      await page.mouse.move(800, 500);
      await panel.root.screenshot({ path: join(folder, `panel-${name}.png`) });
    });
  }

  test('debugger', async ({ page, panel }) => {
    // High enough for the lists of the retrievers below the table.
    await page.setViewportSize({ width: 1280, height: 1240 });
    await panel.open();
    await page.sidebar.setWidth(720, 'left');
    await panel.ask('how did we cap readings above the main fuse');
    await panel.select(panel.hits.first());
    await panel.section('Why this order');
    await panel.title('Results').click();
    await expect(panel.root.getByRole('table', { name: /^Why rank 1/ })).toBeVisible();
    // The section went to the explanation; the picture is to begin with the question.
    await panel.root.evaluate(root => root.querySelectorAll('*').forEach(part => (part.scrollTop = 0)));
    await panel.root.screenshot({ path: join(folder, 'debugger.png') });
  });
});
