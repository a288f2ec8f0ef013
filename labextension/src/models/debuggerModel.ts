/** The state of the debugger: the chosen memory, the explanation of its rank, profiles and recent searches. */

import { VDomModel } from '@jupyterlab/ui-components';

import { type ApiError, type MemoryApi, MISSING, NO_STORE, refusalOf } from '../api/memoryApi';
import { LatestRequest } from '../api/requests';
import type { IAnswer, IExplanation, IHit, IProfile, IRecent } from '../api/types';
import type { IPlacedHit } from './hits';
import type { SearchModel } from './searchModel';

export type DebuggerApi = Pick<MemoryApi, 'browse' | 'explain' | 'profiles' | 'recent' | 'forgetRecent'>;

export interface IScoredHit {
  hit: IHit;
  /** By term: the rank without it. */
  without: Record<string, number>;
}

const RECENT_LIMIT = 30;

/** No server returns more. */
const MOST_CANDIDATES = 500;

/** Milliseconds after an answer until the recent searches are read again. */
const RECENT_DELAY = 1000;

/** Follows a `SearchModel`, and sends no request while `isOpen` is false. */
export class DebuggerModel extends VDomModel {
  constructor(
    readonly search: SearchModel,
    private readonly _api: DebuggerApi
  ) {
    super();
    search.stateChanged.connect(this._onSearchChanged, this);
  }

  // What follows is written here alone.
  profiles: IProfile[] = [];
  recent: IRecent[] | null = null;
  problem: ApiError | null = null;
  /** The cells of a file, in their order, or the notes (without a path): among them is one that is missing. */
  candidates: { path: string | null; rows: IPlacedHit[] } | null = null;

  /** The answer to a search, or null: browsed memories have no ranks to explain. */
  get answer(): IAnswer | null {
    return this.search.showing.what === 'search' ? this.search.answer : null;
  }

  /** Id of the chosen memory: picked here, or else selected among the results, or else the first of them. */
  get chosen(): string | null {
    return this._picked ?? this.search.selected ?? this.answer?.hits[0]?.memory_id ?? null;
  }

  /** The chosen memory with its contributions; null where no retriever found it, or nothing is chosen. */
  get scoredHit(): IScoredHit | null {
    const id = this.chosen;
    const hit = this.answer?.hits.find(one => one.memory_id === id);
    if (id && hit) {
      return { hit, without: this.answer?.lists?.without[id] ?? this.explanation?.without ?? {} };
    }
    const { explanation } = this;
    return explanation?.hit ? { hit: explanation.hit, without: explanation.without } : null;
  }

  get explanation(): IExplanation | null {
    return this._explanation?.memory_id === this.chosen ? this._explanation : null;
  }

  titleOf(id: string): string {
    const { keyword = [], vector = [], fused = [] } = this.answer?.lists ?? {};
    const listed = [...fused, ...keyword, ...vector].find(one => one.memory_id === id);
    const candidate = this.candidates?.rows.find(one => one.hit.memory_id === id)?.hit;
    return listed?.title || candidate?.title || id;
  }

  get isExplaining(): boolean {
    return this._explanationRequest.isRunning;
  }

  /** The profile in use: the requested one, or the server's default. */
  get profile(): IProfile | undefined {
    return this.profiles.find(one =>
      this.search.question.profile ? one.name === this.search.question.profile : one.default
    );
  }

  /** Whether the debugger can be seen: only then does it request lists and explanations. */
  get isOpen(): boolean {
    return this._isOpen;
  }
  set isOpen(open: boolean) {
    if (open === this._isOpen) {
      return;
    }
    this._isOpen = open;
    this.search.answers.lists = open;
    if (open) {
      void this.loadProfiles();
      void this.loadRecent();
      this._onSearchChanged();
    }
  }

  /** Choose a memory. If it is one of the results, it is selected there too. */
  choose(id: string): void {
    const isHit = this.answer?.hits.some(hit => hit.memory_id === id) ?? false;
    this._picked = isHit ? null : id;
    this.problem = null;
    if (isHit) {
      this.search.selection.select(id);
    } else {
      void this.explain();
    }
    this.stateChanged.emit();
  }

