import { galata } from '@jupyterlab/galata';
import { type Page, test as plain } from '@playwright/test';
import { join } from 'path';

import { codeCell, openFile } from '../tests/lab';
import { expect, test } from '../tests/test';
import { setTheme } from './notebook7';

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
        await page.notebook.createNew('week.ipynb', { kernel: null });
        await panel.open();
        await page.sidebar.setWidth(width, 'left');
        await panel.ask('why is there no day of 25 hours in October 2025');
        await panel.hits.nth(2).hover();
        await shoot('1-hover');
        await expect(panel.root.locator('.jp-Memory-beside .jp-Memory-wholeText')).not.toBeEmpty();
        await page.screenshot({ path: join(folder, `${width}-${theme}-1-beside.png`) });
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

  for (const theme of ['Light', 'Dark']) {
    test(`The search from anywhere, ${theme}`, async ({ page }) => {
      await page.theme.setTheme(`JupyterLab ${theme}`);
      await openFile(page, 'samples/2026-08-05_customer_join.ipynb');
      await shootOverlay(page, `lab-${theme}`);
    });
  }
});

for (const theme of ['Light', 'Dark']) {
  plain(`The search from anywhere in Notebook 7, ${theme}`, async ({ page }) => {
    await page.goto('notebooks/samples/2026-08-05_customer_join.ipynb');
    await expect(page.locator('.jp-NotebookPanel .jp-Cell').first()).toBeVisible();
    await setTheme(page, theme);
    await shootOverlay(page, `notebook7-${theme}`);
  });
}

async function shootOverlay(page: Page, name: string): Promise<void> {
  const overlay = page.getByRole('dialog', { name: 'Search Memory' });
  await page.keyboard.press('Alt+Shift+F');
  await overlay.getByRole('searchbox').fill('clip_outliers main fuse');
  await expect(overlay.locator('.jp-Memory-nearby')).toHaveCount(2);
  await page.screenshot({ path: join(folder, `overlay-${name}.png`) });
}

test.describe('Milliseconds from a key to the results on the screen', () => {
  test.use({ mockSettings: { ...galata.DEFAULT_SETTINGS, 'jupyter-memory:plugin': { searchDelay: 0 } } });

  test('at 10,000 chunks', async ({ page, panel, memory, tmpPath }) => {
    await memory.empty();
    const words = ['prices', 'meters', 'forecast', 'outage', 'fuse', 'tariff', 'zone', 'demand', 'export', 'clock'];
    const source = (n: number): string =>
      `# The ${words[n % 10]} of day ${n}\n${words[(n * 7 + 3) % 10]}_${n} = read_day(${n})["kwh"].mean()  # of ${n % 9}\n`;
    for (let book = 0; book < 40; book++) {
      const cells = Array.from({ length: 250 }, (_, i) => codeCell(source(250 * book + i), `c${i}`));
      const notebook = JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 });
      await page.contents.uploadContent(notebook, 'text', `${tmpPath}/log_${book}.ipynb`);
    }
    await memory.index(tmpPath);
    expect((await memory.status()).store.memories).toBe(10_000);
    await panel.open();
    const times = await page.evaluateHandle(() => {
      const [body, all] = [
        document.querySelector('.jp-Memory-resultsBody')!,
        [] as { whole: number; search: number }[]
      ];
      let from = 0;
      performance.setResourceTimingBufferSize(10_000);
      document.addEventListener('keydown', ({ key, timeStamp }) => (from = key === 'Enter' ? 0 : timeStamp), true);
      const painted = (began: number): void => {
        const asked = performance.getEntriesByType('resource').filter(({ name }) => name.includes('memory/search'));
        all.push({ whole: performance.now() - began, search: asked[asked.length - 1].duration });
      };
      new MutationObserver(() => {
        if (from && body.getAttribute('aria-busy') === 'false') {
          const began = from;
          from = 0;
          requestAnimationFrame(() => setTimeout(() => painted(began)));
        }
      }).observe(body, { attributeFilter: ['aria-busy'] });
      return all;
    });
    for (let turn = 0; turn < 90; turn++) {
      const asked = `${words[turn % 10]} of day ${turn} ${words[(turn * 3 + 1) % 10]}`;
      await panel.ask(asked.slice(0, -1));
      await page.keyboard.press(asked.slice(-1));
      await page.waitForFunction(([all, n]) => all.length > n, [times, turn] as const);
    }
    // The first ones warm up.
    const all = (await times.jsonValue()).slice(10);
    const median = (of: (one: (typeof all)[number]) => number): string =>
      all
        .map(of)
        .sort((a, b) => a - b)
        [all.length / 2].toFixed(0);
    const [whole, own] = [median(one => one.whole), median(one => one.whole - one.search)];
    // eslint-disable-next-line no-console
    console.log(`from a key to its results on the screen: ${whole} ms, without the search itself ${own} ms`);
  });
});
