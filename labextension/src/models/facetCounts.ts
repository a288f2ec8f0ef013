/** How many memories have which value of a facet, also for values that the filters leave out. */

import type { Facets, IFilters } from '../api/types';
import { type Facet, FACETS } from './filters';

/** The counts of the last answer. They change with an answer only, so they need no signal of their own. */
export class FacetCounts {
  get all(): Facets | null {
    return this._all;
  }

  /**
   * Take the counts of an answer; `subject` is what questions share that differ in their filters alone.
   *
   * A facet that is filtered counts its other values as before, so that a second value can be added to the first.
   */
  take(counts: Facets, filters: IFilters, subject: string): void {
    const before = subject === this._subject ? this._all : null;
    this._all = { ...counts };
    this._subject = subject;
    for (const facet of FACETS) {
      if (before && filters[facet]?.length) {
        this._all[facet] = { ...before[facet], ...counts[facet] };
      }
    }
  }

  private _all: Facets | null = null;
  private _subject = '';
}

/** A value of a facet with how many candidates have it. */
export interface IFacetValue {
  value: string;
  count: number;
  on: boolean;
}

/** The values of a facet, most frequent first; a chosen value stays even with no candidates. */
export function facetValues(facets: Facets | null, filters: IFilters, facet: Facet): IFacetValue[] {
  const counts = facets?.[facet] ?? {};
  const chosen = filters[facet] ?? [];
  return [...new Set([...Object.keys(counts), ...chosen])]
    .filter(value => value)
    .map(value => ({ value, count: counts[value] ?? 0, on: chosen.includes(value) }))
    .sort((a, b) => b.count - a.count || a.value.localeCompare(b.value));
}
