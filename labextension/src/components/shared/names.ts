/** The names of a hit on its card: title, file, headings, and cell or line. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IHit, IPlace } from '../../api/types';
import { isProse } from '../../models/cells';
import { withMarks } from './withMarks';

/** The place of a page in a PDF, or of a slide. */
const PAGE = /^(page|slide) (\d+)$/;

export interface IHitNames {
  /** The title, in bold. */
  title: string;
  /** The file, '' where there is none. */
  file: string;
  /** The headings above the title, '' where there are none. */
  context: string;
  /** The cell or line, '' where it is not known. */
  at: string;
}

/** The names of a hit. The file appears only once, below the title, which is the nearest heading. */
export function hitNames(hit: IHit, place: IPlace, trans: TranslationBundle): IHitNames {
  const file = place.path ?? hit.source;
  const base = basename(file);
  const headings = place.context ? place.context.split(' > ') : [];
  const isFile = base !== '' && (hit.title === base || hit.title.endsWith(`/${base}`));
  // The title of a run is a line of code, in which a slash parts nothing.
  const nearest = isFile ? headings.pop() : base && !place.run ? splitTitle(hit.title).name : hit.title;
  return {
    title: withMarks(nearest || (isFile ? base : hit.title) || firstLine(place.begins) || base || trans.__('Untitled')),
    file: withMarks(shortened(file)),
    context: withMarks(headings.join(' › ')),
    at: placeLabel(hit, place, trans)
  };
}

/** A title in two parts: its name, and the file that it mentions, or ''. */
export interface ISplitTitle {
  name: string;
  file: string;
}

/** The indexer titles a cell `notebook.ipynb – heading`, and a document with its path. */
export function splitTitle(title: string): ISplitTitle {
  const [, notebook, heading] = /^(.+?\.ipynb) – (.+)$/s.exec(title) ?? [];
  if (heading) {
    return { name: heading, file: notebook };
  }
  const [, folder, base] = /^(\S.*)\/([^/\s]+\.\w+)$/s.exec(title) ?? [];
  return base ? { name: base, file: folder } : { name: title, file: '' };
}

/** Whether a snippet is code, to be shown in a monospaced font: so are several lines, unless they are of a page. */
export function isCode(hit: IHit, place: IPlace): boolean {
  const isPage = PAGE.test(hit.location);
  return hit.kind === 'history' || (!isPage && (hit.snippet.includes('\n') || !isProse(place.lang)));
}

/** Whether a text is Markdown: of a Markdown cell or file, or a note. */
export function isMarkdown(hit: IHit, place: IPlace): boolean {
  return place.lang === 'markdown' || (hit.kind === 'note' && isProse(place.lang));
}

export function basename(path: string): string {
  return path.split(/[\\/]/).pop() ?? '';
}

/** The last two parts of a path; the tooltip has the whole one. */
function shortened(path: string): string {
  const parts = path.split('/').filter(part => part);
  return parts.length > 2 ? `…/${parts.slice(-2).join('/')}` : parts.join('/');
}

function placeLabel(hit: IHit, place: IPlace, trans: TranslationBundle): string {
  if (place.index !== null) {
    return trans.__('cell %1', place.index + 1);
  }
  const [, part, number] = PAGE.exec(hit.location) ?? [];
  if (number) {
    return part === 'page' ? trans.__('page %1', number) : trans.__('slide %1', number);
  }
  return place.line !== null && place.line > 1 ? trans.__('line %1', place.line) : '';
}

function firstLine(text: string): string {
  return text.replace(/^[#\s]+/, '').split('\n', 1)[0];
}
