/** Gives the sliders of `%memsearch --widget` what ipywidgets leaves out: the arrow keys in Notebook 7, and names. */

const SLIDER = '.jp-MemoryExplorer-sliders [role="slider"]';
const KEYS = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'];

/** Said to Lumino, which then looks for no shortcut. */
const NO_SHORTCUTS = 'data-lm-suppress-shortcuts';

/** Of `integrations.css`: such a slider has come to be shown. */
const SHOWN = 'jp-memory-slider-shown';

/** Hear such keys before any shortcut does; all other keys stay shortcuts. Notebook 7 goes from cell to cell by arrows. */
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

/** Give each slider the name of the number before it, which is all that a screen reader would have of it. */
export function nameSliders(): void {
  document.addEventListener('animationstart', ({ animationName, target }) => {
    if (animationName === SHOWN && target instanceof Element) {
      const label = target.closest('.widget-hbox')?.querySelector('label');
      target.setAttribute('aria-label', label?.textContent ?? '');
    }
  });
}
