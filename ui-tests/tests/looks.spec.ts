import { breaches } from './axe';
import { expect, test } from './test';

const themes = ['JupyterLab Light', 'JupyterLab Dark', 'JupyterLab Dark High Contrast'];

test.describe('Looks', () => {
  test.beforeAll(async ({ memory }) => memory.samples());

  for (const theme of themes) {
    test(`${theme}: every part of the panel passes axe`, async ({ page, panel }) => {
      await page.theme.setTheme(theme);
      await panel.open();
      await panel.ask('why is there no day of 25 hours in October 2025');
      await panel.select(panel.hits.nth(1));
      for (const section of ['Results', 'Why this order', 'Index']) {
        await panel.section(section);
      }
      await expect(panel.root.getByRole('table', { name: /^Why rank 2/ })).toBeVisible();
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      await panel.section('Results');
      await panel.act(panel.hits.nth(1), 'Tag');
      await panel.root.getByRole('button', { name: 'Group by notebook' }).click();
      await (await panel.menu(/^Date/)).click();
      await expect(panel.filters.getByRole('button', { name: 'Last 7 days' })).toBeVisible();
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
      await panel.root.getByRole('button', { name: 'Group by notebook' }).click();
      await panel.box.fill('zyzzyva kind:history');
      await panel.box.press('Enter');
      await expect(panel.root.getByRole('heading', { name: 'No match' })).toBeVisible();
      await expect.poll(() => breaches(page, '#jupyter-memory\\:panel')).toEqual([]);
    });
  }

  test('In the dark the panel is dark, and its text light', async ({ page, panel }) => {
    await page.theme.setDarkTheme();
    await panel.open();
    await panel.ask('parquet');
    const shades = await panel.hits.first().evaluate(hit => {
      const sum = (colour: string): number =>
        (colour.match(/[\d.]+/g) ?? []).slice(0, 3).reduce((all, one) => all + Number(one), 0);
      let behind: Element | null = hit;
      while (behind && getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') {
        behind = behind.parentElement;
      }
      return { text: sum(getComputedStyle(hit).color), ground: sum(getComputedStyle(behind!).backgroundColor) };
    });
    expect(shades.ground).toBeLessThan(200);
    expect(shades.text).toBeGreaterThan(500);
  });

  test('At its narrowest, and enlarged twofold, nothing goes beyond the edge', async ({ page, panel, memory }) => {
    const long = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
    await memory.add(`zyzzyva ${long.repeat(4)}`, { title: `${long} ${long}`, tags: [long, 'prices', 'Überprüfung'] });
    await page.setViewportSize({ width: 640, height: 430 });
    await panel.open();
    await page.sidebar.setWidth(200, 'left');
    await panel.ask('zyzzyva prices of the forecast');
    await panel.select(panel.hits.first());
    await panel.section('Why this order');
    await panel.section('Index');
    await expect(panel.root.getByRole('table', { name: /^Why rank 1/ })).toBeAttached();
    // Lumino lays the sections out a frame after they were opened.
    const beyond = (): Promise<string[]> =>
      panel.root.evaluate(root =>
        ['.jp-Memory-head', '.jp-Memory-results', '.jp-Memory-debugger', '.jp-Memory-index', '.jp-Memory-scroll']
          .map(name => root.querySelector(name)!)
          .filter(part => part.scrollWidth > part.clientWidth)
          .map(part => `${part.className}: ${part.scrollWidth} in ${part.clientWidth}`)
      );
    await expect.poll(beyond).toEqual([]);
  });

  test('From right to left the marks stand before the titles, and nothing goes beyond the edge', async ({
    page,
    panel,
    memory
  }) => {
    await memory.add('zyzzyva: תמחור של החשמל לפי שעה', { title: 'תמחור חשמל', tags: ['מחירים', 'λ'] });
    await page.evaluate(() => (document.documentElement.dir = 'rtl'));
    await panel.open();
    await panel.ask('zyzzyva prices of the forecast');
    await panel.select(panel.hits.first());
    const apart = await panel.root.evaluate(root =>
      [...root.querySelectorAll('.jp-Memory-hitTitle')].map(line => {
        const [marks, name] = ['.jp-Memory-badges', '.jp-Memory-name'].map(part => line.querySelector(part)!);
        return marks.getBoundingClientRect().left - name.getBoundingClientRect().right;
      })
    );
    expect(apart.length).toBeGreaterThan(1);
    expect(Math.min(...apart)).toBeGreaterThan(0);
    const { scrollWidth, clientWidth } = await panel.root
      .locator('.jp-Memory-results')
      .evaluate(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }));
    expect(scrollWidth).toBe(clientWidth);
  });

  test('What has the focus has a ring', async ({ page, panel }) => {
    await panel.open();
    await panel.ask('parquet');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const ring = await page.evaluate(() => {
      const look = getComputedStyle(document.activeElement!);
      return {
        outline: look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) > 0,
        shadow: look.boxShadow !== 'none'
      };
    });
    expect(ring.outline || ring.shadow).toBe(true);
  });
});
