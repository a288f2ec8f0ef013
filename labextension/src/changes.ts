/** What a person does to hits: it shows at once, and is taken back where the server refuses. */

import { type IFoundAt, patched } from './answers';
import type { ApiError, MemoryApi } from './api';
import { Forgetting, type IForgotten } from './forgetting';
import type { Showing } from './question';
import type { IAnswer, IItem } from './types';

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
    return this._settle(id, this._api.pin(id, on), found);
  }

  tag(found: IFoundAt | undefined, id: string, tags: string[]): Promise<void> {
    this._shown.show(patched(this._shown.answer, id, { tags }, {}));
    return this._settle(id, this._api.update({ memory_id: id, tags }), found);
  }

  /** What a person said of a hit: true, false or nothing yet. */
  accepted(id: string): boolean | undefined {
    return this._accepted.get(id);
  }

  async accept(found: IFoundAt | undefined, id: string, yes: boolean): Promise<void> {
    const was = this._accepted.get(id);
    this._accepted.set(id, yes);
    this._shown.changed();
    const asked = this._shown.showing.what === 'search' && this._shown.answer;
    const about = asked ? { query_id: asked.query_id, query: asked.query, profile: asked.profile } : {};
    try {
      await this._api.feedback({ memory_id: id, accepted: yes, rank: found?.hit.rank, ...about });
    } catch (error) {
      was === undefined ? this._accepted.delete(id) : this._accepted.set(id, was);
      this._shown.fail(error);
    }
  }

  /** Show what the server makes of a change; take it back where it refuses. */
  private async _settle(id: string, sent: Promise<IItem>, was?: IFoundAt): Promise<void> {
    try {
      const { tags, tier, title, place } = await sent;
      // Line and headings stay those of the hit: the server tells those of the whole memory here.
      this._shown.show(patched(this._shown.answer, id, { tags, tier, title }, { pinned: place.pinned }));
    } catch (error) {
      this._shown.show(patched(this._shown.answer, id, was?.hit ?? {}, was?.place ?? {}));
      this._shown.fail(error);
    }
  }

  private readonly _accepted = new Map<string, boolean>();
}
