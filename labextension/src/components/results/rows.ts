/** The grid rows of the list from top to bottom: headings of files, hits, whole texts, actions of the selected hit. */

import type { IPlacedHit } from '../../models/hits';

export interface IRowHit {
  found: IPlacedHit;
  /** 1-based row of the grid. */
  row: number;
  /** Row of its whole text, or null. */
  whole: number | null;
}

export interface IRowGroup {
  source: string;
  /** Row of its heading, null where hits are not grouped. */
  heading: number | null;
  /** How many hits it has, folded or not. */
  count: number;
  folded: boolean;
  hits: IRowHit[];
}

export interface IRows {
  groups: IRowGroup[];
  /** The visible hits, in the order of the screen. */
  seen: IRowHit[];
  /** Row of the selected hit's actions, or null. */
  actions: number | null;
  /** The number of rows. */
  length: number;
}

export function rows(
  hits: readonly IPlacedHit[],
  grouped: boolean,
  folded: ReadonlySet<string>,
  selected: string | null,
  unfolded: Pick<ReadonlyMap<string, unknown>, 'has'> = new Map()
): IRows {
  let row = 0;
  let actions: number | null = null;
  const laidOut = (grouped ? groups(hits) : [{ source: '', hits: [...hits] }]).map(group => {
    const isFolded = grouped && folded.has(group.source);
    const heading = grouped ? ++row : null;
    const seen = (isFolded ? [] : group.hits).map(found => {
      const at = ++row;
      const whole = unfolded.has(found.hit.memory_id) ? ++row : null;
      actions = found.hit.memory_id === selected ? ++row : actions;
      return { found, row: at, whole };
    });
    return { source: group.source, heading, count: group.hits.length, folded: isFolded, hits: seen };
  });
  return { groups: laidOut, seen: laidOut.flatMap(group => group.hits), actions, length: row };
}

interface IGroup {
  /** The source, '' for hits without a file. */
  source: string;
  hits: IPlacedHit[];
}

/** The hits by file, the file with the best hit first. */
function groups(hits: readonly IPlacedHit[]): IGroup[] {
  const found = new Map<string, IGroup>();
  for (const one of hits) {
    const { source } = one.hit;
    const group = found.get(source) ?? { source, hits: [] };
    group.hits.push(one);
    found.set(source, group);
  }
  return [...found.values()];
}
