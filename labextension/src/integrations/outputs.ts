/** Opens the results of `%memsearch` in the panel when the button below them is clicked. */

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
