/** Two windows of one Lab: what is done in one is met in the other. */

import type { Page } from '@playwright/test';

import type { Memory } from './memory';
import { Panel } from './panel';
import { expect, test } from './test';

/** Another window of the same Lab, in a workspace of its own. */
async function secondWindow(page: Page): Promise<{ other: Page; second: Panel }> {
  const other = await page.context().newPage();
  await other.goto('lab/workspaces/zweite?reset');
  await other.locator('#jupyterlab-splash').waitFor({ state: 'detached' });
  const second = new Panel(other);
  await other.getByRole('tab', { name: 'Memory' }).click();
  await expect(second.root).toBeVisible();
  return { other, second };
}

/** Forget through the server, as another window does, and wait until that is so. */
async function forget(memory: Memory, memory_id: string): Promise<void> {
  await memory.post('forget', { memory_ids: [memory_id] });
}

test.describe('Two windows', () => {
  test('What one of them indexes is found in the other', async ({ page, panel, memory }) => {
    test.setTimeout(300_000);
    await memory.empty();
    const { other, second } = await secondWindow(page);
    await expect(second.root.getByRole('heading', { name: 'Nothing is remembered yet' })).toBeVisible();
    await panel.open();
    await panel.root.getByRole('button', { name: 'Index this folder' }).click();
    await expect(second.hits.first()).toBeVisible({ timeout: 90_000 });
    await memory.rest();
    // The keyboard is in one window at a time.
    await second.ask('tz_localize Stockholm');
    await page.bringToFront();
    await panel.ask('parquet');
    await expect(panel.results).toContainText(/parquet/i);
    await expect(second.results).toContainText('tz_localize');
    await other.close();
  });

  test('What one of them forgot is gone from the other when it is acted on, with a word', async ({ page, memory }) => {
    await memory.samples();
    const { other, second } = await secondWindow(page);
    const { hits } = await second.ask('parquet');
    await second.openSections();
    await forget(memory, hits[0].memory_id);
    await second.act(second.hits.first(), 'Pin');
    await expect(second.root.getByRole('alert')).toContainText('This cell or note no longer exists');
    await expect(second.hits).toHaveCount(hits.length - 1);

    await forget(memory, hits[1].memory_id);
    await second.act(second.hits.first(), 'Copy');
    await expect(other.getByText('This cell or note no longer exists').last()).toBeVisible();
    await expect(second.hits).toHaveCount(hits.length - 2);
    await other.close();
  });

  test('Who comes back to a window sees what was done in the other', async ({ page, memory }) => {
    await memory.samples();
    const { other, second } = await secondWindow(page);
    const { hits } = await second.ask('parquet');
    await memory.post('pin', { memory_id: hits[0].memory_id, pinned: true });
    await forget(memory, hits[1].memory_id);
    const answer = await second.answered(() =>
      other.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
    );
    expect(answer.hits.map(hit => hit.memory_id)).not.toContain(hits[1].memory_id);
    await second.shows(answer);
    await expect(second.hits.first()).toHaveAccessibleName(/pinned/);
    await other.close();
  });
});
