/** Locates a memory in the current document: its cell or line may have moved since it was indexed. */

import type { IHit, IPlace } from '../api/types';

/** The fields of a hit that are needed to locate it. */
export type SnippetOf = Pick<IHit, 'snippet' | 'highlights'>;

/** The fields of a cell that are needed to recognise it. */
export interface ICellText {
  id: string;
  source: string;
}

/** A cell or line, and whether it is certainly the right one. */
export interface ILocation {
  /** 0-based. */
  at: number;
  sure: boolean;
}

/** The cell of a memory: by its id, or else the nearest one with the same first line or with the snippet. */
export function findCell(cells: readonly ICellText[], place: IPlace, hit: SnippetOf): ILocation | null {
  if (!cells.length) {
    return null;
  }
  const byId = place.cell === null ? -1 : cells.findIndex(cell => cell.id === place.cell);
  if (byId >= 0) {
    return { at: byId, sure: true };
  }
  const near = Math.min(place.index ?? 0, cells.length - 1);
  const begins = place.begins.trim();
  const same = begins ? nearest(cells, near, cell => firstLine(cell.source) === begins) : null;
  const words = same ?? nearest(cells, near, cell => offsetOf(cell.source, 0, hit) !== null);
  return words === null ? { at: near, sure: false } : { at: words, sure: true };
}

/** The line of a hit's first highlight, searched from the indexed line on; the indexed line if it is not found. */
export function findLine(source: string, place: IPlace, hit: SnippetOf): ILocation {
  const lines = source.split('\n');
  const near = Math.min(Math.max((place.line ?? 1) - 1, 0), lines.length - 1);
  const from = place.changed ? 0 : lines.slice(0, near).reduce((sum, line) => sum + line.length + 1, 0);
  const offset = offsetOf(source, from, hit);
  if (offset === null) {
    return { at: near, sure: !place.changed };
  }
  return { at: source.slice(0, offset).split('\n').length - 1, sure: true };
}

/** The offset of a snippet's first highlight in a text, or of the snippet, or null. White space may differ. */
function offsetOf(source: string, from: number, { snippet, highlights }: SnippetOf): number | null {
  const ahead = /^[…\s]*/.exec(snippet)![0].length;
  const words = snippet.slice(ahead).replace(/[…\s]+$/, '');
  if (!words) {
    return null;
  }
  const first = Math.min(...highlights.map(([start]) => start));
  // The server counts code points.
  const mark = highlights.length ? Math.max([...snippet].slice(0, first).join('').length - ahead, 0) : 0;
  // One group before the highlight and one from there on: the text is searched once.
  const found = new RegExp(`(${loosely(words.slice(0, mark))})${loosely(words.slice(mark))}`).exec(source.slice(from));
  return found ? from + found.index + found[1].length : null;
}

/** A pattern for a text that matches any white space in place of a space. */
function loosely(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+');
}

function nearest<T>(things: readonly T[], near: number, fits: (thing: T) => boolean): number | null {
  let best: number | null = null;
  things.forEach((thing, at) => {
    if (fits(thing) && (best === null || Math.abs(at - near) < Math.abs(best - near))) {
      best = at;
    }
  });
  return best;
}

function firstLine(source: string): string {
  return source.trimStart().split('\n', 1)[0].trim();
}
