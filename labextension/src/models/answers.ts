/** The question and its answer: it is asked once typing pauses, page by page, and only the latest answer counts. */

import { Signal } from '@lumino/signaling';

import { type ApiError, type MemoryApi, refusalOf } from '../api/memoryApi';
import { LatestRequest } from '../api/requests';
import type { Among, IAnswer, IFilters, ISearch, Within } from '../api/types';
import { canonical, withValues } from './filters';

/** No server returns more hits. */
const MAX_HITS = 500;

const EVERYWHERE = { filters: {}, since: null, asOf: null, aboutTags: [], scope: null, stores: [] };
const BLANK: IQuestion = {
  query: '',
  ...EVERYWHERE,
  profile: '',
  useTime: true,
  typed: false,
  limit: 20,
  lists: false
};

/** Contents paths of the document in front and of its folder, or null; Lab's root is absolute, or null if unknown. */
export interface IHere {
  notebook: string | null;
  folder: string | null;
  root: string | null;
}

/** The one document or folder that is searched, by its absolute path. */
export interface IScope {
  readonly what: 'notebook' | 'folder';
  readonly path: string;
}

export interface IRequest {
  question: IQuestion;
  wanted: Showing;
  log: boolean;
  /** Without a sign of loading. */
  isQuiet: boolean;
}

export class Answers {
  constructor(private readonly _api: MemoryApi) {}

  /** The question changed, or its answer, or whether one is on its way. */
  readonly changed = new Signal<this, void>(this);
  /** The server answered a request; the answer is here already. */
  readonly answered = new Signal<this, IRequest>(this);
  readonly failed = new Signal<this, ApiError>(this);

  // What follows is written here alone.
  question = BLANK;
  answeredQuestion = BLANK;
  answer: IAnswer | null = null;
  showing: Showing = { what: 'browse' };
  isLoading = false;
  here: IHere = { notebook: null, folder: null, root: null };
  sent = 0;

  get isBehind(): boolean {
    return this.answer !== null && this.answeredQuestion.query.trim() !== this.question.query.trim();
  }

  get hasMore(): boolean {
    const { limit } = this.question;
    const here = this.answer?.hits.length ?? 0;
    // Of browsed memories and of those like another one, the server counts no more than it returns.
    const isCounted = this.showing.what === 'search' || this.showing.what === 'cell';
    const known = isCounted ? (this.answer?.counts.fused ?? 0) : here + 1;
    return here >= limit && known > here && limit < MAX_HITS;
  }

  /** Whether memories like another one, or cells like a text, are shown instead of an answer to the question. */
  get isTurned(): boolean {
    return isTurn(this.showing);
  }

  get isPending(): boolean {
    return this._latest.isRunning;
  }

  /** Whether answers include the lists of the retrievers, for the debugger. */
  get lists(): boolean {
    return this.question.lists;
  }
  set lists(lists: boolean) {
    const isNew = lists && !this.question.lists;
    this.assign({ lists });
    if (isNew && this.answer && !this.answer.lists && this.showing.what === 'search') {
      void this._ask();
    }
  }

  /** Set the query and search once typing pauses. Text that an input method is composing waits for `search`. */
  setQuery(query: string, isComposing = false): void {
    if (query !== this.question.query) {
      this.assign({ query, useTime: true, typed: true });
      clearTimeout(this._timer);
      if (!isComposing) {
        void this.search();
      }
      this.changed.emit();
    }
  }

  /** Change what is searched besides the words, and ask again if that made a difference. */
  narrow(
    change: Partial<
      Pick<IQuestion, 'filters' | 'scope' | 'profile' | 'useTime' | 'since' | 'asOf' | 'aboutTags' | 'stores'>
    >
  ): void {
    const before = narrowed(this.question);
    this.assign(change);
    if (narrowed(this.question) !== before) {
      this.assign({ limit: this._page });
      this.changed.emit();
      void this.again();
    }
  }

