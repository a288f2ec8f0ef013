import { join } from 'path';

import { expect, test } from '../tests/test';

/** The dense list beside its sketch: narrow and wide, light and dark; `SHOTS` says where to. */
const folder = process.env.SHOTS ?? 'test-results/shots';

test.describe('The dense list', () => {
  test.use({ viewport: { width: 1280, height: 1180 } });
  test.beforeAll(async ({ memory }) => memory.samples());

  for (const theme of ['Light', 'Dark']) {
    for (const width of [250, 420]) {
      test(`${theme}, ${width} pixels`, async ({ page, panel }) => {
        const shoot = (state: string) =>
          panel.root.screenshot({ path: join(folder, `${width}-${theme}-${state}.png`) });
        await page.theme.setTheme(`JupyterLab ${theme}`);
        await panel.open();
        await page.sidebar.setWidth(width, 'left');
        await panel.ask('why is there no day of 25 hours in October 2025');
        await panel.hits.nth(2).hover();
        await shoot('1-hover');
        await panel.ask('clip_outliers main fuse');
        await panel.select(panel.hits.nth(1));
        await shoot('2-selected');
        await panel.root
          .getByRole('button', { name: /more cells? of/ })
          .first()
          .click();
        await shoot('3-section');
        await panel.select(panel.hits.first());
        await panel.results.press(' ');
        await expect(panel.root.locator('.jp-Memory-wholeText').first()).toContainText('def clip_outliers');
        await shoot('4-preview');
        await panel.hits.first().click({ button: 'right' });
        await expect(page.getByRole('menuitem', { name: 'Copy Link' })).toBeVisible();
        await page.screenshot({ path: join(folder, `${width}-${theme}-5-menu.png`) });
      });
    }
  }
});
