import { join } from 'path';

import type { Locator } from '@playwright/test';

import type { IAnswer, IListed } from '../../labextension/src/api/types';
import { breaches } from './axe';
import { expect, test } from './test';

/** The body of a table, cell by cell, as it is read. */
async function rows(table: Locator): Promise<string[][]> {
  return table
    .locator('tbody tr')
    .evaluateAll(all => all.map(row => Array.from(row.children, cell => (cell as HTMLElement).innerText.trim())));
}

/** What holds once the debugger has drawn the answer: it draws later than the results. */
async function settled(check: () => Promise<void>): Promise<void> {
  await expect(check).toPass({ timeout: 45_000 });
}

/** A shown number, with the minus sign and the separators that people read. */
function number(text: string): number {
  return Number(text.replace('−', '-').replaceAll(',', '').replace('+', ''));
}

/** Half of the last shown digit. */
function rounding(text: string): number {
  return 0.5 * 10 ** -(text.split('.')[1]?.length ?? 0) + 1e-12;
}

const shots = process.env.SHOTS;

const question = 'why do the residuals of the forecast drift';

test.describe('Why this order', () => {
  test.beforeAll(async ({ memory }) => memory.samples());
  test.beforeEach(async ({ panel }) => {
    await panel.open();
    await panel.section('Why this order');
    await panel.ask(question);
  });

  test('The three lists are those of the server', async ({ panel, memory }) => {
    const { lists, counts } = await memory.search(question, { limit: 20, lists: true });
    const found = await panel.advanced();
    const tables: [RegExp, IListed[]][] = [
      [/^Keyword/, lists!.keyword],
      [/^Semantic/, lists!.vector],
      [/^Fused/, lists!.fused]
    ];
    for (const [name, list] of tables) {
      await settled(async () => {
        const shown = await rows(found.getByRole('table', { name }));
        expect(shown.length).toBe(Math.min(10, list.length));
        for (const [i, [rank, title, score]] of shown.entries()) {
          expect(Number(rank)).toBe(list[i].rank);
          expect(title).toContain(list[i].title.split(' – ').pop()!.split('/').pop());
          expect(Math.abs(number(score) - list[i].score)).toBeLessThanOrEqual(rounding(score));
        }
      });
    }
    await expect(found.getByText(`KW ${counts.keyword}`, { exact: true })).toBeVisible();
    await expect(found.getByText(`SEM ${counts.vector}`, { exact: true })).toBeVisible();
    await expect(found.getByText(`fused ${counts.fused}`, { exact: true })).toBeVisible();
  });

  test('Contributions add up to the score, and ranks without a signal are the server’s', async ({ panel, memory }) => {
    const answer = await memory.search(question, { limit: 20, lists: true });
    for (const i of [0, 3]) {
      const hit = answer.hits[i];
      await panel.select(await panel.row(hit));
      const why = panel.root.getByRole('table', { name: new RegExp(`^Why rank ${hit.rank}:`) });
      const silent = Object.values(hit.signals).filter(seen => !seen.contribution).length;
      const fold = panel.root.getByRole('button', { name: /^\d+ signals? that adds? nothing$/ });
      await settled(async () => {
        const shown = await rows(why);
        expect(shown.length).toBe(Object.keys(hit.signals).length - silent);
        expect(await fold.count()).toBe(Math.min(1, silent));
        const sum = shown.reduce((all, row) => all + number(row[2]), 0);
        const score = await why.locator('tfoot td').first().innerText();
        expect(Math.abs(number(score) - hit.score!)).toBeLessThanOrEqual(rounding(score));
        expect(Math.abs(sum - hit.score!)).toBeLessThanOrEqual(rounding(score) * (shown.length + 1));
        const without = answer.lists!.without[hit.memory_id];
        for (const row of await why.locator('tbody tr').all()) {
          const rank = without[(await row.getAttribute('data-signal'))!];
          expect(await row.locator('td').last().innerText()).toContain(rank === undefined ? '–' : String(rank));
        }
      });
      await expect(why.locator('tfoot')).toContainText('the sum');
    }
  });

  test('The reasons come in words', async ({ panel, memory }) => {
    await panel.select(panel.hits.first());
    const debug = panel.root.getByRole('region', { name: 'Why this order' });
    await debug.getByText('In words').click();
    const { hits } = await memory.search(question);
    const { reasons } = await memory.explain(question, hits[0].memory_id);
    await expect(debug.getByRole('status').getByRole('listitem')).toHaveText(reasons);
  });

  test('Another profile ranks anew, vault by tags, too; it is behind Advanced, which this session keeps open', async ({
    page,
    panel
  }) => {
    const debug = panel.root.getByRole('region', { name: 'Why this order' });
    const choice = debug.getByRole('combobox', { name: 'Profile' });
    await expect(choice).toBeHidden();
    await panel.advanced();
    const answer = await panel.answered(() => choice.selectOption('covalence'));
    expect(answer.profile).toBe('covalence');
    await panel.shows(answer);
    await expect(debug.getByLabel('Formula of the score')).not.toBeEmpty();
    const tags = debug.getByLabel(/^Tags in favour/);
    await expect(tags).toBeDisabled();
    await panel.answered(() => choice.selectOption('vault'));
    await tags.fill('forecast');
    await panel.answered(() => tags.press('Enter'));
    await page.reload();
    await panel.show();
    await panel.section('Why this order');
    await expect(choice).toBeVisible();
    await expect(tags).toHaveValue('forecast');
  });

  test('The section opens at its top, with the first result', async ({ panel }) => {
    const debug = panel.root.getByRole('region', { name: 'Why this order' });
    await expect(debug.getByRole('table', { name: /^Why rank 1:/ })).toBeInViewport();
    expect(
      await debug
        .locator('.jp-Memory-debugger')
        .or(debug)
        .first()
        .evaluate(node => node.scrollTop)
    ).toBe(0);
  });

  test('A cell that is missing is found by picking its file and itself', async ({ page, panel, memory }) => {
    const shown = new Set((await memory.search(question, { limit: 20 })).hits.map(hit => hit.memory_id));
    const path = 'samples/2026-07-15_meter_cleaning.ipynb';
    const { root } = await memory.status();
    const { hits } = await memory.post<IAnswer>('browse', { limit: 500, filters: { path: [`${root}/${path}`] } });
    const missed = hits.find(hit => !shown.has(hit.memory_id))!;
    const debug = panel.root.getByRole('region', { name: 'Why this order' });
    await debug.getByRole('button', { name: 'Pick its file…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('samples', { exact: true }).dblclick();
    await dialog.getByText('2026-07-15_meter_cleaning.ipynb').click();
    await dialog.getByRole('button', { name: /select|open/i }).click();
    await debug.getByRole('combobox', { name: `Cell of ${path}` }).selectOption(missed.memory_id);
    const { reasons } = await memory.explain(question, missed.memory_id, { limit: 20 });
    await expect(debug.getByRole('status').getByRole('listitem')).toHaveText(reasons);
  });
});

/** What a connected program does: it notes its call, under a name of its own choice. */
const CALL = `from datetime import UTC, datetime
from jupyter_memory import open_store
from jupyter_memory.types import Recent
call = Recent("q-mcp", "net prices", "auto", datetime.now(UTC), "mcp", 0, "<b>Claude Code</b>", "memory_search")
open_store().note_call(call, [])`;

test.describe('Recent searches', () => {
  test('A connected program is named, as plain text, and its searches can be listed alone', async ({
    page,
    panel,
    memory
  }) => {
    await memory.samples();
    await page.notebook.createNew();
    await page.notebook.setCell(0, 'code', CALL);
    await page.notebook.runCell(0, true);
    await expect.poll(async () => (await memory.recent()).map(one => one.client)).toContain('<b>Claude Code</b>');
    await panel.open();
    await panel.ask('tariff of July');
    const recent = (await panel.section('Why this order')).getByRole('region', { name: 'Recent searches' });
    const call = recent.getByRole('button', { name: /net prices/ });
    await expect(call).toContainText('by <b>Claude Code</b> · memory_search · 0 hits');
    await expect(recent.getByRole('button', { name: /tariff of July/ })).toBeVisible();
    await recent.getByRole('combobox', { name: 'Whose searches' }).selectOption({ label: 'by <b>Claude Code</b>' });
    await expect(recent.getByRole('button', { name: /tariff of July/ })).toHaveCount(0);
    for (const [name, theme] of Object.entries({ light: 'JupyterLab Light', dark: 'JupyterLab Dark' })) {
      await page.theme.setTheme(theme);
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      if (shots) {
        await recent.scrollIntoViewIfNeeded();
        await panel.root.screenshot({ path: join(shots, `${name}-recent-client.png`) });
      }
    }
  });
});
