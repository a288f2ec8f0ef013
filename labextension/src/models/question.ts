/** A question: words, filters, a profile, a time and how many hits. */

import type { IFilters, ISearch, Within } from '../api/types';

/** What the hits are: results of a search, memories like another one, cells like a text, or the newest ones. */
export type Showing =
  | { what: 'search' }
  | { what: 'related'; id: string; title: string }
  | { what: 'cell'; text: string; path?: string }
  | { what: 'browse' };

export interface IQuestion {
  readonly query: string;
  readonly filters: IFilters;
  /** `''` is the server's default. */
  readonly profile: string;
  /** Whether a time in the words is used as a filter. */
  readonly useTime: boolean;
  /** First day to search, ISO, or null. */
  readonly since: string | null;
  /** The last word may be unfinished. */
  readonly typed: boolean;
  readonly limit: number;
  /** Whether the answer includes the lists of the retrievers. */
  readonly lists: boolean;
}

/** The question before anything is typed. */
export function blank(limit: number): IQuestion {
  return { query: '', filters: {}, profile: '', useTime: true, since: null, typed: false, limit, lists: false };
}

/** A question as a search request. */
export function request(question: IQuestion): ISearch {
  const { query, useTime, typed, lists } = question;
  return { query: query.trim(), ...ranked(question), prefix: typed, time: useTime, lists };
}

/** The filters of a question, for browsing as well as for searching. */
export function within({ filters, since, limit }: IQuestion): Within {
  return { limit, filters, ...(since && { since }) };
}

/** The filters of a question and the profile that ranks. */
export function ranked(question: IQuestion): Within & { profile?: string } {
  const { profile } = question;
  return { ...within(question), ...(profile && { profile }) };
}

/** Whether the query is long enough to search for: after Enter, with two characters, or with one ideograph. */
export function isLongEnough({ query, typed }: IQuestion): boolean {
  const words = query.trim();
  return !typed || !words || [...words].length > 1 || /\p{Ideographic}/u.test(words);
}

/** A key that is the same for questions that differ in their filters only: their facet counts belong together. */
export function subject({ query, profile, useTime, since }: IQuestion, showing: Showing): string {
  return JSON.stringify([showing.what, about(query, showing), profile, useTime, since]);
}

function about(query: string, showing: Showing): string {
  switch (showing.what) {
    case 'search':
      return query.trim();
    case 'related':
      return showing.id;
    case 'cell':
      return showing.text;
    case 'browse':
      return '';
  }
}
