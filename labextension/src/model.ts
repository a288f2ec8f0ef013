/** What the panel knows: the question, its answer and what was done to the hits; it knows no DOM. */

import { VDomModel } from '@jupyterlab/ui-components';

import { type IFoundAt, neighbour, patched, shown } from './answers';
import { API, ApiError, type MemoryApi } from './api';
import { keepCounts, sameFilters } from './facets';
import { Forgetting, type IForgotten } from './forgetting';
import { Latest } from './latest';
import { blank, type IQuestion, isEnough, request, type Showing, subject } from './question';
import type { Facets, IAnswer, IFilters, IItem, ISearch, IStatus } from './types';

export type { IFoundAt } from './answers';
export type { Showing } from './question';

/** Hits on the first page, and on every further one. */
export const PAGE = 20;

/** No server gives more. */
const MOST = 500;

/** What is remembered between two days. */
export interface IRemembered {
  query: string;
  filters: IFilters;
  profile: string;
  grouped: boolean;
}

export interface ISearchModelOptions {
  api: MemoryApi;
  /** Milliseconds from the last key to the question. */
  delay?: number;
  /** Milliseconds in which a forgotten memory can be had back. */
  undoFor?: number;
  /** Hits on a page. */
  page?: number;
}

/** The state of the panel. `stateChanged` tells of every change. */
export class SearchModel extends VDomModel {
  constructor(options: ISearchModelOptions) {
    super();
    this.api = options.api;
    this._delay = options.delay ?? 250;
    this._page = options.page ?? PAGE;
    this._question = blank(this._page);
    this._forgetting = new Forgetting(options.api, options.undoFor ?? 6000, error => this.changed(error));
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
  /** Id of the memory that is selected, or null. */
  get selected(): string | null {
    return this._selected;
  }
  get status(): IStatus | null {
    return this._status;
  }
  /** Whether hits stand under their notebook. */
  get grouped(): boolean {
    return this._grouped;
  }
  /** Sources whose hits are hidden. */
  get folded(): ReadonlySet<string> {
    return this._folded;
  }
  /** The hits that are shown, best first, without the forgotten ones. */
  get hits(): readonly IFoundAt[] {
    return this._hits;
  }
  /** Memories that can still be had back. */
  get forgotten(): IForgotten[] {
    return this._forgetting.waiting;
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

  /** Take what was typed, and search when the typing rests. */
  setQuery(query: string): void {
    if (query !== this.query) {
      this._question = { ...this._question, query, useTime: true, typed: true };
      void this.search();
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

  setGrouped(grouped: boolean): void {
    this._grouped = grouped;
    this._folded = new Set();
    this.changed();
  }

  /** Hide or show the hits of a source. */
  fold(source: string, on: boolean): void {
    const folded = new Set(this._folded);
    on ? folded.add(source) : folded.delete(source);
    this._folded = folded;
    this.changed();
  }

  foldAll(on: boolean): void {
    this._folded = new Set(on ? this._hits.map(one => one.hit.source) : []);
    this.changed();
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

  /** Show what is like a memory. */
  related(id: string): Promise<void> {
    const hit = this.find(id)?.hit;
    return this.turn({ what: 'related', id, title: hit?.title || hit?.source || '' });
  }

  /** Go back from related memories to the question. */
  back(): Promise<void> {
    return this.start();
  }

  showMore(): Promise<void> {
    this._question = { ...this._question, limit: Math.min(this._question.limit + this._page, MOST) };
    return this.ask();
  }

  /** Ask the same again, after a change of the store or a failure; the first time, ask at all. */
  async refresh(): Promise<void> {
    this._isLoading = true;
    this.changed();
    const isThere = await this.refreshStatus();
    if (isThere && this._status?.api === API && this._status.store.memories) {
      await (this._answer ? this.ask() : this.start());
    } else {
      this._isLoading = false;
      this._answer = null;
      this.changed();
    }
  }

  /** Look at the server's status; false where it cannot be had. */
  async refreshStatus(): Promise<boolean> {
    try {
      const status = await this.api.status();
      this._problem = null;
      this._status = status;
      this.changed();
      return true;
    } catch (error) {
      this._status = null;
      this.fail(error);
      return false;
    }
  }

  /** Take a status that somebody else asked for; the first memories are shown as they come. */
  setStatus(status: IStatus): void {
    const wasEmpty = this._status?.store.memories === 0;
    this._status = status;
    this.changed();
    if (wasEmpty && status.store.memories) {
      void this.start();
    }
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

  select(id: string | null): void {
    if (id !== this._selected) {
      this._selected = id;
      this.changed();
    }
  }

  find(id: string): IFoundAt | undefined {
    return this._hits.find(one => one.hit.memory_id === id);
  }

  async pin(id: string, on: boolean): Promise<void> {
    const was = this.find(id);
    this._answer = patched(this._answer, id, {}, { pinned: on });
    await this.change(id, this.api.pin(id, on), was);
  }

  async tag(id: string, tags: string[]): Promise<void> {
    const was = this.find(id);
    this._answer = patched(this._answer, id, { tags }, {});
    await this.change(id, this.api.update({ memory_id: id, tags }), was);
  }

  /** Take a memory away now, and forget it for good once it cannot be had back. */
  forget(id: string): void {
    const found = this.find(id);
    if (found) {
      this._selected = this._selected === id ? neighbour(this._hits, id) : this._selected;
      this._forgetting.add({ id, title: found.hit.title || found.hit.source });
      this.changed();
    }
  }

  undoForget(id: string): void {
    this._forgetting.undo(id);
    this._selected = id;
    this.changed();
  }

  /** Send what waits to be forgotten, for instance when the page closes. */
  flush(): void {
    this._forgetting.flush();
  }

  /** What a person said of a hit: true, false or nothing yet. */
  accepted(id: string): boolean | undefined {
    return this._accepted.get(id);
  }

  async accept(id: string, yes: boolean): Promise<void> {
    const rank = this.find(id)?.hit.rank;
    const was = this._accepted.get(id);
    this._accepted.set(id, yes);
    this.changed();
    const asked = this._showing.what === 'search' && this._answer;
    const about = asked ? { query_id: asked.query_id, query: asked.query, profile: asked.profile } : {};
    try {
      await this.api.feedback({ memory_id: id, accepted: yes, rank, ...about });
    } catch (error) {
      was === undefined ? this._accepted.delete(id) : this._accepted.set(id, was);
      this.fail(error);
    }
  }

  /** Take what the settings say, from the next question on. */
  configure({ delay, page }: Pick<ISearchModelOptions, 'delay' | 'page'>): void {
    this._delay = delay ?? this._delay;
    this._page = page ?? this._page;
    this._question = { ...this._question, limit: this._page };
  }

  toJSON(): IRemembered {
    return { query: this.query, filters: this.filters, profile: this.profile, grouped: this._grouped };
  }

  /** Take up what `toJSON` gave, without asking anything yet. */
  restore({ query, filters, profile, grouped }: Partial<IRemembered>): void {
    this._question = {
      ...this._question,
      query: query ?? this.query,
      filters: filters ?? this.filters,
      profile: profile ?? this.profile
    };
    this._grouped = grouped ?? this._grouped;
    this.changed();
  }

  /** The question as a request, for `explain`. */
  request(): ISearch {
    return request(this._question);
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    clearTimeout(this._timer);
    this._latest.stop();
    this._forgetting.dispose();
    super.dispose();
  }

  private anew(change: Partial<IQuestion>): Promise<void> {
    this._question = { ...this._question, ...change, limit: this._page };
    this.changed();
    return this._wanted.what === 'related' ? this.ask() : this.start();
  }

  private start(note = false): Promise<void> {
    clearTimeout(this._timer);
    if (!isEnough(this._question)) {
      return Promise.resolve();
    }
    this._wanted = { what: this.query.trim() ? 'search' : 'browse' };
    return this.ask(note);
  }

  private turn(to: Showing): Promise<void> {
    clearTimeout(this._timer);
    this._question = { ...this._question, limit: this._page };
    this._wanted = to;
    return this.ask();
  }

  private async ask(note = false): Promise<void> {
    const [question, wanted] = [this._question, this._wanted];
    this._isLoading = true;
    this.changed();
    try {
      const answer = await this._latest.run(signal => this.route(question, wanted, note, signal));
      if (answer) {
        this.take(answer, question, wanted);
      }
    } catch (error) {
      this._isLoading = false;
      this.fail(error);
    }
  }

  private route(question: IQuestion, wanted: Showing, log: boolean, signal: AbortSignal): Promise<IAnswer> {
    const { limit, filters } = question;
    switch (wanted.what) {
      case 'related':
        return this.api.related(wanted.id, limit, signal);
      case 'browse':
        return this.api.browse({ limit, filters }, signal);
      case 'search':
        return this.api.search({ ...request(question), log }, signal);
    }
  }

  private take(answer: IAnswer, question: IQuestion, showing: Showing): void {
    const about = subject(question, showing);
    this._facets = keepCounts(about === this._subject ? this._facets : null, answer.facets, question.filters);
    this._subject = about;
    this._about = about + JSON.stringify(question.filters);
    this._isLoading = false;
    this._problem = null;
    this._showing = showing;
    this._answer = answer;
    const isHere = answer.hits.some(hit => hit.memory_id === this._selected);
    this._selected = isHere ? this._selected : null;
    this.changed();
  }

  /** Show a change that was made, and what the server makes of it; take it back where it refuses. */
  private async change(id: string, sent: Promise<IItem>, was?: IFoundAt): Promise<void> {
    this.changed();
    try {
      const { tags, tier, title, place } = await sent;
      // Line and headings stay those of the hit: the server tells those of the whole memory here.
      this._answer = patched(this._answer, id, { tags, tier, title }, { pinned: place.pinned });
      this.changed();
    } catch (error) {
      this._answer = patched(this._answer, id, was?.hit ?? {}, was?.place ?? {});
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    if (!(error instanceof ApiError)) {
      throw error;
    }
    this.changed(error);
  }

  private changed(problem?: ApiError): void {
    if (this.isDisposed) {
      return;
    }
    this._problem = problem ?? this._problem;
    this.look();
    this.stateChanged.emit(undefined);
  }

  /** Keep the hits as they are where nothing happened to them: cards are drawn anew for others only. */
  private look(): void {
    const { version } = this._forgetting;
    const [answer, hidden] = this._seen;
    if (answer !== this._answer || hidden !== version) {
      this._seen = [this._answer, version];
      this._hits = shown(this._answer, id => this._forgetting.has(id));
    }
  }

  private readonly _forgetting: Forgetting;
  private readonly _latest = new Latest();
  private readonly _accepted = new Map<string, boolean>();
  private _delay: number;
  private _page: number;
  private _question: IQuestion;
  private _wanted: Showing = { what: 'browse' };
  private _showing: Showing = { what: 'browse' };
  private _answer: IAnswer | null = null;
  private _seen: [IAnswer | null, number] = [null, 0];
  private _hits: readonly IFoundAt[] = [];
  private _facets: Facets | null = null;
  private _subject = '';
  private _about = '';
  private _problem: ApiError | null = null;
  private _isLoading = false;
  private _selected: string | null = null;
  private _status: IStatus | null = null;
  private _grouped = false;
  private _folded: ReadonlySet<string> = new Set();
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
