/** What a person does to hits: it shows at once, and is taken back where the server refuses. */

import { ApiError, type MemoryApi, NO_MEMORY } from '../api/memoryApi';
import { Turns } from '../api/serialQueue';
import type { IAnswer, IHit, IItem, IPlace } from '../api/types';
import { type IFoundAt, patched } from './hits';
import type { Showing } from './question';
import { Forgetting, type IForgotten } from './undoDelete';

/** Whose hits they are. */
export interface IShown {
  readonly answer: IAnswer | null;
  readonly showing: Showing;
  /** Show the answer as it is after a change. */
  show(answer: IAnswer | null): void;
  /** Say that something else than the answer is to be shown anew, or what went wrong. */
  changed(problem?: ApiError): void;
  /** Look how many memories there are now. */
  recount(): void;
  /** Show a memory no longer: it is not there any more. */
  lose(id: string): void;
  /** Say what went wrong, be it what it may. */
  fail(error: unknown): void;
}

export class Changes {
  constructor(
    private readonly _api: MemoryApi,
    private readonly _shown: IShown,
    /** Milliseconds in which a forgotten memory can be had back. */
    undoFor: number
  ) {
    this.forgetting = new Forgetting(_api, undoFor, error => {
      _shown.changed(error);
      _shown.recount();
    });
  }

  /** What is on its way out. */
  readonly forgetting: Forgetting;

  get forgotten(): IForgotten[] {
    return this.forgetting.waiting;
  }

  pin(found: IFoundAt | undefined, id: string, on: boolean): Promise<void> {
    this._shown.show(patched(this._shown.answer, id, {}, { pinned: on }));
    return this._settle(found, id, () => this._api.pin(id, on));
  }

  tag(found: IFoundAt | undefined, id: string, tags: string[]): Promise<void> {
    this._shown.show(patched(this._shown.answer, id, { tags }, {}));
    return this._settle(found, id, () => this._api.update({ memory_id: id, tags }));
  }

  /** What a person said of a hit: true, false or nothing yet. */
  accepted(id: string): boolean | undefined {
    return this._accepted.get(id);
  }

  async accept(found: IFoundAt | undefined, id: string, yes: boolean): Promise<void> {
    if (!this._judging.isRunning(id)) {
      this._judged.set(id, this._accepted.get(id));
    }
    this._accepted.set(id, yes);
    this._shown.changed();
    const asked = this._shown.showing.what === 'search' && this._shown.answer;
    const about = asked ? { query_id: asked.query_id, query: asked.query, profile: asked.profile } : {};
    const said = { memory_id: id, accepted: yes, rank: found?.hit.rank, ...about };
    try {
      await this._judging.run(id, () => this._api.feedback(said));
      this._judged.set(id, yes);
    } catch (error) {
      if (!this._judging.isRunning(id)) {
        const was = this._judged.get(id);
        was === undefined ? this._accepted.delete(id) : this._accepted.set(id, was);
      }
      this._refused(id, error);
    }
  }

  /** Show what the server makes of a change; take it back where it refuses. A later change of the same has the last word. */
  private async _settle(found: IFoundAt | undefined, id: string, send: () => Promise<IItem>): Promise<void> {
    if (found && !this._changing.isRunning(id)) {
      this._certain.set(id, [{ tags: found.hit.tags }, { pinned: found.place.pinned }]);
    }
    try {
      const { tags, tier, title, place } = await this._changing.run(id, send);
      // Line and headings stay those of the hit: the server tells those of the whole memory here.
      this._certain.set(id, [{ tags, tier, title }, { pinned: place.pinned }]);
      this._showCertain(id);
    } catch (error) {
      this._showCertain(id);
      this._refused(id, error);
    }
  }

  private _showCertain(id: string): void {
    const certain = this._certain.get(id);
    if (certain && !this._changing.isRunning(id)) {
      this._certain.delete(id);
      this._shown.show(patched(this._shown.answer, id, ...certain));
    }
  }

  private _refused(id: string, error: unknown): void {
    if (error instanceof ApiError && error.reason === NO_MEMORY) {
      this._shown.lose(id);
    }
    this._shown.fail(error);
  }

  private readonly _accepted = new Map<string, boolean>();
  /** What was said of a hit before what the server has not answered yet. */
  private readonly _judged = new Map<string, boolean | undefined>();
  /** What the server has of a hit, as far as it told: what is shown runs ahead of it. */
  private readonly _certain = new Map<string, [Partial<IHit>, Partial<IPlace>]>();
  private readonly _changing = new Turns();
  private readonly _judging = new Turns();
}
