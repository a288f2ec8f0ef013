import { openFile } from './lab';
import { expect, test, UNHURRIED } from './test';

test.describe('Keeping and forgetting', () => {
  test.beforeEach(async ({ memory, panel }) => {
    await memory.empty();
    await memory.add('λ of the Box-Cox transform for the price of SE4 is 0.31, Müller agrees', {
      title: 'Box-Cox λ',
      tags: ['prices']
    });
    await memory.add('Box-Cox needs values above zero: prices are below zero for 250 hours', { title: 'Below zero' });
    await panel.open();
    await panel.ask('Box-Cox');
  });

  test('Pin stays, and is seen and heard', async ({ panel, memory }) => {
    const hit = panel.hit(/Box-Cox λ/);
    await panel.act(hit, 'Pin');
    await expect(hit).toHaveAccessibleName(/pinned/);
    const { hits, places } = await memory.search('Box-Cox');
    expect(places[hits.findIndex(one => one.title === 'Box-Cox λ')].pinned).toBe(true);
    await panel.act(hit, 'Pin');
    await expect(hit).not.toHaveAccessibleName(/pinned/);
  });

  test('Tags are written in one line', async ({ page, panel, memory }) => {
    const hit = panel.hit(/Box-Cox λ/);
    await panel.act(hit, 'Tag');
    const line = panel.root.getByRole('textbox', { name: 'Tags, with commas' });
    await expect(line).toHaveValue('prices');
    await line.fill('prices, Überprüfung');
    await page.keyboard.press('Enter');
    await expect(hit).toContainText('#Überprüfung');
    await expect.poll(async () => (await memory.search('Box-Cox tag:Überprüfung')).hits.length).toBe(1);
  });

  test.describe('Without hurry', () => {
    test.use({ mockSettings: UNHURRIED });

    test('What is forgotten can be had back', async ({ panel, memory }) => {
      await panel.act(panel.hit(/Below zero/), 'Forget');
      await expect(panel.hits).toHaveCount(1);
      await panel.root.getByRole('button', { name: 'Undo' }).click();
      await expect(panel.hits).toHaveCount(2);
      expect((await memory.status()).store.memories).toBe(2);
    });
  });

  test('What is not taken back is forgotten for good', async ({ page, panel, memory }) => {
    const forgotten = page.waitForResponse('**/jupyter-memory/forget*');
    await panel.act(panel.hit(/Below zero/), 'Forget');
    await expect(panel.hits).toHaveCount(1);
    expect((await memory.status()).store.memories).toBe(2);
    expect(await (await forgotten).json()).toEqual({ forgotten: 1 });
    expect((await memory.search('Box-Cox')).hits.map(hit => hit.title)).toEqual(['Box-Cox λ']);
  });

  test('A judgement is recorded with its question', async ({ page, panel }) => {
    const sent = page.waitForRequest('**/jupyter-memory/feedback*');
    await panel.act(panel.hit(/Box-Cox λ/), 'Useful');
    expect((await sent).postDataJSON()).toMatchObject({ accepted: true, query: 'Box-Cox' });
    const first = page.waitForRequest('**/jupyter-memory/feedback*');
    await panel.act(panel.hit(/Box-Cox λ/), 'Should have been first');
    expect((await first).postDataJSON()).toMatchObject({ accepted: true, first: true });
    await panel.root.getByRole('button', { name: 'More actions' }).click();
    await expect(panel.inMenu('Should have been first')).toHaveAttribute('aria-checked', 'true');
  });

  test('What is selected in a cell, or in a file, is remembered from the context menu', async ({
    page,
    panel,
    memory,
    tmpPath
  }) => {
    await page.notebook.createNew('week.ipynb', { kernel: null });
    await page.notebook.setCell(0, 'raw', 'Müller: the λ of SE3 was never checked');
    await page.notebook.enterCellEditingMode(0);
    await page.keyboard.press('ControlOrMeta+A');
    await (await page.notebook.getCellLocator(0))!.locator('.cm-line').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Remember the Selection' }).click();
    await expect.poll(async () => (await memory.status()).store.memories).toBe(3);

    await page.contents.uploadContent('first = 1\nsurcharge = 0.25  # Überprüfung\n', 'text', `${tmpPath}/rates.py`);
    await openFile(page, `${tmpPath}/rates.py`);
    const line = page.getByRole('main').locator('.jp-FileEditor .cm-line').nth(1);
    await line.click();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await line.click({ button: 'right', position: { x: 20, y: 5 } });
    await page.getByRole('menuitem', { name: 'Remember the Selection' }).click();
    await expect.poll(async () => (await memory.status()).store.memories).toBe(4);

    await line.click({ button: 'right', position: { x: 20, y: 5 } });
    await page.getByRole('menuitem', { name: 'Search Memory for the Selection' }).click();
    await expect(panel.box).toHaveValue('surcharge = 0.25 # Überprüfung');
    await expect(panel.hit(/surcharge/)).toBeVisible();

    await panel.open();
    await panel.ask('never checked');
    await expect(panel.hit(/the λ of SE3/)).toBeVisible();
    const { hits, places } = await memory.search('surcharge');
    expect(await memory.item(hits[0].memory_id)).toMatchObject({ text: 'surcharge = 0.25  # Überprüfung' });
    expect(places[0].path).toBe(`${tmpPath}/rates.py`);
  });

  test('A cell is remembered from its context menu', async ({ page, panel, memory }) => {
    await page.notebook.createNew('week.ipynb', { kernel: null });
    await page.notebook.setCell(0, 'code', 'λ = 0.31  # Box-Cox of the residuals');
    await (await page.notebook.getCellLocator(0))!.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Remember This Cell' }).click();
    await expect.poll(async () => (await memory.status()).store.memories).toBe(3);
    await panel.open();
    await panel.ask('residuals');
    await expect(panel.hit(/Box-Cox of the residuals/)).toBeVisible();
  });
});
