/** What the panel knows: the hits that are seen, the one that is selected, the store; it knows no DOM. */

import { API, ApiError, NO_MEMORY, NO_STORE, UNREACHABLE } from '../api/memoryApi';
import type { IAnswer, IFilters, IStatus } from '../api/types';
import { AskingModel, type IAskingOptions } from './asking';
import { Changes } from './hitEdits';
import { type IFoundAt, neighbour, shown } from './hits';
import { isGoingOn } from './jobList';
import type { IQuestion, Showing } from './question';
import type { IForgotten } from './undoDelete';
import { WholeTexts } from './wholeTexts';

export type { IFoundAt } from './hits';
export { PAGE } from './asking';
export type { Showing } from './question';

/** What is remembered between two days. */
export interface IRemembered {
  query: string;
  filters: IFilters;
  profile: string;
  grouped: boolean;
}

export interface ISearchModelOptions extends IAskingOptions {
  /** Milliseconds in which a forgotten memory can be had back. */
  undoFor?: number;
}

/** The state of the panel. `stateChanged` tells of every change. */
export class SearchModel extends AskingModel {
  constructor(options: ISearchModelOptions) {
    super(options);
    this._changes = new Changes(options.api, this._shown(), options.undoFor ?? 6000);
    this.texts = new WholeTexts(options.api, {
      changed: () => this.changed(),
      lose: (id, problem) => {
        this.lose(id);
        this.fail(problem);
      },
      // What holds for all of the panel, too; else it is told where the text would stand.
      fail: problem => [UNREACHABLE, NO_STORE].includes(problem.reason) && this.fail(problem)
    });
  }

  /** The texts of the hits that are unfolded. */
  readonly texts: WholeTexts;

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
    return this._changes.forgotten;
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

  /** Show what is like a memory. */
  async related(id: string): Promise<void> {
    const hit = this.find(id)?.hit;
    await this.turn({ what: 'related', id, title: hit?.title || hit?.source || '' });
    if (this.problem?.reason === NO_MEMORY) {
      this._wanted = this.showing;
      this.lose(id);
    }
  }

