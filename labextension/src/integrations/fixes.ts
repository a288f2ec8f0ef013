/**
 * The hint after an exception: the notebook holds a sentence and two ids. What was changed, when and where, comes from
 * the store whenever the output is drawn, beside it: nothing of it is saved.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IItem } from '../api/types';
import { day } from '../components/shared/format';
import { withMarks } from '../components/shared/text';
import { sourceOf } from '../models/cells';
import { INSERT_BUTTON, SOURCE_LINK } from './outputs';

/** The animation in `integrations.css` that starts when a hint appears: `data-memory` is the fix, `data-failed` what failed. */
const SHOWN = 'jp-memory-fix-shown';

export function showFixes(item: (memory_id: string) => Promise<IItem>, trans: TranslationBundle): void {
  document.addEventListener('animationstart', ({ animationName, target }) => {
    if (animationName !== SHOWN || !(target instanceof HTMLElement) || target.querySelector('div')) {
      return;
    }
    const { memory, failed } = target.dataset;
    if (memory && failed) {
      const box = element('div', 'jp-Memory-fix');
      target.append(box);
      // Another store than that of the kernel may not have them.
      Promise.all([item(memory), item(failed)]).then(
        found => box.append(...line(...found, trans)),
        () => box.remove()
      );
    }
  });
}

function line(fix: IItem, failed: IItem, trans: TranslationBundle): HTMLElement[] {
  const [before, after] = [failed, fix].map(one => sourceOf(one).split('\n'));
  const [removed, added] = [without(before, after), without(after, before)];
  const where = element('a', SOURCE_LINK, fix.source.split(/[/\\]/).pop());
  where.href = '#';
  where.dataset.memory = fix.memory_id;
  const changed = element('code', '', withMarks((added[0] ?? after[0]).trim()));

  const code = element(
    'pre',
    '',
    withMarks([...removed.map(one => `- ${one}`), ...added.map(one => `+ ${one}`)].join('\n'))
  );
  code.hidden = true;
  const show = button(trans.__('Show'));
  show.setAttribute('aria-expanded', 'false');
  show.addEventListener('click', () => {
    code.hidden = !code.hidden;
    show.setAttribute('aria-expanded', `${!code.hidden}`);
  });
  const shown = [element('span', '', day(fix.place.run?.first ?? fix.event_at)), where, changed, show];
  if (fix.kind === 'note') {
    return [...shown, code];
  }
  const insert = button(trans.__('Insert'), INSERT_BUTTON);
  insert.value = after.join('\n');
  insert.dataset.memory = fix.memory_id;
  return [...shown, insert, code];
}

/** The lines of a text that another one lacks. */
function without(lines: string[], others: string[]): string[] {
  return lines.filter(one => one.trim() && !others.includes(one));
}

function button(label: string, className = ''): HTMLButtonElement {
  const made = element('button', className, label);
  made.type = 'button';
  return made;
}

function element<K extends keyof HTMLElementTagNameMap>(tag: K, className = '', text = ''): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}
