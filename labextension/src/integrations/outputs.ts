/** Opens the results of `%memsearch` in the panel, by the button that stands below them in an output. */

/** Class of the button; its value is the question. It is hidden where there is no panel to open. */
export const OUTPUT_BUTTON = 'jp-Memory-openOutput';

/** Hear the clicks on such buttons. A search is all that they can ask for, whoever wrote the notebook. */
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
