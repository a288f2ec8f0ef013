/** How a hit is named on its card: what it says, the file it is in, and where there. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { isProse } from './cells';
import type { IHit, IPlace } from './types';

export interface INames {
  /** What stands in bold. */
  title: string;
  /** The file as a person knows it, '' where there is none. */
  file: string;
  /** Headings below the title, '' where there are none. */
  context: string;
  /** The cell or line, '' where it says nothing. */
  at: string;
}

/** The names of a hit. The indexer titles a cell `notebook – headings`: the notebook is told once, as the file. */
export function names(hit: IHit, place: IPlace, trans: TranslationBundle): INames {
  const file = place.path ?? hit.source;
  const base = basename(file);
  const headings = base && hit.title.startsWith(`${base} – `) ? hit.title.slice(base.length + 3) : '';
  const isFile = base !== '' && (hit.title === base || hit.title.endsWith(`/${base}`));
  return {
    title: headings || (isFile ? base : hit.title) || firstLine(place.begins) || base || trans.__('Untitled'),
    file: shortened(file),
    context: place.context,
    at: where(place, trans)
  };
}

/** Whether a snippet is code, and reads best in one width. */
export function isCode(hit: IHit, place: IPlace): boolean {
  return hit.kind === 'history' || (hit.kind !== 'note' && !isProse(place.lang));
}

export function basename(path: string): string {
  return path.split(/[\\/]/).pop() ?? '';
}

/** A path by its last two parts: the whole one is in the tooltip. */
function shortened(path: string): string {
  const parts = path.split('/').filter(part => part);
  return parts.length > 2 ? `…/${parts.slice(-2).join('/')}` : parts.join('/');
}

function where(place: IPlace, trans: TranslationBundle): string {
  if (place.index !== null) {
    return trans.__('cell %1', place.index + 1);
  }
  return place.line !== null && place.line > 1 ? trans.__('line %1', place.line) : '';
}

function firstLine(text: string): string {
  return text.replace(/^[#\s]+/, '').split('\n', 1)[0];
}
