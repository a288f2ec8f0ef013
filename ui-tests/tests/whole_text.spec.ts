import { breaches } from './axe';
import { cells } from './lab';
import { expect, test } from './test';

test.describe('The whole text of a result', () => {
  test.beforeAll(async ({ memory }) => memory.samples());

  test('is read in the card, selected with the mouse, and folded, without opening its file', async ({
    page,
    panel,
    memory
  }) => {
    await page.notebook.createNew('week.ipynb', { kernel: null });
    await page.notebook.setCell(0, 'code', 'first = 1');
    await page.theme.setDarkTheme();
    await panel.open();
    const answer = await panel.ask('clip_outliers main fuse');
    const { text } = await memory.item(answer.hits[0].memory_id);
    const sign = panel.root.getByRole('button', { name: /^Whole text of/ }).first();
    const whole = panel.root.getByRole('group', { name: /^Whole text of/ });
    await sign.click();
    await expect(sign).toHaveAttribute('aria-expanded', 'true');
    await expect.poll(() => whole.evaluate(block => block.textContent)).toBe(text.trimEnd());
    await expect(whole.locator('mark').first()).toBeVisible();
    await expect(panel.root.locator('.jp-Memory-nearby')).toContainText([/^cell 15/, /^cell 17/]);
    // At its most some twenty lines, and what is wider is scrolled within it.
    expect((await whole.boundingBox())!.height).toBeLessThan(400);
    const { scrollWidth, clientWidth } = await panel.root
      .locator('.jp-Memory-results')
      .evaluate(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }));
    expect(scrollWidth).toBe(clientWidth);
    await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);

    const from = (await whole.boundingBox())!;
    const goal = (await (await page.notebook.getCellLocator(0))!.boundingBox())!;
    await page.mouse.move(from.x + 12, from.y + 12);
    await page.mouse.down();
    await page.mouse.move(from.x + 60, from.y + 40, { steps: 4 });
    const selected = await page.evaluate(() => window.getSelection()!.toString());
    await page.mouse.move(goal.x + 150, goal.y + 12, { steps: 4 });
    await page.mouse.up();
    expect(selected.length).toBeGreaterThan(3);
    expect(text).toContain(selected);
    expect(await cells(page)).toEqual(['first = 1']);

    await sign.click();
    await expect(whole).toHaveCount(0);
    await expect(sign).toBeFocused();
  });

  test('is shown beside the panel for the hit on which the mouse rests, and gone with the mouse', async ({
    page,
    panel
  }) => {
    await page.notebook.createNew('week.ipynb', { kernel: null });
    await page.notebook.setCell(0, 'code', 'first = 1');
    await panel.open();
    await panel.ask('clip_outliers main fuse');
    const whole = panel.root.getByRole('group', { name: /^Whole text of/ });
    const beside = panel.root.locator('.jp-Memory-beside');
    await panel.hits.first().hover();
    await expect(whole).toContainText('def clip_outliers');
    expect((await beside.boundingBox())!.x).toBeGreaterThan((await panel.results.boundingBox())!.x + 200);
    await expect(panel.results.locator('.jp-Memory-snippet').first()).toBeVisible();
    await expect(beside.locator('.jp-Memory-nearby')).toHaveCount(2);
    await expect.poll(() => breaches(page, '.jp-Memory-beside')).toEqual([]);
    // Its neighbours are inserted with it, or one of them alone.
    await beside.getByRole('button', { name: 'Insert all 3' }).click();
    const isThere = [/^first = 1/, /^## Too large for the fuse/, /^def clip_outliers/, /^## Holes/];
    const inserted = async () => (await cells(page)).map((source, i) => isThere[i]?.test(source));
    await expect.poll(inserted).toEqual([true, true, true, true]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expect.poll(() => cells(page)).toEqual(['first = 1']);
    // The mouse has left it for that button.
    await panel.hits.first().hover();
    await beside.locator('.jp-Memory-nearby').last().getByRole('button', { name: 'Insert' }).click();
    await expect.poll(inserted).toEqual([true, false]);
    await page.mouse.move(1000, 700);
    await expect(beside).toHaveCount(0);
    // A hit that was clicked is not in the way.
    await panel.hits.nth(1).click();
    await page.keyboard.press('Escape');
    await panel.hits.first().hover();
    await expect(whole).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(beside).toHaveCount(0);
  });

  test('is gone into and left with keys, which point the other way from right to left', async ({ page, panel }) => {
    await panel.open();
    await panel.ask('clip_outliers main fuse');
    const whole = panel.root.getByRole('group', { name: /^Whole text of/ });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await expect(whole.locator('mark').first()).toBeVisible();
    await page.keyboard.press('ArrowRight');
    await expect(whole).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(panel.results).toBeFocused();
    await page.keyboard.press('ArrowLeft');
    await expect(whole).toHaveCount(0);
    await page.evaluate(() => (document.documentElement.dir = 'rtl'));
    await page.keyboard.press('ArrowLeft');
    await expect(whole.locator('mark').first()).toBeVisible();
    await page.keyboard.press('ArrowRight');
    await expect(whole).toHaveCount(0);
    await page.keyboard.press('Space');
    await expect(whole).toHaveCount(1);
    await panel.ask('parquet');
    await expect(whole).toHaveCount(0);
  });

  test('is code to the eye: tabs as in the snippet, lines from the left; with forced colours its edge goes on', async ({
    page,
    panel,
    memory,
    tmpPath
  }) => {
    const code = 'def zyzzyva():\n\twind = 1\n# سرعة الرياح\n';
    await page.contents.uploadContent(code, 'text', `${tmpPath}/wind.py`);
    await memory.index(tmpPath);
    await panel.open();
    await panel.ask('zyzzyva wind');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    const whole = panel.root.getByRole('group', { name: /^Whole text of/ });
    await expect(whole.locator('mark').first()).toBeVisible();
    const [begin, fourth, behindTab, comment] = await whole.evaluate(block =>
      ['def', 'zyzzyva', 'wind', '#'].map(sought => {
        const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
          const at = texts.currentNode.textContent!.indexOf(sought);
          if (at >= 0) {
            const range = document.createRange();
            range.setStart(texts.currentNode, at);
            range.setEnd(texts.currentNode, at + 1);
            return range.getBoundingClientRect().left;
          }
        }
        return NaN;
      })
    );
    expect(Math.abs(behindTab - fourth)).toBeLessThan(1);
    expect(Math.abs(comment - begin)).toBeLessThan(1);

    await page.emulateMedia({ forcedColors: 'active' });
    const edges = await panel.root.evaluate(root =>
      ['.jp-Memory-hit[aria-selected="true"]', '.jp-Memory-whole'].map(
        part => getComputedStyle(root.querySelector(part)!).borderInlineStartWidth
      )
    );
    expect(edges).toEqual(['3px', '3px']);
  });
});
