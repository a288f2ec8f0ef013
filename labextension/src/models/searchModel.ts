/** The state of the panel, put together from parts; it knows no DOM. */

import { VDomModel } from '@jupyterlab/ui-components';

import { API, ApiError, type MemoryApi, NO_MEMORY, NO_STORE, refusalOf, UNREACHABLE } from '../api/memoryApi';
import type { Facets, IAnswer, IFilters, IStatus } from '../api/types';
import { Answers, type IQuestion, type IRequest, type Showing, subject } from './answers';
import { facetCounts } from './filters';
import { HitEdits, type IPlacedHit, neighbour, Selection, UndoDelete, visibleHits } from './hits';
import { isActive } from './indexModel';
import { WholeTexts } from './wholeTexts';

export interface IPersistedState {
  query: string;
  filters: IFilters;
  profile: string;
  grouped: boolean;
}

/** What narrows the search: it is kept for the session. */
export type Narrowing = Pick<IQuestion, 'filters' | 'since' | 'asOf' | 'aboutTags' | 'scope' | 'stores'>;

/**
 * What the panel knows: the question and its answer, what a person does to hits, and the status of the store.
 *
 * Each part has its own signals; `stateChanged` is emitted after every change of any of them. What most
 * of the panel uses has a method here; the rest is reached through its part.
 */
export class SearchModel extends VDomModel {
  constructor({ api }: { api: MemoryApi }) {
    super();
    this._api = api;
    this.answers = new Answers(api);
    this.edits = new HitEdits(api, this.answers);
    this.undo = new UndoDelete(api);
    this.texts = new WholeTexts(api);
    this.peeks = new WholeTexts(api);
    for (const part of [this.answers, this.edits, this.selection, this.texts, this.peeks]) {
      part.changed.connect(() => this.stateChanged.emit());
    }
    for (const texts of [this.texts, this.peeks]) {
      texts.lost.connect((_, { id, error }) => this._refuse(id, error));
      // A problem that concerns the whole panel is shown at its top, any other one in place of the text.
      texts.failed.connect((_, problem) => [UNREACHABLE, NO_STORE].includes(problem.reason) && this._fail(problem));
    }
    this.answers.answered.connect((_, asked) => this._take(asked));
    this.answers.failed.connect((_, error) => this._fail(error));
    this.edits.refused.connect((_, { id, error }) => this._refuse(id, error));
    this.undo.settled.connect((_, error) => this._settle(error));
  }

  readonly answers: Answers;
  readonly edits: HitEdits;
  readonly undo: UndoDelete;
  readonly selection = new Selection();
  readonly texts: WholeTexts;
  /** The texts that are looked at while their cards stay folded. */
  readonly peeks: WholeTexts;

  // What follows is written here alone.
  problem: ApiError | null = null;
  status: IStatus | null = null;
  /** Counts by facet, also of values that the filters leave out. */
  facets: Facets | null = null;
  /** Identifies what the answer is about: when it changes, the list scrolls back to its first hit. */
  about = '';

  picture(id: string, place: number): Promise<string> {
    return this._api.thumbnail(id, place);
  }

  get question(): IQuestion {
    return this.answers.question;
  }
  get narrowing(): Narrowing {
    const { filters, since, asOf, aboutTags, scope, stores } = this.question;
    return { filters, since, asOf, aboutTags, scope, stores };
  }
  get answer(): IAnswer | null {
    return this.answers.answer;
  }
  get showing(): Showing {
    return this.answers.showing;
  }
  get isLoading(): boolean {
    return this.answers.isLoading;
  }
  get selected(): string | null {
    return this.selection.id;
  }
  /** The visible hits, best first, without deleted ones; the same objects as long as they do not change. */
  get hits(): readonly IPlacedHit[] {
    const { answer } = this;
    const { version } = this.undo;
    if (answer !== this._seen.answer || version !== this._seen.version) {
      this._seen = { answer, version, hits: visibleHits(answer, id => this.undo.has(id)) };
    }
    return this._seen.hits;
  }

  /** Search for a query as if it had been typed and entered. */
  ask(query: string): void {
    this.answers.setQuery(query);
    void this.answers.search({ now: true });
  }

  async related(id: string): Promise<void> {
    const hit = this.find(id)?.hit;
    await this.answers.turnTo({ what: 'related', id, title: hit?.title || hit?.source || '' });
    if (this.problem?.reason === NO_MEMORY) {
      this.answers.stay();
      this.drop(id);
    }
  }

  find(id: string): IPlacedHit | undefined {
    return this.hits.find(one => one.hit.memory_id === id);
  }

  /** Hide a memory now; the server forgets it when the time for undo has passed. */
  forget(id: string): void {
    const found = this.find(id);
    if (found) {
      this._moveSelectionFrom(id);
      this.undo.add({ id, title: found.hit.title || found.hit.source });
      this.stateChanged.emit();
    }
  }

