/** Filters: sets of values by facet (any value within a facet, every facet together), or typed among the words. */

import type { IFilters } from '../api/types';

/** The facets that have counts, in the order of their chips. */
export const FACETS = ['kind', 'lang', 'tier', 'tag'] as const;

export type Facet = (typeof FACETS)[number];

/** All that can be filtered by. */
export const FILTERS: readonly (keyof IFilters)[] = [...FACETS, 'path', 'space', 'session'];

/** The filters with a value added, or removed if it was there. */
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

export function sameFilters(a: IFilters, b: IFilters): boolean {
  return canonical(a) === canonical(b);
}

/** The server's syntax for filters. Text in quotes is a phrase, even if it looks like a filter. */
const TYPED_FILTER =
  /"[^"]*"|(?<!\S)(-?(?:tag|kind|tier|path|lang|space|session|after|before|on|since|until):(?:"[^"]*"|[^\s":][^\s"]*))(?!\S)/g;

/** The filters typed in a query, each once. */
export function typedFilters(query: string): string[] {
  return [...new Set([...query.matchAll(TYPED_FILTER)].flatMap(([, filter]) => filter ?? []))];
}

/** The query without one of its typed filters. */
export function withoutTypedFilter(query: string, filter: string): string {
  const left = query.replace(TYPED_FILTER, (all, one?: string) => (one === filter ? '\0' : all));
  return left
    .split('\0')
    .map(part => part.trim())
    .filter(part => part)
    .join(' ');
}

function canonical(filters: IFilters): string {
  const pairs = Object.entries(filters).filter(([, values]) => values?.length);
  return JSON.stringify(pairs.map(([facet, values]) => [facet, [...values].sort()]).sort());
}
