import { activeCell, cells } from './lab';
import { expect, test, UNHURRIED } from './test';

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

  test.describe('Without hurry', () => {
    test.use({ mockSettings: UNHURRIED });

    test('Ctrl Enter inserts, C copies, Delete forgets', async ({ page, panel, context, memory }) => {
      await context.grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.notebook.createNew('week.ipynb', { kernel: null });
      await panel.open();
      const answer = await panel.ask('clip_outliers main fuse');
      await panel.openSections();
      await panel.box.focus();
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
  });

  test('What takes itself away hands the keyboard on', async ({ page, panel }) => {
    await panel.open();
    // Nothing is forgotten for good: the other tests look for it too.
    await page.route('**/jupyter-memory/forget*', route => route.fulfill({ json: { forgotten: 1 } }));
    await panel.ask('clip_outliers main fuse');
    await page.keyboard.press('ArrowDown');
    const choose = async (action: string): Promise<void> => {
      await panel.root.getByRole('button', { name: 'More actions' }).press('Enter');
      await panel.inMenu(action).press('Enter');
    };
    await choose('Forget');
    await expect(panel.results).toBeFocused();
    await expect(panel.hits.first()).toHaveAttribute('aria-selected', 'true');
    await choose('More like this');
    const back = panel.root.getByRole('button', { name: /^Like “/ });
    await expect(panel.results).toBeFocused();
    await back.press('Enter');
    await expect(back).toBeHidden();
    await expect(panel.box).toBeFocused();
  });

  test('A notebook is folded and unfolded where it stands', async ({ page, panel }) => {
    await panel.open();
    const answer = await panel.ask('clip_outliers main fuse');
    await panel.openSections();
    await panel.root.getByRole('button', { name: 'Group by notebook' }).click();
    await panel.box.press('ArrowDown');
    const first = panel.hits.first();
    const name = await first.getAttribute('id');
    await page.keyboard.press('ArrowLeft');
    await expect(panel.results.locator(`[id="${name}"]`)).toHaveCount(0);
    await page.keyboard.press('ArrowRight');
    await expect(panel.hits).toHaveCount(answer.hits.length);
    await expect(first).toHaveAttribute('aria-selected', 'true');
    await panel.root.getByRole('button', { name: 'Group by notebook' }).click();
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
