import { expect, test } from './test';

test.describe('Searching', () => {
  test.beforeAll(async ({ memory }) => memory.samples());
  test.beforeEach(async ({ panel }) => panel.open());

  test('The panel searches while one types, the last word unfinished', async ({ panel }) => {
    const query = 'decimal comm';
    const answer = await panel.answered(() => panel.box.pressSequentially(query), { query });
    expect(answer.query).toBe(query);
    await panel.shows(answer);
    await expect(panel.hit(/decimal commas/).first()).toBeVisible();
  });

  test('Of two questions the later one wins, whichever answer comes first', async ({ page, panel }) => {
    let release = (): void => undefined;
    const held = new Promise<void>(resolve => (release = resolve));
    await page.route('**/jupyter-memory/search*', async route => {
      if (route.request().postDataJSON().query === 'parquet') {
        await held;
      }
      await route.continue().catch(() => undefined); // it may have been taken back
    });
    const asked = page.waitForRequest(
      request => request.url().includes('/jupyter-memory/search') && request.postDataJSON().query === 'parquet'
    );
    await panel.box.pressSequentially('parquet');
    await asked;
    const answer = await panel.ask('clip_outliers');
    release();
    await page.unrouteAll({ behavior: 'wait' });
    await panel.shows(answer);
    await expect(panel.hits.first()).toContainText('clip_outliers');
    await expect(panel.box).toHaveValue('clip_outliers');
  });

  test('Nothing is asked for one letter', async ({ page, panel }) => {
    const asked: string[] = [];
    page.on('request', request => {
      if (request.url().includes('/jupyter-memory/search')) {
        asked.push(request.postDataJSON().query);
      }
    });
    await panel.box.pressSequentially('c', { delay: 300 });
    const answer = await panel.answered(() => page.keyboard.insertText('lip'));
    expect(answer.query).toBe('clip');
    expect(asked).toEqual(['clip']);
  });

  test('Badges, highlights, strength and place are those of the answer', async ({ panel }) => {
    const answer = await panel.ask('why is there no day of 25 hours');
    for (const hit of answer.hits.slice(0, 5)) {
      const card = await panel.row(hit);
      await expect(card.getByText('KW', { exact: true })).toHaveCount(hit.badges.includes('KW') ? 1 : 0);
      await expect(card.getByText('SEM', { exact: true })).toHaveCount(hit.badges.includes('SEM') ? 1 : 0);
      const points = Array.from(hit.snippet);
      const marked = hit.highlights.map(([start, end]) => points.slice(start, end).join(''));
      // A row has fewer lines than the snippet, and colours part them.
      const shown = (await card.locator('mark').allTextContents()).join('');
      expect(marked.join('')).toContain(shown);
      expect(shown === '').toBe(marked.length === 0);
      await expect(card).toContainText(hit.source.split('/').pop()!);
    }
    await expect(panel.hits.first()).toHaveAccessibleName(/keyword match/);
    expect(answer.hits[0].badges).toContain('KW');
    expect(answer.hits.some(hit => hit.badges.includes('SEM'))).toBe(true);
  });

  test('A screen reader hears how many results there are', async ({ page, panel }) => {
    const answer = await panel.ask('parquet');
    await expect(
      panel.root.getByRole('status').filter({ hasText: new RegExp(`${answer.hits.length} results?`) })
    ).toHaveCount(1);
    await expect(page).toHaveTitle(/JupyterLab/);
  });

  test('Chips narrow the answer by kind and language, and give it back', async ({ panel }) => {
    const all = await panel.ask('prices');
    const kind = await panel.menu(/^Kind/);
    await kind.click();
    const files = await panel.answered(() => panel.filters.getByRole('checkbox', { name: /^Files/ }).click());
    expect(files.hits.length).toBeGreaterThan(0);
    expect(new Set(files.hits.map(hit => hit.kind))).toEqual(new Set(['file']));
    await expect(kind).toHaveText('Kind 1');
    await panel.shows(files);
    await panel.shows(await panel.answered(() => panel.filters.getByRole('checkbox', { name: /^Files/ }).click()));

    await (await panel.menu(/^Language/)).click();
    const python = await panel.answered(() => panel.filters.getByRole('checkbox', { name: /^python/ }).click());
    expect(new Set(python.places.map(place => place.lang))).toEqual(new Set(['python']));
    const again = await panel.answered(() => panel.filters.getByRole('checkbox', { name: /^python/ }).click());
    expect(again.hits.map(hit => hit.memory_id)).toEqual(all.hits.map(hit => hit.memory_id));
  });

  test('A filter may be typed: kind:, path:, and a word in quotes', async ({ panel }) => {
    const answer = await panel.ask('prices path:samples/notes/');
    expect(answer.hits.length).toBeGreaterThan(0);
    for (const hit of answer.hits) {
      expect(hit.source).toContain('samples/notes/');
    }
    // It is seen that it was read as a filter, and a click takes it out.
    await panel.answered(() => panel.filters.getByRole('button', { name: 'path:samples/notes/' }).click());
    await expect(panel.box).toHaveValue('prices');
  });

  test('A time in the words is a chip, and is left out by a click', async ({ panel }) => {
    const answer = await panel.ask('forecast review in August 2026');
    expect(answer.time_read?.phrase).toContain('August');
    const chip = panel.filters.getByRole('button', { name: /Aug.*2026/ });
    const without = await panel.answered(() => chip.click());
    expect(without.time_read).toBeNull();
    await expect(chip).toHaveCount(0);
    const back = await panel.answered(() => panel.filters.getByRole('button', { name: 'time ignored' }).click());
    expect(back.time_read?.phrase).toBe(answer.time_read?.phrase);
  });

  test('The menu of dates closes after a choice, by Escape, by a click elsewhere and by another question', async ({
    page,
    panel
  }) => {
    await panel.ask('prices');
    await panel.menu(/^Date/);
    const chip = panel.filters.getByRole('button', { name: /^(Date|.*\d{4} –)$/ });
    const days = panel.filters.getByRole('button', { name: 'Last 12 months' });
    await chip.click();
    await panel.answered(() => days.click());
    await expect(days).toHaveCount(0);
    await expect(chip).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(days).toHaveAttribute('aria-pressed', 'true');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Escape');
    await expect(days).toHaveCount(0);
    await expect(chip).toBeFocused();
    await chip.click();
    await page.getByRole('main').click({ position: { x: 300, y: 300 } });
    await expect(days).toHaveCount(0);
    await chip.click();
    await expect(days).toBeVisible();
    await panel.ask('parquet');
    await expect(days).toHaveCount(0);
  });

  test('A card says the nearest heading, then the file and the headings above', async ({ panel }) => {
    const answer = await panel.ask('clip_outliers main fuse');
    const i = answer.places.findIndex(place => place.context.length > 0);
    expect(i).toBeGreaterThanOrEqual(0);
    for (const heading of answer.places[i].context.split(' > ')) {
      await expect(await panel.row(answer.hits[i])).toContainText(heading);
    }
  });

  test('More like this shows the neighbours, and goes back to the question', async ({ page, panel }) => {
    const answer = await panel.ask('clip_outliers');
    const [response] = await Promise.all([
      page.waitForResponse('**/jupyter-memory/related*'),
      panel.act(panel.hits.first(), 'More like this')
    ]);
    const related = await response.json();
    expect(related.hits.map((hit: { memory_id: string }) => hit.memory_id)).not.toContain(answer.hits[0].memory_id);
    const chip = panel.root.getByRole('button', { name: /^Like “/ });
    await expect(chip).toBeVisible();
    await panel.shows(await panel.answered(() => chip.click()));
  });

  test('Where nothing matches, the panel says what to try', async ({ panel }) => {
    await panel.answered(async () => {
      await panel.box.fill('zyzzyva kind:history');
      await panel.box.press('Enter');
    });
    await expect(panel.root.getByRole('heading', { name: 'No match' })).toBeVisible();
    await expect(panel.root.getByRole('listitem').first()).toBeVisible();
  });

  test('More hits come by a button', async ({ panel }) => {
    const first = await panel.ask('price');
    expect(first.counts.fused).toBeGreaterThan(first.hits.length);
    const more = await panel.answered(() => panel.root.getByRole('button', { name: /more/i }).last().click());
    expect(more.hits.length).toBeGreaterThan(first.hits.length);
    await panel.shows(more);
  });

  test('Hits can stand under their notebook', async ({ page, panel }) => {
    await panel.ask('price');
    await panel.root.getByRole('button', { name: 'Group by notebook' }).click();
    await expect(panel.results.getByRole('group').first()).toBeVisible();
    await expect(page.getByRole('group', { name: /price_history\.ipynb/ })).toBeVisible();
  });
});
