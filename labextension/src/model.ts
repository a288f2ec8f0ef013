/** What the panel knows: the question, its answer and what was done to the hits; it knows no DOM. */

import { VDomModel } from '@jupyterlab/ui-components';

import { API, ApiError, isAbort, type MemoryApi } from './api';
import { keepCounts, sameFilters } from './facets';
import { Forgetting, type IForgotten } from './forgetting';
import type { Facets, IAnswer, IFilters, IHit, IItem, IPlace, ISearch, IStatus } from './types';

/** Hits on the first page, and on every further one. */
export const PAGE = 20;

/** No server gives more. */
const MOST = 500;

/** What the hits are: the answer to the words, neighbours of a memory, or the newest ones. */
export type Showing = { what: 'search' } | { what: 'related'; id: string; title: string } | { what: 'browse' };

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

/** A hit with its place. */
export interface IFoundAt {
  hit: IHit;
  place: IPlace;
}

/** The state of the panel. `stateChanged` tells of every change. */
export class SearchModel extends VDomModel {
  constructor(options: ISearchModelOptions) {
    super();
    this.api = options.api;
    this._delay = options.delay ?? 250;
    this._page = options.page ?? PAGE;
    this._limit = this._page;
    this._forgetting = new Forgetting(options.api, options.undoFor ?? 6000, error => this.changed(error));
  }

  readonly api: MemoryApi;

