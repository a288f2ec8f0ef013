/** Where a memory stands in a document as it is now: its cell or its line may have moved since it was indexed. */

import type { IPlace } from './types';

/** A cell, as far as it takes to know it again. */
export interface ICellText {
  id: string;
  source: string;
}

/** Where something is, and whether it is surely the right place. */
export interface IFound {
  /** 0-based. */
  at: number;
  sure: boolean;
}

/** The cell of a memory: by its id, else by its index if it begins as it did, else the nearest one with these words. */
export function findCell(cells: readonly ICellText[], place: IPlace, snippet: string): IFound | null {
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
  const words = same ?? search(cells, near, snippet, cell => cell.source);
  return words === null ? { at: near, sure: false } : { at: words, sure: true };
}

/** The line of a hit: the one it was indexed at, or where the file changed, the nearest one with its words. */
export function findLine(lines: readonly string[], place: IPlace, snippet: string): IFound {
  const near = Math.min(Math.max((place.line ?? 1) - 1, 0), Math.max(lines.length - 1, 0));
  if (!place.changed) {
    return { at: near, sure: true };
  }
  const words = search(lines, near, `${snippet}\n${place.begins}`, line => line);
  return words === null ? { at: near, sure: false } : { at: words, sure: true };
}

/** Look for the lines of a snippet, the longest first: it says the most. */
function search<T>(things: readonly T[], near: number, snippet: string, text: (thing: T) => string): number | null {
  const lines = snippet
    .split('\n')
    .map(line => line.replace(/^[\s…]+|[\s…]+$/g, ''))
    .filter(line => line.length > 3)
    .sort((one, other) => other.length - one.length);
  for (const line of lines) {
    const at = nearest(things, near, thing => text(thing).includes(line));
    if (at !== null) {
      return at;
    }
  }
  return null;
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
