import { expect, type Locator, type Page, test as base } from '@playwright/test';

import { breaches } from './axe';
import { Memory } from './memory';
import { VSCode } from './vscode';

const THEMES = ['vscode-light', 'vscode-dark', 'vscode-light themed', 'vscode-dark themed'];

interface IFixtures {
  memory: Memory;
  /** Open a notebook in VS Code with a kernel of its own. */
  open: (theme: string) => Promise<VSCode>;
}

const test = base.extend<IFixtures>({
  memory: async ({ request }, use) => use(new Memory(request)),
  open: async ({ context, baseURL }, use) => {
    const opened: VSCode[] = [];
    await use(async theme => {
      const editor = new VSCode(await context.newPage());
      opened.push(editor);
      await editor.open(theme);
      await editor.start(`${baseURL}/`);
      return editor;
    });
    await Promise.all(opened.map(editor => editor.stop()));
  }
});

/** What stands in the table that is seen, row by row. */
const rows = (page: Page): Promise<string[]> => page.locator('table:visible tbody tr').allInnerTexts();

/** What axe finds, but for the name that ipywidgets' sliders have not: the number beside each has it. */
async function faults(page: Page): Promise<string[]> {
  return (await breaches(page, '#container')).filter(fault => !fault.startsWith('aria-input-field-name'));
}

/** Drag the handle of a slider to the right. */
async function drag(page: Page, slider: Locator, by: number): Promise<void> {
  await slider.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await slider.boundingBox())!;
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + by, y + height / 2, { steps: 3 });
  await page.mouse.up();
}

test.describe("%memsearch --widget with VS Code's widget script", () => {
  test.setTimeout(300_000);

  test('Sliders re-rank the table, its code is shown, and the table stays without its kernel', async ({
    memory,
    open
  }) => {
    await memory.samples();
    const editor = await open('vscode-light');
    const { page } = editor;
    await editor.run('%load_ext jupyter_memory');
    await editor.run('%memsearch --widget clip_outliers main fuse');
    const [recency, keyword] = ['recency', 'keyword'].map(name => page.getByRole('spinbutton', { name }));
    await expect(keyword).toBeVisible({ timeout: 90_000 });
    const first = await rows(page);
    expect(first.length).toBe(10);
    // One table, and not beside it the one that stays.
    await expect(page.locator('table:visible')).toHaveCount(1);
    const bar = page.locator('.jp-MemoryExplorer td + td > div:visible').first();
    expect((await bar.boundingBox())!.width).toBeGreaterThan(10);

    await memory.empty(); // a new search would find nothing
    const sliders = page.getByRole('slider');
    await drag(page, sliders.last(), 30);
    await expect(recency).not.toHaveValue('0.05');
    await expect.poll(() => rows(page)).not.toEqual(first);
    const dragged = await rows(page);
    await sliders.first().focus();
    await page.keyboard.press('Home');
    await expect(keyword).toHaveValue('0');
    await expect.poll(() => rows(page)).not.toEqual(dragged);
    await page.keyboard.press('ArrowRight');
    await expect(keyword).toHaveValue('0.002');
    await keyword.fill('0');
    await keyword.press('Tab');
    await expect(page.locator('.jp-MemoryExplorer-moved:visible').first()).toBeVisible();

    await page.getByRole('button', { name: 'Show code' }).press('Enter');
    await expect(page.getByRole('button', { name: 'Hide code' })).toBeVisible();
    const code = page.locator('pre:visible').first();
    await expect(code).toContainText('"keyword": 0.0');
    await editor.run(`${await code.innerText()}\nassert mine.name == 'my-auto'`);
    for (const theme of THEMES) {
      await editor.theme(theme);
      await expect.poll(() => faults(page), theme).toEqual([]);
    }

    await page.getByRole('button', { name: 'Hide code' }).press('Enter');
    const last = await rows(page);
    expect(last.length).toBe(first.length);
    expect(editor.complaints).toEqual([]);
    await editor.stop();

    // As it was saved; the new kernel knows nothing of the widget.
    const again = await open('vscode-dark');
    await again.restore(editor.outputs);
    await expect(again.page.locator('table:visible')).toHaveCount(1);
    expect(await rows(again.page)).toEqual(last);
    await expect(again.page.getByRole('slider')).toHaveCount(0);
    await expect(again.page.getByText('Run the cell again')).toBeVisible();
    for (const theme of THEMES) {
      await again.theme(theme);
      await expect.poll(() => faults(again.page), theme).toEqual([]);
    }
    expect(again.complaints).toEqual([]);
  });
});
