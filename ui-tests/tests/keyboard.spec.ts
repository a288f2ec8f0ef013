import { activeCell, cells } from './lab';
import { expect, test } from './test';

test.describe('Without a mouse', () => {
  test.beforeAll(async ({ memory }) => memory.samples());

  test('From the box through the hits to the cell, and back', async ({ page, panel }) => {
    await panel.open();
    await panel.ask('"tz_localize" Stockholm ambiguous');
    await page.keyboard.press('ArrowDown');
    await expect(panel.hits.nth(0)).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('ArrowDown');
    await expect(panel.hits.nth(1)).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('End');
    await expect(panel.hits.last()).toHaveAttribute('aria-selected', 'true');
    await page.keyboard.press('Home');
    await expect(panel.hits.first()).toHaveAttribute('aria-selected', 'true');
    const chosen = await panel.results.getAttribute('aria-activedescendant');
    expect(chosen).toBe(await panel.hits.first().getAttribute('id'));
    await page.keyboard.press('Escape');
    await expect(panel.box).toBeFocused();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect.poll(() => activeCell(page)).toMatchObject({ id: 'f5b63a94' });
  });

  test('Ctrl Enter inserts, C copies, Delete forgets', async ({ page, panel, context, memory }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.notebook.createNew('week.ipynb', { kernel: null });
    await panel.open();
    const answer = await panel.ask('clip_outliers main fuse');
    const { text } = await memory.item(answer.hits[0].memory_id);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('c');
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(text);
    await page.keyboard.press('Control+Enter');
    await expect.poll(async () => (await cells(page)).join('\n')).toContain('clip_outliers');
    await panel.open();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Delete');
    await expect(panel.hits).toHaveCount(answer.hits.length - 1);
    await panel.root.getByRole('button', { name: 'Undo' }).press('Enter');
    await expect(panel.hits).toHaveCount(answer.hits.length);
  });

  test('Tab reaches every control of the panel in the order of the screen', async ({ page, panel }) => {
    await panel.open();
    await panel.ask('clip_outliers');
    const seen: string[] = [];
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab');
      const told = await page.evaluate(() => {
        const at = document.activeElement as HTMLElement;
        return at.closest('[role=listbox]') ? 'results' : at.getAttribute('aria-label') || at.innerText.trim();
      });
      seen.push(told);
      if (told === 'results') {
        break;
      }
    }
    expect(seen).toContain('All');
    expect(seen.at(-1)).toBe('results');
  });
});
