/** A question and its answer: asked when the typing rests, page by page, and of several answers the latest counts. */

import { VDomModel } from '@jupyterlab/ui-components';

import { Latest } from '../api/latestRequest';
import { ApiError, type MemoryApi, NO_MEMORY } from '../api/memoryApi';
import type { Facets, IAnswer, IFilters, ISearch } from '../api/types';
import { keepCounts, sameFilters } from './filters';
import { blank, type IQuestion, isEnough, ranked, request, type Showing, subject, within } from './question';

/** Hits on the first page, and on every further one. */
export const PAGE = 20;

/** No server gives more. */
const MOST = 500;

export interface IAskingOptions {
  api: MemoryApi;
  /** Milliseconds from the last key to the question. */
  delay?: number;
  /** Hits on a page. */
  page?: number;
}

/** One asking. */
interface IAsked {
  question: IQuestion;
  wanted: Showing;
  /** Whether it is noted among the recent searches. */
  note: boolean;
  /** Without a sign of loading. */
  isQuiet: boolean;
}

/** What is asked, what was answered and what went wrong. `stateChanged` tells of every change. */
export class AskingModel extends VDomModel {
  constructor(options: IAskingOptions) {
    super();
    this.api = options.api;
    this._delay = options.delay ?? 250;
    this._page = options.page ?? PAGE;
    this._question = this._answered = blank(this._page);
  }

  readonly api: MemoryApi;

  get query(): string {
    return this._question.query;
  }
  get filters(): IFilters {
    return this._question.filters;
  }
  /** Name of the profile asked for; `''` is the server's default. */
  get profile(): string {
    return this._question.profile;
  }
  /** Whether a time in the words counts. */
  get useTime(): boolean {
    return this._question.useTime;
  }
  /** First day that counts, ISO, or null. */
  get since(): string | null {
    return this._question.since;
  }
  get answer(): IAnswer | null {
    return this._answer;
  }
  get showing(): Showing {
    return this._showing;
  }
  /** What the answer is about: another one begins at its first hit. */
  get about(): string {
    return this._about;
  }
  /** Whether the answer is to other words than those in the box. */
  get isBehind(): boolean {
    return this._answer !== null && this._answered.query.trim() !== this.query.trim();
  }
  /** Counts by facet, also of values that the filters leave out. */
  get facets(): Facets | null {
    return this._facets;
  }
  get problem(): ApiError | null {
    return this._problem;
  }
  get isLoading(): boolean {
    return this._isLoading;
  }
  /** There may be more hits than are shown. */
  get hasMore(): boolean {
    const { limit } = this._question;
    const here = this._answer?.hits.length ?? 0;
    const known = this._showing.what === 'search' ? (this._answer?.counts.fused ?? 0) : here + 1;
    return here >= limit && known > here && limit < MOST;
  }

  /** Whether the debugger wants the lists of the engines too. */
  get lists(): boolean {
    return this._question.lists;
  }
  set lists(lists: boolean) {
    if (lists === this.lists) {
      return;
    }
    this._question = { ...this._question, lists };
    if (lists && this._answer && !this._answer.lists && this._showing.what === 'search') {
      void this.ask();
    }
  }

  /** Take what was typed, and search when the typing rests; what is still being composed waits for `search`. */
  setQuery(query: string, isComposing = false): void {
    if (query !== this.query) {
      this._question = { ...this._question, query, useTime: true, typed: true };
      clearTimeout(this._timer);
      if (!isComposing) {
        void this.search();
      }
      this.changed();
    }
  }

  setFilters(filters: IFilters): void {
    if (!sameFilters(filters, this.filters)) {
      void this.anew({ filters });
    }
  }

  setProfile(profile: string): void {
    if (profile !== this.profile) {
      void this.anew({ profile });
    }
  }

  /** Read the time in the words, or leave it. */
  setUseTime(useTime: boolean): void {
    if (useTime !== this.useTime) {
      void this.anew({ useTime });
    }
  }

  /** Count only what is of this ISO day or later. */
  setSince(since: string | null): void {
    if (since !== this.since) {
      void this.anew({ since });
    }
  }

  /** Search for the query: when the typing rests, or `now`, which takes the last word as finished and is remembered. */
  search(how: { now?: boolean } = {}): Promise<void> {
    clearTimeout(this._timer);
    this._question = { ...this._question, limit: this._page, typed: this._question.typed && !how.now };
    if (how.now) {
      return this.start(true);
    }
    return new Promise(resolve => {
      this._timer = setTimeout(() => resolve(this.start()), this._delay);
    });
  }

  /** Show the newest memories. */
  browse(): Promise<void> {
    return this.turn({ what: 'browse' });
  }

  /** Go back from related memories to the question, or to the newest where it is too short for one. */
  back(): Promise<void> {
    return isEnough(this._question) ? this.start() : this.browse();
  }