  undoForget(id: string): void {
    this.undo.undo(id);
    this.selection.select(id);
    this.stateChanged.emit();
  }

  /** Stop showing a memory that no longer exists: another window deleted it, or its file lost it. */
  drop(id: string): void {
    this._moveSelectionFrom(id);
    this.undo.markGone(id);
    this.stateChanged.emit();
    void this.recount();
  }

  /** Read the status and repeat the question, after a change or a failure; also the first request of all. */
  async refresh(): Promise<void> {
    const { sent } = this.answers;
    this.answers.startLoading();
    const status = await this._api.status().catch(refusalOf);
    if (status instanceof ApiError) {
      this.status = null;
      this._fail(status);
    } else {
      this.problem = null;
      this.status = status;
      this.answers.here.root = status.root;
      // What is no longer on the list can no longer be asked.
      this.answers.assign({ stores: this.question.stores.filter(name => status.stores.includes(name)) });
      this.stateChanged.emit();
    }
    if (this.status?.api === API && (this.status.store.memories || this.question.stores.length)) {
      // A question that a person asked meanwhile is on its way, and will be logged: leave it alone.
      if (sent === this.answers.sent || !this.answers.isPending) {
        await this.answers.again();
      }
    } else {
      // If the server is only away for a moment, its last answer stays visible.
      this.answers.stopLoading(this.problem?.reason === UNREACHABLE);
    }
  }

  /** Take a status: the first memories appear as they arrive, changes by an indexing job when it has ended. */
  setStatus(status: IStatus): void {
    const before = this.status;
    this.status = status;
    this.stateChanged.emit();
    const isIndexing = status.jobs.some(isActive);
    const isOver = !isIndexing && !!before?.jobs.some(isActive);
    const isOther = before?.store.memories !== status.store.memories;
    if (before?.store.memories === 0 && isOther) {
      void this.answers.again();
    } else if (isOver && !this.answer && !this.isLoading) {
      void this.refresh();
    } else if (isOver || (isOther && this.showing.what === 'browse' && !isIndexing)) {
      this.answers.renew();
    }
  }

  /** Read how many memories there are. If that fails, the next question reports the problem. */
  async recount(): Promise<void> {
    if (this.status && !this.isDisposed) {
      const status = await this._api.status().catch(refusalOf);
      if (!(status instanceof ApiError) && !this.isDisposed) {
        this.setStatus(status);
      }
    }
  }

  /** Check the store again: a person comes back, and may have changed it elsewhere. */
  async revalidate(): Promise<void> {
    await this.recount();
    this.answers.renew();
  }

  /** Show a problem, or none. */
  report(problem: ApiError | null): void {
    this.problem = problem;
    this.stateChanged.emit();
  }

  toJSON(): IPersistedState {
    const { query, filters, profile } = this.question;
    return { query, filters, profile, grouped: this.selection.grouped };
  }

  /** Take up what `toJSON` gave, without asking anything yet. */
  restore({ grouped, ...kept }: Partial<IPersistedState & Narrowing>): void {
    this.answers.assign(kept);
    if (grouped !== undefined) {
      this.selection.setGrouped(grouped);
    }
    this.stateChanged.emit();
  }

  override dispose(): void {
    this.undo.flush();
    this.texts.dispose();
    this.peeks.dispose();
    this.answers.dispose();
    super.dispose();
  }

  private _take({ question, wanted, isQuiet }: IRequest): void {
    const answer = this.answer!;
    // A missing memory causes a quiet request as well: its message stays.
    this.problem = isQuiet && this.problem?.reason === NO_MEMORY ? this.problem : null;
    const about = subject(question, wanted);
    this.about = about + JSON.stringify(question.filters);
    this.facets = facetCounts(answer.facets, question.filters, about === this._subject ? this.facets : null);
    this._subject = about;
    const ids = answer.hits.map(hit => hit.memory_id);
    this.selection.select(ids.find(id => id === this.selected) ?? null);
    this.stateChanged.emit();
    this.texts.answered(this.about, ids);
  }

  private _fail(error: ApiError): void {
    if (error.reason === NO_STORE && this.answer) {
      // The store is gone, and all its memories with it.
      this.answers.replace(null);
      void this.refresh();
    } else {
      this.report(error);
    }
  }

  private _refuse(id: string, error: ApiError): void {
    if (error.reason === NO_MEMORY) {
      this.drop(id);
    }
    this._fail(error);
  }

  private _settle(error: ApiError | null): void {
    this.problem = error ?? this.problem;
    this.stateChanged.emit();
    void this.recount();
  }

  private _moveSelectionFrom(id: string): void {
    if (this.selected === id) {
      this.selection.select(neighbour(this.hits, id));
    }
  }

  private readonly _api: MemoryApi;
  private _subject = '';
  private _seen = { answer: null as IAnswer | null, version: 0, hits: [] as readonly IPlacedHit[] };
}
