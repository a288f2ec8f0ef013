import { activeCell, cells, cursor, openFile } from './lab';
import { expect, test } from './test';

test.describe('Opening where it is', () => {
  test.beforeAll(async ({ memory }) => memory.samples());
  test.beforeEach(async ({ panel }) => panel.open());

  test('A cell: the notebook opens as a notebook, at the cell', async ({ page, panel }) => {
    await panel.ask('"tz_localize" Stockholm ambiguous');
    await panel.act(panel.hit(/dt\.tz_localize\("Europe\/Stockholm"\)/), 'Open');
    await expect
      .poll(() => activeCell(page))
      .toMatchObject({
        path: 'samples/2026-07-06_price_history.ipynb',
        id: 'f5b63a94',
        index: 7,
        seen: true
      });
  });

  test('A cell of a notebook without ids opens by its place and its words', async ({ page, panel }) => {
    await panel.ask('clip_outliers main fuse');
    await panel.act(panel.hit(/def clip_outliers/).first(), 'Open');
    await expect
      .poll(() => activeCell(page))
      .toMatchObject({
        path: 'samples/2026-07-15_meter_cleaning.ipynb',
        index: 15,
        seen: true
      });
    expect((await activeCell(page))?.source).toContain('def clip_outliers');
  });

  test('Code is shown line by line, and at the narrowest what was found in it is in sight', async ({ page, panel }) => {
    const answer = await panel.ask('clip_outliers main fuse');
    const card = panel.hit(/def clip_outliers/).first();
    await page.sidebar.setWidth(230, 'left');
    const shown = answer.hits.find(hit => hit.snippet.startsWith('def clip_outliers'))!.snippet.split('\n');
    expect(shown.length).toBeGreaterThan(1);
    const lines = card.locator('.jp-Memory-line');
    await expect(lines).toHaveCount(2);
    const heights = await lines.evaluateAll(all => all.map(line => Math.round(line.getBoundingClientRect().height)));
    expect(new Set(heights).size).toBe(1);
    await expect(card.locator('mark').first()).toHaveText('clip_outliers');
    const cut = await card.locator('.jp-Memory-snippet').evaluate(snippet => {
      const edge = snippet.getBoundingClientRect();
      return [...snippet.querySelectorAll('mark')]
        .filter(mark => mark.getBoundingClientRect().right > edge.right + 1 || mark.scrollWidth > mark.clientWidth + 1)
        .map(mark => mark.textContent);
    });
    expect(cut).toEqual([]);
  });

  test('A cell is found again after others came before it', async ({ page, panel }) => {
    await openFile(page, 'samples/2026-07-15_meter_cleaning.ipynb');
    await page.notebook.selectCells(0);
    await page.keyboard.press('b');
    await expect.poll(async () => (await cells(page)).length).toBe(24);
    await panel.open();
    await panel.ask('clip_outliers main fuse');
    await panel.act(panel.hit(/def clip_outliers/).first(), 'Open');
    await expect.poll(() => activeCell(page)).toMatchObject({ index: 16, seen: true });
    expect((await activeCell(page))?.source).toContain('def clip_outliers');
  });

  test('A Markdown file opens at the line of what was found', async ({ page, panel, memory }) => {
    const answer = await panel.ask('corrected by hand path:samples/notes/weekly-log.md');
    const i = answer.places.findIndex(place => place.line !== null);
    expect(i).toBeGreaterThanOrEqual(0);
    const { path, begins } = answer.places[i];
    const { snippet, highlights } = answer.hits[i];
    const word = [...snippet].slice(...highlights[0]).join('');
    await panel.act(await panel.row(answer.hits[i]), 'Open');
    await expect.poll(() => cursor(page)).toMatchObject({ path, text: expect.stringContaining(word) });
    expect((await cursor(page))!.line).toBeGreaterThan(1);
    const { text } = await memory.item(answer.hits[i].memory_id);
    expect(text).toContain(begins);
  });

  test('Shift Enter opens to the side, and leaves what was there', async ({ page, panel }) => {
    await page.notebook.createNew('Müller.ipynb', { kernel: null });
    await panel.open();
    await panel.ask('"tz_localize" Stockholm ambiguous');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Shift+Enter');
    await expect(page.getByRole('main').getByRole('tabpanel')).toHaveCount(2);
    await expect(page.locator('.jp-NotebookPanel:visible')).toHaveCount(2);
  });

  test('A file that somebody deleted opens no empty tab; its name is said', async ({
    page,
    panel,
    memory,
    tmpPath
  }) => {
    await page.contents.uploadContent('Überprüfung der Zähler in Malmö', 'text', `${tmpPath}/lost.md`);
    await memory.index(tmpPath);
    await panel.ask('Überprüfung Zähler Malmö');
    const hit = panel.hit(/Überprüfung der Zähler/);
    await expect(hit).toHaveCount(1);
    await page.contents.deleteFile(`${tmpPath}/lost.md`);
    const tabs = await page.getByRole('main').getByRole('tab').count();
    await panel.act(hit, 'Open');
    await expect(page.getByText(/lost\.md” no longer exists/).first()).toBeVisible();
    await expect(page.getByRole('main').getByRole('tab')).toHaveCount(tabs);
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });
});
