import { breaches } from './axe';
import { expect, test } from './test';

test.describe('The model', () => {
  test.beforeAll(async ({ memory }) => memory.samples());

  test('Another one is fetched only once a person agreed; without a network that is said, and the old one stays', async ({
    page,
    panel,
    memory
  }) => {
    const asked: string[] = [];
    page.on('request', request => {
      if (request.method() === 'POST' && new URL(request.url()).pathname.endsWith('/jupyter-memory/models')) {
        asked.push(request.postData()!);
      }
    });
    const { model } = await memory.status();
    await panel.open();
    const index = await panel.section('Index');
    const section = index.getByRole('region', { name: 'Model' });
    await expect(section).toContainText('static');
    await section.getByRole('button', { name: 'Fetch minilm…' }).click();
    const question = section.getByRole('group', { name: 'Fetch minilm?' });
    await expect(question).toContainText(/MB from the package index\? The licence is Apache-2\.0/);
    await expect(question.getByRole('button', { name: 'Not now' })).toBeFocused();
    await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
    await page.keyboard.press('Escape');
    await expect(section.getByRole('button', { name: 'Fetch minilm…' })).toBeFocused();
    expect(asked).toEqual([]);

    await page.keyboard.press('Enter');
    await question.getByRole('button', { name: 'Fetch', exact: true }).click();
    await expect(section.getByRole('status')).toContainText(/minilm|pip/);
    expect(asked).toHaveLength(1);
    await expect(section.getByRole('button', { name: 'Dismiss' })).toBeVisible({ timeout: 90_000 });
    await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
    await section.getByRole('button', { name: 'Dismiss' }).click();
    expect((await memory.status()).model).toBe(model);
  });
});
