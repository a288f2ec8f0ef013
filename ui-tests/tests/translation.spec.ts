import { galata } from '@jupyterlab/galata';

import { REST } from './memory';
import { expect, test } from './test';

const { LOCALE } = require('../language_pack') as { LOCALE: string };

test.use({
  mockSettings: { ...galata.DEFAULT_SETTINGS, '@jupyterlab/translation-extension:plugin': { locale: LOCALE } }
});

/** Every text of the panel that is seen or heard, without the pictures. */
function texts(panel: Element): string[] {
  const found: string[] = [];
  for (const node of [panel, ...panel.querySelectorAll(':not(svg, svg *, style)')]) {
    for (const name of ['title', 'aria-label', 'aria-description', 'placeholder']) {
      found.push(node.getAttribute(name) ?? '');
    }
    for (const child of node.childNodes) {
      found.push(child.nodeType === Node.TEXT_NODE ? (child.textContent ?? '') : '');
    }
  }
  return found;
}

/** All words in a value that came from the server. */
function words(value: unknown): string[] {
  if (value && typeof value === 'object') {
    return Object.entries(value).flatMap(([key, one]) => [key, ...words(one)]);
  }
  return typeof value === 'string' ? [value] : [];
}

/** The same in all languages, or Lab's: names of the retrievers, what is typed, days and times, which follow the browser. */
const SAME = [
  /^(KW|SEM|side panel content)$/,
  /^kind:\w+$/,
  /^(%mem\w+( .*)?|jupyter_memory_config\.py|c\.JupyterMemory\..*)$/,
  /^(\w+day, )?\w{3,9} \d{1,2}(, \d{4})?( at [\d:]+ [AP]M)?$/,
  /^\w{3} \d{1,2} – (\w{3} )?\d{1,2}, \d{4}$/,
  /^[\d.,]+ [kMG]?B$/,
  /^(now|\d+ \w+ ago|\d{1,2}\/\d{1,2}\/\d{2,4}.*)$/
];

test('With a language pack, every sentence of the panel is in that language', async ({ page, memory }) => {
  test.setTimeout(300_000);
  const said: string[] = [];
  await page.route(REST, async route => {
    const response = await route.fetch();
    said.push(...words(await response.json()));
    await route.fulfill({ response });
  });
  await memory.samples();
  await page.reload();
  const panel = page.locator('#jupyter-memory\\:panel');
  const untranslated = async (): Promise<string[]> => {
    const plain = (text: string): string =>
      text
        .replace(/[*#…`]/g, '')
        .replaceAll('›', '>')
        .replace(/\s+/g, ' ')
        .trim();
    const told = said.map(plain).join('\n');
    return (await panel.evaluate(texts))
      .flatMap(text => text.split('\n'))
      .filter(
        text =>
          /\p{L}{2}/u.test(text) &&
          !/[⟦⟧]/.test(text) &&
          !SAME.some(one => one.test(text.trim())) &&
          !told.includes(plain(text).replace(/^\//, ''))
      );
  };

  await page.keyboard.press('Alt+Shift+M');
  await expect(panel).toHaveAccessibleName('⟦Memory⟧');
  const box = panel.getByRole('searchbox', { name: '⟦Search the memory⟧' });
  await box.fill('why is there no day of 25 hours in October 2025');
  await box.press('Enter');
  await expect(panel.locator('.jp-Memory-resultsBody')).toHaveAttribute('aria-busy', 'false');
  await expect(panel.getByText('⟦found⟧', { exact: true })).toBeVisible();
  const second = panel.getByRole('listbox').getByRole('option').nth(1);
  await second.click({ button: 'right' });
  await expect(page.getByRole('menuitem', { name: '⟦More like this⟧' })).toBeVisible();
  await page.keyboard.press('Escape');
  await second.click();
  expect(await untranslated()).toEqual([]);

  await panel.getByRole('heading', { name: /⟦Why this order⟧/ }).click();
  await panel.getByRole('heading', { name: /⟦Index⟧/ }).click();
  await expect(panel.getByRole('table', { name: /^⟦Why rank 2/ })).toBeVisible();
  await expect(panel.getByRole('heading', { name: '⟦Store⟧' })).toBeVisible();
  await panel.getByRole('button', { name: '⟦More filters⟧' }).click();
  await panel.getByRole('button', { name: /^⟦Date⟧/ }).click();
  expect(await untranslated()).toEqual([]);

  await box.fill('zyzzyva kind:history');
  await box.press('Enter');
  await expect(panel.getByRole('heading', { name: '⟦No match⟧' })).toBeVisible();
  expect(await untranslated()).toEqual([]);

  await page.route(REST, route => route.abort());
  await box.fill('λ');
  await box.press('Enter');
  await expect(panel.getByRole('alert').first()).toContainText('⟦The Jupyter server does not answer.⟧');
  expect(await untranslated()).toEqual([]);
});