  /** Search the notebook in front alone, or its folder, or everything (null). */
  setScope(what: IScope['what'] | null): void {
    const place = what && this.here[what];
    const path = [this.here.root?.replace(/\/$/, ''), place].filter(Boolean).join('/');
    // Where no document is in front, or the root is not known yet, the scope stays as it is.
    if (what === null || (place !== null && this.here.root !== null)) {
      this.narrow({ scope: what && { what, path } });
    }
  }

  /** Take another document in front: the scope follows it. */
  setHere(here: Partial<IHere>): void {
    this.here = { ...this.here, ...here };
    this.changed.emit();
    if (this.question.scope) {
      this.setScope(this.question.scope.what);
    }
  }

  /** Search once typing pauses, or `now`: then the last word counts as finished, and the search is logged. */
  search(how: { now?: boolean } = {}): Promise<void> {
    clearTimeout(this._timer);
    this.assign({ limit: this._page, typed: this.question.typed && !how.now });
    if (how.now) {
      return this._start(true);
    }
    return new Promise(resolve => {
      this._timer = setTimeout(() => resolve(this._start()), this._delay);
    });
  }

  browse(): Promise<void> {
    return this.turnTo({ what: 'browse' });
  }

  turnTo(showing: Showing): Promise<void> {
    clearTimeout(this._timer);
    this.assign({ limit: this._page });
    this._wanted = showing;
    return this._ask();
  }

  /** Give up what was turned to last, and stay with what is shown. */
  stay(): void {
    this._wanted = this.showing;
  }

  /** Go back from what was turned to to the query, or to the newest memories if it is too short. */
  back(): Promise<void> {
    return isLongEnough(this.question) ? this._start() : this.browse();
  }

  /** Send the current question. While its words are too short, repeat the answered one, which at first has none. */
  again(): Promise<void> {
    if (isTurn(this._wanted)) {
      return this._ask();
    }
    if (isLongEnough(this.question)) {
      return this._start();
    }
    const { query, typed } = this.answeredQuestion;
    return this._ask({ question: { ...this.question, query, typed }, wanted: this.showing });
  }

  /** Repeat the answered request without a sign of loading: the store has changed. */
  renew(): void {
    if (this.answer && !this.isLoading) {
      void this._ask({ question: this._repeated, wanted: this.showing, isQuiet: true });
    }
  }

  showMore(): Promise<void> {
    this.assign({ limit: Math.min(this.question.limit + this._page, MAX_HITS) });
    return this._ask();
  }

  /** Set the milliseconds from the last key to the request, and how many hits a page has. */
  configure({ delay = this._delay, page = this._page }: { delay?: number; page?: number }): void {
    this._delay = delay;
    this._page = page;
    this.assign({ limit: page });
  }

  request(): ISearch {
    return request(this.answer ? this._repeated : this.question);
  }

  assign(question: Partial<IQuestion>): void {
    this.question = { ...this.question, ...question };
  }

  startLoading(): void {
    this.isLoading = true;
    this.changed.emit();
  }

  /** Stop loading without a request. The answer stays only if `keepsAnswer`. */
  stopLoading(keepsAnswer: boolean): void {
    this.isLoading = false;
    this.replace(keepsAnswer ? this.answer : null);
  }

  replace(answer: IAnswer | null): void {
    this.answer = answer;
    this.changed.emit();
  }

  dispose(): void {
    clearTimeout(this._timer);
    this._latest.stop();
    Signal.clearData(this);
  }

  private async _start(log = false): Promise<void> {
    clearTimeout(this._timer);
    if (isLongEnough(this.question)) {
      this._wanted = { what: this.question.query.trim() ? 'search' : 'browse' };
      await this._ask({ log });
    }
  }

  private async _ask(how: Partial<IRequest> = {}): Promise<void> {
    this.sent++;
    const { question = this.question, wanted = this._wanted, log = false, isQuiet = false } = how;
    this.isLoading ||= !isQuiet;
    this.changed.emit();
    try {
      const answer = await this._latest.run(signal => this._send(question, wanted, log, signal));
      if (answer) {
        this.isLoading = false;
        this.showing = wanted;
        this.answeredQuestion = question;
        this.answer = answer;
        this.answered.emit({ question, wanted, log, isQuiet });
      }
    } catch (error) {
      this.isLoading = false;
      this.failed.emit(refusalOf(error));
    }
  }

