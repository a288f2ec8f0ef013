/** The panel as a person uses it: found by what is written on it and by what a screen reader says. */

import { expect, type Locator, type Page, type Request } from '@playwright/test';

import type { IAnswer, IHit, ISearch } from '../../labextension/src/api/types';

export class Panel {
  constructor(private readonly page: Page) {
    this.root = page.getByRole('region', { name: 'Memory', exact: true });
    this.box = this.root.getByRole('searchbox', { name: 'Search the memory' });
    this.results = this.root.getByRole('listbox', { name: 'Results' });
    this.hits = this.results.getByRole('option');
    this.filters = this.root.getByRole('group', { name: 'Filters' });
  }

  readonly root: Locator;
  readonly box: Locator;
  readonly results: Locator;
  readonly hits: Locator;
  readonly filters: Locator;

  /** Open it by its shortcut, whatever it then shows. */
  async show(): Promise<void> {
    await this.page.keyboard.press('Alt+Shift+M');
    await expect(this.root).toBeVisible();
  }

  /** Open it by its shortcut, ready for a question. */
  async open(): Promise<void> {
    await this.show();
    await expect(this.box).toBeFocused();
  }

  /** Ask with Enter, and return the server's answer once its hits are on the screen. */
  async ask(query: string): Promise<IAnswer> {
    await this.box.fill(query);
    // On a slow machine the words are asked for before Enter, too, as they are typed: that answer is not meant.
    const answer = await this.answered(() => this.box.press('Enter'), { query: query.trim(), prefix: false });
    await this.shows(answer);
    return answer;
  }

  /** Do something, and return the answer to the search that it leads to: one that asks for this. */
  async answered(act: () => Promise<unknown>, asked: Partial<ISearch> = {}): Promise<IAnswer> {
    // Finished, not merely begun: a later question ends the one before it, whose answer has no body then.
    const isIt = async (request: Request): Promise<boolean> =>
      new URL(request.url()).pathname.endsWith('/jupyter-memory/search') &&
      Object.entries(asked).every(([name, value]) => request.postDataJSON()[name] === value) &&
      (await request.response())!.ok();
    const [request] = await Promise.all([this.page.waitForEvent('requestfinished', isIt), act()]);
    return (await request.response())!.json();
  }

  /**
   * Wait until these hits are on the screen, in this order and with their badges, and nothing is on its way. Of a
   * section there is but the first, unless it is open.
   */
  async shows({ hits }: IAnswer): Promise<void> {
    await expect(this.root.locator('.jp-Memory-resultsBody')).toHaveAttribute('aria-busy', 'false');
    const cards = (): Promise<string[]> =>
      this.hits.evaluateAll(all => {
        const badges = (card: Element): string =>
          Array.from(card.querySelectorAll('.jp-Memory-badge > [aria-hidden]'), badge => badge.textContent).join('+');
        return all.map(card => `${card.id} ${badges(card)}`);
      });
    const isFolded = (id: string): boolean => !seen.some(card => card.startsWith(`jp-Memory-hit-${id} `));
    let seen: string[] = [];
    const expected = async (): Promise<string[]> => {
      seen = await cards();
      const more = await this.results.locator('.jp-Memory-cells').allTextContents();
      const folded = hits.filter(hit => isFolded(hit.memory_id));
      const all = more.reduce((sum, text) => sum + Number(/\d+/.exec(text)) - 1, 0);
      return folded.length > all
        ? []
        : hits.filter(hit => !folded.includes(hit)).map(hit => `jp-Memory-hit-${hit.memory_id} ${hit.badges}`);
    };
    await expect(async () => expect(await expected()).toEqual(seen)).toPass();
  }

  /** The row of a hit, in whatever section it is. */
  async row({ memory_id }: IHit): Promise<Locator> {
    await this.openSections();
    return this.results.locator(`[id="jp-Memory-hit-${memory_id}"]`);
  }

  /** Open every section, so that each hit has its row. */
  async openSections(): Promise<void> {
    const shut = this.root.locator('.jp-Memory-unfold.jp-mod-section[aria-expanded="false"]');
    while (await shut.count()) {
      await shut.first().click();
    }
  }

  hit(name: string | RegExp): Locator {
    return this.results.getByRole('option', { name });
  }

  /** Select a hit, and return the row of what can be done with it. */
  async select(hit: Locator): Promise<Locator> {
    await hit.click();
    await expect(hit).toHaveAttribute('aria-selected', 'true');
    return this.root.getByRole('group', { name: /^Actions for/ });
  }

  /** Do something with a hit: click one of its icons, or choose it from its menu. */
  async act(hit: Locator, action: string): Promise<void> {
    const row = await this.select(hit);
    const icon = row.getByRole('button', { name: action, exact: true });
    if (await icon.isVisible()) {
      return icon.click();
    }
    await row.getByRole('button', { name: 'More actions' }).click();
    await this.inMenu(action).click();
  }

  /** What the open menu of a hit has for an action. */
  inMenu(action: string): Locator {
    return this.page.locator('.lm-Menu [role^=menuitem]').filter({ hasText: new RegExp(`^${action}$`) });
  }

  /** Fold a section open: `Results`, `Why this order` or `Index`. */
  async section(name: string): Promise<Locator> {
    const title = this.title(name);
    if ((await title.getAttribute('aria-expanded')) === 'false') {
      await title.click();
    }
    await expect(title).toHaveAttribute('aria-expanded', 'true');
    return this.root.getByRole('region', { name });
  }

  /** The chip of a menu of filters, `Kind`, `Language` or `Date`; a narrow panel hides it behind a sign. */
  async menu(name: string | RegExp): Promise<Locator> {
    const chip = this.filters.getByRole('button', { name });
    const sign = this.filters.getByRole('button', { name: 'More filters' });
    if (!(await chip.isVisible()) && (await sign.getAttribute('aria-expanded')) === 'false') {
      await sign.click();
    }
    return chip;
  }

  /** Open what few people need, and return the section that it is in. */
  async advanced(): Promise<Locator> {
    const section = await this.section('Why this order');
    await section.locator('summary', { hasText: 'Advanced' }).click();
    return section;
  }

  /** The title of a section, which folds it. */
  title(name: string): Locator {
    return this.root.getByRole('heading', { name: new RegExp(`^${name}.*Section`) });
  }
}