  get query(): string {
    return this._query;
  }
  get filters(): IFilters {
    return this._filters;
  }
  /** Name of the profile asked for; `''` is the server's default. */
  get profile(): string {
    return this._profile;
  }
  /** Whether a time in the words counts. */
  get useTime(): boolean {
    return this._useTime;
  }
  /** First day that counts, ISO, or null. */
  get since(): string | null {
    return this._since;
  }
  get answer(): IAnswer | null {
    return this._answer;
  }
  get showing(): Showing {
    return this._showing;
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
  get hits(): IFoundAt[] {
    return this._hits;
  }
  /** Memories that can still be had back. */
  get forgotten(): IForgotten[] {
    return this._forgetting.waiting;
  }
  /** There may be more hits than are shown. */
  get hasMore(): boolean {
    const shown = this._answer?.hits.length ?? 0;
    const known = this._showing.what === 'search' ? (this._answer?.counts.fused ?? 0) : shown + 1;
    return shown >= this._limit && known > shown && this._limit < MOST;
  }

  /** Whether the debugger wants the lists of the engines too. */
  get lists(): boolean {
    return this._lists;
  }
  set lists(wanted: boolean) {
    if (wanted === this._lists) {
      return;
    }
    this._lists = wanted;
    if (wanted && this._answer && !this._answer.lists && this._showing.what === 'search') {
      void this.ask();
    }
  }

  /** Take what was typed, and search when the typing rests. */
  setQuery(text: string): void {
    if (text === this._query) {
      return;
    }
    this._query = text;
    this._useTime = true;
    this._typed = true;
    void this.search();
    this.changed();
  }

  setFilters(filters: IFilters): void {
    if (!sameFilters(filters, this._filters)) {
      this._filters = filters;
      void this.anew();
    }
  }

  setProfile(profile: string): void {
    if (profile !== this._profile) {
      this._profile = profile;
      void this.anew();
    }
  }

  /** Read the time in the words, or leave it. */
  setUseTime(use: boolean): void {
    if (use !== this._useTime) {
      this._useTime = use;
      void this.anew();
    }
  }

  /** Count only what is of this ISO day or later. */
  setSince(since: string | null): void {
    if (since !== this._since) {
      this._since = since;
      void this.anew();
    }
  }

  /** A problem was read. */
  dismissProblem(): void {
    this._problem = null;
    this.changed();
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
    this._limit = this._page;
    if (how.now) {
      this._typed = false;
      return this.start(true);
    }
    return new Promise(resolve => {
      this._timer = setTimeout(() => resolve(this.start()), this._delay);
    });
  }

  /** Show the newest memories. */
  browse(): Promise<void> {
    clearTimeout(this._timer);
    this._limit = this._page;
    this._wanted = { what: 'browse' };
    return this.ask();
  }

  /** Show what is like a memory. */
  related(id: string): Promise<void> {
    clearTimeout(this._timer);
    const hit = this.find(id)?.hit;
    this._limit = this._page;
    this._wanted = { what: 'related', id, title: hit?.title || hit?.source || '' };
    return this.ask();
  }

  /** Go back from related memories to the question. */
  back(): Promise<void> {
    return this.start();
  }

  showMore(): Promise<void> {
    this._limit = Math.min(this._limit + this._page, MOST);
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
    this.patch(id, hit => hit, { pinned: on });
    await this.change(id, () => this.api.pin(id, on), was);
  }

  async tag(id: string, tags: string[]): Promise<void> {
    const was = this.find(id);
    this.patch(id, hit => ({ ...hit, tags }), {});
    await this.change(id, () => this.api.update({ memory_id: id, tags }), was);
  }

  /** Take a memory away now, and forget it for good once it cannot be had back. */
  forget(id: string): void {
    const found = this.find(id);
    if (!found) {
      return;
    }
    const next = neighbour(this._hits, id);
    this._forgetting.add({ id, title: found.hit.title || found.hit.source });
    this._selected = this._selected === id ? next : this._selected;
    this.changed();
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
    const hit = this.find(id)?.hit;
    const was = this._accepted.get(id);
    this._accepted.set(id, yes);
    this.changed();
    const asked = this._showing.what === 'search' && this._answer;
    const about = asked ? { query_id: asked.query_id, query: asked.query, profile: asked.profile } : {};
    try {
      await this.api.feedback({ memory_id: id, accepted: yes, rank: hit?.rank, ...about });
    } catch (error) {
      was === undefined ? this._accepted.delete(id) : this._accepted.set(id, was);
      this.fail(error);
    }
  }

  /** Take what the settings say, from the next question on. */
  configure({ delay, page }: Pick<ISearchModelOptions, 'delay' | 'page'>): void {
    this._delay = delay ?? this._delay;
    this._page = page ?? this._page;
  }

  toJSON(): IRemembered {
    return { query: this._query, filters: this._filters, profile: this._profile, grouped: this._grouped };
  }

  /** Take up what `toJSON` gave, without asking anything yet. */
  restore(state: Partial<IRemembered>): void {
    this._query = state.query ?? this._query;
    this._filters = state.filters ?? this._filters;
    this._profile = state.profile ?? this._profile;
    this._grouped = state.grouped ?? this._grouped;
    this.changed();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    clearTimeout(this._timer);
    this._asking?.abort();
    this._forgetting.dispose();
    super.dispose();
  }

  /** The request that stands behind the answer, for `explain`. */
  request(): ISearch {
    return {
      query: this._query.trim(),
      limit: this._limit,
      ...(this._profile && { profile: this._profile }),
      filters: this._filters,
      ...(this._since && { since: this._since }),
      prefix: this._typed,
      time: this._useTime,
      lists: this._lists
    };
  }

  private anew(): Promise<void> {
    this._limit = this._page;
    this.changed();
    return this._wanted.what === 'related' ? this.ask() : this.start();
  }

  private start(note = false): Promise<void> {
    clearTimeout(this._timer);
    const query = this._query.trim();
    if (this._typed && query && !longEnough(query)) {
      return Promise.resolve();
    }
    this._wanted = { what: query ? 'search' : 'browse' };
    return this.ask(note);
  }

  private async ask(note = false): Promise<void> {
    const turn = ++this._turn;
    this._asking?.abort();
    this._asking = new AbortController();
    this._isLoading = true;
    this.changed();
    try {
      const answer = await this.route(note, this._asking.signal);
      if (turn === this._turn && !this.isDisposed) {
        this.take(answer);
      }
    } catch (error) {
      if (turn === this._turn && !isAbort(error)) {
        this._isLoading = false;
        this.fail(error);
      }
    }
  }

  private route(log: boolean, signal: AbortSignal): Promise<IAnswer> {
    const wanted = this._wanted;
    if (wanted.what === 'related') {
      return this.api.related(wanted.id, this._limit, signal);
    }
    if (wanted.what === 'browse') {
      return this.api.browse({ limit: this._limit, filters: this._filters }, signal);
    }
    return this.api.search({ ...this.request(), log }, signal);
  }

  private take(answer: IAnswer): void {
    this._isLoading = false;
    this._problem = null;
    this._showing = this._wanted;
    const question = `${this._showing.what} ${answer.query} ${this._since}`;
    this._facets = keepCounts(question === this._question ? this._facets : null, answer.facets, this._filters);
    this._question = question;
    this._answer = answer;
    this.changed();
    if (!this.find(this._selected ?? '')) {
      this._selected = null;
    }
  }

  private async change(id: string, send: () => Promise<IItem>, was?: IFoundAt): Promise<void> {
    try {
      const item = await send();
      this.patch(id, hit => ({ ...hit, tags: item.tags, tier: item.tier, title: item.title }), item.place);
    } catch (error) {
      if (was) {
        this.patch(id, () => was.hit, was.place);
      }
      this.fail(error);
    }
  }

  private patch(id: string, changed: (hit: IHit) => IHit, place: Partial<IPlace>): void {
    const answer = this._answer;
    const at = answer?.hits.findIndex(hit => hit.memory_id === id) ?? -1;
    if (!answer || at < 0) {
      return;
    }
    this._answer = {
      ...answer,
      hits: answer.hits.map((hit, i) => (i === at ? changed(hit) : hit)),
      places: answer.places.map((one, i) => (i === at ? { ...one, ...place } : one))
    };
    this.changed();
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
    this._hits = (this._answer?.hits ?? [])
      .map((hit, i) => ({ hit, place: this._answer!.places[i] }))
      .filter(one => !this._forgetting.has(one.hit.memory_id));
    this.stateChanged.emit(undefined);
  }

  private _delay: number;
  private _page: number;
  private readonly _forgetting: Forgetting;
  private readonly _accepted = new Map<string, boolean>();
  private _query = '';
  private _filters: IFilters = {};
  private _profile = '';
  private _useTime = true;
  private _since: string | null = null;
  private _grouped = false;
  private _folded: ReadonlySet<string> = new Set();
  private _lists = false;
  private _typed = false;
  private _limit: number;
  private _wanted: Showing = { what: 'browse' };
  private _showing: Showing = { what: 'browse' };
  private _answer: IAnswer | null = null;
  private _hits: IFoundAt[] = [];
  private _facets: Facets | null = null;
  private _question = '';
  private _problem: ApiError | null = null;
  private _isLoading = false;
  private _selected: string | null = null;
  private _status: IStatus | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _turn = 0;
  private _asking: AbortController | undefined;
}

/** Two characters, or one where a character is a word. */
function longEnough(query: string): boolean {
  return [...query].length > 1 || /\p{Ideographic}/u.test(query);
}

function neighbour(hits: IFoundAt[], id: string): string | null {
  const at = hits.findIndex(one => one.hit.memory_id === id);
  return (hits[at + 1] ?? hits[at - 1])?.hit.memory_id ?? null;
}
