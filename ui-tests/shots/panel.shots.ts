import { join } from 'path';

import type { IJob } from '../../labextension/src/api/types';

import { REST } from '../tests/memory';
import { expect, test } from '../tests/test';

const folder = process.env.SHOTS ?? 'test-results/shots';
const themes = { light: 'JupyterLab Light', dark: 'JupyterLab Dark', contrast: 'JupyterLab Dark High Contrast' };

/** A job that is half done, with a file that could not be read. */
function indexing(path: string): IJob {
  const failed: [string, string][] = [[`${path}/broken.ipynb`, 'The file is not JSON, so not a notebook.']];
  return { job_id: 'j1', path, model: '', state: 'running', done: 1240, total: 3480, summary: '', failed, skipped: [] };
}

for (const [name, theme] of Object.entries(themes)) {
  test.describe(name, () => {
    test.beforeEach(async ({ page }) => page.theme.setTheme(theme));

    test('states of the results', async ({ page, panel, memory }) => {
      const shoot = (state: string) => panel.root.screenshot({ path: join(folder, `${name}-${state}.png`) });
      await memory.empty();
      await panel.open();
      await page.sidebar.setWidth(350, 'left');
      await shoot('01-nothing');
      await memory.index('samples');
      await page.reload();
      await panel.open();
      await page.sidebar.setWidth(350, 'left');
      await shoot('02-newest');
      await panel.ask('why is there no day of 25 hours in October 2025');
      await shoot('03-results');
      await panel.hits.nth(2).hover();
      await shoot('04-hover');
      await panel.select(panel.hits.nth(1));
      await shoot('05-selected');
      await panel.act(panel.hits.nth(1), 'Pin');
      await panel.act(panel.hits.nth(1), 'Tag');
      await panel.root.getByRole('textbox', { name: 'Tags, with commas' }).fill('clocks, Überprüfung');
      await shoot('06-tagging');
      await page.keyboard.press('Enter');
      await expect(panel.hits.nth(1)).toContainText('#clocks');
      await (await panel.menu(/^Language/)).click();
      await shoot('07-filter-menu');
      await (await panel.menu(/^Language/)).click();
      await panel.filters.getByRole('button', { name: /^Date/ }).click();
      await shoot('08-date-menu');
      await page.keyboard.press('Escape');
      await panel.act(panel.hits.nth(2), 'Forget');
      await shoot('09-forgotten');
      await panel.root.getByRole('button', { name: 'Undo' }).click();
      await panel.root.getByRole('button', { name: 'Group by notebook' }).click();
      await shoot('10-grouped');
      await panel.root.getByRole('button', { name: 'Group by notebook' }).click();
      await panel.ask('clip_outliers main fuse');
      await shoot('11-code');
      await panel.act(panel.hits.first(), 'More like this');
      await expect(panel.root.getByRole('button', { name: /^Like “/ })).toBeVisible();
      await shoot('12-related');
      await panel.box.fill('zyzzyva kind:history');
      await panel.box.press('Enter');
      await expect(panel.root.getByRole('heading', { name: 'No match' })).toBeVisible();
      await shoot('13-no-match');
      await panel.box.fill('after:yesterdayish prices');
      await panel.box.press('Enter');
      await expect(panel.box).toHaveAttribute('aria-invalid', 'true');
      await shoot('14-wrong-question');
    });

    test('long names, a narrow and a wide panel', async ({ page, panel, memory }) => {
      const shoot = (state: string) => panel.root.screenshot({ path: join(folder, `${name}-${state}.png`) });
      await memory.samples();
      const deep = 'samples/Überprüfung der Stromzähler/2026-Q3 Abschlussbericht für Genève und Zürich/0000_tmp';
      await page.contents.createDirectory(deep);
      const heading = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft λ';
      await page.contents.uploadContent(
        `# ${heading}\n\n## Prices of ${'x'.repeat(60)}\n\nzyzzyva ${'unbroken_identifier_'.repeat(12)} λ of the prices\n`,
        'text',
        `${deep}/${'a_very_long_name_of_a_note_'.repeat(3)}.md`
      );
      await memory.index(deep);
      await memory.add(`zyzzyva ${'https://example.org/a/b/c?d='.repeat(8)}`, {
        title: `${heading} ${heading}`,
        tags: ['a-long-tag-of-somebody', 'prices', 'Überprüfung', 'another-quite-long-tag']
      });
      await page.reload();
      await panel.open();
      await panel.ask('zyzzyva');
      await panel.select(panel.hits.first());
      await page.sidebar.setWidth(350, 'left');
      await shoot('51-long');
      await page.sidebar.setWidth(230, 'left');
      await shoot('52-long-narrow');
      await panel.section('Why this order');
      await panel.title('Results').click();
      await shoot('53-debugger-narrow');
      await panel.title('Why this order').click();
      const index = await panel.section('Index');
      await expect(index.getByRole('button', { name: /^Fetch/ }).first()).toBeVisible();
      await shoot('54-index-narrow');
      await page.sidebar.setWidth(700, 'left');
      await panel.title('Index').click();
      await panel.section('Results');
      await panel.ask('prices of the forecast');
      await shoot('55-wide');
    });

    test('states of the debugger and the index', async ({ page, panel, memory }) => {
      const shoot = (state: string) => panel.root.screenshot({ path: join(folder, `${name}-${state}.png`) });
      await memory.samples();
      await panel.open();
      await page.sidebar.setWidth(350, 'left');
      await panel.ask('why do the residuals of the forecast drift');
      await panel.select(panel.hits.first());
      await panel.section('Why this order');
      await panel.title('Results').click();
      await expect(panel.root.getByRole('table', { name: /^Why rank 1/ })).toBeVisible();
      await shoot('21-debugger');
      await page.sidebar.setWidth(720, 'left');
      await shoot('22-debugger-wide');
      await panel.root.getByRole('table', { name: /^Why rank 1/ }).scrollIntoViewIfNeeded();
      await shoot('23-why-wide');
      await panel.root.getByRole('heading', { name: 'Recent searches' }).scrollIntoViewIfNeeded();
      await shoot('24-recent-wide');
      await page.sidebar.setWidth(350, 'left');
      await panel.root.getByRole('heading', { name: 'Recent searches' }).scrollIntoViewIfNeeded();
      await shoot('25-recent');
      await panel.title('Why this order').click();
      const index = await panel.section('Index');
      await shoot('31-index');
      await index.getByRole('button', { name: 'Check the store' }).click();
      await expect(index.getByText(/problems? found/)).toBeVisible();
      await shoot('32-index-models');
      await index
        .getByRole('button', { name: /^Remove/ })
        .first()
        .click();
      await shoot('33-index-remove');
    });

    test('states of a server that cannot answer', async ({ page, panel, memory }) => {
      const shoot = (state: string) => panel.root.screenshot({ path: join(folder, `${name}-${state}.png`) });
      const status = await memory.status();
      await page.route(REST, route => route.fulfill({ status: 404, body: '' }));
      await page.reload();
      await panel.show();
      await expect(panel.root.getByText('jupyter server extension enable jupyter_memory')).toBeVisible();
      await page.sidebar.setWidth(350, 'left');
      await shoot('41-missing');
      const older = '**/jupyter-memory/status*';
      await page.route(older, route => route.fulfill({ json: { ...status, api: 0 } }));
      await panel.root.getByRole('button', { name: 'Retry' }).click();
      await expect(panel.root.getByText('pip install --upgrade')).toBeVisible();
      await shoot('42-older');
    });

    test('a server that stops', async ({ page, panel, memory }) => {
      await memory.samples();
      await panel.open();
      await page.sidebar.setWidth(350, 'left');
      await panel.ask('parquet');
      await page.route(REST, route => route.abort());
      await panel.box.fill('parquet codec');
      await panel.box.press('Enter');
      await expect(panel.root.getByRole('alert')).toContainText('does not answer');
      await panel.root.screenshot({ path: join(folder, `${name}-43-stopped.png`) });
    });

    test('a server that is stopped from the beginning', async ({ page, panel }) => {
      await page.route(REST, route => route.abort());
      await page.reload();
      await panel.show();
      await expect(panel.root.getByRole('heading', { name: 'The Jupyter server does not answer' })).toBeVisible();
      await page.sidebar.setWidth(350, 'left');
      await panel.root.screenshot({ path: join(folder, `${name}-44-unreachable.png`) });
    });

    test('a first indexing', async ({ page, panel, memory }) => {
      const status = await memory.status();
      const busy = { ...status, store: { ...status.store, memories: 0 }, jobs: [indexing(status.root)] };
      await page.route('**/jupyter-memory/status*', route => route.fulfill({ json: busy }));
      await page.reload();
      await panel.show();
      await expect(panel.root.getByRole('progressbar').first()).toBeVisible();
      await page.sidebar.setWidth(350, 'left');
      await panel.root.screenshot({ path: join(folder, `${name}-45-indexing.png`) });
      await panel.title('Results').click();
      await panel.section('Index');
      await panel.root.screenshot({ path: join(folder, `${name}-46-index-indexing.png`) });
    });

    test('a question that fails', async ({ page, panel, memory }) => {
      await memory.samples();
      const json = { message: 'The memory is locked by another program.', reason: 'StoreLocked' };
      await page.route('**/jupyter-memory/search*', route => route.fulfill({ status: 503, json }));
      await panel.open();
      await page.sidebar.setWidth(350, 'left');
      await panel.box.fill('λ of the prices');
      await panel.box.press('Enter');
      await expect(panel.root.getByRole('alert')).toBeVisible();
      await panel.root.screenshot({ path: join(folder, `${name}-47-refused.png`) });
    });
  });
}