  /** Ask what was answered again, without a word: the store has changed. */
  renew(): void {
    if (this._answer && !this._isLoading) {
      void this.ask({ ...this.answered, isQuiet: true });
    }
  }

  showMore(): Promise<void> {
    this._question = { ...this._question, limit: Math.min(this._question.limit + this._page, MOST) };
    return this.ask();
  }

  /** Take what the settings say, from the next question on. */
  configure({ delay, page }: Pick<IAskingOptions, 'delay' | 'page'>): void {
    this._delay = delay ?? this._delay;
    this._page = page ?? this._page;
    this._question = { ...this._question, limit: this._page };
  }

  /** The question that was answered as a request, for `explain`. */
  request(): ISearch {
    return request(this._answer ? this.answered.question : this._question);
  }

  /** Tell of something that went wrong outside. */
  report(problem: ApiError): void {
    this.changed(problem);
  }

  /** A problem was read. */
  dismissProblem(): void {
    this._problem = null;
    this.changed();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    clearTimeout(this._timer);
    this._latest.stop();
    super.dispose();
  }

  /** Take up another question without asking it yet. */
  protected turnTo(question: Partial<IQuestion>): void {
    this._question = { ...this._question, ...question };
  }

  /** Ask what is wanted now; while the words are too short for a question, those before them: at first none. */
  protected again(): Promise<void> {
    if (this._wanted.what === 'related') {
      return this.ask();
    }
    if (isEnough(this._question)) {
      return this.start();
    }
    const { query, typed } = this._answered;
    return this.ask({ question: { ...this._question, query, typed }, wanted: this._showing });
  }

  protected turn(to: Showing): Promise<void> {
    clearTimeout(this._timer);
    this._question = { ...this._question, limit: this._page };
    this._wanted = to;
    return this.ask();
  }

  private start(note = false): Promise<void> {
    clearTimeout(this._timer);
    if (!isEnough(this._question)) {
      return Promise.resolve();
    }
    this._wanted = { what: this.query.trim() ? 'search' : 'browse' };
    return this.ask({ note });
  }

  /** How many questions were sent. */
  protected get sent(): number {
    return this._sent;
  }

  /** Whether an answer is on its way. */
  protected get isAsking(): boolean {
    return this._latest.isRunning;
  }

  private async ask(how: Partial<IAsked> = {}): Promise<void> {
    this._sent++;
    const { question = this._question, wanted = this._wanted, note = false, isQuiet = false } = how;
    this._isLoading ||= !isQuiet;
    this.changed();
    try {
      const answer = await this._latest.run(signal => this.route(question, wanted, note, signal));
      if (answer) {
        // The list is renewed because a memory was found to be gone, too: that stays told.
        const isGone = isQuiet && this._problem?.reason === NO_MEMORY;
        this._problem = isGone ? this._problem : null;
        this.take(answer, question, wanted);
      }
    } catch (error) {
      this._isLoading = false;
      this.fail(error);
    }
  }

  protected take(answer: IAnswer, question: IQuestion, showing: Showing): void {
    const about = subject(question, showing);
    this._facets = keepCounts(about === this._subject ? this._facets : null, answer.facets, question.filters);
    this._subject = about;
    this._about = about + JSON.stringify(question.filters);
    this._isLoading = false;
    this._showing = showing;
    this._answered = question;
    this._answer = answer;
    this.changed();
  }

  protected fail(error: unknown): void {
    if (!(error instanceof ApiError)) {
      throw error;
    }
    this.changed(error);
  }

  protected changed(problem?: ApiError): void {
    if (this.isDisposed) {
      return;
    }
    this._problem = problem ?? this._problem;
    this.stateChanged.emit(undefined);
  }

  private anew(change: Partial<IQuestion>): Promise<void> {
    this._question = { ...this._question, ...change, limit: this._page };
    this.changed();
    return this.again();
  }

  /** What the answer answers; the lists are those that are wanted now. */
  private get answered(): Pick<IAsked, 'question' | 'wanted'> {
    return { question: { ...this._answered, lists: this.lists }, wanted: this._showing };
  }

  private route(question: IQuestion, wanted: Showing, log: boolean, signal: AbortSignal): Promise<IAnswer> {
    switch (wanted.what) {
      case 'related':
        return this.api.related({ memory_id: wanted.id, ...ranked(question) }, signal);
      case 'browse':
        return this.api.browse(within(question), signal);
      case 'search':
        return this.api.search({ ...request(question), log }, signal);
    }
  }

  protected _answer: IAnswer | null = null;
  protected _isLoading = false;
  protected _problem: ApiError | null = null;
  protected _wanted: Showing = { what: 'browse' };
  private readonly _latest = new Latest();
  private _sent = 0;
  private _delay: number;
  private _page: number;
  private _question: IQuestion;
  private _answered: IQuestion;
  private _showing: Showing = { what: 'browse' };
  private _facets: Facets | null = null;
  private _subject = '';
  private _about = '';
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
