import { test as base } from '@jupyterlab/galata';

import { breaches } from './axe';
import { REST } from './memory';
import { expect, test } from './test';

test.describe('When the server cannot answer', () => {
  test('Extension missing: the panel says what to type, and tries again', async ({ page, panel, memory }) => {
    await memory.samples();
    await page.route(REST, route => route.fulfill({ status: 404, body: 'Not Found' }));
    await page.reload();
    await panel.show();
    await expect(panel.root.getByText('jupyter server extension enable jupyter_memory')).toBeVisible();
    await page.unrouteAll();
    await panel.root.getByRole('button', { name: 'Retry' }).click();
    await panel.ask('parquet');
    await expect(panel.root.getByText('jupyter server extension enable')).toHaveCount(0);
  });

  test('An older server: the panel says how to upgrade', async ({ page, panel, memory }) => {
    const status = await memory.status();
    await page.route('**/jupyter-memory/status*', route => route.fulfill({ json: { ...status, api: 0 } }));
    await page.reload();
    await panel.show();
    await expect(panel.root.getByText('pip install --upgrade jupyter-memory')).toBeVisible();
  });

  test('From missing to older to well, with no reload', async ({ page, panel, memory }) => {
    await memory.samples();
    const status = await memory.status();
    const older = '**/jupyter-memory/status*';
    await page.route(REST, route => route.fulfill({ status: 404, body: 'Not Found' }));
    await page.reload();
    await panel.show();
    await page.route(older, route => route.fulfill({ json: { ...status, api: 0 } }));
    await panel.root.getByRole('button', { name: 'Retry' }).click();
    await expect(panel.root.getByText('pip install --upgrade jupyter-memory')).toBeVisible();
    await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
    await page.unroute(older);
    await page.unroute(REST);
    await panel.root.getByRole('button', { name: 'Retry' }).click();
    await expect(panel.hits.first()).toBeVisible();
  });

  test('A server that is stopped before the first question: the panel says so, and comes by itself', async ({
    page,
    panel,
    memory
  }) => {
    await memory.samples();
    await page.route(REST, route => route.abort());
    await page.reload();
    await panel.show();
    await expect(panel.root.getByRole('heading', { name: 'The Jupyter server does not answer' })).toBeVisible();
    await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
    // Nobody presses a button: it looks by itself, at least once a minute.
    await page.unroute(REST);
    await expect(panel.hits.first()).toBeVisible({ timeout: 120_000 });
  });

  test('A server that stopped: the panel says so, and keeps what it shows', async ({ page, panel, memory }) => {
    await memory.samples();
    await panel.open();
    const answer = await panel.ask('parquet');
    await page.route(REST, route => route.abort());
    await panel.box.fill('parquet codec');
    await panel.box.press('Enter');
    await expect(panel.root.getByRole('alert')).toContainText('does not answer');
    await panel.openSections();
    await expect(panel.hits).toHaveCount(answer.hits.length);
  });

  base('Lab starts though the extension is missing', async ({ page }) => {
    await page.route(REST, route => route.fulfill({ status: 404, body: 'Not Found' }));
    const errors: string[] = [];
    page.on('pageerror', error => errors.push(error.stack ?? error.message));
    await page.reload();
    await expect
      .poll(() => page.evaluate(() => window.jupyterapp.isPluginActivated('jupyter-memory:plugin')))
      .toBe(true);
    expect(errors.filter(stack => stack.includes('jupyter-memory'))).toEqual([]);
  });
});
