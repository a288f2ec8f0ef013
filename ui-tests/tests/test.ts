/** Galata's test with the memory and the panel at hand. */

import { galata, test as base } from '@jupyterlab/galata';

import { Memory } from './memory';
import { Panel } from './panel';

export { expect } from '@jupyterlab/galata';

/** Settings of a person who has all the time to have back what was forgotten, on however slow a machine. */
export const UNHURRIED = { ...galata.DEFAULT_SETTINGS, 'jupyter-memory:plugin': { undoSeconds: 600 } };

export const test = base.extend<{ memory: Memory; panel: Panel }>({
  memory: async ({ request }, use) => use(new Memory(request)),
  panel: async ({ page }, use) => use(new Panel(page))
});
