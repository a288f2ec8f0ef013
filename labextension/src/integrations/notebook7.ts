/** Notebook 7, where each document has a page of its own: the address of the page names the memory to go to. */

import { Notification } from '@jupyterlab/apputils';
import { URLExt } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';

import { withMarks } from '../components/shared/withMarks';

/** Comes before the id of the memory in the address. */
const FRAGMENT = '#jupyter-memory=';

/** Open a document in a page of its own. If the browser blocks it, a notification offers a second click. */
export function openPage(baseUrl: string, path: string, memory_id: string, trans: TranslationBundle): void {
  const page = path.endsWith('.ipynb') ? 'notebooks' : 'edit';
  const url = `${URLExt.join(baseUrl, page, URLExt.encodeParts(path))}${FRAGMENT}${encodeURIComponent(memory_id)}`;
  if (!window.open(url)) {
    Notification.warning(trans.__('The browser blocked “%1”.', withMarks(path)), {
      actions: [{ label: trans.__('Open'), callback: () => void window.open(url) }],
      autoClose: 20000
    });
  }
}

/** Id of the memory that the address of this page names, or null. */
export function namedMemory(): string | null {
  const { hash } = window.location;
  return hash.startsWith(FRAGMENT) ? decodeURIComponent(hash.slice(FRAGMENT.length)) : null;
}