  private _send(question: IQuestion, wanted: Showing, log: boolean, signal: AbortSignal): Promise<IAnswer> {
    switch (wanted.what) {
      case 'related':
        return this._api.related({ memory_id: wanted.id, ...ranked(question) }, signal);
      case 'cell':
        return this._api.relatedTo({ text: wanted.text, path: wanted.path, ...within(question) }, signal);
      case 'browse':
        return this._api.browse({ ...within(question), ...among(question) }, signal);
      case 'search':
        return this._api.search({ ...request(question), log }, signal);
    }
  }

  /** The answered question, with the lists that are wanted now. */
  private get _repeated(): IQuestion {
    return { ...this.answeredQuestion, lists: this.question.lists };
  }

  private readonly _latest = new LatestRequest();
  private _wanted: Showing = { what: 'browse' };
  private _delay = 250;
  private _page = 20;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

/** What the hits are: results of a search, memories like another one, cells like a text, or the newest ones. */
export type Showing =
  | { what: 'search' }
  | { what: 'related'; id: string; title: string }
  | { what: 'cell'; text: string; path?: string }
  | { what: 'browse' };

function isTurn({ what }: Showing): boolean {
  return what === 'related' || what === 'cell';
}

export interface IQuestion {
  readonly query: string;
  readonly filters: IFilters;
  /** `''` is the server's default. */
  readonly profile: string;
  /** Whether a time in the words is used as a filter. */
  readonly useTime: boolean;
  /** First day to search, ISO, or null. */
  readonly since: string | null;
  /** The day of which the state of the store is searched, ISO, or null. */
  readonly asOf: string | null;
  /** Tags that count in favour, where the profile reads them. */
  readonly aboutTags: readonly string[];
  readonly scope: IScope | null;
  /** Names of the stores to ask; none: the own one. */
  readonly stores: readonly string[];
  /** The last word may be unfinished. */
  readonly typed: boolean;
  readonly limit: number;
  readonly lists: boolean;
}

function narrowed({ filters, ...question }: IQuestion): string {
  const { scope, profile, useTime, since, asOf, aboutTags, stores } = question;
  return JSON.stringify([canonical(filters), scope, profile, useTime, since, asOf, aboutTags, stores]);
}

function request(question: IQuestion): ISearch {
  const { query, useTime, typed, lists, aboutTags } = question;
  const tags = aboutTags.length ? { about_tags: [...aboutTags] } : {};
  return { query: query.trim(), ...ranked(question), ...among(question), ...tags, prefix: typed, time: useTime, lists };
}

function ranked(question: IQuestion): Within & { profile?: string } {
  const { profile } = question;
  return { ...within(question), ...(profile && { profile }) };
}

export function within({ filters, scope, since, asOf, limit }: IQuestion): Within {
  const there = scope ? withValues(filters, 'path', [scope.path]) : filters;
  return { limit, filters: there, ...(since && { since }), ...(asOf && { as_of: asOf }) };
}

function among({ stores }: IQuestion): Pick<Among, 'stores'> {
  return stores.length ? { stores: [...stores] } : {};
}

/** Whether the query is long enough to search for: after Enter, with two characters, or with one ideograph. */
function isLongEnough({ query, typed }: IQuestion): boolean {
  const words = query.trim();
  return !typed || !words || [...words].length > 1 || /\p{Ideographic}/u.test(words);
}

/** A key that is the same for questions that differ in their filters only: their facet counts belong together. */
export function subject({ query, ...question }: IQuestion, showing: Showing): string {
  const { profile, useTime, since, asOf, aboutTags, scope, stores } = question;
  const { what } = showing;
  const about =
    what === 'search' ? query.trim() : what === 'related' ? showing.id : what === 'cell' ? showing.text : '';
  return JSON.stringify([what, about, profile, useTime, since, asOf, aboutTags, scope, stores]);
}
