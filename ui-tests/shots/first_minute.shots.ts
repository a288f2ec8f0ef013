import { writeFileSync } from 'fs';
import { join } from 'path';

import { openFile } from '../tests/lab';
import { expect, test } from '../tests/test';

/** The frames of the moving picture in docs/tour.md; `scripts/moving_picture.py` puts them together. */
const folder = process.env.IMAGES ?? 'test-results/images';
const question = 'how did we cap readings above the main fuse';

test.use({ viewport: { width: 1100, height: 640 } });

for (const theme of ['Light', 'Dark']) {
  test(`The first minute, ${theme}`, async ({ page, panel, memory }) => {
    await memory.samples();
    const frames: { file: string; seconds: number }[] = [];
    const shoot = async (seconds: number): Promise<void> => {
      const file = `first_minute-${theme.toLowerCase()}-${String(frames.length).padStart(2, '0')}.png`;
      await page.screenshot({ path: join(folder, file) });
      frames.push({ file, seconds });
    };
    await page.theme.setTheme(`JupyterLab ${theme}`);
    await openFile(page, 'samples/2026-08-05_customer_join.ipynb');
    await panel.open();
    await page.sidebar.setWidth(380, 'left');
    await shoot(1.5);
    const words = question.split(' ');
    for (let n = 2; n < words.length; n += 2) {
      await panel.ask(words.slice(0, n).join(' '));
      await shoot(0.5);
    }
    await panel.ask(question);
    await shoot(2.5);
    await panel.hits.first().hover();
    await expect(panel.root.locator('.jp-Memory-beside .jp-Memory-wholeText')).not.toBeEmpty();
    await shoot(2.5);
    await panel.act(panel.hits.first(), 'Open');
    await expect(page.locator('.jp-NotebookPanel:not(.lm-mod-hidden) .jp-mod-active')).toContainText(
      'def clip_outliers'
    );
    await page.mouse.move(800, 500);
    await shoot(3);
    await panel.select(panel.hits.first());
    await panel.section('Why this order');
    await expect(panel.root.getByRole('table', { name: /^Why rank 1/ })).toBeVisible();
    await shoot(3.5);
    writeFileSync(join(folder, `first_minute-${theme.toLowerCase()}.json`), JSON.stringify(frames));
  });
}
