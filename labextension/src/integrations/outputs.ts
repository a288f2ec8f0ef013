/**
 * The outputs of `%memsearch` in a notebook: their button opens the panel, and the sliders of `--widget` get what
 * ipywidgets lacks: arrow keys in Notebook 7, and names.
 */

/** Class of the button; its value is the query. CSS shows it only where there is a panel to open. */
export const OUTPUT_BUTTON = 'jp-Memory-openOutput';

/** Handle clicks on such buttons. They can only start a search, whoever wrote the notebook. */
export function followOutputs(search: (query: string) => void): void {
  document.addEventListener('click', event => {
    const button =
      event.target instanceof Element ? event.target.closest<HTMLButtonElement>(`button.${OUTPUT_BUTTON}`) : null;
    if (button?.value) {
      event.preventDefault();
      search(button.value);
    }
  });
}

const SLIDER = '.jp-MemoryExplorer-sliders [role="slider"]';
const KEYS = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'];

/** Tells Lumino not to look for a shortcut. */
const NO_SHORTCUTS = 'data-lm-suppress-shortcuts';

/** The animation in `integrations.css` that starts when a slider appears. */
const SHOWN = 'jp-memory-slider-shown';

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

/** Name each slider after the label before it, for screen readers. */
export function nameSliders(): void {
  document.addEventListener('animationstart', ({ animationName, target }) => {
    if (animationName === SHOWN && target instanceof Element) {
      const label = target.closest('.widget-hbox')?.querySelector('label');
      target.setAttribute('aria-label', label?.textContent ?? '');
    }
  });
}
