/** axe-core over a part of the page; what it finds is told by rule, element and cure. */

import { readFileSync } from 'fs';
import { createRequire } from 'module';

import type { Page } from '@playwright/test';
import type axe from 'axe-core';

const source = readFileSync(createRequire(__filename).resolve('axe-core/axe.min.js'), 'utf8');

/** Return one line for each breach of WCAG 2.2 A and AA, or of good practice, below the element. */
export async function breaches(page: Page, selector: string): Promise<string[]> {
  await page.evaluate(source);
  return page.evaluate(async within => {
    const checker = (window as unknown as { axe: typeof axe }).axe;
    // Lab's own toolbar buttons carry their attributes twice: on the host, and on the button in its shadow root.
    const { violations } = await checker.run(
      { include: [[within]], exclude: [['jp-button']] },
      {
        runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
      }
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(
        node => `${id}: ${node.html.slice(0, 160)} (${node.failureSummary?.split('\n').slice(1).join('; ').trim()})`
      )
    );
  }, selector);
}