  /** Ask the same again, after a change of the store or a failure; the first time, ask at all. */
  async refresh(): Promise<void> {
    const { sent } = this;
    this._isLoading = true;
    this.changed();
    const isThere = await this.refreshStatus();
    if (isThere && this._status?.api === API && this._status.store.memories) {
      // A question that was asked meanwhile is on its way: it is a person's own, and noted as such.
      if (sent === this.sent || !this.isAsking) {
        await this.again();
      }
    } else {
      this._isLoading = false;
      // A server that is away for a moment has not forgotten what is shown.
      this._answer = this.problem?.reason === UNREACHABLE ? this._answer : null;
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

  /**
   * Take a status that somebody else asked for.
   *
   * The first memories are shown as they come, and what an indexing changed once it is over.
   */
  setStatus(status: IStatus): void {
    const before = this._status;
    this._status = status;
    this.changed();
    const isIndexing = status.jobs.some(isGoingOn);
    const isOver = !isIndexing && !!before?.jobs.some(isGoingOn);
    const isOther = before?.store.memories !== status.store.memories;
    if (before?.store.memories === 0 && isOther) {
      void this.again();
    } else if (isOver && !this._answer && !this._isLoading) {
      void this.refresh();
    } else if (isOver || (isOther && this.showing.what === 'browse' && !isIndexing)) {
      this.renew();
    }
  }

  /** Look how many memories there are now. What is wrong with the server, the next question will tell. */
  async recount(): Promise<void> {
    if (!this._status || this.isDisposed) {
      return;
    }
    try {
      const status = await this.api.status();
      if (!this.isDisposed) {
        this.setStatus(status);
      }
    } catch (error) {
      if (!(error instanceof ApiError)) {
        throw error;
      }
    }
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

  pin(id: string, on: boolean): Promise<void> {
    return this._changes.pin(this.find(id), id, on);
  }

  tag(id: string, tags: string[]): Promise<void> {
    return this._changes.tag(this.find(id), id, tags);
  }

  /** What a person said of a hit: true, false or nothing yet. */
  accepted(id: string): boolean | undefined {
    return this._changes.accepted(id);
  }

  accept(id: string, yes: boolean): Promise<void> {
    return this._changes.accept(this.find(id), id, yes);
  }

  /** Take a memory away now, and forget it for good once it cannot be had back. */
  forget(id: string): void {
    const found = this.find(id);
    if (found) {
      this._selected = this._selected === id ? neighbour(this._hits, id) : this._selected;
      this._changes.forgetting.add({ id, title: found.hit.title || found.hit.source });
      this.changed();
    }
  }

  /** Show a memory no longer that another window, or its own file, has lost. */
  lose(id: string): void {
    this._selected = this._selected === id ? neighbour(this._hits, id) : this._selected;
    this._changes.forgetting.lose(id);
    this.changed();
    void this.recount();
  }

  /** Look at the store again: somebody comes back, and may have worked elsewhere meanwhile. */
  async lookAgain(): Promise<void> {
    await this.recount();
    this.renew();
  }

  /** Let the time stand in which a forgotten memory can be had back, or run again. */
  holdForget(id: string, on: boolean): void {
    on ? this._changes.forgetting.hold(id) : this._changes.forgetting.release(id);
  }

  /** Set for how many milliseconds a memory that is forgotten from now on can be had back. */
  set undoFor(milliseconds: number) {
    this._changes.forgetting.delay = milliseconds;
  }

  undoForget(id: string): void {
    this._changes.forgetting.undo(id);
    this._selected = id;
    this.changed();
  }

  /** Send what waits to be forgotten, for instance when the page closes. */
  flush(): void {
    this._changes.forgetting.flush();
  }

  toJSON(): IRemembered {
    return { query: this.query, filters: this.filters, profile: this.profile, grouped: this._grouped };
  }

  /** Take up what `toJSON` gave, without asking anything yet. */
  restore({ query, filters, profile, grouped }: Partial<IRemembered>): void {
    this.turnTo({
      query: query ?? this.query,
      filters: filters ?? this.filters,
      profile: profile ?? this.profile
    });
    this._grouped = grouped ?? this._grouped;
    this.changed();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._changes.forgetting.dispose();
    this.texts.dispose();
    super.dispose();
  }

  protected override fail(error: unknown): void {
    if (error instanceof ApiError && error.reason === NO_STORE && this._answer) {
      // The file is gone, and with it all that is shown.
      this._answer = null;
      void this.refresh();
    } else {
      super.fail(error);
    }
  }

  protected override take(answer: IAnswer, question: IQuestion, showing: Showing): void {
    const isHere = answer.hits.some(hit => hit.memory_id === this._selected);
    this._selected = isHere ? this._selected : null;
    super.take(answer, question, showing);
    this.texts.answered(
      this.about,
      answer.hits.map(hit => hit.memory_id)
    );
  }

  protected override changed(problem?: ApiError): void {
    if (!this.isDisposed) {
      this._look();
    }
    super.changed(problem);
  }

  /** Keep the hits as they are where nothing happened to them: cards are drawn anew for others only. */
  private _look(): void {
    const { forgetting } = this._changes;
    const [answer, version] = this._seen;
    if (answer !== this._answer || version !== forgetting.version) {
      this._seen = [this._answer, forgetting.version];
      this._hits = shown(this._answer, id => forgetting.has(id));
    }
  }

  /** These hits, for what is done to them. */
  private _shown(): ConstructorParameters<typeof Changes>[1] {
    const answer = (): IAnswer | null => this.answer;
    const showing = (): Showing => this.showing;
    return {
      get answer() {
        return answer();
      },
      get showing() {
        return showing();
      },
      show: changed => {
        this._answer = changed;
        this.changed();
      },
      changed: problem => this.changed(problem),
      recount: () => void this.recount(),
      lose: id => this.lose(id),
      fail: error => this.fail(error)
    };
  }

  private readonly _changes: Changes;
  private _selected: string | null = null;
  private _status: IStatus | null = null;
  private _grouped = false;
  private _folded: ReadonlySet<string> = new Set();
  private _seen: [IAnswer | null, number] = [null, 0];
  private _hits: readonly IFoundAt[] = [];
}
