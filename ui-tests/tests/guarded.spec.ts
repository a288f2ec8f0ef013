import { type Page, expect, test } from '@playwright/test';

import { Memory } from './memory';

const { token } = require('../servers') as { token: string };
const url = `http://localhost:${process.env.UI_TOKEN_PORT}`;

/** Open Lab as a user does, from the address with the token. */
async function openLab(page: Page): Promise<void> {
  await page.goto(`${url}/lab?reset&token=${token}`);
  await page.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
}

test.describe('A server with a token', () => {
  test('Without the token there is nothing to see', async ({ request }) => {
    for (const route of ['status', 'jobs', 'folders']) {
      expect((await request.get(`${url}/jupyter-memory/${route}`)).status()).toBe(403);
    }
    const search = await request.post(`${url}/jupyter-memory/search`, { data: { query: 'λ' } });
    expect(search.status()).toBe(403);
  });

  test('A person with the token indexes and searches', async ({ page, playwright }) => {
    const extraHTTPHeaders = { Authorization: `token ${token}` };
    const request = await playwright.request.newContext({ baseURL: `${url}/`, extraHTTPHeaders });
    await new Memory(request).empty();
    await request.dispose();
    await openLab(page);
    await page.getByRole('tab', { name: 'Memory' }).click();
    const panel = page.getByRole('region', { name: 'Memory', exact: true });
    await panel.getByRole('button', { name: 'Index this folder' }).click();
    await expect(panel.getByRole('listbox', { name: 'Results' }).getByRole('option').first()).toBeVisible({
      timeout: 90_000
    });
    await panel.getByRole('searchbox').fill('decimal commas');
    await expect(panel.getByRole('listbox', { name: 'Results' })).toContainText('decimal commas');
  });
});
