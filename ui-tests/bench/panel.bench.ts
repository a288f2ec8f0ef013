import { appendFileSync, readFileSync } from 'fs';

import { type Page, expect, test } from '@playwright/test';

import { Panel } from '../tests/panel';

const output = process.env.BENCH_OUTPUT ?? 'test-results/bench.jsonl';
const loads = Number(process.env.BENCH_LOADS ?? 8);

function note(row: object): void {
  appendFileSync(output, `${JSON.stringify(row)}\n`);
}

/** Milliseconds from the next key in the box until the hits of its answer are painted. */
async function fromKeyToPaint(page: Page, key: string): Promise<number> {
  const painted = page.evaluateHandle(() => {
    const body = document.querySelector('.jp-Memory [aria-busy]')!;
    const box = document.querySelector<HTMLInputElement>('.jp-Memory input[type=search]')!;
    const done = new Promise<number>(resolve => {
      let pressed = 0;
      box.addEventListener('input', () => (pressed = performance.now()), { once: true });
      new MutationObserver((_, observer) => {
        if (pressed && body.getAttribute('aria-busy') === 'false') {
          observer.disconnect();
          requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - pressed)));
        }
      }).observe(body, { attributes: true });
    });
    return { done };
  });
  const waiting = await painted;
  // Into the box, wherever Lab has put the focus while it starts.
  await page.locator('.jp-Memory input[type=search]').press(key);
  return waiting.evaluate(({ done }) => done);
}

test('from the last key to painted results', async ({ page }) => {
  const questions: string[] = JSON.parse(readFileSync(process.env.BENCH_QUESTIONS!, 'utf8'));
  await page.goto('lab');
  await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
  const panel = new Panel(page);
  await page.evaluate(async () => {
    await window.jupyterapp.restored;
    await window.jupyterapp.commands.execute('jupyter-memory:open');
  });
  await expect(panel.hits.first()).toBeVisible();
  for (const question of questions) {
    await panel.answered(() => panel.box.fill(question.slice(0, -1)));
    await expect(panel.root.locator('[aria-busy]')).toHaveAttribute('aria-busy', 'false');
    let total = 0;
    const answer = await panel.answered(async () => {
      total = await fromKeyToPaint(page, question.slice(-1));
    });
    note({ what: 'search', total, server: answer.timings.total });
  }
});

test('Lab with the extension and without', async ({ browser }) => {
  for (let i = 0; i < 2 * loads; i++) {
    const isThere = i % 2 === 0;
    const context = await browser.newContext();
    const page = await context.newPage();
    if (!isThere) {
      await page.route(/\/lab($|\?)/, async route => {
        const response = await route.fetch();
        const html = (await response.text()).replace(/"federated_extensions": \[.*?\](?=, "|\})/s, found =>
          found.replace(/\{[^{}]*"name": "jupyter-memory"[^{}]*\},? ?/, '').replace(/, \]$/, ']')
        );
        await route.fulfill({ response, body: html });
      });
    }
    await page.goto('lab?reset', { waitUntil: 'commit' });
    await page.waitForFunction(() => 'jupyterapp' in window);
    const restored = await page.evaluate(async () => {
      await window.jupyterapp.restored;
      return { ms: performance.now(), there: window.jupyterapp.hasPlugin('jupyter-memory:plugin') };
    });
    expect(restored.there).toBe(isThere);
    if (i > 1) {
      note({ what: isThere ? 'with' : 'without', total: restored.ms });
    }
    await context.close();
  }
});
