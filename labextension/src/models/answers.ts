/** The question and its answer: it is asked once typing pauses, page by page, and only the latest answer counts. */

import { type ISignal, Signal } from '@lumino/signaling';

import { ApiError, type MemoryApi } from '../api/memoryApi';
import { LatestRequest } from '../api/requests';
import type { IAnswer, IFilters, ISearch, Within } from '../api/types';
import { sameFilters } from './filters';

const PAGE = 20;

/** No server returns more hits. */
const MAX_HITS = 500;

export interface IAnswersOptions {
  api: MemoryApi;
  /** Milliseconds from the last key to the request. */
  delay?: number;
  page?: number;
}

export interface IRequest {
  question: IQuestion;
  wanted: Showing;
  log: boolean;
  /** Without a sign of loading. */
  isQuiet: boolean;
}

export class Answers {
  constructor(options: IAnswersOptions) {
    this._api = options.api;
    this._delay = options.delay ?? 250;
    this._page = options.page ?? PAGE;
    this._question = this._answeredQuestion = blank(this._page);
  }

  /** The question changed, or its answer, or whether one is on its way. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }
  /** The server answered a request; the answer is here already. */
  get answered(): ISignal<this, IRequest> {
    return this._answered;
  }
  get failed(): ISignal<this, ApiError> {
    return this._failed;
  }

  get query(): string {
    return this._question.query;
  }
  get filters(): IFilters {
    return this._question.filters;
  }
  get profile(): string {
    return this._question.profile;
  }
  get useTime(): boolean {
    return this._question.useTime;
  }
  get since(): string | null {
    return this._question.since;
  }
  get answer(): IAnswer | null {
    return this._answer;
  }
  get showing(): Showing {
    return this._showing;
  }
  get question(): IQuestion {
    return this._question;
  }
  get answeredQuestion(): IQuestion {
    return this._answeredQuestion;
  }
  /** Whether the words in the box have changed since the answer. */
  get isBehind(): boolean {
    return this._answer !== null && this._answeredQuestion.query.trim() !== this.query.trim();
  }
  get isLoading(): boolean {
    return this._isLoading;
  }
  get hasMore(): boolean {
    const { limit } = this._question;
    const here = this._answer?.hits.length ?? 0;
    // Of browsed memories and of those like another one, the server counts no more than it returns.
    const isCounted = this._showing.what === 'search' || this._showing.what === 'cell';
    const known = isCounted ? (this._answer?.counts.fused ?? 0) : here + 1;
    return here >= limit && known > here && limit < MAX_HITS;
  }

  /** Whether answers include the lists of the retrievers, for the debugger. */
  get lists(): boolean {
    return this._question.lists;
  }
  set lists(lists: boolean) {
    if (lists === this.lists) {
      return;
    }
    this._question = { ...this._question, lists };
    if (lists && this._answer && !this._answer.lists && this._showing.what === 'search') {
      void this._ask();
    }
  }

  /** Set the query and search once typing pauses. Text that an input method is composing waits for `search`. */
  setQuery(query: string, isComposing = false): void {
    if (query !== this.query) {
      this._question = { ...this._question, query, useTime: true, typed: true };
      clearTimeout(this._timer);
      if (!isComposing) {
        void this.search();
      }
      this._changed.emit();
    }
  }

  setFilters(filters: IFilters): void {
    if (!sameFilters(filters, this.filters)) {
      void this._change({ filters });
    }
  }

  setProfile(profile: string): void {
    if (profile !== this.profile) {
      void this._change({ profile });
    }
  }

  setUseTime(useTime: boolean): void {
    if (useTime !== this.useTime) {
      void this._change({ useTime });
    }
  }

  setSince(since: string | null): void {
    if (since !== this.since) {
      void this._change({ since });
    }
  }

