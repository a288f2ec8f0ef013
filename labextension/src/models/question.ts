/** What is asked: words, filters, a profile, a time, how many. */

import type { IFilters, ISearch, Within } from '../api/types';

/** What the hits are: the answer to the words, neighbours of a memory, or the newest ones. */
export type Showing = { what: 'search' } | { what: 'related'; id: string; title: string } | { what: 'browse' };

export interface IQuestion {
  readonly query: string;
  readonly filters: IFilters;
  /** `''` is the server's default. */
  readonly profile: string;
  /** Whether a time in the words counts. */
  readonly useTime: boolean;
  /** First day that counts, ISO, or null. */
  readonly since: string | null;
  /** The last word may be unfinished. */
  readonly typed: boolean;
  readonly limit: number;
  /** Whether the lists of the engines are wanted too. */
  readonly lists: boolean;
}

/** The question of somebody who has not said anything. */
export function blank(limit: number): IQuestion {
  return { query: '', filters: {}, profile: '', useTime: true, since: null, typed: false, limit, lists: false };
}

/** A question as the server takes it. */
export function request(question: IQuestion): ISearch {
  const { query, useTime, typed, lists } = question;
  return { query: query.trim(), ...ranked(question), prefix: typed, time: useTime, lists };
}

/** Among which memories to look: it holds for what is browsed as for an answer. */
export function within({ filters, since, limit }: IQuestion): Within {
  return { limit, filters, ...(since && { since }) };
}

/** Among which memories to look, and by which profile to rank them. */
export function ranked(question: IQuestion): Within & { profile?: string } {
  const { profile } = question;
  return { ...within(question), ...(profile && { profile }) };
}

/** Whether there is enough to search for: Enter, two characters, or one where a character is a word. */
export function isLongEnough({ query, typed }: IQuestion): boolean {
  const words = query.trim();
  return !typed || !words || [...words].length > 1 || /\p{Ideographic}/u.test(words);
}

/** What two questions share that differ in their filters alone: their counts belong together. */
export function subject({ query, profile, useTime, since }: IQuestion, showing: Showing): string {
  const about = showing.what === 'related' ? showing.id : showing.what === 'search' ? query.trim() : '';
  return JSON.stringify([showing.what, about, profile, useTime, since]);
}
