/** Filters: sets of values by facet (any value within a facet, every facet together), or typed among the words. */

import type { Facets, IFilters } from '../api/types';

/** The facets that have counts, in the order of their chips. */
export const FACETS = ['kind', 'lang', 'tier', 'tag'] as const;

export type Facet = (typeof FACETS)[number];

export const FILTERS: readonly (keyof IFilters)[] = [...FACETS, 'path', 'space', 'session'];

export function toggled(filters: IFilters, facet: keyof IFilters, value: string): IFilters {
  const chosen = filters[facet] ?? [];
  return withValues(filters, facet, chosen.includes(value) ? chosen.filter(v => v !== value) : [...chosen, value]);
}

/** The filters with these values for one facet; no values leave the facet out. */
export function withValues(filters: IFilters, facet: keyof IFilters, values: string[]): IFilters {
  const { [facet]: _, ...others } = filters;
  return values.length ? { ...others, [facet]: values } : others;
}

export function isFiltered(filters: IFilters): boolean {
  return Object.values(filters).some(values => values?.length);
}

/** The server's syntax for filters. Text in quotes is a phrase, even if it looks like a filter. */
const TYPED_FILTER =
  /"[^"]*"|(?<!\S)(-?(?:tag|kind|tier|path|lang|space|session|after|before|on|since|until):(?:"[^"]*"|[^\s":][^\s"]*))(?!\S)/g;

export function typedFilters(query: string): string[] {
  return [...new Set([...query.matchAll(TYPED_FILTER)].flatMap(([, filter]) => filter ?? []))];
}

export function withoutTypedFilter(query: string, filter: string): string {
  const left = query.replace(TYPED_FILTER, (all, one?: string) => (one === filter ? '\0' : all));
  const parts = left.split('\0').map(part => part.trim());
  return parts.filter(part => part).join(' ');
}

/** The same text for filters that say the same. */
export function canonical(filters: IFilters): string {
  const pairs = Object.entries(filters).filter(([, values]) => values?.length);
  return JSON.stringify(pairs.map(([facet, values]) => [facet, [...values].sort()]).sort());
}

/**
 * The counts of an answer, after those of the same question with other filters, if there are any: a facet that is
 * filtered counts its other values as before, so that a second value can be added to the first.
 */
export function facetCounts(counts: Facets, filters: IFilters, before: Facets | null): Facets {
  const all = { ...counts };
  for (const facet of FACETS.filter(one => before && filters[one]?.length)) {
    all[facet] = { ...before![facet], ...counts[facet] };
  }
  return all;
}

/** The values of a facet, most frequent first; a chosen value stays even with no candidates. */
export function facetValues(facets: Facets | null, filters: IFilters, facet: Facet) {
  const counts = facets?.[facet] ?? {};
  const chosen = filters[facet] ?? [];
  return [...new Set([...Object.keys(counts), ...chosen])]
    .filter(value => value)
    .map(value => ({ value, count: counts[value] ?? 0, on: chosen.includes(value) }))
    .sort((a, b) => b.count - a.count || a.value.localeCompare(b.value));
}
