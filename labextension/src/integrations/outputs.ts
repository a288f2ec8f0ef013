/**
 * The outputs of the magics in a notebook: their buttons open the panel or insert a cell, the titles of results open
 * their cells, and their pictures and fixes come from the store. The sliders of `--widget` get what ipywidgets lacks:
 * arrow keys in Notebook 7, and names.
 */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IItem } from '../api/types';
import { day } from '../components/shared/format';
import { withMarks } from '../components/shared/text';
import { sourceOf } from '../models/cells';

/** Class of the button that opens the panel; its value is the query. CSS shows it only where there is a panel to open. */
export const OUTPUT_BUTTON = 'jp-Memory-openOutput';

/** Class of the button that inserts its value as a new cell; `data-memory` is the id of the memory, if it is of one. */
export const INSERT_BUTTON = 'jp-Memory-insertOutput';

/** Class of the link in the title of a result; `data-memory` is the id of its memory. */
export const SOURCE_LINK = 'jp-Memory-openSource';

/**
 * Open the sources of results as the panel does: at the cell where it is now, in the tab that is open already.
 *
 * Lab would open its link, too: so clicks are heard before Lab hears them. Where a key asks the browser for another tab
 * or window, and where an output is not trusted and has no id, the link is a link.
 */
export function followSources(open: (memory_id: string) => void): void {
  document.addEventListener(
    'click',
    event => {
      const link = event.target instanceof Element ? event.target.closest<HTMLElement>(`a.${SOURCE_LINK}`) : null;
      if (link?.dataset.memory && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        event.preventDefault();
        event.stopPropagation();
        open(link.dataset.memory);
      }
    },
    true
  );
}

interface IOutputActions {
  search(query: string): void;
  /** Insert code below the cell that holds the button, without running it. Resolves to whether it was inserted. */
  insert(source: string, button: Element): Promise<boolean>;
  used(memory_id: string): void;
}

/** Handle clicks on such buttons. They only search, or show a cell that nobody has run, whoever wrote the notebook. */
export function followOutputs({ search, insert, used }: IOutputActions): void {
  document.addEventListener('click', async event => {
    const known = `button:is(.${OUTPUT_BUTTON}, .${INSERT_BUTTON})`;
    const pressed = event.target instanceof Element ? event.target.closest<HTMLButtonElement>(known) : null;
    if (!pressed?.value) {
      return;
    }
    event.preventDefault();
    if (pressed.classList.contains(OUTPUT_BUTTON)) {
      search(pressed.value);
    } else if ((await insert(pressed.value, pressed)) && pressed.dataset.memory) {
      used(pressed.dataset.memory);
    }
  });
}

/**
 * Draw into each place for it that appears in an output. What is drawn comes from the store whenever the output is
 * shown: the notebook holds only ids and saves nothing else. CSS starts an animation where such a place appears.
 */
function whenShown(selector: string, draw: (place: HTMLElement) => void): void {
  document.addEventListener('animationstart', ({ animationName, target }) => {
    if (animationName === 'jp-memory-shown' && target instanceof HTMLElement && target.matches(selector)) {
      draw(target);
    }
  });
}

/** Show pictures: `data-memory` is the id of the memory, `title` its title. */
export function showPictures(pictureOf: (memory_id: string) => Promise<string>, trans: TranslationBundle): void {
  whenShown('.jp-Memory-outputPicture', place => {
    const { dataset, title } = place;
    if (!dataset.memory || place.firstChild) {
      return;
    }
    const enlarge = button('');
    enlarge.title = trans.__('Enlarge the picture of %1', title);
    unfolds(enlarge, () => place.classList.toggle('jp-mod-large'));
    const image = element('img');
    const shown = (src: string): unknown => Object.assign(image, { src, alt: trans.__('Picture: %1', title) });
    pictureOf(dataset.memory).then(shown, () => enlarge.remove());
    enlarge.append(image);
    place.append(enlarge);
    place.removeAttribute('title');
  });
}

/** The hint after an exception: `data-memory` is the fix, `data-failed` what failed. */
export function showFixes(item: (memory_id: string) => Promise<IItem>, trans: TranslationBundle): void {
  whenShown('.jp-Memory-fixHint', hint => {
    const { memory, failed } = hint.dataset;
    if (memory && failed && !hint.querySelector('div')) {
      const box = element('div', 'jp-Memory-fix');
      hint.append(box);
      // Another store than that of the kernel may not have them.
      Promise.all([item(memory), item(failed)]).then(
        found => box.append(...fixOf(...found, trans)),
        () => box.remove()
      );
    }
  });
}

function fixOf(fix: IItem, failed: IItem, trans: TranslationBundle): HTMLElement[] {
  const [before, after] = [failed, fix].map(one => sourceOf(one).split('\n'));
  const [removed, added] = [without(before, after), without(after, before)];
  const where = element('a', SOURCE_LINK, fix.source.split(/[/\\]/).pop());
  where.href = '#';
  where.dataset.memory = fix.memory_id;
  const changed = element('code', '', withMarks((added[0] ?? after[0]).trim()));
  const change = [...removed.map(one => `- ${one}`), ...added.map(one => `+ ${one}`)].join('\n');
  const code = element('pre', '', withMarks(change));
  code.hidden = true;
  const show = button(trans.__('Show'));
  unfolds(show, () => !(code.hidden = !code.hidden));
  const shown = [element('span', '', day(fix.place.run?.first ?? fix.event_at)), where, changed, show];
  if (fix.kind === 'note') {
    return [...shown, code];
  }
  const insert = button(trans.__('Insert'), INSERT_BUTTON);
  insert.value = after.join('\n');
  insert.dataset.memory = fix.memory_id;
  return [...shown, insert, code];
}

function without(lines: string[], others: string[]): string[] {
  return lines.filter(one => one.trim() && !others.includes(one));
}

/** Let a button show and hide something; `turn` returns whether it is shown then. */
function unfolds(made: HTMLButtonElement, turn: () => boolean): void {
  made.setAttribute('aria-expanded', 'false');
  made.addEventListener('click', () => made.setAttribute('aria-expanded', `${turn()}`));
}

function button(label: string, className = ''): HTMLButtonElement {
  const made = element('button', className, label);
  made.type = 'button';
  return made;
}

function element<K extends keyof HTMLElementTagNameMap>(tag: K, className = '', text = ''): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(tag), { className, textContent: text });
}

const SLIDER = '.jp-MemoryExplorer-sliders [role="slider"]';
const KEYS = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'];

/** Tells Lumino not to look for a shortcut. */
const NO_SHORTCUTS = 'data-lm-suppress-shortcuts';

/** Handle arrow keys on sliders before shortcuts do: in Notebook 7 they move from cell to cell. */
export function keepArrows(): void {
  window.addEventListener(
    'keydown',
    event => {
      const { target } = event;
      if (KEYS.includes(event.key) && target instanceof Element && target.matches(SLIDER)) {
        target.setAttribute(NO_SHORTCUTS, '');
        setTimeout(() => target.removeAttribute(NO_SHORTCUTS));
      }
    },
    true
  );
}

export function nameSliders(): void {
  whenShown(SLIDER, slider => {
    const label = slider.closest('.widget-hbox')?.querySelector('label');
    slider.setAttribute('aria-label', label?.textContent ?? '');
  });
}