  /** Search once typing pauses, or `now`: then the last word counts as finished, and the search is logged. */
  search(how: { now?: boolean } = {}): Promise<void> {
    clearTimeout(this._timer);
    this._question = { ...this._question, limit: this._page, typed: this._question.typed && !how.now };
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

  /** Whether memories like another one, or cells like a text, are shown instead of an answer to the question. */
  get isTurned(): boolean {
    return this._showing.what === 'related' || this._showing.what === 'cell';
  }

  /** Go back from what was turned to to the query, or to the newest memories if it is too short. */
  back(): Promise<void> {
    return isLongEnough(this._question) ? this._start() : this.browse();
  }

  /** Repeat the answered request without a sign of loading: the store has changed. */
  renew(): void {
    if (this._answer && !this._isLoading) {
      void this._ask({ ...this._repeated, isQuiet: true });
    }
  }

  showMore(): Promise<void> {
    this._question = { ...this._question, limit: Math.min(this._question.limit + this._page, MAX_HITS) };
    return this._ask();
  }

  configure({ delay, page }: Pick<IAnswersOptions, 'delay' | 'page'>): void {
    this._delay = delay ?? this._delay;
    this._page = page ?? this._page;
    this._question = { ...this._question, limit: this._page };
  }

  /** The answered question as a request, for `explain`. */
  request(): ISearch {
    return request(this._answer ? this._repeated.question : this._question);
  }

  /** Change the question without sending it yet. */
  assign(question: Partial<IQuestion>): void {
    this._question = { ...this._question, ...question };
  }

  /** Send the current question. While its words are too short, repeat the answered one, which at first has none. */
  again(): Promise<void> {
    if (this._wanted.what === 'related' || this._wanted.what === 'cell') {
      return this._ask();
    }
    if (isLongEnough(this._question)) {
      return this._start();
    }
    const { query, typed } = this._answeredQuestion;
    return this._ask({ question: { ...this._question, query, typed }, wanted: this._showing });
  }

  turnTo(showing: Showing): Promise<void> {
    clearTimeout(this._timer);
    this._question = { ...this._question, limit: this._page };
    this._wanted = showing;
    return this._ask();
  }

  /** Give up what was turned to last, and stay with what is shown. */
  stay(): void {
    this._wanted = this._showing;
  }

  get sent(): number {
    return this._sent;
  }

  get isPending(): boolean {
    return this._latest.isRunning;
  }

  startLoading(): void {
    this._isLoading = true;
    this._changed.emit();
  }

  /** Stop loading without a request. The answer stays only if `keepsAnswer`. */
  stopLoading(keepsAnswer: boolean): void {
    this._isLoading = false;
    this._answer = keepsAnswer ? this._answer : null;
    this._changed.emit();
  }

  /** Show the answer with a hit changed, or none. */
  replace(answer: IAnswer | null): void {
    this._answer = answer;
    this._changed.emit();
  }

  dispose(): void {
    clearTimeout(this._timer);
    this._latest.stop();
    Signal.clearData(this);
  }

  private _start(log = false): Promise<void> {
    clearTimeout(this._timer);
    if (!isLongEnough(this._question)) {
      return Promise.resolve();
    }
    this._wanted = { what: this.query.trim() ? 'search' : 'browse' };
    return this._ask({ log });
  }

  private async _ask(how: Partial<IRequest> = {}): Promise<void> {
    this._sent++;
    const { question = this._question, wanted = this._wanted, log: note = false, isQuiet = false } = how;
    this._isLoading ||= !isQuiet;
    this._changed.emit();
    try {
      const answer = await this._latest.run(signal => this._send(question, wanted, note, signal));
      if (answer) {
        this._isLoading = false;
        this._showing = wanted;
        this._answeredQuestion = question;
        this._answer = answer;
        this._answered.emit({ question, wanted, log: note, isQuiet });
      }
    } catch (error) {
      this._isLoading = false;
      if (!(error instanceof ApiError)) {
        throw error;
      }
      this._failed.emit(error);
    }
  }

  private _change(change: Partial<IQuestion>): Promise<void> {
    this._question = { ...this._question, ...change, limit: this._page };
    this._changed.emit();
    return this.again();
  }

  private get _repeated(): Pick<IRequest, 'question' | 'wanted'> {
    return { question: { ...this._answeredQuestion, lists: this.lists }, wanted: this._showing };
  }

  private _send(question: IQuestion, wanted: Showing, log: boolean, signal: AbortSignal): Promise<IAnswer> {
    switch (wanted.what) {
      case 'related':
        return this._api.related({ memory_id: wanted.id, ...ranked(question) }, signal);
      case 'cell':
        return this._api.relatedTo({ text: wanted.text, path: wanted.path, ...within(question) }, signal);
      case 'browse':
        return this._api.browse(within(question), signal);
      case 'search':
        return this._api.search({ ...request(question), log }, signal);
    }
  }

  private readonly _api: MemoryApi;
  private readonly _latest = new LatestRequest();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _answered = new Signal<this, IRequest>(this);
  private readonly _failed = new Signal<this, ApiError>(this);
  private _question: IQuestion;
  private _answeredQuestion: IQuestion;
  private _wanted: Showing = { what: 'browse' };
  private _showing: Showing = { what: 'browse' };
  private _answer: IAnswer | null = null;
  private _isLoading = false;
  private _sent = 0;
  private _delay: number;
  private _page: number;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}

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
  readonly lists: boolean;
}

export function blank(limit: number): IQuestion {
  return { query: '', filters: {}, profile: '', useTime: true, since: null, typed: false, limit, lists: false };
}

export function request(question: IQuestion): ISearch {
  const { query, useTime, typed, lists } = question;
  return { query: query.trim(), ...ranked(question), prefix: typed, time: useTime, lists };
}

export function within({ filters, since, limit }: IQuestion): Within {
  return { limit, filters, ...(since && { since }) };
}

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