  /** Read the cells of a file, given as a contents path, or without one the notes, of the stores that were searched. */
  async lookIn(path: string | null): Promise<void> {
    const root = this.search.status?.root.replace(/\/$/, '') ?? '';
    const filters = path === null ? { kind: ['note'] } : { path: [`${root}/${path}`] };
    await this._attempt(async () => {
      const { stores } = this.search.answers.request();
      const { hits, places } = await this._api.browse({ limit: MOST_CANDIDATES, filters, stores });
      const rows = hits.map((hit, i) => ({ hit, place: places[i] }));
      const order = ({ place }: IPlacedHit): number => place.index ?? place.line ?? 0;
      this.candidates = { path, rows: path === null ? rows : rows.sort((a, b) => order(a) - order(b)) };
    });
  }

  async explain(): Promise<void> {
    const memory_id = this.chosen;
    if (!memory_id || !this.answer) {
      return;
    }
    this._explanation = null;
    this.problem = null;
    const asked = { ...this.search.answers.request(), memory_id };
    const explained = this._explanationRequest.run(signal => this._api.explain(asked, signal));
    this.stateChanged.emit();
    const problem = await this._attempt(async () => {
      this._explanation = (await explained) ?? this._explanation;
    });
    if (problem?.status === 404) {
      // There is no such memory; the next answer will not have it either.
      this._picked = null;
      this.stateChanged.emit();
    }
  }

  setProfile(name: string): void {
    this.search.answers.narrow({ profile: this._profileName(name) });
  }

  run(recent: IRecent): void {
    this.search.answers.setQuery(recent.query);
    this.search.restore({ profile: this._profileName(recent.profile) });
    void this.search.answers.search({ now: true });
  }

  async loadProfiles(): Promise<void> {
    if (!this.profiles.length) {
      await this._attempt(async () => {
        this.profiles = await this._api.profiles();
      });
    }
  }

  async loadRecent(): Promise<void> {
    const isNew = this.search.status?.store.exists === false;
    await this._attempt(async () => {
      const recent = isNew ? [] : await this._recentRequest.run(signal => this._api.recent(RECENT_LIMIT, signal));
      this.recent = recent ?? this.recent;
    });
  }

  async clearRecent(): Promise<void> {
    await this._attempt(async () => {
      await this._api.forgetRecent();
      // A list that is on its way may be older than that.
      this._recentRequest.stop();
      this.recent = [];
    });
  }

  override dispose(): void {
    this.isOpen = false;
    clearTimeout(this._timer);
    this._explanationRequest.stop();
    this._recentRequest.stop();
    super.dispose();
  }

  private _onSearchChanged(): void {
    const { answer } = this;
    if (answer !== this._answer) {
      this._answer = answer;
      this._explanation = null;
      this.problem = null;
      this._explanationRequest.stop();
      if (this._isOpen && answer) {
        if (this._picked && !this.scoredHit) {
          void this.explain();
        }
        clearTimeout(this._timer);
        this._timer = setTimeout(() => void this.loadRecent(), RECENT_DELAY);
      }
    }
    if (this.search.selected !== this._selected) {
      this._selected = this.search.selected;
      // A hit that is selected among the results replaces the memory that was picked here.
      this._picked = this._selected ? null : this._picked;
    }
    // Most changes of the search are typed keys, which the debugger does not show.
    const { search, _shown: before } = this;
    this._shown = [
      answer,
      search.selected,
      search.question.profile,
      search.question.useTime,
      search.question.asOf,
      search.question.aboutTags,
      search.status?.log_searches
    ];
    if (this._shown.some((one, i) => one !== before[i])) {
      this.stateChanged.emit();
    }
  }

  /** The name by which a profile is requested: '' for the default. */
  private _profileName(name: string): string {
    return this.profiles.some(one => one.default && one.name === name) ? '' : name;
  }

  private async _attempt(task: () => Promise<void>): Promise<ApiError | null> {
    try {
      await task();
    } catch (error) {
      const refusal = refusalOf(error);
      // The results already report a missing server or an empty store.
      this.problem = [MISSING, NO_STORE].includes(refusal.reason) ? this.problem : refusal;
    }
    this.stateChanged.emit();
    return this.problem;
  }

  private _answer: IAnswer | null = null;
  private readonly _explanationRequest = new LatestRequest();
  private readonly _recentRequest = new LatestRequest();
  private _explanation: IExplanation | null = null;
  private _isOpen = false;
  private _picked: string | null = null;
  private _shown: readonly unknown[] = [];
  private _selected: string | null = null;
  private _timer: ReturnType<typeof setTimeout> | undefined;
}
