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
    await expect.poll(async () => (await memory.search('quantile residuals')).hits[0]?.source).toContain('saved.ipynb');
    await panel.ask('quantile residuals');
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

  test('An empty folder is watched from the panel, and the first notebook in it is found', async ({
    page,
    panel,
    memory,
    tmpPath
  }) => {
    await page.contents.createDirectory(`${tmpPath}/neu`);
    await panel.open();
    const index = await panel.section('Index');
    await index.getByRole('textbox', { name: /^Index a folder/ }).fill(`${tmpPath}/neu`);
    await index.getByRole('checkbox', { name: 'Watch it' }).check();
    await index.getByRole('button', { name: 'Index', exact: true }).click();
    await expect.poll(async () => (await memory.status()).folders.map(one => one.watched)).toEqual([true]);
    await expect(index.getByRole('alert')).toHaveCount(0);
    await expect(index.getByRole('checkbox', { name: 'Watched' })).toBeChecked();

    await page.contents.uploadContent('# λ\n\nThe first note of Müller.\n', 'text', `${tmpPath}/neu/first.md`);
    await expect.poll(async () => (await memory.search('first note')).hits.length).toBe(1);
    await panel.ask('first note');
    await expect(panel.hit(/note of Müller/)).toHaveCount(1);
  });

  test('A file deleted in Lab is forgotten', async ({ page, memory, tmpPath }) => {
    await page.contents.uploadContent('Überprüfung der Zähler', 'text', `${tmpPath}/notes.md`);
    await memory.index(tmpPath, true);
    expect((await memory.search('Zähler')).hits).toHaveLength(1);
    await page.contents.deleteFile(`${tmpPath}/notes.md`);
    await expect.poll(async () => (await memory.search('Zähler')).hits.length).toBe(0);
  });
});
