/** Galata's test with the memory and the panel at hand. */

import { test as base } from '@jupyterlab/galata';

import { Memory } from './memory';
import { Panel } from './panel';

export { expect } from '@jupyterlab/galata';

export const test = base.extend<{ memory: Memory; panel: Panel }>({
  memory: async ({ request }, use) => use(new Memory(request)),
  panel: async ({ page }, use) => use(new Panel(page))
});
