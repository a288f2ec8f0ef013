/** A Jupyter server that is killed and started again under a panel that is open. */

import { mkdirSync, writeFileSync } from 'fs';
import { join } from 'path';

import { expect, type Page, test } from '@playwright/test';

import { Memory } from './memory';
import { Panel } from './panel';

const { Restarted } = require('../servers') as {
  Restarted: new () => { url: string; root: string; start(): Promise<void>; kill(): Promise<void>; clear(): void };
};

const server = new Restarted();

/** Open Lab on that server, with the panel before one's eyes. */
async function opened(page: Page): Promise<Panel> {
  await page.goto(`${server.url}/lab?reset`);
  await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
  const panel = new Panel(page);
  await page.getByRole('tab', { name: 'Memory' }).click();
  await expect(panel.root).toBeVisible();
  return panel;
}

test.describe('A server that is started again', () => {
  // Lab says in a dialog that its server is away: that is not ours, and must not stand before the panel.
  test.beforeEach(async ({ page }) => {
    server.clear();
    await server.start();
    await page.addLocatorHandler(page.getByRole('dialog'), dialog =>
      dialog.getByRole('button', { name: 'Close' }).click()
    );
  });
  test.afterEach(() => server.kill());

  test('The panel keeps what it shows, and asks again by itself', async ({ page, playwright }) => {
    test.setTimeout(480_000);
    const request = await playwright.request.newContext({ baseURL: `${server.url}/` });
    await new Memory(request).samples();
    const panel = await opened(page);
    const answer = await panel.ask('parquet');
    await server.kill();
    await panel.box.fill('tz_localize Stockholm');
    await panel.box.press('Enter');
    await expect(panel.root.getByRole('alert')).toContainText('does not answer');
    await panel.openSections();
    await expect(panel.hits).toHaveCount(answer.hits.length);
    await server.start();
    await expect(panel.results).toContainText('tz_localize', { timeout: 180_000 });
    await expect(panel.root.getByRole('alert')).toHaveCount(0);
    await request.dispose();
  });

  test('An indexing that it interrupts is said to be so, and goes on when asked', async ({ page, playwright }) => {
    test.setTimeout(480_000);
    // Enough that no machine is through with it before the server is killed.
    mkdirSync(join(server.root, 'many'), { recursive: true });
    for (let n = 0; n < 3000; n++) {
      const text = Array.from({ length: 12 }, (_, i) => `# Day ${n}.${i}\n\nThe λ of probe ${n * 12 + i} in Zürich.`);
      writeFileSync(join(server.root, 'many', `day ${n}.md`), text.join('\n\n'));
    }
    const panel = await opened(page);
    const index = await panel.section('Index');
    await index.getByRole('textbox', { name: /^Index a folder/ }).fill('many');
    await index.getByRole('button', { name: 'Index', exact: true }).click();
    await expect(index.getByRole('progressbar')).toBeVisible();
    await server.kill();
    await server.start();
    await expect(index.getByText('was interrupted: the server stopped')).toBeVisible({ timeout: 180_000 });

    await index.getByRole('button', { name: 'Index again' }).click();
    await expect(index.getByText(/3,000 files indexed|files indexed .*unchanged/)).toBeVisible({ timeout: 180_000 });
    const request = await playwright.request.newContext({ baseURL: `${server.url}/` });
    const memory = new Memory(request);
    const { folders } = await memory.status();
    expect(folders.find(one => one.path === join(server.root, 'many'))).toMatchObject({ files: 3000 });
    expect(await memory.get('doctor')).toEqual({ problems: [] });
    await request.dispose();
  });
});
