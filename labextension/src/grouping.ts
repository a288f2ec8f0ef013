/** Hits under the file they are in, the file with the best hit first. */

import type { IFoundAt } from './answers';

export interface IGroup {
  /** The source, '' for what is in no file. */
  source: string;
  hits: IFoundAt[];
}

export function groups(hits: readonly IFoundAt[]): IGroup[] {
  const found = new Map<string, IGroup>();
  for (const one of hits) {
    const { source } = one.hit;
    const group = found.get(source) ?? { source, hits: [] };
    group.hits.push(one);
    found.set(source, group);
  }
  return [...found.values()];
}
