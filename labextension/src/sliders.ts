/** Leaves the arrow keys to the sliders of `%memsearch --widget`: Notebook 7 takes them to go from cell to cell. */

const SLIDER = '.jp-MemoryExplorer-sliders [role="slider"]';
const KEYS = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'];

/** Said to Lumino, which then looks for no shortcut. */
const NO_SHORTCUTS = 'data-lm-suppress-shortcuts';

/** Hear such keys before any shortcut does; all other keys stay shortcuts. */
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
