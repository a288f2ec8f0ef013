import { expect, test } from './test';

test.describe('Watched folders', () => {
  test.beforeEach(async ({ memory }) => memory.empty());

  test('A notebook saved in Lab is found, and keeps its pin when it is renamed', async ({
    page,
    panel,
    memory,
    tmpPath
  }) => {
    await page.contents.uploadContent('Überprüfung der Zähler', 'text', `${tmpPath}/notes.md`);
    await memory.index(tmpPath, true);
    await page.notebook.createNew('saved.ipynb', { kernel: null });
    await page.notebook.setCell(0, 'code', 'quantile_λ = residuals.quantile(0.99)');
    await page.notebook.save();
    await panel.open();
    await expect(async () => {
      await panel.ask('quantile residuals');
      await expect(panel.hits).toHaveCount(1, { timeout: 500 });
    }).toPass();
    const hit = panel.hit(/quantile_λ/);
    await panel.act(hit, 'Pin');
    await expect(hit).toHaveAccessibleName(/pinned/);
    const [before] = (await memory.search('quantile residuals')).hits;

    await page.contents.renameFile(`${tmpPath}/saved.ipynb`, `${tmpPath}/kept.ipynb`);
    await expect.poll(async () => (await memory.search('quantile residuals')).hits[0]?.source).toContain('kept.ipynb');
    const { hits, places } = await memory.search('quantile residuals');
    expect(hits[0].memory_id).toBe(before.memory_id);
    expect(places[0]).toMatchObject({ pinned: true, path: `${tmpPath}/kept.ipynb` });
  });

  test('A file deleted in Lab is forgotten', async ({ page, memory, tmpPath }) => {
    await page.contents.uploadContent('Überprüfung der Zähler', 'text', `${tmpPath}/notes.md`);
    await memory.index(tmpPath, true);
    expect((await memory.search('Zähler')).hits).toHaveLength(1);
    await page.contents.deleteFile(`${tmpPath}/notes.md`);
    await expect.poll(async () => (await memory.search('Zähler')).hits.length).toBe(0);
  });
});
