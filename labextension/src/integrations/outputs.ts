/**
 * The outputs of the magics in a notebook: their buttons open the panel or insert a cell, the titles of results open
 * their cells, and their pictures come from the store. The sliders of `--widget` get what ipywidgets lacks: arrow keys
 * in Notebook 7, and names.
 */

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

export interface IOutputActions {
  search(query: string): void;
  /** Insert code below the cell that holds the button, without running it. Resolves to whether it was inserted. */
  insert(source: string, button: Element): Promise<boolean>;
  used(memory_id: string): void;
}

/** Handle clicks on such buttons. They only search, or show a cell that nobody has run, whoever wrote the notebook. */
export function followOutputs({ search, insert, used }: IOutputActions): void {
  document.addEventListener('click', event => {
    const button =
      event.target instanceof Element
        ? event.target.closest<HTMLButtonElement>(`button:is(.${OUTPUT_BUTTON}, .${INSERT_BUTTON})`)
        : null;
    if (!button?.value) {
      return;
    }
    event.preventDefault();
    if (button.classList.contains(OUTPUT_BUTTON)) {
      search(button.value);
    } else {
      const { value, dataset } = button;
      void insert(value, button).then(isInserted => {
        if (isInserted && dataset.memory) {
          used(dataset.memory);
        }
      });
    }
  });
}

/** Class of the place for a picture: `data-memory` is the id of its memory, `title` that of the memory. */
export const OUTPUT_PICTURE = 'jp-Memory-outputPicture';

/** The animation in `integrations.css` that starts when such a place appears. */
const PICTURE_SHOWN = 'jp-memory-picture-shown';

export interface IOutputPictures {
  pictureOf(memory_id: string): string;
  label(title: string): string;
  enlarge(title: string): string;
}

/**
 * Show pictures in the outputs of the magics. They are fetched from the store whenever an output is drawn: the notebook
 * itself holds but the ids, and saves nothing of what is added here.
 */
export function showPictures({ pictureOf, label, enlarge }: IOutputPictures): void {
  document.addEventListener('animationstart', ({ animationName, target }) => {
    if (animationName !== PICTURE_SHOWN || !(target instanceof HTMLElement) || target.firstChild) {
      return;
    }
    const { dataset, title } = target;
    if (!dataset.memory) {
      return;
    }
    const button = document.createElement('button');
    const image = document.createElement('img');
    button.type = 'button';
    button.title = enlarge(title);
    button.setAttribute('aria-expanded', 'false');
    button.addEventListener('click', () => {
      const isLarge = target.classList.toggle('jp-mod-large');
      button.setAttribute('aria-expanded', `${isLarge}`);
    });
    image.alt = label(title);
    image.addEventListener('error', () => button.remove());
    image.src = pictureOf(dataset.memory);
    button.append(image);
    target.append(button);
    target.removeAttribute('title');
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

export function nameSliders(): void {
  document.addEventListener('animationstart', ({ animationName, target }) => {
    if (animationName === SHOWN && target instanceof Element) {
      const label = target.closest('.widget-hbox')?.querySelector('label');
      target.setAttribute('aria-label', label?.textContent ?? '');
    }
  });
}
